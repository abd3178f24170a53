"""Weighted EP, as plainly as it can be written: two sites per single game, plain sweeps to the fixed point, nothing
dropped.

Every belief is an own fit from nothing. Skills are counted from the common prior mean; moments come from scipy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.reference.ttt_ep import tilted


@dataclass(frozen=True)
class Game:
    white: str
    black: str
    year: int
    outcome: int  # White's: 1, 0, -1
    times: float = 1.0  # so many equal games, a whole number or less than one
    lead: float = 0.0  # given to White, points


@dataclass(frozen=True)
class Numbers:
    prior_sd: float
    beta: float
    margin: float
    advantage: float = 0.0
    pull: float = 0.0
    per_year: float = 0.0
    per_game: float = 0.0
    colours: bool = True


def split(games: list[Game]) -> list[Game]:
    """Single games in the place of those that stand for several."""
    single = []
    for game in games:
        copies = max(int(game.times), 1)
        one = Game(game.white, game.black, game.year, game.outcome, game.times / copies, game.lead)
        single += [one] * copies
    return single


def moments(mean: float, var: float, game: Game, numbers: Numbers) -> tuple[float, float]:
    """Mean and variance of the lead of White's performance given the outcome, without advantage and odds."""
    shifts = [game.lead + numbers.advantage]
    if not numbers.colours:
        shifts.append(game.lead - numbers.advantage)
    parts = [(*tilted(mean + shift, var, game.outcome, numbers.margin), shift) for shift in shifts]
    log_z = max(part[2] for part in parts)
    shares = [math.exp(part[2] - log_z) for part in parts]
    shares = [share / sum(shares) for share in shares]
    centre = sum(p * (part[0] - part[3]) for p, part in zip(shares, parts, strict=True))
    square = sum(
        p * (part[1] + (part[0] - part[3]) ** 2) for p, part in zip(shares, parts, strict=True)
    )
    return centre, square - centre**2


class PlainFit:
    """The static fit of all games as they count in a year."""

    def __init__(self, games: list[Game], year: int, numbers: Numbers) -> None:
        self.games, self.numbers = split(games), numbers
        self.players = sorted({name for game in games for name in (game.white, game.black)})
        self.weights = [
            {name: game.times * self.weight(game, name, year) for name in (game.white, game.black)}
            for game in self.games
        ]
        self.sites = [{game.white: (0.0, 0.0), game.black: (0.0, 0.0)} for game in self.games]
        self.level = dict.fromkeys(self.players, 0.0)

    def weight(self, game: Game, player: str, year: int) -> float:
        """What a game counts for one of its players, before it is raised by its own weight."""
        since = sum(
            other.times
            for other in self.games
            if other.year > game.year and player in (other.white, other.black)
        )
        return math.exp(-self.numbers.per_year * (year - game.year) - self.numbers.per_game * since)

    def posterior(self, player: str, without: int | None = None) -> tuple[float, float]:
        """Precision and precision times mean, perhaps without one game."""
        precision = self.numbers.prior_sd**-2
        weighted = precision * self.level.get(player, 0.0)
        for g, (site, weight) in enumerate(zip(self.sites, self.weights, strict=True)):
            if player in site and g != without:
                precision += weight[player] * site[player][0]
                weighted += weight[player] * site[player][1]
        return precision, weighted

    def skill(self, player: str) -> tuple[float, float]:
        """Mean and sd."""
        precision, weighted = self.posterior(player)
        return weighted / precision, precision**-0.5

    def update(self, g: int) -> None:
        """The sites of one game: what the whole game says, given all the rest."""
        game = self.games[g]
        (pw, hw), (pb, hb) = (self.posterior(name, without=g) for name in (game.white, game.black))
        apart, total = hw / pw - hb / pb, 1 / pw + 1 / pb + 2 * self.numbers.beta**2
        centre, spread = moments(apart, total, game, self.numbers)
        for name, p, h, sign in ((game.white, pw, hw, 1), (game.black, pb, hb, -1)):
            mean = h / p + sign * (centre - apart) / (p * total)
            var = 1 / p - (1 - spread / total) / (p * p * total)
            self.sites[g][name] = (1 / var - p, mean / var - h)

    def draw_levels(self) -> None:
        """Prior means from the opponents' means, relative to the mean of these over the players."""
        drawn, heaviness = {}, {}
        for player in self.players:
            theirs = [
                (weight[player], self.skill(game.black if player == game.white else game.white)[0])
                for game, weight in zip(self.games, self.weights, strict=True)
                if player in weight
            ]
            total = sum(weight for weight, _ in theirs)
            drawn[player] = sum(weight * mean for weight, mean in theirs) / total
            heaviness[player] = min(total, 1.0)
        centre = sum(heaviness[p] * drawn[p] for p in self.players) / sum(heaviness.values())
        self.level = {
            player: self.numbers.pull * (drawn[player] - centre) for player in self.players
        }

    def run(self, tol: float = 1e-10, most: int = 20_000) -> PlainFit:
        for _ in range(most):
            before = [self.skill(player) for player in self.players]
            for g in range(len(self.games)):
                self.update(g)
            if self.games and self.numbers.pull:
                self.draw_levels()
            after = [self.skill(player) for player in self.players]
            moves = (
                abs(a - b)
                for x, y in zip(before, after, strict=True)
                for a, b in zip(x, y, strict=True)
            )
            if max(moves, default=0.0) < tol:
                return self
        raise AssertionError("the plain twin did not converge")


def beliefs(
    games: list[Game], numbers: Numbers
) -> dict[tuple[str, int], tuple[float, float, float, float]]:
    """{(player, year): (mean, sd, mean before the year's games, sd before)}."""
    found = {}
    for year in sorted({game.year for game in games}):
        before = PlainFit([game for game in games if game.year < year], year, numbers).run()
        after = PlainFit([game for game in games if game.year <= year], year, numbers).run()
        playing = {name for game in games if game.year == year for name in (game.white, game.black)}
        for player in playing:
            found[player, year] = (*after.skill(player), *before.skill(player))
    return found
