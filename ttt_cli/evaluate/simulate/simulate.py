"""Artificial histories with known skills, drawn from the model itself, for calibration and benchmarks."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.errors import ConfigError
from ttt_cli.games.table import DRAW, LOSS, PRECISION_DAY, PRECISION_YEAR, WIN, Games
from ttt_cli.inference.draws import margin_for
from ttt_cli.progress import SILENT, Progress
from ttt_cli.reading.values.dates import YEARS

Dates = Literal["year", "day"]

_BLOCK: Final = 1 << 20  # games drawn at a time: bounds the memory of one step
_ACTIVITY: Final = 1.0  # sd of the logarithm of how often a player plays


def _key(default: Any, description: str, low: float = -math.inf, high: float = math.inf) -> Any:
    """A field of the plan with its bounds."""
    return field(default=default, metadata={"description": description, "low": low, "high": high})


@dataclass(frozen=True)
class Plan:
    """What to simulate. Points and years.

    Time: `years` calendar years from `first_year`. The games of year t (0, 1, ...) and the players who enter
    in it are proportional to exp(`growth` * t): with 0.05 most games of a long history (63 %) fall in its
    last 20 years. A career is a run of whole years with a geometric length of mean `career_years`, cut at the
    end of the history; the first two players enter in the first year.

    Skills: N(`prior_mean`, `prior_sd`^2) in a player's first year, then a random walk with sd `tau` per
    square root of a year; a skill is constant within a calendar year.

    Games: the difference of performances is N(s_white - s_black + `white_advantage`, 2 `beta`^2); one beyond
    `draw_margin` wins, else the game is drawn. When `draw_margin` is None it follows from `draw_probability`,
    the chance of a draw between equals.

    Who meets whom depends on the calendar, a lasting cluster (one of `clusters` regions, drawn for each player
    at random) and a lasting activity (log-normal), and on nothing else. Both opponents come from one
    cluster, but a share `mixing` of the games, and those of somebody alone in the cluster, are against anyone
    active. Pairing by skill would be more like life and is avoided on purpose: it would carry knowledge of
    skills that the games do not show, and a likelihood that takes the pairings as given would be wrong.

    Raises ConfigError when a number is out of its bounds.
    """

    players: int = _key(2000, "Number of players.", 2, 2**31 - 1)
    years: int = _key(100, "Length of the history.", 1)
    games: int = _key(100_000, "Number of games.", 1)
    first_year: int = _key(1850, "Where the history begins.", *YEARS)
    prior_mean: float = _key(1200.0, "Mean skill at first, points.")
    prior_sd: float = _key(400.0, "Its sd among players, points.", 0)
    beta: float = _key(480.0, "Sd of one performance, points.", 1e-6)
    tau: float = _key(60.0, "Sd of the change in a year, points.", 0)
    draw_margin: float | None = _key(
        None, "Performances that differ by no more draw, points; else by the next.", 0
    )
    draw_probability: float = _key(0.303, "Chance between equals.", 0, 0.999999)
    white_advantage: float = _key(0.0, "Added to White's performance, points.")
    growth: float = _key(0.05, "Of games and players, per year.")
    career_years: float = _key(8.0, "Mean length of a career.", 1)
    clusters: int = _key(20, "Groups who mostly meet each other.", 1)
    mixing: float = _key(0.1, "Share of games against anyone.", 0, 1)
    dates: Dates = _key("year", "Given out.")  # noqa: RUF009
    seed: int = _key(0, "Equal seeds give equal histories.", 0)

    def __post_init__(self) -> None:
        for one in fields(self):
            value, low, high = getattr(self, one.name), one.metadata["low"], one.metadata["high"]
            if isinstance(value, int | float) and not (math.isfinite(value) and low <= value <= high):
                raise ConfigError(f"{one.name} is {value}", hint=_hint(low, high))
        if self.first_year + self.years - 1 > YEARS[1]:
            raise ConfigError(
                f"the history ends after the year {YEARS[1]}", hint="begin earlier, or take fewer years"
            )
        if self.dates not in get_args(Dates):
            raise ConfigError(f"dates is {self.dates!r}", hint=f"give {' or '.join(get_args(Dates))}")

    @cached_property
    def margin(self) -> float:
        """The draw margin in points."""
        given = self.draw_margin
        return margin_for(self.draw_probability, self.beta) if given is None else given


def _hint(low: float, high: float) -> str:
    if math.isinf(low):
        return "give a finite number"
    return f"give {low:g} or more" if math.isinf(high) else f"give a number from {low:g} to {high:g}"


@dataclass(frozen=True)
class Simulated:
    """An artificial history.

    Per game, in time order: `date` (days since 1970-01-01; the middle of the year when only years are given
    out), `white`, `black` (players from 0), `outcome` (White's: 0 loss, 1 draw, 2 win).
    Per player and year of the career, by player, then year, the truth: `player`, `year`, `skill` (points).
    """

    plan: Plan
    date: Ids
    white: Ids
    black: Ids
    outcome: NDArray[np.int8]
    player: Ids
    year: Ids
    skill: Array

    @property
    def name_width(self) -> int:
        """Digits of the number in a player's name."""
        return max(6, len(str(self.plan.players)))

    @cached_property
    def players(self) -> tuple[str, ...]:
        """Names, sorted: Player 000001 and on."""
        return tuple(f"Player {number:0{self.name_width}d}" for number in range(1, self.plan.players + 1))

    def games(self) -> Games:
        """The games as every reader gives them."""
        n = len(self.date)
        precision = PRECISION_DAY if self.plan.dates == "day" else PRECISION_YEAR
        return Games(
            date=self.date,
            date_precision=np.full(n, precision, np.int8),
            white=self.white,
            black=self.black,
            outcome=self.outcome,
            weight=np.ones(n),
            offset=np.zeros(n),
            source_file=np.zeros(n, np.int32),
            source_line=np.arange(2, n + 2, dtype=np.int64),
            players=self.players,
        )


def simulate(plan: Plan, progress: Progress = SILENT) -> Simulated:
    """Draw a history: equal plans give equal histories. Takes about 0.4 microseconds and 13 bytes a game."""
    rng = np.random.default_rng(plan.seed)
    entry, length = _careers(plan, rng)
    start = np.cumsum(length) - length  # the first row of each player's truth
    player = np.repeat(np.arange(plan.players, dtype=np.int32), length)
    year = np.arange(len(player), dtype=np.int64) - np.repeat(start - entry, length)  # from 0
    skill = _walks(plan, start, length, rng)
    cluster = rng.integers(0, plan.clusters, plan.players)
    activity = rng.lognormal(0.0, _ACTIVITY, plan.players)

    order = np.lexsort((cluster[player], year))  # truth rows by year, then cluster
    row_start = np.searchsorted(year[order], np.arange(plan.years + 1))
    counts = _games_per_year(plan, np.diff(row_start), rng)
    white, black = np.empty((2, plan.games), np.int32)
    outcome = np.empty(plan.games, np.int8)
    date = _dates(plan, counts, rng)
    with progress.task("simulating", total=plan.games, unit="games") as bar:
        for t, low, high in _blocks(counts):
            rows = order[row_start[t] : row_start[t + 1]]
            here = player[rows]
            first, second = _pairs(plan, cluster[here], activity[here], high - low, rng)
            white[low:high], black[low:high] = here[first], here[second]
            outcome[low:high] = _outcomes(plan, skill[rows[first]] - skill[rows[second]], rng)
            bar.advance(high - low)
    return Simulated(
        plan, date, white, black, outcome, player, (year + plan.first_year).astype(np.int32), skill
    )


def _year_shares(plan: Plan) -> Array:
    exponent = plan.growth * np.arange(plan.years)
    share = np.exp(exponent - exponent.max())
    return np.asarray(share / share.sum())


def _careers(plan: Plan, rng: np.random.Generator) -> tuple[Places, Places]:
    """Each player's first year (from 0, rising) and number of years."""
    entry = np.sort(rng.choice(plan.years, plan.players, p=_year_shares(plan)))
    entry[:2] = 0
    length = np.minimum(rng.geometric(1 / plan.career_years, plan.players), plan.years - entry)
    return entry, length


def _walks(plan: Plan, start: Places, length: Places, rng: np.random.Generator) -> Array:
    """The skills of all players, one walk after the other."""
    step = rng.normal(0.0, plan.tau, int(length.sum()))
    step[start] = rng.normal(0.0, plan.prior_sd, plan.players)
    total = np.cumsum(step)
    return np.asarray(plan.prior_mean + total - np.repeat(total[start] - step[start], length))


def _games_per_year(plan: Plan, active: Places, rng: np.random.Generator) -> Places:
    share = np.where(active >= 2, _year_shares(plan), 0.0)
    return np.asarray(rng.multinomial(plan.games, share / share.sum()))


def _dates(plan: Plan, counts: Places, rng: np.random.Generator) -> Ids:
    """Days since 1970-01-01, rising: uniform in each year, or its middle."""
    years = np.arange(plan.years + 1) + plan.first_year - 1970
    new_year = years.astype("datetime64[Y]").astype("datetime64[D]").astype(np.int32)
    if plan.dates == "year":
        return np.repeat(new_year[:-1] + np.diff(new_year) // 2, counts)
    date = np.empty(plan.games, np.int32)
    end = np.cumsum(counts)
    for t, count in enumerate(counts):
        days = rng.integers(new_year[t], new_year[t + 1], count, dtype=np.int32)
        days.sort()
        date[end[t] - count : end[t]] = days
    return date


def _blocks(counts: Places) -> Iterator[tuple[int, int, int]]:
    """Year, first and last + 1 game, for pieces of at most _BLOCK games."""
    low = 0
    for t, count in enumerate(counts.tolist()):
        end = low + count
        while low < end:
            high = min(low + _BLOCK, end)
            yield t, low, high
            low = high


def _pairs(
    plan: Plan, cluster: Places, activity: Array, n: int, rng: np.random.Generator
) -> tuple[Places, Places]:
    """Places of both opponents of n games among the active players, who are sorted by cluster; never the same.

    White is drawn in proportion to activity; Black likewise, White left out, within White's cluster or from all.
    """
    everyone = len(cluster)
    bound = np.concatenate(([0.0], np.cumsum(activity)))
    first = _place(bound, rng.random(n) * bound[-1], 0, everyone)
    left = np.searchsorted(cluster, cluster, "left")[first]
    right = np.searchsorted(cluster, cluster, "right")[first]
    abroad = (rng.random(n) < plan.mixing) | (right - left < 2)
    left[abroad], right[abroad] = 0, everyone
    point = bound[left] + rng.random(n) * (bound[right] - bound[left] - activity[first])
    point += np.where(point >= bound[first], activity[first], 0.0)
    second = _place(bound, point, left, right)
    same = second == first  # by rounding only
    second[same] += np.where(second[same] + 1 < right[same], 1, -1)
    return first, second


def _place(
    bound: Array,
    point: Array,
    left: Places | int,
    right: Places | int,
) -> Places:
    """The interval of each point between the bounds, kept within [left, right)."""
    return np.asarray(np.clip(np.searchsorted(bound, point, "right") - 1, left, right - 1), np.int64)


def _outcomes(plan: Plan, skill: Array, rng: np.random.Generator) -> NDArray[np.int8]:
    difference = rng.normal(0.0, math.sqrt(2) * plan.beta, len(skill))
    difference += skill + plan.white_advantage
    return np.where(difference > plan.margin, WIN, np.where(difference < -plan.margin, LOSS, DRAW)).astype(
        np.int8
    )
