"""Cutting a timeline into slices of time, each with nothing but its own nodes and games."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.inference.ep.apart.borders import Borders
from ttt_cli.inference.ep.merged import merge_games
from ttt_cli.inference.prior import Prior
from ttt_cli.kernels.ep.structures import Chains, Games
from ttt_cli.timeline import Timeline

ELSEWHERE: Final = -2  # a neighbour in another slice


@dataclass(frozen=True)
class Play:
    """How differences become outcomes, as `Rule` has it, for any slice; `unit`: points in an Elo point."""

    noise: float
    margin: float
    advantage: float
    unit: float


@dataclass(frozen=True)
class Piece:
    """A slice of time with its own numbers of nodes, 0 to n - 1.

    | name | shape | unit | |
    |---|---|---|---|
    | number | | | of the slice, in the order of time |
    | games, handicap | | | as `MergedGames` has them |
    | node_start | (periods + 1,) | | where the nodes of each period begin |
    | previous, following | (n,) | | neighbours in the player's chain, -1 at its ends, `ELSEWHERE` in other slices |
    | mean, variance | (n,) | points, points^2 | of the step from the node before, as `Chains` have it |
    | widest | (n,) | points^2 | how uncertain each node is before a game is seen |
    | segment | (n,) | | the player; those with nodes in other slices come first |
    | first, last | (segments,) | | nodes of each of these, whose neighbours are elsewhere |
    | guess | (n, 2) | | what is believed to begin with, as messages; None: nothing |
    """

    number: int
    games: Games
    handicap: Array
    node_start: Places
    previous: Ids
    following: Ids
    mean: Array
    variance: Array
    widest: Array
    segment: Ids
    first: Ids
    last: Ids
    guess: Array | None = None


class Cutter:
    """Makes the pieces of a timeline one after the other, and then knows the `borders` between them.

    `cuts`: the periods at which slices begin, and the end of the last. `guess` (nodes, 2) as a piece has it.
    """

    def __init__(
        self, timeline: Timeline, cuts: Places, prior: Prior, *, colours: bool, guess: Array | None = None
    ) -> None:
        self._timeline, self._cuts, self._colours, self._guess = timeline, cuts.tolist(), colours, guess
        self._mean, self._variance = prior.steps()
        self._widest = _before_games(timeline, self._variance)
        self.widest = float(np.sqrt(self._widest.max(initial=0.0)))
        self._found: list[tuple[Ids, Array, Array]] = []

    def __len__(self) -> int:
        return len(self._cuts) - 1

    @property
    def borders(self) -> Borders:
        """Between the pieces made so far."""
        before, mean, variance = (np.concatenate(column) for column in zip(*self._found, strict=True))
        sizes = [len(of) for of, *_ in self._found]
        return Borders(np.cumsum([0, *sizes]).astype(np.int32), before, mean, variance)

    def __iter__(self) -> Iterator[Piece]:
        self._found = []
        latest = np.full(len(self._timeline.players), -1, np.int32)  # the segment of each player
        segments = 0
        for number in range(len(self)):
            piece, players = self._piece(number)
            earlier = piece.previous[piece.first] == ELSEWHERE
            before = np.where(earlier, latest[players], -1)
            latest[players] = segments + np.arange(len(players), dtype=np.int32)
            segments += len(players)
            self._found.append((before, piece.mean[piece.first], piece.variance[piece.first]))
            yield piece

    def __getitem__(self, number: int) -> Piece:
        return self._piece(number)[0]

    def _piece(self, number: int) -> tuple[Piece, Ids]:
        """A piece, and the players of its segments."""
        timeline, begin, end = self._timeline, self._cuts[number], self._cuts[number + 1]
        first, last = (int(timeline.node_start[period]) for period in (begin, end))
        nodes = slice(first, last)
        previous, following = timeline.previous[nodes], timeline.next[nodes]
        head, tail = (previous >= 0) & (previous < first), following >= last
        previous, following = (
            np.where(away, ELSEWHERE, np.where(links < 0, -1, links - first)).astype(np.int32)
            for away, links in ((head, previous), (tail, following))
        )
        players, place = np.unique(timeline.node_player[nodes], return_inverse=True)
        crossing = np.zeros(len(players), np.bool_)
        crossing[place[head | tail]] = True
        order = np.argsort(~crossing, kind="stable")
        rank = np.empty(len(players), np.int32)
        rank[order] = np.arange(len(players), dtype=np.int32)
        segment = rank[place]
        segments = int(crossing.sum())

        def ends(links: Ids) -> Ids:
            """The nodes of segments without such a neighbour here."""
            found = np.flatnonzero(links < 0)
            return found[np.argsort(segment[found])][:segments].astype(np.int32)

        merged = merge_games(_between(timeline, begin, end), colours=self._colours)
        piece = Piece(
            number,
            merged.games,
            merged.handicap,
            timeline.node_start[begin : end + 1] - first,
            previous,
            following,
            self._mean[nodes].copy(),
            self._variance[nodes].copy(),
            self._widest[nodes].copy(),
            segment,
            ends(previous),
            ends(following),
            None if self._guess is None else self._guess[nodes].copy(),
        )
        return piece, players[order][:segments].astype(np.int32)


def _between(timeline: Timeline, begin: int, end: int) -> Timeline:
    """The games of some periods, with numbers of nodes from 0 on; of the nodes nothing but where periods begin."""
    node = int(timeline.node_start[begin])
    games = slice(int(timeline.game_start[begin]), int(timeline.game_start[end]))
    return replace(
        timeline,
        periods=timeline.periods[begin:end],
        node_start=timeline.node_start[begin : end + 1] - node,
        game_start=timeline.game_start[begin : end + 1] - games.start,
        game_white=timeline.game_white[games] - np.int32(node),
        game_black=timeline.game_black[games] - np.int32(node),
        outcome=timeline.outcome[games],
        weight=timeline.weight[games],
        offset=timeline.offset[games],
    )


def _before_games(timeline: Timeline, variance: Array) -> Array:
    """How uncertain each node is before a game is seen, points squared."""
    from ttt_cli.kernels.ep.joint_means import before_games

    chains = Chains(
        timeline.node_start.copy(), timeline.previous.copy(), timeline.next.copy(), variance, variance
    )
    found = np.empty(len(variance))
    before_games(chains, np.empty(len(variance), np.int32), found)
    return found
