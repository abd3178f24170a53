"""A slice of time held by itself: what is done with its arrays between two exchanges at its borders.

Each method does what can be done with what has arrived, and returns what others need: per segment (`borders.py`) and
a few numbers. Nodes are counted from 1: node 0 stands for those of earlier slices, the one after the last for later.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array
from ttt_cli.inference.ep.apart.checkpoint import keep_sites, kept_sites
from ttt_cli.inference.ep.apart.pieces import Piece
from ttt_cli.inference.ep.levels import Correction, YearLevels
from ttt_cli.inference.ep.state import Room, State
from ttt_cli.inference.newcomers import Debuts
from ttt_cli.inference.play import Play
from ttt_cli.inference.solver import Pace, largest
from ttt_cli.inference.year_margins import in_memory, newcomers_of
from ttt_cli.kernels.ep.structures import Chains, Descent, Games, Messages, Part, Sites, Way
from ttt_cli.room import Shared


class HeldSlice(State):
    """Sites, messages and the joint means of one slice, its sites kept in `folder` after every sweep.

    What has arrived is by segment: from the past, then from the future, precision and precision times mean (4), or what
    `Coupling` makes of them (2).
    """

    def __init__(self, piece: Piece, play: Play, folder: Path | None = None, room: Room = in_memory) -> None:
        from ttt_cli.kernels.ep import borders, joint_means

        super().__init__(own=play.own_margins > 0.0)
        self._borders, self._joint, self._number = borders, joint_means, piece.number
        games, distinct, variables = piece.games, len(piece.games.first), len(piece.mean)

        def kept(name: str, values: NDArray[Any]) -> NDArray[Any]:
            found = room(name, values.shape, values.dtype.type)
            found[:] = values
            return found

        columns = {name: kept(name, getattr(piece, name)) for name in Chains._fields[1:]}
        self.chains = Chains(piece.node_start.copy(), **columns)
        nodes = variables // (1 + self._own)
        self._part = Part(0, len(piece.node_start) - 1, 1, nodes, 0, distinct)
        self._parts = [self._part]
        self._ranges = [(first + 1, first + nodes) for first in range(0, variables, nodes)]
        previous, following = self.chains.previous, self.chains.following
        self._elimination = [Way(*among, False, previous, following) for among in self._ranges]
        self._substitution = [Way(*among, True, following, previous) for among in self._ranges]
        self._chain, self._widest = kept("chain", piece.chain), kept("widest", piece.widest)
        segment = np.where(piece.chain < len(piece.first), piece.chain, -1)
        segment[[first - 1 for first, _ in self._ranges]] = -1
        self._segment = kept("segment", segment.astype(np.int32))
        self._first, self._last, self._past, self._future = piece.first, piece.last, piece.past, piece.future
        self._games = Games(
            games.start.copy(), *(kept(name, getattr(games, name)) for name in Games._fields[1:])
        )
        self.rule = play.rule(kept("margin", np.full(distinct, play.margin)), piece.handicap)
        self.sites = Sites(
            room("message", (distinct, 8 if self._own else 4), np.float64),
            room("link", (distinct, 5 if self._own else 2), np.float64),
            room("positivity", (nodes if self._own else 0, 2), np.float64),
        )
        self._coupling = room("coupling", (0 if self._own else distinct,), np.float64)

        def vector(name: str) -> Array:
            return room(name, (variables,), np.float64)

        self._messages = Messages(
            *(room(name, (variables, 2), np.float64) for name in ("forward", "backward", "marginal"))
        )
        self._debuts, self._levels = self._newcomers(piece, room)
        self.of_years = self.margins_of_years(play, piece.year, piece.years, room)
        self._means = vector("means")
        self._residual, self._correction = vector("residual"), vector("correction")
        self._scale, self._gain, self._gain_away = vector("scale"), vector("gain"), vector("gain away")
        self._p, self._ap, self._z, self._az = vector("p"), vector("ap"), vector("z"), vector("az")
        self._from_first, self._from_last = vector("from first"), vector("from last")
        self._beliefs = room("beliefs", (variables, 2), np.float64)
        self._moves = room("moves", (variables, 2), np.float32)
        self._chain_sums = room("chain sums", (int(piece.chain.max(initial=-1)) + 1,), np.float64)
        self._folder = folder
        known = folder is not None and kept_sites(folder, self._number, self.sites)
        if piece.guess is not None and not known:
            self._messages.marginal[:] = piece.guess
            self._guess()

    def margins(self, name: str, *arguments: Any) -> Any:
        """What `YearMargins` of the games do."""
        return getattr(self.of_years, name)(self, *arguments)

    def _newcomers(self, piece: Piece, room: Room) -> tuple[Debuts | None, YearLevels | None]:
        """Those of the slice and the levels of years, if newcomers' mean moves."""
        if not piece.newcomers:
            return None, None
        sd, *elsewhere = piece.newcomers
        _, end = self._ranges[0]
        first, year = newcomers_of(piece.previous[1:end], piece.node_start, piece.year)
        debuts = Debuts(first + np.int32(1), year, piece.years, sd, self.chains, self._messages)
        place = np.repeat(piece.year, np.diff(piece.node_start))
        nodes = slice(1, 1 + len(place))
        return debuts, YearLevels(nodes, place, piece.years, self.chains, debuts, elsewhere, room)

    def debuts(self, name: str, *arguments: Any) -> Any:
        """What `Debuts` of newcomers do."""
        return getattr(self._debuts, name)(*arguments)

    def levels(self) -> tuple[Array, Array | None]:
        """What is known of the levels of years (`YearLevels`)."""
        assert self._levels
        return self._levels.known()

    def begin(self, advantage: float) -> tuple[bool, Array]:
        """Whether there are sites to begin with; what the sites make of messages, to `smooth` with."""
        self.rule = self.rule._replace(advantage=advantage)
        return bool(self.sites.message.any()), self.gathered()

    def half(self, pace: Pace) -> Array:
        """The first half of a sweep; returns what the ends of segments say."""
        for among in self._ranges:
            self._chain_kernels.believe(*among, self._messages.marginal, self._beliefs)
        self._half(0, self._number, self._part, pace)
        forward, backward, marginal = self._messages
        first, last = self._first, self._last
        return np.hstack([marginal[first] - forward[first], marginal[last] - backward[last]])

    def other_half(self, arrived: Array, pace: Pace) -> tuple[int, Array]:
        """The second half; returns how many sites could not be updated, and as `begin`."""
        _, _, marginal = self._messages
        for message, nodes, crosses, new in self._ends(arrived):
            marginal[nodes[crosses]] += new - message[nodes[crosses]]
            message[nodes[crosses]] = new
        skipped = self._half(1, self._number, self._part, pace)
        if self._own and pace is not Pace.PLAIN:
            self._settle_margins()
        return skipped, self.gathered()

    def _ends(self, arrived: Array) -> list[tuple[Array, NDArray[Any], NDArray[Any], Array]]:
        """(messages, nodes, which of these have a neighbour elsewhere, what arrived there) for past and future."""
        forward, backward, _ = self._messages
        return [
            (forward, self._first, self._past, arrived[self._past, :2]),
            (backward, self._last, self._future, arrived[self._future, 2:]),
        ]

    def gathered(self) -> Array:
        """What the sites make of messages."""
        self._gather()
        return self._summary(*self._messages.marginal.T)

    def _summary(self, precision: Array, weighted: Array) -> Array:
        maps = np.empty((len(self._first), 8))
        self._borders.summarise(0, len(self._segment), self._segment, self.chains, precision, weighted, maps)
        return maps

    def smooth(self, arrived: Array) -> None:
        """All messages along the chains, exactly; what arrives counts as sites until all is told."""
        forward, backward, marginal = self._messages
        for _, nodes, crosses, new in self._ends(arrived):
            marginal[nodes[crosses]] += new
        for way in self._elimination:
            self._chain_kernels.eliminate(way, self.chains, forward, marginal)
        for way in self._substitution:
            self._chain_kernels.substitute(way, self.chains, forward, backward, marginal)
        for message, nodes, crosses, new in self._ends(arrived):
            message[nodes[crosses]] = new

    def linearise(self, arrived: Array) -> tuple[float, Array, float, Array]:
        """Smooth and prepare for the joint means.

        Returns the largest move since the sweep began, what the factors make of messages, and sums of diag(L) times
        the variance before games: the largest over a chain, and those of segments.
        """
        self.smooth(arrived)
        marginal, diagonal = self._messages.marginal, self._ap
        moved = max(
            float(self._chain_kernels.largest_move(*among, marginal, self._beliefs)) for among in self._ranges
        )
        self._linearise(diagonal, self._residual)
        self._chain_sums[:] = 0.0
        most = float(self._joint.largest_sum(self._chain, diagonal, self._widest, self._chain_sums))
        sums = self._chain_sums[: len(self._first)].copy()
        return moved, self._summary(diagonal, diagonal), most, sums

    def factor(self, precision: Array) -> None:
        """Factor the chains, given the precisions that arrive."""
        diagonal, filtered = self._ap, self._p
        np.add.at(diagonal, self._first, precision[:, 0])
        np.add.at(diagonal, self._last, precision[:, 1])
        for way in self._elimination:
            self._joint.factor(way, self.chains, diagonal, filtered, self._scale, self._gain, self._gain_away)
        residual = self._residual
        for column, nodes in ((self._from_first, self._first), (self._from_last, self._last)):
            column[:] = 0.0
            column[nodes] = 1.0
            self._residual = column
            self._by_chains(0.0, 0.0)
            column[:] = self._z
        self._residual = residual
        self._correction[:] = 0.0

    def descend(self, beta: float, alpha: float, by: Correction | None) -> Array:
        """Go `alpha` along the next direction, corrected; solve for the chains alone; what leaves segments."""
        self._correct(by)
        self._by_chains(beta, alpha)
        first, last, z = self._first, self._last, self._z
        return np.stack([z[first] / self._from_first[first], z[last] / self._from_last[last]], axis=1)

    def _correct(self, by: Correction | None) -> None:
        if by and self._levels:
            self._levels.correct(by, self._z, self._az)

    def _by_chains(self, beta: float, alpha: float) -> None:
        descent = Descent(self._p, self._ap, self._correction, self._residual)
        for way in self._elimination:
            self._joint.eliminate(way, self._gain, beta, alpha, self._z, self._az, descent)
        for way in self._substitution:
            self._joint.substitute(way, self._gain_away, self._scale, self._z, self._az)

    def ascend(self, arrived: Array) -> tuple[Any, ...]:
        """z = M^-1 r with what arrived, and A z: r^T z and z^T (A - M) z, and the sums of `YearLevels`, if any."""
        rz = self._borders.answer(
            0, len(self._segment), self._segment, self._from_first, self._from_last,
            np.ascontiguousarray(arrived), self._z, self._az,
        )  # fmt: skip
        apart = self._add_couplings(0, self._part.game_end, self._z, self._az)
        sums = self._levels.sums(self._residual, self._z, self._az) if self._levels else ()
        return float(rz), apart, *sums

    def finish(self, beta: float, alpha: float, by: Correction | None, move: bool) -> tuple[float, Array]:
        """The last step to the joint means; `move` there. Returns the largest correction, and as `begin` if moved."""
        self._correct(by)
        correction = self._correction
        self._joint.finish(0, len(correction), beta, alpha, self._z, self._p, correction)
        if not np.isfinite(alpha):  # clear what a further solution multiplies by zero
            for vector in (self._z, self._az, self._p, self._ap):
                vector[:] = 0.0
        if not move:
            return largest(correction), np.empty((0, 8))
        self._move(correction)
        return largest(correction), self.gathered()

    def end(self, arrived: Array | None, least: float, decay: float) -> tuple[float, float]:
        """Smooth if anything moved; the largest move, and what is to come (`Moves`). Raises SetupError."""
        if arrived is not None:
            self.smooth(arrived)
        ends = [
            self._chain_kernels.moves_to_come(
                *among, self._messages.marginal, self._beliefs, self._moves, least, decay
            )
            for among in self._ranges
        ]
        if self._folder:
            keep_sites(self._folder, self._number, self.sites)
        return max(float(moved) for moved, _ in ends), max(float(ahead) for _, ahead in ends)

    def log_evidence(self) -> tuple[float, float]:
        """The shares of log Z, and of the log probability of all games without their own sites."""
        ((total, predicted),) = self._evidence()
        for begin, end in self._ranges:
            inside = Messages(*(rows[begin:end] for rows in self._messages))
            total += self._chain_kernels.chain_evidence(inside)
        return float(total), float(predicted)

    def beliefs(self) -> Array:
        """Mean, sd, and covariance with the node before, (3, quantities, nodes), means from the origin."""
        found = np.zeros((3, len(self._segment)))
        for begin, end in self._ranges:
            self._chain_kernels.smoothed(begin, self.chains, self._messages, *found[:, begin:end])
        crossing = self._first[self._past]
        kept = 1.0 - self.chains.variance[crossing] * self._messages.forward[crossing, 0]
        found[2, crossing] = kept * found[1, crossing] ** 2
        return found.reshape(3, len(self._ranges), -1)[:, :, 1:]

    def write_beliefs(self, into: Shared[Array]) -> None:
        """The same into an array."""
        into.what[:] = self.beliefs()
