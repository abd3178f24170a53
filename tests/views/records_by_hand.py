"""The records of a run, found by loops and pandas."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any, NamedTuple

import pandas as pd

from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.eligible import Eligible

POINTS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


class Series(NamedTuple):
    """Games of a player one after the other."""

    games: int
    player: str
    first: str
    last: str
    points: float


def sides_of(run: Run, limits: Eligible, years: tuple[int, int] = (0, 9999)) -> pd.DataFrame:
    """The games of eligible players from both sides, in the order of the run."""
    games = run.games()
    games["year"] = games.period.str[:4].astype(int)
    games["number"] = range(len(games))
    white = games.assign(
        player=games.white, opponent=games.black, points=games.result.map(POINTS), is_white=True
    )
    black = games.assign(
        player=games.black,
        opponent=games.white,
        points=1 - games.result.map(POINTS),
        is_white=False,
    )
    sides = pd.concat([white, black]).sort_values("number", kind="stable")
    sides = sides[sides.year.between(*years)]
    return sides[sides.player.isin(eligible_players(run, limits))]


def eligible_players(run: Run, limits: Eligible) -> set[str]:
    """Players with enough games and opponents in the run."""
    players = run.players()
    enough = (players.games >= limits.min_games) & (players.opponents >= limits.min_opponents)
    return set(players[enough].player)


def series(sides: pd.DataFrame, goes_on: Callable[[float], bool]) -> list[Series]:
    """All series of games with results that go on, the longest first."""
    found: list[Series] = []
    for player, games in sides.groupby("player", sort=False):
        so_far: list[tuple[str, float]] = []
        for date, points in [*zip(games.date, games.points, strict=True), ("", -1.0)]:
            if points >= 0.0 and goes_on(points):
                so_far.append((date, points))
            elif so_far:
                total = sum(points for _, points in so_far)
                found.append(Series(len(so_far), player, so_far[0][0], so_far[-1][0], total))
                so_far = []
    return sorted(found, reverse=True)


def rivalries(sides: pd.DataFrame) -> dict[tuple[str, str], tuple[int, float]]:
    """Games and points of every player against every other, both eligible."""
    both = sides[sides.opponent.isin(set(sides.player))]
    grouped = both.groupby(["player", "opponent"]).points.agg(["count", "sum"])
    return {pair: (int(row["count"]), float(row["sum"])) for pair, row in grouped.iterrows()}


def expected_scores(run: Run, sides: pd.DataFrame) -> pd.Series:
    """Expected scores by the skills of the period, for constant or moving margins of TTT."""
    skills = run.skills().set_index(["player", "period"])
    params = run.meta.params
    draws = run.draws()
    own = skills.loc[list(zip(sides.player, sides.period, strict=True))]
    opponents = skills.loc[list(zip(sides.opponent, sides.period, strict=True))]
    phi = NormalDist().cdf

    def score(own: Any, opponent: Any, year: int, is_white: bool) -> float:
        advantage = params["white_advantage"] if is_white else -params["white_advantage"]
        noise = math.sqrt(2.0 * params["beta"] ** 2 + own.sd**2 + opponent.sd**2)
        ahead = own.mean_ - opponent.mean_ + advantage
        margin = params["draw_margin"]
        if len(draws):
            row = draws[draws.year <= year].iloc[-1]
            above = ((own.mean_ + opponent.mean_) / 2.0 - row.level) / 400.0
            margin = row.margin * math.exp(
                params.get("draw_margin_strength", 0.0) * max(-2.0, min(2.0, above))
            )
        return 0.5 * (phi((ahead - margin) / noise) + phi((ahead + margin) / noise))

    rows = zip(
        own.rename(columns={"mean": "mean_"}).itertuples(), opponents.rename(columns={"mean": "mean_"}).itertuples(),
        sides.year, sides.is_white, strict=True,
    )  # fmt: skip
    return pd.Series([score(*row) for row in rows], index=sides.index)


def eligible_skills(run: Run, limits: Eligible) -> pd.DataFrame:
    """Rows of skills that count for rankings, with year and number of the period (runs by year)."""
    idle = "NULL" if limits.active is None else round(limits.active)
    rows = run.query(f"FROM skills_within(NULL, NULL, {idle})")
    played = run.skills().groupby(["player", "period"]).games.sum().groupby(level=0).cumsum()
    enough_since = played[played >= limits.min_games].reset_index().groupby("player").period.first()
    since = rows.player.map(enough_since)
    opponents = run.players().set_index("player").opponents
    keep = (rows.period >= since.fillna("9999")) & (
        rows.player.map(opponents) >= limits.min_opponents
    )
    if limits.max_sd is not None:
        keep &= rows.sd <= limits.max_sd
    return rows[keep].assign(year=rows.period.str[:4].astype(int))


def gains(skills: pd.DataFrame) -> pd.Series:
    """The largest gain of each player in a year at whose end there were games."""
    before = skills.assign(year=skills.year + 1)[["player", "year", "mean"]]
    pairs = skills[skills.games > 0].merge(before, on=["player", "year"], suffixes=("", "_before"))
    gain = pairs["mean"] - pairs["mean_before"]
    return gain.groupby(pairs.player).max().sort_values(ascending=False)


def reigns(skills: pd.DataFrame, fewest: int) -> list[tuple[int, str, int]]:
    """Length, player and first year of each reign, the longest first."""
    found: list[list[Any]] = []
    for year, field in skills.groupby("year"):
        if len(field) >= fewest:
            player = field.sort_values(["mean", "player"], ascending=[False, True]).player.iloc[0]
            if found and found[-1][1] == player and found[-1][2] + found[-1][0] == year:
                found[-1][0] += 1
            else:
                found.append([1, player, year])
    return sorted(
        [(length, player, year) for length, player, year in found],
        key=lambda reign: (-reign[0], reign[2]),
    )
