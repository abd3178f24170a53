"""Expectation propagation over slices of time that are held apart (`held.py`), wherever that is.

The steps of `ep/inference.py`: every slice says what the segments of players make of messages, these are passed along
the players' chains from slice to slice, and each goes on by itself. Smoothing and the joint means are exact.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.errors import TttError
from ttt_cli.fitted import DrawCurve, NewcomerCurve
from ttt_cli.inference.ep.apart.borders import Coupling
from ttt_cli.inference.ep.apart.cutting import Pieces
from ttt_cli.inference.ep.inference import EARLY, ROUNDING
from ttt_cli.inference.ep.joint_means import conjugate_gradients
from ttt_cli.inference.ep.levels import Correction, Levels
from ttt_cli.inference.ep.slices import DECAY, SMALL
from ttt_cli.inference.moving_margins import MovingMargins
from ttt_cli.inference.newcomers import Newcomers
from ttt_cli.inference.play import Play
from ttt_cli.inference.solver import Pace, Sweep
from ttt_cli.room import Shared

TOL: Final = 1e-3  # points: of the joint means
RELATIVE: Final = 1e-2  # or to their corrections
RETRIES: Final = 20  # of a sweep after losses

Result = TypeVar("Result")


class SliceLost(TttError):
    """Some slices are no more where they were."""


class SitesLost(TttError):
    """What was found is lost with slices of which nothing was kept: further sweeps find it again."""


class Holder(Protocol):
    """Where slices are."""

    def ask(self, name: str, each: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Have all slices do what this method of `HeldSlice` does; their results in order. Raises SliceLost."""

    def recover(self) -> None:
        """Make slices that were lost again, with the sites that are kept of them or none. May raise SliceLost."""


