"""Artificial histories with known skills, for calibration and benchmarks."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from ttt_cli.evaluate.simulated_sides import (
    draw_participants,
    ranks_by_performance,
    sides_of_games,
)
from ttt_cli.games.table import DRAW, LOSS, PRECISION_DAY, PRECISION_YEAR, WIN, Games, no_texts
from ttt_cli.inference.outcome import STRENGTH_REACH, STRENGTH_UNIT, margin_for
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.reading.dates import YEARS
from ttt_cli.support.arrays import Array, Ids, Places
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.systems import ttt


class Plan(ttt.Params):
    """What to simulate: the parameters of TTT, and who plays when and whom (docs/simulation.md).

    | name | unit | |
    |---|---|---|
    | players, games | | how many |
    | first_year, years | years | the first year of the history, and how many it has |
    | newcomers_slope | points a year | rise of the mean of newcomers (`_newcomers`) |
    | newcomers_wave, newcomers_wave_years | points, years | height and length of waves of that mean |
    | expansion | | games and new players of year t are proportional to exp(`expansion` t) |
    | career_years | years | mean length of a career, which is geometric |
    | clusters, mixing | | groups of players who mostly meet each other, and the share of games against anyone |
    | opponents_sd | points | who differs by d is accepted with probability exp(-(d / sd)^2 / 2); None: everybody is |
    | opponents_by | | d is a difference of skills, or of ratings by the results so far |
    | dates | | whether games have a day, or their year alone |
    | truth_years | | the file for the truth by year, which the simulation itself does not use |
    | category_shares | | share of the games of each category with offsets; None: all equal |
    | team_size | | players of a side |
    | sides | | of a game: more than 2 are ranked in an order of finish |
    """

    players: int = Field(default=2000, ge=2, le=2**31 - 1)
    years: int = Field(default=100, ge=1)
    games: int = Field(default=100_000, ge=1)
    first_year: int = Field(default=1850, ge=YEARS[0], le=YEARS[1])
    newcomers_slope: float = 0.0
    newcomers_wave: float = 0.0
    newcomers_wave_years: float = Field(default=50.0, ge=1e-6)
    expansion: float = 0.05
    career_years: float = Field(default=8.0, ge=1)
    clusters: int = Field(default=20, ge=1)
    mixing: float = Field(default=0.1, ge=0, le=1)
    opponents_sd: float | None = Field(default=None, ge=1e-6)
    opponents_by: Literal["skill", "results"] = "skill"
    dates: Literal["year", "day"] = "year"
    seed: int = Field(default=0, ge=0)
    truth_years: str | None = None
    category_shares: dict[str, Annotated[float, Field(gt=0, lt=1)]] | None = None
    team_size: int = Field(default=1, ge=1, le=99)
    sides: int = Field(default=2, ge=2, le=1000)

    @model_validator(mode="after")
    def _shares_of_categories(self) -> Self:
        shares = self.category_shares or {}
        if shares.keys() - self.offsets.keys():
            raise ValueError("category_shares are of the categories in model.offsets")
        if sum(shares.values()) > 1:
            raise ValueError("the shares of categories are more than 1 together")
        return self

    @model_validator(mode="after")
    def _sides_are_plain(self) -> Self:
        if self.players < self.players_of_game:
            raise ValueError(f"a game has {self.players_of_game} players, more than there are")
        if self.players_of_game > 2 and (self.offsets or self.opponents_sd is not None):
            raise ValueError("model.offsets and opponents_sd are for games of two players")
        if self.sides > 2 and (self.steps or self.lapse_share):
            raise ValueError("model.margin_steps and model.lapse are for games of two sides")
        return self

    @property
    def players_of_game(self) -> int:
        """How many players take part in a game."""
        return self.sides * self.team_size

    @property
    def noise_scale(self) -> float:
        """Noise and draw margins of sides over those of single players, sqrt(n / 2) with n players in two sides."""
        return math.sqrt(self.team_size) if self.team == "sum" else 1.0

    @property
    def shares(self) -> dict[str, float]:
        """Share of the games of each category with offsets; by default all equal, as that of the other games."""
        if self.category_shares is not None:
            return {name: self.category_shares.get(name, 0.0) for name in self.offsets}
        return dict.fromkeys(self.offsets, 1.0 / (1 + len(self.offsets)))

    @model_validator(mode="after")
    def _ends_in_time(self) -> Self:
        if self.first_year + self.years - 1 > YEARS[1]:
            raise ValueError(
                f"the history ends after the year {YEARS[1]}: begin earlier, or take fewer years"
            )
        return self

    def changed(self, **values: Any) -> Self:
        """A copy with other values."""
        return type(self)(**{**self.model_dump(), **values})

    @property
    def margin(self) -> float:
        """Draw margin of the first year, points; where it is open, of the usual share of draws between equals."""
        if self.draw_margin == "auto":
            return margin_for(self.draw_probability or USUAL_DRAWS, self.beta)
        return self.draw_margin

    @property
    def advantage(self) -> float:
        """White's advantage, points; 0 where it is open."""
        return self.given_advantage or 0.0

    @property
    def steps(self) -> dict[int, float]:
        """Steps between margins of victory, points; none where they are open."""
        settings = self.step_settings
        if isinstance(settings, str):
            return {}
        return {
            int(margin): points
            for margin, points in settings.items()
            if not isinstance(points, str)
        }

    @property
    def lapse_share(self) -> float:
        """Share of games that chance decides; 0 where it is open."""
        return self.given_lapse or 0.0


