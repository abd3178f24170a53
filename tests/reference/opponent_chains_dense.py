"""Chains of opponents from the definition: weights of games by moving what each shows, chains by recursion.

The weight of a game in the mean of a difference of skills is by how much that mean changes if the game shows one
point more; the weight of what is assumed of a newcomer is by how much it changes if that is one point more.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tests.reference.link_histories import History, against, game
from tests.reference.links_dense import JointTwin


class ChainsTwin:
    """Rows (year, white, black, outcome 0 to 2) of players with walks of sd and drift as in `link_histories`."""

    def __init__(self, rows) -> None:
        self.rows = rows
        self.history = History()
        years = defaultdict(set)
        for year, white, black, _ in rows:
            years[white].add(year)
            years[black].add(year)
        self.years = {player: sorted(played) for player, played in sorted(years.items())}
        for player, played in self.years.items():
            self.history.add_chain(player, played)
        at = self.history.number
        self.history.links = [
            game(against([at(white, year)], [at(black, year)]), outcome / 2.0)
            for year, white, black, outcome in rows
        ]
        self.twin = JointTwin(*self.history.prior(), self.history.links).run()

    def mean_of(self, weights) -> float:
        """The mean of a sum of skills."""
        return float(weights @ self.twin.gaussian()[0])

    def game_weights(self, weights) -> list[float]:
        """The weight of each game in the mean of a sum of skills."""
        before = self.mean_of(weights)
        changes = []
        for number, q in enumerate(self.twin.q):
            self.twin.h[number] += q
            changes.append(self.mean_of(weights) - before)
            self.twin.h[number] -= q
        return changes

    def newcomer_weights(self, weights) -> dict[str, float]:
        """The weight of what is assumed of each player."""
        before = self.mean_of(weights)
        changes = {}
        for player, played in self.years.items():
            moved = self.twin.prior_mean.copy()
            for year in played:
                self.twin.prior_mean[self.history.number(player, year)] += 1.0
            changes[player] = self.mean_of(weights) - before
            self.twin.prior_mean = moved
        return changes

    def largest_covariance(self, weights) -> dict[str, float]:
        """The largest covariance of a player's skills with a sum of skills."""
        covariance = self.twin.gaussian()[1] @ weights
        return {
            player: max(covariance[self.history.number(player, year)] for year in played)
            for player, played in self.years.items()
        }

    def chains(self, player, weights, ends, field, least=1e-3):
        """{(players, end): share} of the chains from a player with a share of `least` or more.

        `ends`: players at whom chains end. `field`: shares (positive) of those who are compared with.
        """
        passed = defaultdict(float)
        for (_, white, black, _), weight in zip(self.rows, self.game_weights(weights), strict=True):
            passed[white, black] += weight
            passed[black, white] -= weight
        newcomer = self.newcomer_weights(weights)
        chains = {}

        def follow(players, share):
            last = players[-1]
            if last in ends and len(players) > 1:
                chains[players, "field"] = share
                return
            leaving = {
                other: passed[last, other] for other in self.years if passed[last, other] > 0.0
            }
            out = {"field": field.get(last, 0.0), "newcomer": max(newcomer[last], 0.0)}
            total = sum(leaving.values()) + sum(out.values())
            for end, part in out.items():
                if share * part / total >= least:
                    chains[players, end] = share * part / total
            for other, part in leaving.items():
                if other not in players and share * part / total >= least:
                    follow((*players, other), share * part / total)

        follow((player,), 1.0)
        return chains


def weights_of(twin: ChainsTwin, player, year, others) -> np.ndarray:
    """The skill of a player in a year minus the mean of those of `others`, (player, year) pairs."""
    weights = np.zeros(twin.history.size)
    weights[twin.history.number(player, year)] += 1.0
    for other, other_year in others:
        weights[twin.history.number(other, other_year)] -= 1.0 / len(others)
    return weights
