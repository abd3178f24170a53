"""A fit over slices of time, from the timeline to what a `Fit` has."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from ttt_cli.arrays import Places
from ttt_cli.config.schema import SolverConfig
from ttt_cli.errors import ConfigError
from ttt_cli.fitted import Fit
from ttt_cli.inference.ep.apart.checkpoint import Checkpoint
from ttt_cli.inference.ep.apart.cutting import Cutter, Play
from ttt_cli.inference.ep.apart.inference import Holder, SlicedInference
from ttt_cli.inference.ep.warm_start import believed, tells_of
from ttt_cli.inference.joint.posterior import Found
from ttt_cli.inference.moving_margins import MovingMargins
from ttt_cli.inference.params import Params
from ttt_cli.inference.prior import Prior
from ttt_cli.inference.solver import LEAST_RATE, Given, iterate
from ttt_cli.timeline import Timeline


class Place(Protocol):
    """Where slices of a fit may be, `name` in words; with a folder `scratch` their sites are kept there."""

    name: str
    scratch: Path | None

    def cuts(self, timeline: Timeline) -> Places:
        """The periods at which slices begin, and the end of the last."""

    def hold(self, pieces: Cutter, play: Play, kept: Path | None) -> AbstractContextManager[Holder]:
        """The slices made of these pieces, inside the block; their sites are kept in a folder."""


def refuse_unfit(params: Params, solver: SolverConfig) -> None:
    """Raises ConfigError for what needs the whole timeline at once."""
    if getattr(params, "prior_mean_drift", 0.0):
        raise ConfigError(
            "a mean of newcomers that moves (prior_mean_drift) is not fitted over a cluster yet",
            hint="model.prior_mean_drift=0; without a cluster and --memory it is",
        )
    if solver.posterior == "joint":
        raise ConfigError(
            "the joint posterior is not fitted over a cluster yet",
            hint="solver.posterior=factorised; without a cluster and --memory it is",
        )


def moving_margins(timeline: Timeline, play: Play, start: Fit | None) -> Callable[..., MovingMargins]:
    """Makes the margins that move as `play` says, of what holds the games."""
    moves = play.margin, play.drift, play.strength
    return partial(MovingMargins, timeline, None, *moves, newcomers=play.own_margins, start=start)


def fit_apart(
    timeline: Timeline,
    priors: Mapping[str, Prior],
    play: Play,
    place: Place,
    solver: SolverConfig,
    given: Given,
    start: Fit | None,
    *,
    least_rate: float = LEAST_RATE,
    settling: int = 0,
) -> Found:
    """The factorised posterior. Of `start`, a fit of the same timeline, skills are the first guess.

    A fit that was ended on its way goes on from the sites that are kept in the same `place.scratch`.
    """
    guess, first = None, timeline.previous < 0
    if tells_of(start, timeline.n_nodes):
        guess = np.stack([believed(start, name, prior, first) for name, prior in priors.items()])
    quantities = list(priors.values())
    kept = Checkpoint(place.scratch, timeline, quantities, play) if place.scratch else None
    cuts = place.cuts(timeline)
    cuts = kept.cuts(cuts) if kept else cuts
    pieces = Cutter(timeline, cuts, quantities, colours=play.advantage != 0.0, guess=guess)
    with place.hold(pieces, play, kept.folder if kept else None) as holder:
        moving = moving_margins(timeline, play, start)
        inference = SlicedInference(holder, pieces.borders, pieces.widest, moving, play.noise)
        crossed = inference.traffic
        status, trace = iterate(
            inference.sweep,
            solver,
            given.get("on_sweep"),
            least_rate,
            warm=inference.warm and guess is not None,
            settling=settling,
        )
        crossed = (inference.traffic - crossed) // max(status.sweeps, 1)
        evidence = inference.log_evidence()
        beliefs = inference.beliefs(timeline.room)
        draws = inference.draws(next(iter(quantities)).origin)
    if kept and status.converged:
        kept.clear()
    note = f"the posterior is factorised, from {len(pieces)} slices of time {place.name}: {crossed:,} bytes a sweep"
    beliefs[0] += np.array([[prior.origin] for prior in quantities])
    chains = {
        name: prior.history(*of)
        for (name, prior), of in zip(priors.items(), beliefs.swapaxes(0, 1), strict=True)
    }
    state, notes = inference.moving.state, (*inference.moving.notes, note)
    return Found("factorised", chains, *evidence, status, trace, state, notes, draws=draws)
