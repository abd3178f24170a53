"""Gaussian expectation propagation: one Gaussian per quantity of a node, found by sweeps over slices of time.

The steps are the same wherever the slices are: every slice returns maps of the messages along its segments, these are
composed along the players' chains from slice to slice, and each slice continues by itself. Smoothing and the joint
means are exact.
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

import numpy as np

from ttt_cli.fitted import Chain, DrawCurve, Fit, NewcomerCurve
from ttt_cli.inference.ep.cutting import Coupling, Cutter
from ttt_cli.inference.ep.slices import Slice
from ttt_cli.inference.ep.start import sites_name, start_of, started_sites
from ttt_cli.inference.links import MergedGames
from ttt_cli.inference.newcomers import Correction
from ttt_cli.inference.prior import RandomWalk, histories, prior_slopes
from ttt_cli.inference.solver import Pace, Sweep
from ttt_cli.inference.years import GamesGradient, MovingMargins, Play
from ttt_cli.room import Room, Shared
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import TttError
from ttt_cli.timeline import Timeline
from ttt_cli.work import available_cores

Precondition = Callable[[float, float], tuple[float, float]]
Result = TypeVar("Result")

TOL: Final = 1e-3  # points: of the joint means
RELATIVE: Final = 1e-2  # or to their corrections
ROUNDING: Final = 1e-13  # moves below this part of the widest prior are rounding
EARLY: Final = 3  # sweeps, in which margins of all games follow half a sweep, too
SMALL: Final = 0.02  # of the largest move: what an earlier move counts at least, for the rate of a mean or sd
DECAY: Final = 0.3  # the same, of the move before
RETRIES: Final = 20  # of a sweep after losses
DELAY: Final = 4  # steps over which the part of the whole is estimated
STEPS: Final = 10_000  # of conjugate gradients at most
LOST: Final = 1e-8  # of a sum: what rounding may have eaten
GROWN: Final = 1e4  # times its least is what r^T z grows to where it is but rounding


class SliceLost(TttError):
    """Some slices are no longer where they were."""


class SitesLost(TttError):
    """Results were lost with slices of which nothing was saved: further sweeps find them again."""


class Holder(ABC):
    """Where slices are."""

    @abstractmethod
    def ask(self, name: str, each: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call this method of every `Slice`; the results in order. Raises SliceLost."""

    def recover(self) -> None:  # noqa: B027
        """Make slices that were lost again, with the sites that were saved or none. May raise SliceLost."""

    def finds(self, room: Room) -> bool:  # noqa: ARG002
        """Whether slices can write into arrays of this room."""
        return False


