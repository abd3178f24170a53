"""Fits over slices of time that are held apart, all in this process."""

from __future__ import annotations

import numpy as np

from ttt_cli.inference.draws import resolve_margin
from ttt_cli.inference.elo_unit import normal_unit
from ttt_cli.inference.ep.apart.cutting import Cutter
from ttt_cli.inference.ep.apart.held import HeldSlice, Play
from ttt_cli.inference.ep.apart.inference import SlicedInference
from ttt_cli.inference.ep.warm_start import believed


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