USUAL_DRAWS: Final = 0.303
_REFUSALS: Final = 20
_LEARNED: Final = 0.5  # of `prior_sd`: how uncertain a rating is before a year
_LOGISTIC: Final = 1.702  # times as steep, a logistic curve is nearly a normal one


def draw_pairings(
    plan: Plan, cluster: Places, activity: Array, skill: Array, n: int, rng: np.random.Generator
) -> tuple[Places, Places]:
    """Indices of White and Black of n games among the active players, who are sorted by cluster; never the same.

    Both are drawn in proportion to activity, Black within White's cluster or, in some games, from all. With
    `opponents_sd`, Black is refused and drawn again the more often, the more skills differ; after `_REFUSALS` refusals
    the nearest opponent of those drawn is taken.
    """
    n_players = len(cluster)
    bound = np.concatenate(([0.0], np.cumsum(activity)))
    first = _interval_of(bound, rng.random(n) * bound[-1], 0, n_players)
    left = np.searchsorted(cluster, cluster, "left")[first]
    right = np.searchsorted(cluster, cluster, "right")[first]
    leaves_cluster = (rng.random(n) < plan.mixing) | (right - left < 2)
    left[leaves_cluster] = 0
    right[leaves_cluster] = n_players
    second = _draw_opponents(bound, activity, first, left, right, rng)
    if plan.opponents_sd is None:
        return first, second
    # Of games in `refused`, `second` is the opponent drawn last, who may be accepted, and `nearest` the one of the most
    # similar skill so far. Who is still refused at the end plays against the nearest.
    nearest = second.copy()
    refused = np.arange(n)
    for _ in range(_REFUSALS):
        difference = (skill[second[refused]] - skill[first[refused]]) / plan.opponents_sd
        is_refused = rng.random(len(refused)) >= np.exp(-0.5 * difference**2)
        refused = refused[is_refused]
        player = first[refused]
        opponent = _draw_opponents(bound, activity, player, left[refused], right[refused], rng)
        is_nearer = np.abs(skill[opponent] - skill[player]) < np.abs(
            skill[nearest[refused]] - skill[player]
        )
        nearest[refused[is_nearer]] = opponent[is_nearer]
        second[refused] = opponent
    second[refused] = nearest[refused]
    return first, second


def learn(plan: Plan, rating: Array, white: Ids, black: Ids, outcome: NDArray[np.int8]) -> None:
    """Move ratings towards the results, in place.

    A rating moves by s / (p + 2 i): s and i are slope and information of its games by the logistic curve, p is the
    precision of a normal prior around the rating. The 2 is for the opponents, who move at the same time.
    """
    steep = _LOGISTIC / (math.sqrt(2.0) * plan.beta)
    expected = 1.0 / (1.0 + np.exp(-steep * (rating[white] - rating[black] + plan.advantage)))
    residual = steep * (outcome / 2.0 - expected)
    information = steep**2 * expected * (1.0 - expected)
    n = len(rating)

    def total(values: Array, of_black: Array) -> Array:
        return np.asarray(
            np.bincount(white, values, n) + np.bincount(black, of_black, n), np.float64
        )

    prior_precision = 1.0 / (_LEARNED * plan.prior_sd) ** 2
    rating += total(residual, -residual) / (prior_precision + 2.0 * total(information, information))