class Engine:
    """Sweeps over slices.

    `priors`: of each quantity of a node, `skill` and perhaps `draw_margin`. `start`: a fit of the same timeline for a
    warm start; `warm`: whether there was any. `steps`: of conjugate gradients.
    """

    def __init__(
        self,
        holder: Holder,
        pieces: Cutter,
        priors: Mapping[str, RandomWalk],
        play: Play,
        start: Fit | None = None,
    ) -> None:
        self._holder = holder
        self._pieces = pieces
        self._borders = pieces.borders
        self._play = play
        self._last = self._decay = 0.0
        self.steps = self._sweeps = 0
        self.moving = MovingMargins(pieces.timeline, play, start)
        self.priors = priors
        self.newcomers = newcomers = priors["skill"].newcomers
        self.warm = any(self._survive(self._begun))
        if newcomers:
            levels = self._survive(partial(self._all, "newcomers", "levels"))
            newcomers.collect([*zip(*levels, strict=True)])

    def _begun(self) -> list[bool]:
        """Smooth the sites as they are, with the margins as they are; which slices had any."""
        self.moving.apply(self)
        warm, maps = self._all("begin", self._play.advantage)
        self._each("smooth", self._smoothed(maps))
        if any(warm):
            self.moving.follow_strength(self)
        return list(warm)

    def _survive(self, task: Callable[[], Result], *, whole: bool = False) -> Result:
        """Repeat a task from the sites left whenever slices are lost; `whole`: it needs the sites of all slices.

        Raises SliceLost after RETRIES, SitesLost where sites of some slices are lost.
        """
        losses = 0
        while True:
            try:
                if losses:
                    self._holder.recover()
                    if not all(self._begun()) and whole:
                        raise SitesLost("sites were lost with the workers that computed them")
                return task()
            except SliceLost:
                losses += 1
                if losses > RETRIES:
                    raise

    def margins(self, name: str, *arguments: Any) -> list[Any]:
        """What `YearMargins` of all slices do."""
        return [found for (found,) in self._all("margins", name, *arguments)]

    def _all(self, name: str, *common: Any) -> list[Any]:
        return self._ask(name, [common] * (len(self._borders.start) - 1))

    def _each(self, name: str, arrays: Array, *common: Any) -> list[Any]:
        return self._ask(name, [(array, *common) for array in np.split(arrays, self._borders.start[1:-1])])

    def _ask(self, name: str, each: list[tuple[Any, ...]]) -> list[Any]:
        """What slices return, by column: the results of one after the other."""
        found = self._holder.ask(name, each)
        return list(zip(*found, strict=True)) if isinstance(found[0], tuple) else found

    def _smoothed(self, maps: Sequence[Array]) -> Array:
        """What arrives at segments with these maps, once newcomers have received the messages about their mean."""
        if self.newcomers:
            self._each("smooth", self._borders.smoothed(np.concatenate(maps)))
            self.newcomers.update(partial(self._all, "newcomers"))
            maps = self._all("gathered")
        return self._borders.smoothed(np.concatenate(maps))

    def sweep(self, pace: Pace) -> Sweep:
        """Every slice forward and backward; then the joint means unless the pace is PLAIN."""
        return self._survive(partial(self._sweep, pace))

    def _sweep(self, pace: Pace) -> Sweep:
        sent = np.concatenate(self._all("half", pace))
        if self._sweeps < EARLY and not self.moving.of_newcomers:
            self.moving.update(self)
        self._sweeps += 1
        skipped, maps = self._each("other_half", self._borders.exchanged(sent), pace)
        arrived = self._smoothed(maps)
        if self._pieces.timeline.n_games:
            moves, *prepared = self._each("linearise", arrived)
            left, moved_maps = self._joint_means(self._coupled(*prepared), pace is not Pace.PLAIN)
        else:  # the smoothed means are the joint means
            moves = self._each("moved", arrived)
            left = 0.0
            moved_maps = None
        follows = 0.0, 0.0
        if not self.moving.still:
            if moved_maps:
                self._each("smooth", self._smoothed(moved_maps))
            follows = self.moving.update(self)
            moved_maps = self._all("gathered") if self.moving.of_newcomers else None
        limits = SMALL * self._last, self._decay
        if moved_maps is None:
            ends = self._all("end", None, *limits)
        else:
            ends = self._each("end", self._smoothed(moved_maps), *limits)
        moved, ahead = (max(*of, further) for of, further in zip(ends, follows, strict=True))
        self._decay = 0.0 if self._last == 0.0 else DECAY
        self._last = moved
        change = max(*moves, moved)
        return Sweep(change if change > ROUNDING * self._pieces.widest else 0.0, left, sum(skipped), ahead)

    def _coupled(
        self, maps: Sequence[Array], most: Sequence[float], sums: Sequence[Array]
    ) -> tuple[Coupling, float]:
        """Factor M; the coupling of slices, and a bound below all eigenvalues of M^-1 A.

        A >= T, and diag(L) <= k T, k the largest row sum of T^-1 diag(L).
        """
        crossing = self._borders.sums(np.concatenate(sums))
        spread = self.newcomers.spread if self.newcomers else 1.0
        coupling = Coupling(self._borders, np.concatenate(maps))
        self._each("factor", coupling.precision)
        return coupling, 1.0 / (spread * (1.0 + max(*most, float(crossing.max(initial=0.0)))))

    def _joint_means(
        self, coupled: tuple[Coupling, float], move: bool, tol: float = TOL, relative: float = RELATIVE
    ) -> tuple[float, Sequence[Array] | None]:
        """Solve for the joint means and `move` there; a bound on the distance left, points, and maps of the sites."""
        coupling, least = coupled
        by: Correction | None = None

        def precondition(beta: float, alpha: float) -> tuple[float, float]:
            nonlocal by
            self.steps += 1
            sent = np.concatenate(self._all("descend", beta, alpha, by))
            rz, apart, *sums = self._each("ascend", coupling.arrived(sent))
            more = further = 0.0
            if self.newcomers:
                by, more, further = self.newcomers.correction(np.sum(sums[0], axis=0), math.fsum(sums[1]))
            return math.fsum(rz) + more, math.fsum(apart) + further

        widest = self._pieces.widest
        unsolved, beta, alpha = conjugate_gradients(precondition, least, widest, tol, relative)
        corrections, maps = self._all("finish", beta, alpha, by, move)
        return (unsolved, maps) if move else (unsolved + max(corrections), None)

    def log_evidence(self) -> tuple[float, float]:
        """log Z of the sites, and the log probability of games without their own. Raises SitesLost, as all below."""
        total, predicted = map(math.fsum, self._survive(partial(self._all, "log_evidence"), whole=True))
        total += self._survive(partial(self.moving.log_evidence, self), whole=True)
        return total + (self.newcomers.log_evidence if self.newcomers else 0.0), predicted

    def draws(self) -> DrawCurve | None:
        """Draw margins that move."""
        return self._survive(partial(self.moving.curve, self, self.priors["skill"].origin), whole=True)

    def newcomer_curve(self) -> NewcomerCurve | None:
        """Newcomers' mean, if it moves."""
        return self.newcomers.curve(self.newcomers.beliefs) if self.newcomers else None

    @property
    def state(self) -> dict[str, Array]:
        """What a further fit may start from."""
        return self.moving.state

    def smoothed(self) -> Array:
        """Mean from the origin, sd, and covariance with the node before, (3, quantities, nodes), of all nodes."""
        timeline = self._pieces.timeline
        if not self._holder.finds(timeline.room):
            parts: list[Array] = self._survive(partial(self._all, "beliefs"), whole=True)
            return np.concatenate(parts, axis=2) if len(parts) > 1 else parts[0]  # a copy takes memory
        found = timeline.room.empty("beliefs", (3, len(self.priors), timeline.n_nodes), np.float64)
        borders = timeline.node_start[self._pieces.cuts[1:-1]]
        each = [(Shared(part),) for part in np.split(found, borders, axis=2)]
        self._survive(partial(self._ask, "beliefs", each), whole=True)
        return found

    def histories(self) -> dict[str, Chain]:
        """Beliefs about the quantities of all nodes, points."""
        return histories(self.priors, self.smoothed())


