"""Scores of the systems of a comparison, with standard errors of their differences.

A system that misjudges a player does so in all of the player's games, so two games are dependent when they share a
player (dyadic clustering: M. Fafchamps, F. Gubert, The formation of risk sharing networks, J. Dev. Econ. 83, 2007).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import numpy as np

from ttt_cli.evaluate.compare import Comparison, SystemResult
from ttt_cli.evaluate.forecast import CalibrationBin, GameScores, expected_scores, score_games
from ttt_cli.inference.filters import games_so_far
from ttt_cli.support.arrays import Array, Ids, Mask
from ttt_cli.timeline import Timeline

By = Literal["decade", "experience"]

EXPERIENCE: Final = (0, 1, 10, 30, 100)  # where the groups begin, earlier games


class PairedDifference(NamedTuple):
    """Weighted mean difference and its standard error; NaN where undefined."""

    mean: float
    standard_error: float


def paired_difference(difference: Array, weight: Array, white: Ids, black: Ids) -> PairedDifference:
    """Mean of differences per game, shape (games,), games > 0, clustered by the players `white` and `black`.

    The variance of the sum adds all pairs of games with a common player: over players, the square of the sum of
    deviations, minus that over pairs of players, which is counted twice; at least that of independent games.
    """
    total = float(weight.sum())
    mean = float(weight @ difference) / total
    if not math.isfinite(mean):
        return PairedDifference(mean, math.nan)
    deviation = weight * (difference - mean)
    variance = max(_shared(deviation, white, black), float(deviation @ deviation))
    return PairedDifference(mean, math.sqrt(variance) / total if len(deviation) > 1 else math.nan)


def _shared(deviation: Array, white: Ids, black: Ids) -> float:
    """Sum of products of deviations over all pairs of games that share a player."""
    players = int(max(white.max(), black.max())) + 1
    of_player = np.bincount(white, deviation, players) + np.bincount(black, deviation, players)
    pair = np.minimum(white, black).astype(np.int64) * players + np.maximum(white, black)
    _, position = np.unique(pair, return_inverse=True)
    of_pair = np.bincount(position, deviation)
    return float(of_player @ of_player - of_pair @ of_pair)


@dataclass(frozen=True)
class SystemScores:
    """Weighted mean scores of a system, log-loss in nats. `difference` from the best system; None for the best."""

    entry: SystemResult
    games: float
    log_loss: float
    brier: float
    accuracy: float
    difference: PairedDifference | None


@dataclass(frozen=True)
class Results:
    """Scores of a comparison; the system with the least log-loss over all games is first."""

    comparison: Comparison

    def overall(self) -> list[SystemScores]:
        """Scores over all games."""
        return self._over(np.ones(len(self._weight), np.bool_))

    def by(self, by: By) -> list[tuple[str, list[SystemScores]]]:
        """Scores by group; the best system is that over all games."""
        found = groups(self.comparison.timeline, self.comparison.first, by)
        return [(group.name, self._over(group.member)) for group in found]

    def calibration(self) -> list[tuple[SystemResult, tuple[CalibrationBin, ...]]]:
        """Expected and actual scores in bins, by system."""
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
    def _ordered(self) -> list[tuple[SystemResult, GameScores]]:
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


class GameGroup(NamedTuple):
    """A named group of scored games; `member`, shape (scored games,)."""

    name: str
    member: Mask


def groups(timeline: Timeline, first: int, by: By) -> list[GameGroup]:
    """Games from the period at index `first` on by decade or experience, without empty groups."""
    if by == "decade":
        years = [int(timeline.label(number)[:4]) for number in timeline.periods[first:].tolist()]
        decade = np.repeat(np.array(years) // 10 * 10, np.diff(timeline.game_start[first:]))
        return [GameGroup(f"{start}s", decade == start) for start in np.unique(decade).tolist()]
    scored, earlier = slice(int(timeline.game_start[first]), None), earlier_games(timeline)
    least = np.minimum(earlier[timeline.game_white[scored]], earlier[timeline.game_black[scored]])
    found = []
    for low, high in pairwise((*EXPERIENCE, math.inf)):
        name = f"{low}+" if high == math.inf else str(low) if high == low + 1 else f"{low}-{high - 1}"
        found.append(GameGroup(name, (least >= low) & (least < high)))
    return [group for group in found if group.member.any()]


def earlier_games(timeline: Timeline) -> Array:
    """Weighted number of the player's games in earlier periods, shape (nodes,)."""
    return np.asarray(games_so_far(timeline, timeline.node_games) - timeline.node_games)