def _draw_opponents(
    bound: Array,
    activity: Array,
    player: Places,
    left: Places,
    right: Places,
    rng: np.random.Generator,
) -> Places:
    """Opponents within [left, right), drawn in proportion to activity."""
    # a point among the intervals of all but the player, whose own is skipped
    point = bound[left] + rng.random(len(player)) * (bound[right] - bound[left] - activity[player])
    point += np.where(point >= bound[player], activity[player], 0.0)
    opponent = _interval_of(bound, point, left, right)
    same = opponent == player  # by rounding only
    opponent[same] += np.where(opponent[same] + 1 < right[same], 1, -1)
    return opponent


def _interval_of(bound: Array, point: Array, left: Places | int, right: Places | int) -> Places:
    """The interval of each point between the bounds, kept within [left, right)."""
    return np.asarray(
        np.clip(np.searchsorted(bound, point, "right") - 1, left, right - 1), np.int64
    )


_BLOCK: Final = 1 << 20  # games drawn at a time: bounds the memory of one step
_ACTIVITY: Final = 1.0  # sd of the logarithm of how often a player plays


@dataclass(frozen=True)
class Simulated:
    """An artificial history: games by time, and the truth.

    The truth of players has a row for each player and year of the career, by player, then year.

    | name | shape | unit | |
    |---|---|---|---|
    | date | (games,) | days | since 1970-01-01 |
    | white, black | (games,) | | players, from 0 |
    | outcome | (games,) | | White's |
    | player, year, skill | (rows,) | points | the truth of players |
    | margin | (years,) | points | draw margin between players of the level of the year |
    | newcomers | (years,) | points | their mean skill |
    | category | (games,) | | 0: none |
    | category_skill | (rows, categories) | points | skill there; NaN before a player's first game in the category |
    | victory_margin | (games,) | | the threshold that a win reaches, 1 below the first; 0 of draws |
    | members | (games, sides, team size) | | players of the sides |
    | rank | (games, sides) | | of each side in an order of finish |

    Categories are None without offsets, margins of victory without steps, members in games of two players, and ranks
    in games of two sides. Of games with members `white` and `black` are first members.
    """

    plan: Plan
    date: Ids
    white: Ids
    black: Ids
    outcome: NDArray[np.int8]
    player: Ids
    year: Ids
    skill: Array
    margin: Array
    newcomers: Array
    category: Ids | None = None
    category_skill: Array | None = None
    victory_margin: Ids | None = None
    members: Ids | None = None
    rank: Ids | None = None

    @property
    def name_width(self) -> int:
        """Digits of the number in a player's name."""
        return max(6, len(str(self.plan.players)))

    @cached_property
    def players(self) -> tuple[str, ...]:
        """Names, sorted: Player 000001 and on."""
        return tuple(
            f"Player {number:0{self.name_width}d}" for number in range(1, self.plan.players + 1)
        )

    @property
    def years(self) -> Ids:
        """The years of the history."""
        return np.arange(self.plan.years, dtype=np.int32) + np.int32(self.plan.first_year)

    def games(self) -> Games:
        """The games as every reader gives them; an order of finish as a game for each side and the next one."""
        members = self.members
        if members is None:
            members = np.column_stack([self.white, self.black])[:, :, np.newaxis]
        sides = sides_of_games(members, self.rank, self.outcome)
        n = len(sides.event)
        precision = PRECISION_DAY if self.plan.dates == "day" else PRECISION_YEAR
        return Games(
            date=self.date[sides.event],
            date_precision=np.full(n, precision, np.int8),
            white=sides.white,
            black=sides.black,
            outcome=sides.outcome,
            neutral=sides.race > 0,
            white_team=sides.white_team,
            black_team=sides.black_team,
            race=sides.race,
            teams=sides.teams,
            weight=np.ones(n),
            offset=np.zeros(n),
            source_file=np.zeros(n, np.int32),
            source_line=np.arange(2, n + 2, dtype=np.int64),
            players=self.players,
            category=no_texts(n)
            if self.category is None
            else CodedColumn(self.category, self.category_names),
            victory_margin=np.zeros(0)
            if self.victory_margin is None
            else self.victory_margin.astype(np.float64),
        )

    @property
    def category_names(self) -> tuple[str, ...]:
        """Names of categories by their numbers, that of none first."""
        return ("", *self.plan.offsets)


