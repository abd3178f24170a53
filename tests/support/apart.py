"""Fits over slices of time that are held apart, all in this process."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from tests.support.builders import make_games
from ttt_cli.inference.ep.cutting import Cutter
from ttt_cli.inference.ep.inference import Engine, Holder, SliceLost
from ttt_cli.inference.ep.slices import Slice
from ttt_cli.inference.ep.start import start_of
from ttt_cli.inference.outcome import resolve_margin
from ttt_cli.systems import ttt, ttt_d
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
    rows += [(1900 + year, "p0", "p1", 1, 1.0, 0.0, year % 2 == 0) for year in range(years)]
    return build_timeline(make_games(rows))


class Serial(Holder):
    """Slices one after the other."""

    def __init__(self, held):
        self.held = held

    def ask(self, name, each):
        return [getattr(one, name)(*arguments) for one, arguments in zip(self.held, each, strict=True)]


class Losing(Serial):
    """The same, but before the asking of a number in `at` a slice is lost, while the others do what they are asked."""

    def __init__(self, make, count, at):
        super().__init__([make(number) for number in range(count)])
        self.make, self.at, self.asked = make, at, 0

    def ask(self, name, each):
        self.asked += 1
        if self.asked in self.at:
            self.held[self.at[self.asked]] = None
        here = [number for number, one in enumerate(self.held) if one]
        found = [getattr(self.held[number], name)(*each[number]) for number in here]
        if len(found) < len(self.held):
            raise SliceLost("lost")
        return found

    def recover(self):
        for number, one in enumerate(self.held):
            self.held[number] = one or self.make(number)


class LosingPlace:
    """Where slices are cut at `periods` and lost as `Losing` has it; `holder` is the last."""

    name, workers, holder = "in a test", None, None

    def __init__(self, periods, at, scratch):
        self.periods, self.at, self.scratch = periods, at, scratch

    def cuts(self, _):
        return np.array(self.periods)

    @contextmanager
    def hold(self, pieces, play, kept):
        count = len(list(pieces))
        self.holder = Losing(lambda number: Slice(pieces[number], play, kept), count, self.at)
        yield self.holder


def asked_of(timeline, params):
    """What parameters of TTT or TTT-D say: the priors of quantities, and of games."""
    shared = (
        ttt_d.through_time(timeline, params.resolved())
        if isinstance(params, ttt_d.Params)
        else ttt.through_time(timeline, params, resolve_margin(params, timeline))
    )
    return shared.priors(), replace(shared.play, advantage=params.white_advantage)


def sliced(timeline, params, cuts, start=None, lost=None, kept=None):
    """The inference over slices cut at these periods.

    `lost`: slices by the asking before which they are, whose sites are in a folder `kept` or nowhere.
    """
    priors, play = asked_of(timeline, params)
    guess = start and start_of(start, priors, timeline)
    cutter = Cutter(timeline, np.array(cuts), [*priors.values()], colours=play.advantage != 0.0, guess=guess)
    holder = Serial([Slice(piece, play) for piece in cutter])
    if lost:
        holder = Losing(lambda number: Slice(cutter[number], play, kept), len(holder.held), lost)
    return Engine(holder, cutter, priors, play, start)
