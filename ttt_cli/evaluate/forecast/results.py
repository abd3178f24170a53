"""What a comparison says: every system's scores over the same games, beside the best system's.

How sure differences of scores are when players recur in many games: what a system misjudges about a player, it
misjudges in all his games, so that two games count as dependent when they share a player (dyadic clustering:
M. Fafchamps, F. Gubert, The formation of risk sharing networks, J. Dev. Econ. 83, 2007).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import numpy as np

from ttt_cli.arrays import Array, Ids, Mask
from ttt_cli.evaluate.forecast.calibration import CalibrationBin, expected_scores
from ttt_cli.evaluate.forecast.compare import Comparison, Entry
from ttt_cli.evaluate.forecast.scores import GameScores, score_games
from ttt_cli.timeline import Timeline

By = Literal["decade", "experience"]

EXPERIENCE: Final = (0, 1, 10, 30, 100)  # where the groups begin, earlier games


@dataclass(frozen=True)
class PairedDifference:
    """A weighted mean over games and its standard error; NaN where it has none."""

    mean: float
    standard_error: float


def paired_difference(difference: Array, weight: Array, white: Ids, black: Ids) -> PairedDifference:
    """The mean of differences per game, shape (games,), between the players `white` and `black`; games > 0.

    The variance of the sum is that of all pairs of games with a common player: over players, the square of the sum
    of deviations, less over pairs of players that of theirs, counted twice; at least that of independent games.
    """
    total = float(weight.sum())
    mean = float(weight @ difference) / total
    if not math.isfinite(mean):
        return PairedDifference(mean, math.nan)
    deviation = weight * (difference - mean)
    variance = max(_shared(deviation, white, black), float(deviation @ deviation))
    return PairedDifference(mean, math.sqrt(variance) / total if len(deviation) > 1 else math.nan)


def _shared(deviation: Array, white: Ids, black: Ids) -> float:
    """The sum of products of deviations over all pairs of games that share a player."""
    players = int(max(white.max(), black.max())) + 1
    of_player = np.bincount(white, deviation, players) + np.bincount(black, deviation, players)
    pair = np.minimum(white, black).astype(np.int64) * players + np.maximum(white, black)
    _, position = np.unique(pair, return_inverse=True)
    of_pair = np.bincount(position, deviation)
    return float(of_player @ of_player - of_pair @ of_pair)


@dataclass(frozen=True)
class SystemScores:
    """A system's weighted mean scores, log-loss in nats; `difference`: of that from the best's, None for the best."""

    entry: Entry
    games: float
    log_loss: float
    brier: float
    accuracy: float
    difference: PairedDifference | None


@dataclass(frozen=True)
class Results:
    """The systems of a comparison, the one with the least log-loss over all scored games first."""

    comparison: Comparison

    def overall(self) -> list[SystemScores]:
        """The scores over all games, in order."""
        return self._over(np.ones(len(self._weight), np.bool_))

    def by(self, by: By) -> list[tuple[str, list[SystemScores]]]:
        """The scores over the games of each group, with its name; the best is still that over all games."""
        found = groups(self.comparison.timeline, self.comparison.first, by)
        return [(group.name, self._over(group.member)) for group in found]

    def calibration(self) -> list[tuple[Entry, tuple[CalibrationBin, ...]]]:
        """Expected scores beside the scores made, system by system in order."""
        outcome = self.comparison.timeline.outcome[self.comparison.scored]
        return [
            (entry, expected_scores(entry.probabilities, outcome, self._weight)) for entry, _ in self._ordered
        ]

    @property
    def _weight(self) -> Array:
        return self.comparison.timeline.weight[self.comparison.scored]

    @cached_property
    def _players(self) -> tuple[Ids, Ids]:
        timeline, scored = self.comparison.timeline, self.comparison.scored
        white, black = timeline.game_white[scored], timeline.game_black[scored]
        return timeline.node_player[white], timeline.node_player[black]

    @cached_property
    def _ordered(self) -> list[tuple[Entry, GameScores]]:
        outcome = self.comparison.timeline.outcome[self.comparison.scored]
        found = [(entry, score_games(entry.probabilities, outcome)) for entry in self.comparison.entries]
        return sorted(found, key=lambda pair: float(self._weight @ pair[1].loss))

    def _over(self, member: Mask) -> list[SystemScores]:
        weight = self._weight[member]
        white, black = (players[member] for players in self._players)
        games = float(weight.sum())
        _, best = self._ordered[0]

        def beside(scores: GameScores) -> PairedDifference | None:
            with np.errstate(invalid="ignore"):
                difference = scores.loss[member] - best.loss[member]
            return None if scores is best else paired_difference(difference, weight, white, black)

        return [
            SystemScores(
                entry=entry,
                games=games,
                log_loss=float(weight @ scores.loss[member]) / games,
                brier=float(weight @ scores.brier[member]) / games,
                accuracy=float(weight @ scores.hit[member]) / games,
                difference=beside(scores),
            )
            for entry, scores in self._ordered
        ]


@dataclass(frozen=True)
class Group:
    """Some of the scored games: a name and which they are, of shape (scored games,)."""

    name: str
    member: Mask


def groups(timeline: Timeline, first: int, by: By) -> list[Group]:
    """The games from the period at index `first` on in groups, empty ones left out."""
    found = _decades(timeline, first) if by == "decade" else _experience(timeline, first)
    return [group for group in found if group.member.any()]


def earlier_games(timeline: Timeline) -> Array:
    """The weighted number of games that a node's player has in earlier periods, shape (nodes,)."""
    order = np.argsort(timeline.node_player, kind="stable")
    player, games = timeline.node_player[order], timeline.node_games[order]
    before = np.cumsum(games) - games
    starts = np.flatnonzero(np.diff(player, prepend=-1))
    earlier = np.empty(len(order))
    earlier[order] = before - np.repeat(before[starts], np.diff(starts, append=len(order)))
    return earlier


def _decades(timeline: Timeline, first: int) -> list[Group]:
    years = [int(timeline.label(number)[:4]) for number in timeline.periods[first:].tolist()]
    decade = np.repeat(np.array(years) // 10 * 10, np.diff(timeline.game_start[first:]))
    return [Group(f"{start}s", decade == start) for start in np.unique(decade).tolist()]


def _experience(timeline: Timeline, first: int) -> list[Group]:
    scored = slice(int(timeline.game_start[first]), None)
    earlier = earlier_games(timeline)
    least = np.minimum(earlier[timeline.game_white[scored]], earlier[timeline.game_black[scored]])
    ends = (*EXPERIENCE[1:], None)
    return [
        Group(_span(low, high), (least >= low) & (least < (np.inf if high is None else high)))
        for low, high in zip(EXPERIENCE, ends, strict=True)
    ]


def _span(low: int, high: int | None) -> str:
    if high is None:
        return f"{low}+"
    return str(low) if high == low + 1 else f"{low}-{high - 1}"
