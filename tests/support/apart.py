"""Fits over slices of time that are held apart, all in this process."""

from __future__ import annotations

import numpy as np

from tests.support.builders import make_games
from ttt_cli.inference.draws import resolve_margin
from ttt_cli.inference.elo_unit import normal_unit
from ttt_cli.inference.ep.apart.cutting import Cutter, Play
from ttt_cli.inference.ep.apart.held import HeldSlice
from ttt_cli.inference.ep.apart.inference import SlicedInference
from ttt_cli.inference.ep.warm_start import believed
from ttt_cli.timeline import build_timeline


def history(seed, players=9, years=14, games=70):
    """Random games; of all players but two each plays in some of the years only, one of them once."""
    rng = np.random.default_rng(seed)
    here = rng.random((years, players)) < 0.5
    here[:, :2] = True
    here[:, -1] = np.arange(years) == rng.integers(years)
    rows = []
    for year in rng.integers(0, years, games):
        i, j = rng.choice(np.flatnonzero(here[year]), 2, replace=False)
        rows.append((1900 + int(year), f"p{i}", f"p{j}", int(rng.integers(3))))
    rows += [(1900 + year, "p0", "p1", 1) for year in range(years)]
    return build_timeline(make_games(rows))


class Serial:
    """Slices one after the other."""

    def __init__(self, held):
        self.held = held

    def ask(self, name, each):
        return [getattr(one, name)(*arguments) for one, arguments in zip(self.held, each, strict=True)]


def play_of(timeline, params):
    """What `params` of TTT say of games."""
    margin = resolve_margin(params, timeline)
    return Play(2.0 * params.beta**2, margin, params.white_advantage, normal_unit(params.beta, margin))


def cutter_of(timeline, params, cuts, start=None):
    """Cuts at these periods."""
    prior = params.skill_prior(timeline)
    guess = None if start is None else believed(start, "skill", prior, timeline.previous < 0)
    colours = params.white_advantage != 0.0
    return Cutter(timeline, np.array(cuts), prior, colours=colours, guess=guess)


def sliced(timeline, params, cuts, start=None):
    """The inference of TTT over slices cut at these periods."""
    cutter = cutter_of(timeline, params, cuts, start)
    holder = Serial([HeldSlice(piece, play_of(timeline, params)) for piece in cutter])
    return SlicedInference(holder, cutter.borders, cutter.widest)
