"""Small histories as links, with published figures of their joint posterior or such of an independent dense EP."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from tests.reference.links_dense import Link, performed, walk_covariance

MEAN, SD, BETA, TAU, MARGIN = 1200.0, 400.0, 480.0, 60.0, 250.0


@dataclass
class History:
    """Chains of variables with their years, then performances; links of their games.

    `chains` are names with the years, sd and drift of each; `sums` and `spread` those of performances (`performed`).
    `correlated` are pairs of chains with the covariance of their first variables, whose later steps are independent.
    """

    mean: float = MEAN
    chains: list[tuple[str, list[float], float, float]] = field(default_factory=list)
    means: list[float] = field(default_factory=list)
    sums: list[dict[int, float]] = field(default_factory=list)
    spread: list[float] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    correlated: list[tuple[str, str, float]] = field(default_factory=list)

    def add_chain(
        self, name: str, years: list[float], sd: float = SD, drift: float = TAU, mean: float = MEAN
    ) -> None:
        """A quantity of a player in these years."""
        self.chains.append((name, years, sd, drift))
        self.means.append(mean)

    def number(self, name: str, year: float) -> int:
        """Number of a variable."""
        before = 0
        for chain, years, _, _ in self.chains:
            if chain == name:
                return before + years.index(year)
            before += len(years)
        raise KeyError(name)

    def has(self, name: str, year: float) -> bool:
        """Whether a variable is there."""
        return any(chain == name and year in years for chain, years, _, _ in self.chains)

    @property
    def size(self) -> int:
        """Number of variables with a prior of their own."""
        return sum(len(years) for _, years, _, _ in self.chains)

    def chain_prior(self):
        """Mean and covariance of the variables with a prior of their own."""
        mean = np.concatenate(
            [
                np.full(len(years), of)
                for (_, years, _, _), of in zip(self.chains, self.means, strict=True)
            ]
        )
        covariance = np.zeros((self.size, self.size))
        begin = 0
        part_of = {}
        for name, years, sd, drift in self.chains:
            end = begin + len(years)
            covariance[begin:end, begin:end] = walk_covariance(years, sd, drift)
            part_of[name] = slice(begin, end)
            begin = end
        for first, second, of_both in self.correlated:
            covariance[part_of[first], part_of[second]] = of_both
            covariance[part_of[second], part_of[first]] = of_both
        return mean, covariance

    def prior(self):
        """Mean and covariance of all variables."""
        return performed(*self.chain_prior(), self.sums, self.spread)

    def add_performance(self, members: dict[int, float], noise: float) -> int:
        """A side's performance; its number, once all chains are there."""
        self.sums.append(members)
        self.spread.append(noise)
        return self.size + len(self.sums) - 1


def with_lapses(history: History, lapse: float, draws: float = 0.3) -> History:
    """The history with games of which chance decides a share, and draws of those a share `draws`."""
    for number, link in enumerate(history.links):
        base = draws if link.low == -link.high else 0.5 * (1.0 - draws)
        history.links[number] = replace(link, lapse=lapse, base=base)
    return history


def game(
    coefficients: dict[int, float],
    outcome: float,
    *,
    players: int = 2,
    noise: float | None = None,
    **more,
) -> Link:
    """Win (1), draw (0.5) or loss (0) of the side with positive coefficients, so many players in the game."""
    margin = MARGIN * math.sqrt(players / 2)
    low, high = {1.0: (margin, math.inf), 0.5: (-margin, margin), 0.0: (-math.inf, -margin)}[
        outcome
    ]
    return Link(coefficients, low, high, players * BETA**2 if noise is None else noise, **more)


def against(first: list[int], second: list[int]) -> dict[int, float]:
    """Coefficients of the sum of one side less that of the other."""
    return {**dict.fromkeys(first, 1.0), **dict.fromkeys(second, -1.0)}


def categories() -> History:
    """Two players, classical and rapid, in two years."""
    history = History()
    for name in ("M", "A"):
        history.add_chain(name, [1858, 1861])
    for name in ("M rapid", "A rapid"):
        history.add_chain(name, [1858, 1861], 100.0, 30.0, 0.0)

    def sides(year: float, category: str) -> tuple[list[int], list[int]]:
        return tuple(
            [
                history.number(name + part, year)
                for part in ("", " rapid")[: 1 + (category == "rapid")]
            ]
            for name in ("M", "A")
        )  # type: ignore[return-value]

    for year, category, outcome, times in (
        (1858, "classical", 1.0, 2), (1858, "rapid", 0.0, 2), (1861, "rapid", 0.5, 1), (1861, "classical", 1.0, 1),
    ):  # fmt: skip
        history.links += [game(against(*sides(year, category)), outcome)] * times
    return history


def teams() -> History:
    """Sides of one and two players, in two years."""
    history = History()
    for name in "ABCM":
        history.add_chain(name, [1900, 1902])
    at = history.number
    history.links = [
        game(
            against([at("M", 1900), at("A", 1900)], [at("B", 1900), at("C", 1900)]), 1.0, players=4
        ),
        game(against([at("M", 1900)], [at("B", 1900)]), 0.0),
        game(
            against([at("A", 1902), at("B", 1902)], [at("M", 1902), at("C", 1902)]), 0.5, players=4
        ),
        game(against([at("C", 1902)], [at("A", 1902)]), 1.0),
    ]
    return history