class Inference(Engine):
    """The fit of a whole timeline in memory: one slice, which threads share.

    `start`: a fit of the same timeline, perhaps with other parameters, or beliefs about its nodes.
    """

    def __init__(
        self,
        timeline: Timeline,
        merged: MergedGames,
        priors: Mapping[str, RandomWalk],
        play: Play,
        start: Fit | None = None,
        threads: int | None = None,
    ) -> None:
        self.merged = merged
        sites = None
        guess = None
        name = sites_name(merged.colours)
        if start is not None and name in start.state:
            sites = (
                started_sites((len(merged), 4 * len(priors)), start, name),
                started_sites((timeline.n_nodes if len(priors) > 1 else 0, 2), start, "positivity"),
            )
        if sites is None or not sites[0].any():
            guess = start_of(start, priors, timeline)
        cutter = Cutter(timeline, None, [*priors.values()], colours=merged.colours, guess=guess)
        piece = replace(cutter.whole(merged), sites=sites)
        self.threads = threads or available_cores()
        self.slice = one = Slice(piece, play, threads=self.threads)
        self.chains = one.chains
        self.sites = one.sites
        self.of_years = one.of_years
        super().__init__(_Here(one), cutter, priors, play, start)
        self.rule = one.rule

    @property
    def state(self) -> dict[str, Array]:
        """What a further fit may start from."""
        message, _, positivity = self.sites
        return (
            {sites_name(self.merged.colours): message}
            | ({"positivity": positivity} if len(positivity) else {})
            | super().state
        )

    def factor_joint(self) -> None:
        """Factor the joint precision A for `solve_joint`, newcomers' mean left out."""
        if self.newcomers:
            self.newcomers.condition(self.chains)
        maps, most, sums = self.slice.prepare()
        self._factored = self._coupled([maps], [most], [sums])

    def solve_joint(self, right: Array, relative: float) -> Array:
        """A^-1 b with a relative error of energy, by the last `factor_joint`."""
        self.slice.residual[:] = right
        self.slice.correction[:] = 0.0
        self._joint_means(self._factored, False, 0.0, relative)
        return np.array(self.slice.correction)

    def beside(self) -> "Inference":
        """The same inference with its last factor, for solutions in another thread."""
        other = copy(self)
        other.slice = self.slice.beside()
        other._holder = _Here(other.slice)
        return other

    def gradient(self) -> tuple[dict[str, float], GamesGradient]:
        """Gradient of log Z at the fixed point: in the parameters of priors and moving margins, and of games."""
        of_margins, (noise, margin, *rest) = self.moving.gradient(
            self.slice, self.merged, self.slice.kernels.gradient
        )
        of_newcomers = self.newcomers.gradient(self.newcomers.squares) if self.newcomers else {}
        of_priors = prior_slopes(self.priors, *self.slice.chain_slopes()) | of_newcomers
        return of_priors | of_margins, (noise, margin + self.slice.positive_evidence()[1], *rest)