def simulate(plan: Plan, progress: Progress = SILENT) -> Simulated:
    """Draw a history: equal plans give equal histories. Takes about 0.4 microseconds and 13 bytes a game."""
    rng = np.random.default_rng(plan.seed)
    newcomers = _newcomers(plan)
    player, year, skill = _true_skills(plan, newcomers, rng)
    margin = _margins(plan)
    cluster = rng.integers(0, plan.clusters, plan.players)
    activity = rng.lognormal(0.0, _ACTIVITY, plan.players)

    order = np.lexsort((cluster[player], year))  # of true skills, by year, then cluster
    row_start = np.searchsorted(year[order], np.arange(plan.years + 1))
    share = np.where(np.diff(row_start) >= plan.players_of_game, _year_shares(plan), 0.0)
    counts = rng.multinomial(plan.games, share / share.sum())
    white, black = np.empty((2, plan.games), np.int32)
    outcome = np.empty(plan.games, np.int8)
    date = _dates(plan, counts, rng)
    rating = np.full(plan.players, plan.prior_mean)
    offsets = _CategoryOffsets(plan, len(player)) if plan.offsets else None
    sides = _DrawnSides(plan) if plan.players_of_game > 2 else None
    victory_margin = np.zeros(plan.games, np.int32) if plan.steps else None
    with progress.task("simulating", total=plan.games, unit="games") as bar:
        for year_number, (begin, end) in enumerate(pairwise([0, *np.cumsum(counts).tolist()])):
            # who plays in the year: rows of true skills; `first`, `second` and participants are indices of these
            active_rows = order[row_start[year_number] : row_start[year_number + 1]]
            active_players = player[active_rows]
            if offsets:
                offsets.begin_year()
            for low in range(begin, end, _BLOCK):
                games = slice(low, min(low + _BLOCK, end))
                strength = (
                    rating[active_players] if plan.opponents_by == "results" else skill[active_rows]
                )
                n = games.stop - low
                if sides:
                    chosen = active_rows[
                        draw_participants(
                            cluster[active_players],
                            activity[active_players],
                            plan.mixing,
                            (n, plan.players_of_game),
                            rng,
                        )
                    ]
                    results = sides.draw(
                        games, player[chosen], skill[chosen], margin[year_number], rng
                    )
                    white[games], black[games] = sides.first_members(games)
                else:
                    first, second = draw_pairings(
                        plan, cluster[active_players], activity[active_players], strength, n, rng
                    )
                    white[games] = active_players[first]
                    black[games] = active_players[second]
                    of_white = skill[active_rows[first]]
                    of_black = skill[active_rows[second]]
                    if offsets:
                        of_white, of_black = offsets.draw(
                            games, white[games], black[games], of_white, of_black
                        )
                    results = _draw_results(plan, of_white, of_black, margin[year_number], rng)
                outcome[games] = results.outcome
                if victory_margin is not None:
                    victory_margin[games] = results.victory_margin
                if plan.opponents_by == "results" and not sides:
                    learn(plan, rating, white[games], black[games], outcome[games])
                bar.advance(n)
            if offsets:
                offsets.end_year(active_rows, active_players, skill[active_rows])
    return Simulated(
        plan=plan,
        date=date,
        white=white,
        black=black,
        outcome=outcome,
        player=player,
        year=(year + plan.first_year).astype(np.int32),
        skill=skill,
        margin=margin,
        newcomers=plan.prior_mean + newcomers,
        category=offsets.category if offsets else None,
        category_skill=offsets.skill if offsets else None,
        victory_margin=victory_margin,
        members=sides.members if sides else None,
        rank=sides.rank if sides else None,
    )


class _TrueSkills(NamedTuple):
    """A row per player and year of the career, by player, then year: the player, the year from 0, the skill, points."""

    player: Ids
    year: Places
    skill: Array