def sides() -> History:
    """Orders of finish of three and four sides, with a tie and a team."""
    history = History()
    for name, years in (
        ("M", [1900, 1901, 1903]),
        ("A", [1900, 1901, 1903]),
        ("B", [1900, 1901, 1903]),
        ("C", [1900, 1903]),
    ):
        history.add_chain(name, years)
    races = (
        (1900, [["M"], ["A"], ["B"], ["C"]], [1.0, 1.0, 1.0]),
        (1901, [["A"], ["B"], ["M"]], [0.5, 1.0]),
        (1903, [["C", "M"], ["A"], ["B"]], [1.0, 1.0]),
    )
    for year, order, outcomes in races:
        members = [[history.number(name, year) for name in names] for names in order]
        performance = [
            history.add_performance(dict.fromkeys(of, 1.0), len(of) * BETA**2) for of in members
        ]
        for place, outcome in enumerate(outcomes):
            players = len(members[place]) + len(members[place + 1])
            coefficients = against([performance[place]], [performance[place + 1]])
            history.links.append(game(coefficients, outcome, players=players, noise=0.0))
    return history


def newcomers() -> History:
    """Three newcomers of the original TrueSkill who finish one after the other."""
    history = History()
    beta = 25.0 / 6.0
    for name in ("first", "second", "third"):
        history.add_chain(name, [0.0], math.hypot(25.0 / 3.0, 25.0 / 300.0), 0.0, 25.0)
    margin = NormalDist().inv_cdf(0.55) * math.sqrt(2.0) * beta
    performance = [history.add_performance({player: 1.0}, beta**2) for player in range(3)]
    history.links = [
        Link(against([performance[place]], [performance[place + 1]]), margin, math.inf, 0.0)
        for place in range(2)
    ]
    return history


CUTS = [-math.inf, -600.0, -MARGIN, -50.0, 50.0, MARGIN, 600.0, math.inf]  # of margins of victory


def random_history(
    seed: int, links: int = 12, weights: tuple[float, ...] = (0.5, 1.0, 1.0, 2.0, 5.0)
) -> History:
    """Players in several years, two categories, teams, races, handicaps, margins of victory and weights."""
    rng = np.random.default_rng(seed)
    history = History()
    years = [1900, 1901, 1904]
    for name in "abcde":
        played = sorted(rng.choice(years, rng.integers(1, 4), replace=False).tolist())
        history.add_chain(name, played, drift=float(rng.choice([30.0, 90.0])))
    for name, played, _, _ in history.chains[:]:
        for category in ("blitz", "rapid"):
            if rng.random() < 0.6:
                history.add_chain(
                    f"{name} {category}", played[: rng.integers(1, 3)], 100.0, 30.0, 0.0
                )
    names = {(name, year) for name, played, _, _ in history.chains for year in played}
    for _ in range(links):
        year = int(rng.choice(years))
        present = [name for name in "abcde" if (name, year) in names]
        if len(present) < 2:
            continue
        if len(present) > 2 and rng.random() < 0.25:
            _add_race(history, rng, year, present)
        else:
            _add_game(history, rng, year, present, names, weights)
    return history


def _add_race(history: History, rng: np.random.Generator, year: int, present: list[str]) -> None:
    order = rng.permutation(present)[: rng.integers(2, len(present) + 1)]
    sides = [[history.number(name, year)] for name in order]
    if len(sides) > 2 and rng.random() < 0.5:
        sides[0] += sides.pop()
    performance = [
        history.add_performance(dict.fromkeys(of, 1.0), len(of) * BETA**2) for of in sides
    ]
    for place in range(len(sides) - 1):
        players = len(sides[place]) + len(sides[place + 1])
        coefficients = against([performance[place]], [performance[place + 1]])
        history.links.append(
            game(coefficients, float(rng.choice([1.0, 0.5])), players=players, noise=0.0)
        )


def _add_game(history, rng, year, present, names, weights) -> None:  # type: ignore[no-untyped-def]
    chosen = list(rng.permutation(present))
    size = int(rng.integers(1, len(chosen)))
    first, second = chosen[:size], chosen[size:]
    category = str(rng.choice(["", " blitz", " rapid"]))
    coefficients: dict[int, float] = {}
    for members, sign in ((first, 1.0), (second, -1.0)):
        share = sign / len(members) if rng.random() < 0.3 else sign
        for name in members:
            for part in {"", category}:
                if (name + part, year) in names:
                    coefficients[history.number(name + part, year)] = share
    cut = int(rng.integers(len(CUTS) - 1))
    history.links.append(
        Link(
            coefficients, CUTS[cut], CUTS[cut + 1], len(chosen) * BETA**2,
            offset=float(rng.choice([0.0, 35.0, rng.normal(0.0, 80.0)])),
            weight=float(rng.choice(weights)),
        )
    )  # fmt: skip


FIGURES = {
    "categories": (
        categories, -6.9305438,
        {("M", 1858): (1272.88489, 317.93259), ("A rapid", 1858): (35.63797, 98.55991)},
    ),
    "teams": (
        teams, -5.0294498,
        {("M", 1900): (1160.71056, 345.48160), ("A", 1902): (1155.66946, 352.53501), ("C", 1902): (1244.33054, None)},
    ),
    "sides": (
        sides, -9.2423100,
        {
            ("M", 1900): (1417.21600, 311.86699), ("A", 1901): (1428.44627, 303.97303),
            ("B", 1903): (1132.98705, 313.41982), ("C", 1903): (941.94151, 347.49013),
        },
    ),
    "newcomers": (
        newcomers, None,
        {("first", 0.0): (31.675, 6.656), ("second", 0.0): (25.000, 6.208), ("third", 0.0): (18.325, 6.656)},
    ),
}  # fmt: skip
