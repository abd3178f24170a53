"""A fit over slices of time, from the timeline to what a `Fit` has."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ttt_cli.arrays import Array, Places
from ttt_cli.config.schema import SolverConfig
from ttt_cli.errors import ConfigError
from ttt_cli.fitted import Fit
from ttt_cli.inference.ep.apart.checkpoint import Checkpoint
from ttt_cli.inference.ep.apart.cutting import Cutter, Pieces, Unplayed
from ttt_cli.inference.ep.apart.inference import Holder, SitesLost, SlicedInference
from ttt_cli.inference.ep.warm_start import believed, tells_of
from ttt_cli.inference.moving_margins import MovingMargins
from ttt_cli.inference.play import Play
from ttt_cli.inference.prior import Prior
from ttt_cli.inference.solver import Given, iterate
from ttt_cli.processes import Engine
from ttt_cli.room import Room
from ttt_cli.timeline import Timeline


class Place(Protocol):
    """Where slices of a fit may be, `name` in words; a folder `scratch` keeps their sites, `workers` do other work."""

    name: str
    scratch: Path | None
    workers: Engine | None

    def finds(self, room: Room) -> bool:
        """Whether all who hold slices find the files of a room."""

    def cuts(self, timeline: Timeline) -> Places:
        """The periods at which slices begin, and the end of the last."""

    def hold(self, pieces: Pieces, play: Play, kept: Path | None) -> AbstractContextManager[Holder]:
        """The slices made of these pieces, inside the block; their sites are kept in a folder."""


def refuse_joint(solver: SolverConfig) -> None:
    """Raises ConfigError for a posterior that needs the whole timeline at once."""
    if solver.posterior == "joint":
        raise ConfigError(
            "the joint posterior is not fitted over a cluster yet",
            hint="solver.posterior=factorised; without a cluster and --memory it is",
        )


class FitsApart:
    """Fits in slices that are cut once, at the first: each begins at the sites of the one before.

    Of `given["start"]`, a fit of the same timeline, skills are the first guess. A fit that was ended on its way goes on
    from the sites that are kept in the same `place.scratch`. Slices are let go at the end of the `with` block;
    `pace` is that of `iterate`.
    """

    def __init__(
        self,
        timeline: Timeline,
        priors: Callable[[], Mapping[str, Prior]],
        place: Place,
        given: Given,
        **pace: Any,
    ) -> None:
        self._timeline, self._place, self._given, self._pace = timeline, place, given, pace
        self._priors_of, self._stack = priors, ExitStack()
        self._converged = self._warm = False
        self._kept: Checkpoint | None = None
        self._holder: Holder | None = None

    def __enter__(self) -> "FitsApart":
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)
        if self._kept and self._converged and not any(error):
            self._kept.clear()

    def __call__(self, play: Play, start: Fit | None, solver: SolverConfig, made: Callable[..., Fit]) -> Fit:
        """The factorised posterior; `play` differs from that of other calls in White's advantage at most."""
        if self._holder is None:
            self._holder = self._cut(play)
        priors, pieces = self._priors, self._pieces
        inference = self._inference(self._holder, pieces, play, start)
        on_sweep = self._given.get("on_sweep")
        while True:
            before = inference.traffic
            warm = inference.warm and self._warm
            status, trace = iterate(inference.sweep, solver, on_sweep, warm=warm, **self._pace)
            crossed = (inference.traffic - before) // max(status.sweeps, 1)
            with suppress(SitesLost):
                (evidence, predicted), beliefs = inference.log_evidence(), self._beliefs(inference)
                draws = inference.draws(priors["skill"].origin)
                break
        self._warm, self._converged = True, status.converged
        slices = "1 slice" if len(pieces) == 1 else f"{len(pieces)} slices"
        where = f"{slices} of time {self._place.name}"
        note = f"the posterior is factorised, from {where}: {crossed:,} bytes a sweep"
        chains = {
            name: prior.history(*of)
            for (name, prior), of in zip(priors.items(), beliefs.swapaxes(0, 1), strict=True)
        }
        return made(
            posterior="factorised", chains=chains, log_evidence=evidence, leave_one_out=predicted, status=status,
            trace=trace, state=inference.moving.state, notes=(*inference.moving.notes, note), draws=draws,
            newcomers=inference.newcomer_curve(),
        )  # fmt: skip

    def _beliefs(self, inference: SlicedInference) -> Array:
        """Mean, sd, and covariance with the node before, (3, quantities, nodes)."""
        timeline, origins = self._timeline, [[prior.origin] for prior in self._priors.values()]
        found = timeline.room.empty("beliefs", (3, len(origins), timeline.n_nodes), np.float64)
        if self._place.finds(timeline.room):
            inference.write_beliefs(np.split(found, self._pieces.inner, axis=2))
        else:
            found[:] = inference.beliefs()
        found[0] += np.array(origins)
        return found

    @cached_property
    def _priors(self) -> Mapping[str, Prior]:
        return self._priors_of()

    def without_games(self, play: Play, tol: float) -> float:
        """The log-evidence of the same nodes if nobody had played a game."""
        timeline, count = self._timeline, len(self._place.cuts(self._timeline)) - 1
        pieces = Unplayed(timeline, count, [*self._priors.values()])
        with self._place.hold(pieces, play, None) as holder:
            inference = self._inference(holder, pieces, play, None)
            while True:
                iterate(inference.sweep, SolverConfig(tol=tol), None)
                with suppress(SitesLost):
                    return inference.log_evidence()[0]

    def _inference(self, holder: Holder, pieces: Pieces, play: Play, start: Fit | None) -> SlicedInference:
        moving, newcomers = MovingMargins(self._timeline, play, start), self._priors["skill"].newcomers
        return SlicedInference(holder, pieces, moving, play, newcomers)

    def _cut(self, play: Play) -> Holder:
        timeline, place, start = self._timeline, self._place, self._given.get("start")
        guess = None
        if tells_of(start, timeline.n_nodes):
            first, self._warm = timeline.previous < 0, True
            known = [believed(start, name, prior, first) for name, prior in self._priors.items()]
            guess = np.stack(known)
        quantities = list(self._priors.values())
        self._kept = Checkpoint(place.scratch, timeline, quantities, play) if place.scratch else None
        cuts = place.cuts(timeline)
        cuts = self._kept.cuts(cuts) if self._kept else cuts
        self._pieces = Cutter(timeline, cuts, quantities, colours=play.advantage != 0.0, guess=guess)
        folder = self._kept.folder if self._kept else None
        return self._stack.enter_context(place.hold(self._pieces, play, folder))