class SlicedInference:
    """Sweeps over slices; what they hold stays there. `widest` as in `JointSolver`.

    Of `play`, slices may not know White's advantage yet.
    `newcomers` are those of the whole timeline where their mean moves.
    `traffic` is how many bytes of arrays have crossed, `steps` how many steps conjugate gradients have gone.
    """

    def __init__(
        self,
        holder: Holder,
        pieces: Pieces,
        moving: MovingMargins,
        play: Play,
        newcomers: Newcomers | None = None,
    ) -> None:
        self._holder, self._borders, self._widest, self._play = holder, pieces.borders, pieces.widest, play
        self._last = self._decay = 0.0
        self.traffic = self.steps = self._sweeps = 0
        self.moving, self._newcomers = moving, newcomers
        self._survive(partial(moving.begin, self))
        self.warm = any(self._survive(self._begun))
        self._levels = None
        if newcomers:
            known = zip(*self._survive(partial(self._all, "levels")), strict=True)
            self._levels = Levels(newcomers, [*known])

    def _begun(self) -> list[bool]:
        """Smooth the sites as they are, with the margins as they are; which slices had any."""
        self.moving.apply(self)
        warm, maps = self._all("begin", self._play.advantage)
        self._each("smooth", self._smoothed(maps))
        if any(warm):
            self.moving.follow_strength(self)
        return list(warm)

    def _survive(self, task: Callable[[], Result], *, tells: bool = False) -> Result:
        """Do a task again from the sites left whenever slices are lost; one that `tells` what was found needs all.

        Raises SliceLost in the end, SitesLost where sites of some slices are gone.
        """
        losses = 0
        while True:
            try:
                if losses:
                    self._holder.recover()
                    if not all(self._begun()) and tells:
                        raise SitesLost("sites were lost with the slices that had found them")
                return task()
            except SliceLost:
                losses += 1
                if losses > RETRIES:
                    raise

    def margins(self, name: str, *arguments: Any) -> list[Any]:
        """What `YearMargins` of all slices do."""
        return self._all("margins", name, *arguments)

    def _all(self, name: str, *common: Any) -> list[Any]:
        return self._ask(name, [common] * (len(self._borders.start) - 1))

    def _each(self, name: str, arrays: Array, *common: Any) -> list[Any]:
        return self._ask(name, [(array, *common) for array in self._borders.split(arrays)])

    def _ask(self, name: str, each: list[tuple[Any, ...]]) -> list[Any]:
        """What slices return, by column: the results of one after the other."""
        found = self._holder.ask(name, each)
        self.traffic += sum(_size(of) for of in (*each, *found))
        return list(zip(*found, strict=True)) if isinstance(found[0], tuple) else found

    def _smoothed(self, maps: Sequence[Array]) -> Array:
        """What arrives at segments that make this of messages, once newcomers know what others say of their mean."""
        if self._newcomers:
            self._each("smooth", self._borders.smoothed(np.concatenate(maps)))
            self._newcomers.listen(partial(self._all, "debuts"))
            maps = self._all("gathered")
        return self._borders.smoothed(np.concatenate(maps))

    def sweep(self, pace: Pace) -> Sweep:
        """Every slice forward and backward; then the joint means if asked for."""
        return self._survive(partial(self._sweep, pace))

    def _sweep(self, pace: Pace) -> Sweep:
        said = np.concatenate(self._all("half", pace))
        if self._sweeps < EARLY and not self.moving.of_newcomers:
            self.moving.update(self)
        self._sweeps += 1
        skipped, maps = self._each("other_half", self._borders.exchanged(said), pace)
        moves, maps, most, sums = self._each("linearise", self._smoothed(maps))
        left, maps = self._joint_means(
            Coupling(self._borders, np.concatenate(maps)), self._least(most, sums), pace is not Pace.PLAIN
        )
        maps, follows = self._followed(maps)
        limits = SMALL * self._last, self._decay
        ends = self._each("end", self._smoothed(maps), *limits) if maps else self._all("end", None, *limits)
        moved, ahead = (max(*of, further) for of, further in zip(ends, follows, strict=True))
        self._decay = 0.0 if self._last == 0.0 else DECAY
        self._last = moved
        change = max(*moves, moved)
        return Sweep(change if change > ROUNDING * self._widest else 0.0, left, sum(skipped), ahead)

    def _followed(self, maps: Sequence[Array] | None) -> tuple[Sequence[Array] | None, tuple[float, float]]:
        """Have margins follow; what sites make of messages if that is not told yet, and the moves of margins."""
        if self.moving.still:
            return maps, (0.0, 0.0)
        if maps:
            self._each("smooth", self._smoothed(maps))
        follows = self.moving.update(self)
        return self._all("gathered") if self.moving.of_newcomers else None, follows

    def _least(self, most: Sequence[float], sums: Sequence[Array]) -> float:
        """No eigenvalue of M^-1 A is below this (`JointSolver`)."""
        crossing = self._borders.sums(np.concatenate(sums))
        spread = self._levels.spread if self._levels else 1.0
        return 1.0 / (spread * (1.0 + max(*most, float(crossing.max(initial=0.0)))))

    def _joint_means(
        self, coupling: Coupling, least: float, move: bool
    ) -> tuple[float, Sequence[Array] | None]:
        """Solve for the joint means and `move` there; a bound on the distance left, points, and the sites' maps."""
        self._each("factor", coupling.precision)
        by: Correction | None = None

        def precondition(beta: float, alpha: float) -> tuple[float, float]:
            nonlocal by
            self.steps += 1
            said = np.concatenate(self._all("descend", beta, alpha, by))
            rz, apart, *sums = self._each("ascend", coupling.arrived(said))
            more = further = 0.0
            if self._levels:
                by, more, further = self._levels.correction(np.sum(sums[0], axis=0), math.fsum(sums[1]))
            return math.fsum(rz) + more, math.fsum(apart) + further

        unsolved, beta, alpha = conjugate_gradients(precondition, least, self._widest, TOL, RELATIVE)
        corrections, maps = self._all("finish", beta, alpha, by, move)
        return (unsolved, maps) if move else (unsolved + max(corrections), None)

    def log_evidence(self) -> tuple[float, float]:
        """log Z of the sites, and the log probability of games without their own. Raises SitesLost, as all below."""
        total, predicted = map(math.fsum, self._survive(partial(self._all, "log_evidence"), tells=True))
        total += self._survive(partial(self.moving.log_evidence, self), tells=True)
        return total + (self._newcomers.log_evidence if self._newcomers else 0.0), predicted

    def draws(self, origin: float) -> DrawCurve | None:
        """What is believed of draw margins that move; `origin` is that of skills."""
        return self._survive(partial(self.moving.curve, self, origin), tells=True)

    def newcomer_curve(self) -> NewcomerCurve | None:
        """What is believed of newcomers' mean, if it moves."""
        return self._newcomers.curve(self._newcomers.beliefs) if self._newcomers else None

    def beliefs(self) -> Array:
        """Mean from the origin, sd, and covariance with the node before, (3, quantities, nodes), of all nodes."""
        parts: list[Array] = self._survive(partial(self._all, "beliefs"), tells=True)
        return np.concatenate(parts, axis=2)

    def write_beliefs(self, parts: Sequence[Array]) -> None:
        """Have every slice write those of its nodes into a part that it finds."""
        each = [(Shared(part),) for part in parts]
        self._survive(partial(self._ask, "write_beliefs", each), tells=True)


def _size(values: Any) -> int:
    """Bytes of arrays."""
    if isinstance(values, np.ndarray):
        return values.nbytes
    return sum(map(_size, values)) if isinstance(values, tuple) else 0