def _true_skills(plan: Plan, newcomers: Array, rng: np.random.Generator) -> _TrueSkills:
    """Draw all careers and the skills in their years; `newcomers` by year, as of `_newcomers`."""
    # first year of each career
    entry = np.sort(rng.choice(plan.years, plan.players, p=_year_shares(plan)))
    entry[: plan.players_of_game] = 0  # enough players in the first year for a game
    length = np.minimum(rng.geometric(1 / plan.career_years, plan.players), plan.years - entry)
    start = np.cumsum(length) - length  # the first row of each player
    player = np.repeat(np.arange(plan.players, dtype=np.int32), length)
    age = np.arange(len(player), dtype=np.int64) - np.repeat(start, length)  # years since the entry
    year = age + np.repeat(entry, length)
    clock = plan.career.clock(age)
    step = rng.normal(0.0, plan.tau * np.sqrt(clock - plan.career.clock(np.maximum(age - 1, 0))))
    step[start] = rng.normal(0.0, plan.prior_sd, plan.players)
    # one sum through the rows of all players: each walk begins with its own first step
    walk = np.cumsum(step)
    walk -= np.repeat(walk[start] - step[start], length)
    skill = plan.prior_mean + walk + plan.career.change(age) + newcomers[year - age]
    return _TrueSkills(player, year, skill)


class _CategoryOffsets:
    """Offsets of players in categories, drawn apart from all else: from each one's first game in a category on.

    | name | shape | |
    |---|---|---|
    | category | (games,) | of each game, 0 for none |
    | skill | (rows of the truth, categories) | points, NaN before the first game |
    """

    def __init__(self, plan: Plan, rows: int) -> None:
        self.category = np.zeros(plan.games, np.int32)
        self.skill = np.full((rows, len(plan.offsets)), math.nan)
        # at present; at first of no category
        self._offset = np.full((plan.players, 1 + len(plan.offsets)), math.nan)
        self._offset[:, 0] = 0.0
        sd = np.array([0.0, *(setting["sd"] for setting in plan.offsets.values())])
        self._tau = np.array([0.0, *(setting["tau"] for setting in plan.offsets.values())])
        self._own_sd = math.sqrt(1.0 - plan.offset_correlation) * sd
        self._shared_sd = math.sqrt(plan.offset_correlation) * sd
        shares = [*plan.shares.values()]
        self._shares = np.array([max(1.0 - sum(shares), 0.0), *shares])
        self._rng = np.random.default_rng([plan.seed, 3])
        # what a player's offsets have in common, in sds
        self._shared = np.random.default_rng([plan.seed, 5]).standard_normal(plan.players)

    def begin_year(self) -> None:
        """All offsets walk for a year."""
        self._offset += self._rng.normal(0.0, 1.0, self._offset.shape) * self._tau

    def draw(
        self, games: slice, white: Ids, black: Ids, of_white: Array, of_black: Array
    ) -> tuple[Array, Array]:
        """Draw the categories of games between players of these skills; the skills of both there, points."""
        category = self._rng.choice(len(self._shares), len(white), p=self._shares).astype(np.int32)
        self.category[games] = category
        for side in (white, black):
            is_first = np.isnan(self._offset[side, category])
            new = np.unique(np.column_stack([side, category])[is_first], axis=0)
            player, of = new.T
            own = self._rng.normal(0.0, self._own_sd[of])
            self._offset[player, of] = own + self._shared_sd[of] * self._shared[player]
        return of_white + self._offset[white, category], of_black + self._offset[black, category]

    def end_year(self, rows: Places, players: Ids, skill: Array) -> None:
        """Keep the skills in categories of the players of a year, by rows of the truth."""
        self.skill[rows] = skill[:, np.newaxis] + self._offset[players, 1:]


def _year_shares(plan: Plan) -> Array:
    exponent = plan.expansion * np.arange(plan.years)
    share = np.exp(exponent - exponent.max())
    return np.asarray(share / share.sum())


def _newcomers(plan: Plan) -> Array:
    """By how much the mean of those who enter differs from `prior_mean`, by year: a line, waves and a walk.

    In year t that is `newcomers_slope` t + `newcomers_wave` sin(2 pi t / `newcomers_wave_years`) and a walk from 0 with
    steps of sd `prior_mean_drift`.
    """
    t = np.arange(plan.years)
    wave = plan.newcomers_wave * np.sin(2 * np.pi * t / plan.newcomers_wave_years)
    steps = np.random.default_rng([plan.seed, 2]).normal(0.0, plan.prior_mean_drift, plan.years)
    return np.asarray(plan.newcomers_slope * t + wave + np.cumsum(steps) - steps[0])


