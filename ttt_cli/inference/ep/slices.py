"""Expectation propagation within one slice of time: its arrays, and what is computed between two exchanges.

A fit in memory is one slice of the whole timeline, which threads share by parts; with `--memory` and on a cluster there
are several, each of one part. Each method of `Slice` computes from what has arrived at the borders and returns what
others need: messages by segment (`cutting.py`) and a few numbers.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.inference.ep.cutting import SliceInput
from ttt_cli.inference.ep.start import keep_sites, kept_sites
from ttt_cli.inference.newcomers import Correction, Newcomers, NewcomersOfSlice
from ttt_cli.inference.solver import Pace, largest
from ttt_cli.inference.years import Play, Posterior, YearMargins
from ttt_cli.kernels.ep import chains as chain_kernels
from ttt_cli.kernels.ep import games as game_kernels
from ttt_cli.kernels.ep import joint_means, ttt, ttt_d
from ttt_cli.kernels.ep.structures import Chains, Descent, Messages, Pairings, Part, Sites
from ttt_cli.room import MEMORY, Room, Shared
from ttt_cli.support.arrays import Array, Places

Result = TypeVar("Result")

GAMES_EACH: Final = 100_000  # games of a part at least: with fewer, threads cost more than they save
MOST: Final = 8  # parts for threads: with more, sweeps save less than they lose
REPEATS: Final = 50  # of equal games in a fast sweep


class Slice(Posterior):
    """Sites, messages and joint means of one slice; its sites are saved in `folder` after every sweep.

    `threads` share it by parts; `room` makes its arrays. What has arrived is by segment: from the past, then from the
    future, precision and precision times mean (4), or what `Coupling` makes of them (2).
    """

    def __init__(
        self, piece: SliceInput, play: Play, folder: Path | None = None, room: Room = MEMORY, threads: int = 1
    ) -> None:
        own = play.own_margins > 0.0
        self.kernels = ttt_d if own else ttt
        self._own = own
        self._number = piece.number
        self._folder = folder
        self._play = play
        self._handicap = piece.handicap
        self._in_memory = room is MEMORY
        distinct = len(piece.games.first)
        variables = len(piece.widest)
        stride = variables // (1 + own)
        base = int(piece.chains.node_start[0])
        self._ranges = [(number * stride + base, (number + 1) * stride) for number in range(1 + own)]

        def kept(name: str, values: Any) -> NDArray[Any]:
            found = room.empty(name, values.shape, values.dtype)
            found[:] = values
            return found

        def rows(name: str, count: int, columns: int) -> Array:
            return room.empty(name, (count, columns), np.float64)

        self.chains = piece.chains
        self._games = piece.games
        if not self._in_memory:
            self.chains = Chains(*map(kept, Chains._fields, piece.chains))
            self._games = Pairings(*map(kept, Pairings._fields, piece.games))
        self._divide(piece.game_start, threads)
        self._first = piece.first
        self._last = piece.last
        self._past = piece.past
        self._future = piece.future
        self._segment = kept("segment", piece.segment)
        self._widest = kept("widest", piece.widest)
        self.rule = play.rule(kept("margin", np.full(distinct, play.margin)), piece.handicap)
        self.sites = Sites(
            rows("message", distinct, 8 if own else 4),
            rows("link", distinct, 5 if own else 2),
            rows("positivity", stride if own else 0, 2),
        )
        self._coupling = room.empty("coupling", (0 if own else distinct,), np.float64)
        self._messages = Messages(
            rows("forward", variables, 2), rows("backward", variables, 2), rows("marginal", variables, 2)
        )
        begin, end = self._ranges[-1]  # of the margins, if there are any
        first = np.flatnonzero(self.chains.previous[begin:end] < 0).astype(np.int32)
        place = np.repeat(piece.year, np.diff(self.chains.node_start))
        self.of_years = YearMargins(
            self._games, self.rule.margin, play, piece.year, piece.years,
            (begin + first, place[first]) if own else None, room,
        )  # fmt: skip
        self._newcomers = None
        if piece.newcomers:
            sd, elsewhere = piece.newcomers
            arrays = self.chains, self._messages, elsewhere, room
            self._newcomers = NewcomersOfSlice(slice(*self._ranges[0]), place, piece.years, sd, *arrays)
        vectors = rows("vectors", 10, variables)
        self._solve_in(vectors[:6])
        self._scale, self._gain, self._gain_away, self._means = vectors[6:]
        self._rz = 0.0
        self._from_first, self._from_last = rows("columns of the inverse", 2, len(self._segment))
        self._beliefs = rows("beliefs", variables, 2)
        self._moves = room.empty("moves", (variables, 2), np.float32)
        known = folder is not None and kept_sites(folder, self._number, self.sites)
        if piece.sites and not known:
            self.sites.message[:], self.sites.positivity[:] = piece.sites
            known = bool(self.sites.message.any())
        self._guess = None if known else piece.guess

    def _solve_in(self, vectors: Array) -> None:
        self._z, self._az, self._p, self._ap, self.residual, self.correction = vectors
        self._descent = Descent(self._p, self._ap, self.correction, self.residual)

    def beside(self) -> "Slice":
        """The same slice with its last factor, for solutions in another thread."""
        other = copy(self)
        other._threads = 1
        other._solve_in(np.zeros((6, len(self._means))))
        return other

    def _divide(self, game_start: Places, threads: int) -> None:
        """Divide the slice into parts for sweeps, and ranges of their games and variables.

        `_between`: variables after one of an earlier part.
        """
        starts = self.chains.node_start
        games = self._games.start
        previous = self.chains.previous
        base = int(starts[0])
        self._parts: list[tuple[Part]] = []
        self._of_games: list[tuple[int, int]] = []
        self._of_parts: list[tuple[int, int]] = []  # of each quantity
        between: list[NDArray[np.integer]] = [np.empty(0, np.int32)]
        for begin, end in pairwise(period_cuts(game_start, min(threads, MOST)).tolist()):
            part = Part(begin, end, *starts[[begin, end]].tolist(), *games[[begin, end]].tolist())
            self._parts.append((part,))
            self._of_games.append((part.game, part.game_end))
            for first, _ in self._ranges:
                low = first - base + part.node
                high = first - base + part.node_end
                self._of_parts.append((low, high))
                before = previous[low:high]
                between.append(low + np.flatnonzero((before >= first) & (before < low)))
        self._between = np.concatenate(between).astype(np.int32)
        self._threads = len(self._parts)

    def _run(
        self, kernel: Callable[..., Result], each: Sequence[tuple[Any, ...]], *rest: Any
    ) -> list[Result]:
        """Call a kernel with each of these arguments and the rest, in threads if they share the slice."""
        if self._threads == 1:
            return [kernel(*one, *rest) for one in each]
        return list(_pool(self._threads).map(lambda one: kernel(*one, *rest), each))

    def run_games(self, kernel: Callable[..., object], *rest: Any) -> None:
        """Call a kernel for ranges of games, until all are done."""
        self._run(kernel, self._of_games, *rest)

    # Sweeps

    def begin(self, advantage: float) -> tuple[bool, Array]:
        """Start with White's advantage; whether there are sites, and their maps of messages, to `smooth` with."""
        self.rule = replace(self._play, advantage=advantage).rule(self.rule.margin, self._handicap)
        if self._guess is not None:
            self._messages.marginal[:] = self._guess
            self._messages.backward[:] = 0.0
            self._guess = None
            chains = self.chains._replace(following=np.full_like(self.chains.following, -1))
            games = self._games._replace(weight=np.zeros_like(self._games.weight))
            each = [(*part, True, 0) for part in self._parts]
            self._run(self.kernels.sweep, each, chains, games, self.rule, self._messages, self.sites)
        return bool(self.sites.message.any()), self.gathered()

    def half(self, pace: Pace) -> Array:
        """The first half of a sweep; returns the messages that leave the ends of segments."""
        if not len(self._beliefs):
            self._beliefs = np.empty(self._moves.shape)
        self._run(chain_kernels.believe, self._of_parts, self._messages.marginal, self._beliefs)
        self._pass(0, pace)
        if len(self._between):
            chain_kernels.exchange(self._between, self.chains, self._messages)
        forward, backward, marginal = self._messages
        first = self._first
        last = self._last
        return np.hstack([marginal[first] - forward[first], marginal[last] - backward[last]])

    def other_half(self, arrived: Array, pace: Pace) -> tuple[int, Array]:
        """The second half; returns how many sites could not be updated, and maps as `begin`."""
        _, _, marginal = self._messages
        for message, nodes, new in self._ends(arrived):
            marginal[nodes] += new - message[nodes]
            message[nodes] = new
        skipped = self._pass(1, pace)
        if self._own and pace is not Pace.PLAIN:  # margins alone, while the sites of games stay
            rest = self.chains, self.rule.origin, self._messages, self.sites.positivity
            for back in (False, True):
                self._run(ttt_d.settle_margins, [(*part, back) for part in self._parts], *rest)
        return skipped, self.gathered()

    def _pass(self, turn: int, pace: Pace) -> int:
        """The first or second pass of a sweep; returns how many sites had to be skipped."""
        each = []
        for number, part in enumerate(self._parts):
            alternate = 0 if self._own else self._number + number  # with margins not as good
            each.append((*part, (turn + alternate) % 2 == 1, REPEATS if pace is Pace.FAST else 0))
        rest = self.chains, self._games, self.rule, self._messages, self.sites
        return sum(self._run(self.kernels.sweep, each, *rest))

    def _ends(self, arrived: Array) -> list[tuple[Array, NDArray[Any], Array]]:
        """(messages, nodes with a neighbour elsewhere, what arrived there) for past and future."""
        past = self._past
        future = self._future
        return [
            (self._messages.forward, self._first[past], arrived[past, :2]),
            (self._messages.backward, self._last[future], arrived[future, 2:]),
        ]

    # Smoothing

    def gathered(self) -> Array:
        """Fill marginals with the sites; their maps of messages."""
        marginal = self._messages.marginal
        self._run(game_kernels.gather, self._parts, self._games, marginal, self.sites)
        return self._maps(*marginal.T)

    def _maps(self, precision: Array, weighted: Array) -> Array:
        maps = np.empty((len(self._first), 8))
        if len(maps):
            chain_kernels.summarise(self._segment, self.chains, precision, weighted, maps)
        return maps

    def smooth(self, arrived: Array) -> None:
        """All messages along the chains, exactly; what arrives counts as sites until they are complete."""
        _, _, marginal = self._messages
        ends = self._ends(arrived)
        for _, nodes, new in ends:
            marginal[nodes] += new
        self._run(chain_kernels.smooth, self._ranges, self.chains, self._messages)
        for message, nodes, new in ends:
            message[nodes] = new

    # Joint means

    def linearise(self, arrived: Array) -> tuple[float, Array, float, Array]:
        """Smooth and prepare for the joint means.

        Returns the largest move in this sweep, maps of the factors, and sums of diag(L) times the variance before
        games: the largest over a chain, and those of segments.
        """
        return self.moved(arrived), *self.prepare()

    def moved(self, arrived: Array) -> float:
        """Smooth; the largest move in this sweep."""
        self.smooth(arrived)
        marginal = self._messages.marginal
        beliefs = self._beliefs
        return float(max(self._run(chain_kernels.largest_move, self._of_parts, marginal, beliefs)))

    def prepare(self) -> tuple[Array, float, Array]:
        """Fill means, couplings, diag(L) and b - A s: what the joint solution takes; as `linearise` but the move."""
        rest = self.sites, self._messages, self._means, self._coupling, self._ap, self.residual
        self._run(self.kernels.residual, self._parts, self._games, *rest)
        sums = self.correction
        np.multiply(self._ap, self._widest, out=sums)
        chain_kernels.accumulate(self.chains.previous, sums)
        return self._maps(self._ap, self._ap), float(sums.max(initial=0.0)), sums[self._last]

    def factor(self, precision: Array) -> None:
        """Factor the chains, given the precisions that arrive."""
        diagonal = self._ap
        filtered = self._p
        np.add.at(diagonal, self._first, precision[:, 0])
        np.add.at(diagonal, self._last, precision[:, 1])
        rest = diagonal, filtered, self._scale, self._gain, self._gain_away
        self._run(joint_means.factor, self._ranges, self.chains, *rest)
        if len(self._segment):
            for column, nodes in ((self._from_first, self._first), (self._from_last, self._last)):
                column[:] = 0.0
                column[nodes] = 1.0
                self._solve_chains(0.0, 0.0, self._descent._replace(residual=column))
                column[:] = self._z
        self.correction[:] = 0.0

    def descend(self, beta: float, alpha: float, by: Correction | None) -> Array:
        """Move by `alpha` along the next direction, corrected; solve for the chains alone; values that leave
        segments.
        """
        self._correct(by)
        self._solve_chains(beta, alpha, self._descent)
        first = self._first
        last = self._last
        z = self._z
        return np.stack([z[first] / self._from_first[first], z[last] / self._from_last[last]], axis=1)

    def _correct(self, by: Correction | None) -> None:
        if by and self._newcomers:
            self._newcomers.correct(by, self._z, self._az)

    def _solve_chains(self, beta: float, alpha: float, descent: Descent) -> None:
        """z = M^-1 r, after going `alpha` along the next direction."""
        rest = self._gain, self._gain_away, self._scale, beta, alpha, self._z, self._az, descent
        self._rz = math.fsum(self._run(joint_means.solve, self._ranges, self.chains, *rest))

    def ascend(self, arrived: Array) -> tuple[Any, ...]:
        """z = M^-1 r with what arrived, and A z: r^T z and z^T (A - M) z, and the sums of newcomers, if any."""
        rz = self._rz
        if len(self._segment):
            ends = self._from_first, self._from_last, np.ascontiguousarray(arrived)
            rz = chain_kernels.answer(self._segment, *ends, self._z, self._az)
        further = self._add_couplings(self._z, self._az)
        sums = self._newcomers.sums(self.residual, self._z, self._az) if self._newcomers else ()
        return float(rz), further, *sums

    def _add_couplings(self, z: Array, az: Array) -> float:
        rest = self._games, self.sites.link, self._coupling, z, az
        return math.fsum(self._run(self.kernels.add_couplings, self._of_games, *rest))

    def finish(self, beta: float, alpha: float, by: Correction | None, move: bool) -> tuple[float, Array]:
        """The last step to the joint means; `move` there. Returns the largest correction, and maps if moved."""
        self._correct(by)
        correction = self.correction
        means = self._means
        self._run(joint_means.finish, self._ranges, beta, alpha, self._z, self._p, correction)
        if not np.isfinite(alpha):  # clear what a further solution multiplies by zero
            for vector in (self._z, self._az, self._p, self._ap):
                vector[:] = 0.0
        if not move:
            return largest(correction), np.empty((0, 8))
        means += correction
        self.run_games(self.kernels.spread, self._games, self.sites, means)
        return 0.0, self.gathered()

    def end(self, arrived: Array | None, least: float, decay: float) -> tuple[float, float]:
        """Smooth if anything moved; the largest move, and the estimated remaining move of the slowest. Raises
        SetupError.
        """
        if arrived is not None:
            self.smooth(arrived)
        rest = self._messages.marginal, self._beliefs, self._moves, least, decay
        moved, ahead = np.max(self._run(chain_kernels.moves_to_come, self._of_parts, *rest), axis=0)
        if self._in_memory:
            self._beliefs = np.empty((0, 2))  # until the next sweep
        if self._folder:
            keep_sites(self._folder, self._number, self.sites)
        return float(moved), float(ahead)

    # Results

    def log_evidence(self) -> tuple[float, float]:
        """The shares of log Z, and of the log probability of all games without their own sites."""
        rule = self.rule
        marginal = self._messages.marginal
        found = self._run(self.kernels.evidence, self._parts, self._games, rule, marginal, self.sites)
        total, predicted = map(math.fsum, zip(*found, strict=True))
        total += math.fsum(self._run(chain_kernels.chain_evidence, self._ranges, self._messages))
        return total + self.positive_evidence()[0], predicted

    def positive_evidence(self) -> tuple[float, float]:
        """The share of log Z that keeps draw margins positive, and its gradient in the origin of the margins."""
        if not self._own:
            return 0.0, 0.0
        begin, end = self._ranges[1]
        precision, weighted = self._messages.marginal[begin:end].T
        positivity = self.sites.positivity[self._ranges[0][0] :]
        mean = weighted / precision
        variance = 1.0 / precision
        _, *found = self.kernels.positive_evidence(self.rule.origin, mean, variance, 0.0, positivity)
        return found[0], found[1]

    def beliefs(self, into: Shared[Array] | None = None) -> Array | None:
        """Mean, sd, and covariance with the node before, (3, quantities, nodes), means from the origin.

        They are written into an array, or returned.
        """
        found = np.zeros((3, len(self._means)))
        for begin, end in self._ranges:
            chain_kernels.smoothed(begin, self.chains, self._messages, *found[:, begin:end])
        before = self._first[self._past]
        kept = 1.0 - self.chains.variance[before] * self._messages.forward[before, 0]
        found[2, before] = kept * found[1, before] ** 2
        of_nodes = found.reshape(3, len(self._ranges), -1)[:, :, self._ranges[0][0] :]
        if into is None:
            return of_nodes
        into.what[:] = of_nodes
        return None

    def newcomers(self, name: str, *arguments: Any) -> Any:
        """What `NewcomersOfSlice` do."""
        return getattr(self._newcomers, name)(*arguments)

    def cavities(self) -> Array:
        """Of all games, as the kernels take them."""
        cavity = np.empty((len(self._games.first), 5 if self._own else 2))
        marginal = self._messages.marginal
        self.run_games(self.kernels.cavities, self._games, marginal, self.sites, cavity)
        return cavity

    def mean_skills(self) -> Array:
        """Of all nodes, from the origin, points; 0 before the first variable."""
        begin, end = self._ranges[0]
        precision, weighted = self._messages.marginal[begin:end].T
        return np.append(np.zeros(begin), weighted / precision)

    def chain_slopes(self) -> tuple[Array, Array]:
        """The gradient of log Z in the means and variances of the steps of all variables."""
        by_mean, by_variance = np.zeros((2, len(self._means)))
        self._run(chain_kernels.chain_gradient, self._ranges, self._messages, by_mean, by_variance)
        return by_mean, by_variance

    # Of the whole timeline as one slice

    def marginals(self) -> Array:
        """Means from their origins, and sds, of all variables, (2, variables), points."""
        precision, weighted = self._messages.marginal.T
        return np.array([weighted / precision, precision**-0.5])

    def conditional_means(self, x: Array, newcomers: Newcomers | None) -> Array:
        """M^-1 (M - A) x by the last factor, A being without newcomers' mean."""
        away = np.zeros_like(x)
        self._add_couplings(x, away)
        if newcomers and self._newcomers:
            self._newcomers.add_shared(newcomers.shared(self._newcomers.total(x)), x, away)
        np.negative(away, out=self.residual)
        self._solve_chains(0.0, 0.0, self._descent)
        return np.array(self._z)

    def chain_variances(self) -> tuple[Array, Array]:
        """The diagonal of M^-1, and its entries with the variable before."""
        self.prepare()
        messages = Messages(*np.zeros((3, len(self._means), 2)))
        messages.marginal[:, 0] = self._ap
        self._run(chain_kernels.smooth, self._ranges, self.chains, messages)
        mean, sd, covariance = np.empty((3, len(self._means)))
        chain_kernels.smoothed(0, self.chains, messages, mean, sd, covariance)
        return sd**2, covariance


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="ttt")


def period_cuts(game_start: Places, count: int) -> Places:
    """The first periods of so many parts or slices of about as many games, and the end of the last."""
    games = int(game_start[-1])
    periods = len(game_start) - 1
    count = max(1, min(count, games // GAMES_EACH))
    wanted = np.arange(1, count) * games / count
    inner = np.searchsorted(game_start, wanted)
    return np.concatenate([[0], np.unique(inner[(inner > 0) & (inner < periods)]), [periods]])