class _Here(Holder):
    """A slice of this process."""

    def __init__(self, one: Slice) -> None:
        self._slice = one

    def ask(self, name: str, each: Sequence[tuple[Any, ...]]) -> list[Any]:
        return [getattr(self._slice, name)(*each[0])]


def conjugate_gradients(
    precondition: Precondition, least: float, widest: float, tol: float, relative: float
) -> tuple[float, float, float]:
    """Step towards the solution of A x = b from 0.

    `precondition(beta, alpha)` moves by `alpha` along the direction z + `beta` p, for the residual r left finds z =
    M^-1 r and A z, and returns r^T z and z^T (A - M) z. No eigenvalue of M^-1 A is below `least`, no root of an entry
    of the diagonal of A^-1 above `widest`.

    Stops when the error of every entry is bounded by `tol` points, or that of the whole is `relative` to the
    solution. Returns the bound, points, with beta and alpha of the last step, which is still to be taken: |e_i| <=
    sqrt(e^T A e) sqrt((A^-1)_ii), the first root bounded by the Gauss-Radau rule (Meurant and Tichy 2013), that of
    the whole by the last few steps (Hestenes and Stiefel 1952). The curvature follows from that before (Chronopoulos
    and Gear 1989).
    """
    recent: deque[float] = deque(maxlen=DELAY)
    energy = 0.0
    before = math.inf
    bound = math.inf
    curvature = 0.0
    beta = 0.0
    alpha = 0.0
    # `radau` times `rz`: no less than e^T A e
    lowest = math.inf
    radau = 1.0 / least
    for _ in range(STEPS):
        rz, apart = precondition(beta, alpha)
        if rz <= 0.0:
            return 0.0, 0.0, 0.0
        lowest = min(lowest, rz)
        beta = rz / before
        further = radau - alpha
        if before < math.inf:
            radau = further / (least * further + beta) if further > 0.0 else 1.0 / least
        bound = widest * math.sqrt(radau * rz)
        curvature = rz + apart - beta * beta * curvature
        if curvature < LOST * (rz + apart):  # nothing but rounding is left of it: restart
            beta = 0.0
            curvature = rz + apart
            radau = 1.0 / least
        if curvature <= 0.0 or rz > GROWN * lowest:  # the residual itself is rounding
            alpha = 0.0
            break
        before = rz
        alpha = rz / curvature
        recent.append(alpha * rz)
        energy += alpha * rz
        if len(recent) == DELAY and (bound < tol or math.fsum(recent) < relative**2 * energy):
            break
    return bound, beta, alpha