def _margins(plan: Plan) -> Array:
    """The draw margin between players of the level of the year, by year; drawn apart from all else."""
    change = np.random.default_rng([plan.seed, 1]).normal(0.0, plan.draw_margin_drift, plan.years)
    change[0] = 0.0
    return np.asarray(plan.margin * np.exp(np.cumsum(change)))


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


class _Results(NamedTuple):
    """White's outcomes of games, and the thresholds of margins of victory that wins reach, as in `Simulated`."""

    outcome: NDArray[np.int8]
    victory_margin: Ids


def _draw_results(
    plan: Plan, white: Array, black: Array, margin: float, rng: np.random.Generator
) -> _Results:
    """Results of games between these skills. Games that chance decides have no margin of victory.

    Draw margins follow the strength above the mean level of these games, a block of up to `_BLOCK` games of a year.
    """
    difference = rng.normal(0.0, math.sqrt(2) * plan.beta * plan.noise_scale, len(white))
    difference += white - black + plan.advantage
    strength = (white + black) / (2 * (plan.team_size if plan.team == "sum" else 1))
    above = np.clip((strength - strength.mean()) / STRENGTH_UNIT, -STRENGTH_REACH, STRENGTH_REACH)
    wide = margin * np.exp(plan.draw_margin_strength * above) * plan.noise_scale
    outcome = np.where(difference > wide, WIN, np.where(difference < -wide, LOSS, DRAW)).astype(
        np.int8
    )
    if plan.lapse_share:
        chance = rng.random(len(white)) < plan.lapse_share
        outcome[chance] = _chance_outcomes(outcome, int(chance.sum()), rng)
        difference[chance] = 0.0
    beyond = (np.abs(difference) - wide) / plan.noise_scale
    return _Results(outcome, _victory_margins(plan, beyond))


class _DrawnSides:
    """Sides of games of more than two players, as `members` and `rank` of `Simulated`."""

    def __init__(self, plan: Plan) -> None:
        self.members = np.empty((plan.games, plan.sides, plan.team_size), np.int32)
        self.rank = np.empty((plan.games, plan.sides), np.int32) if plan.sides > 2 else None
        self._plan = plan

    def draw(
        self, games: slice, player: Ids, skill: Array, margin: float, rng: np.random.Generator
    ) -> _Results:
        """Draw the results of games with these players of these skills, (games, players of a game).

        An order of finish counts as a win of its first side.
        """
        plan = self._plan
        self.members[games] = player.reshape(-1, plan.sides, plan.team_size)
        of_members = skill.reshape(-1, plan.sides, plan.team_size)
        of_sides = of_members.sum(axis=2) if plan.team == "sum" else of_members.mean(axis=2)
        if self.rank is None:
            return _draw_results(plan, of_sides[:, 0], of_sides[:, 1], margin, rng)
        performance = of_sides + rng.normal(0.0, plan.beta * plan.noise_scale, of_sides.shape)
        self.rank[games] = ranks_by_performance(performance, margin * plan.noise_scale)
        n = len(player)
        return _Results(np.full(n, WIN, np.int8), np.zeros(n, np.int32))

    def first_members(self, games: slice) -> tuple[Ids, Ids]:
        """The first members of the first two sides."""
        return self.members[games, 0, 0], self.members[games, 1, 0]


def _victory_margins(plan: Plan, beyond: Array) -> Ids:
    """The threshold that each win reaches by how far its difference is beyond the draw margin, points; 0: no win.

    With the steps {2: 200, 3: 150} the ends are 0, 200 and 350: a win up to 200 points beyond has the margin 1, one up
    to 350 points 2, a larger one 3.
    """
    thresholds = np.array([0, 1, *plan.steps], np.int32)
    ends = np.cumsum([0.0, *plan.steps.values()])
    margins: Ids = thresholds[np.searchsorted(ends, beyond, side="left")]
    return margins


def _chance_outcomes(
    outcome: NDArray[np.int8], n: int, rng: np.random.Generator
) -> NDArray[np.int8]:
    """Outcomes of n games that chance decides: draws as often as among these, and as many wins as losses."""
    draws = float(np.mean(outcome == DRAW))
    decided = 0.5 * (1.0 - draws)
    return rng.choice(np.array([LOSS, DRAW, WIN], np.int8), n, p=[decided, draws, decided])
