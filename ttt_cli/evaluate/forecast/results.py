"""What a comparison says: every system's scores over the same games, beside the best system's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ttt_cli.evaluate.forecast.compare import Comparison, Entry
from ttt_cli.evaluate.forecast.grouping import By, CalibrationBin, calibration, groups
from ttt_cli.evaluate.forecast.paired import PairedDifference, paired_difference
from ttt_cli.evaluate.forecast.scores import GameScores, score_games


@dataclass(frozen=True)
class Standing:
    """A system's scores over some of the games.

    `games` weighted; `log_loss` (minus the log probability of what happened, nats), `brier` and `accuracy` are means
    over them; `behind` is the mean difference of the log-loss from the best system's, None for the best itself.
    """

    entry: Entry
    games: float
    log_loss: float
    brier: float
    accuracy: float
    behind: PairedDifference | None


@dataclass(frozen=True)
class Standings:
    """The systems of a comparison, the one with the least log-loss over all scored games first."""

    comparison: Comparison

    def overall(self) -> list[Standing]:
        """The scores over all games, in order."""
        return self._over(np.ones(len(self._weight), np.bool_))

    def by(self, by: By) -> list[tuple[str, list[Standing]]]:
        """The scores over the games of each group, with its name; the best is still that over all games."""
        found = groups(self.comparison.timeline, self.comparison.first, by)
        return [(group.name, self._over(group.member)) for group in found]

    def calibration(self) -> list[tuple[Entry, list[CalibrationBin]]]:
        """Expected scores beside the scores made, system by system in order."""
        outcome = self.comparison.timeline.outcome[self.comparison.scored]
        return [
            (entry, calibration(entry.probabilities, outcome, self._weight)) for entry, _ in self._ordered
        ]

    @property
    def _weight(self) -> NDArray[np.float64]:
        return self.comparison.timeline.weight[self.comparison.scored]

    @cached_property
    def _players(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        timeline, scored = self.comparison.timeline, self.comparison.scored
        return (
            timeline.node_player[timeline.game_white[scored]],
            timeline.node_player[timeline.game_black[scored]],
        )

    @cached_property
    def _ordered(self) -> list[tuple[Entry, GameScores]]:
        outcome = self.comparison.timeline.outcome[self.comparison.scored]
        found = [(entry, score_games(entry.probabilities, outcome)) for entry in self.comparison.entries]
        return sorted(found, key=lambda pair: float(self._weight @ pair[1].loss))

    def _over(self, member: NDArray[np.bool_]) -> list[Standing]:
        weight = self._weight[member]
        white, black = (players[member] for players in self._players)
        games = float(weight.sum())
        _, best = self._ordered[0]
        standings = []
        for entry, scores in self._ordered:
            with np.errstate(invalid="ignore"):
                difference = scores.loss[member] - best.loss[member]
            standings.append(
                Standing(
                    entry=entry,
                    games=games,
                    log_loss=float(weight @ scores.loss[member]) / games,
                    brier=float(weight @ scores.brier[member]) / games,
                    accuracy=float(weight @ scores.hit[member]) / games,
                    behind=None if scores is best else paired_difference(difference, weight, white, black),
                )
            )
        return standings
