"""The records of a run, found by loops and pandas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr

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


def outcomes_by_hand(
    run: Run, ahead: np.ndarray, mean: np.ndarray, variance: np.ndarray, year: np.ndarray
) -> np.ndarray:
    """Probabilities of loss, draw and win of TTT with constant or moving margins, shape (..., 3).

    `ahead`: the lead in points, White's advantage included; `mean`: of both skills; `variance`: of their difference.
    """
    params = run.meta.params
    margin = np.full(np.shape(ahead), params["draw_margin"])
    draws = run.draws()
    if len(draws):
        row = np.searchsorted(draws.year.to_numpy(), year, side="right") - 1
        above = (mean - draws.level.to_numpy()[row]) / 400.0
        strength = params.get("draw_margin_strength", 0.0)
        margin = draws.margin.to_numpy()[row] * np.exp(strength * np.clip(above, -2.0, 2.0))
    noise = np.sqrt(2.0 * params["beta"] ** 2 + variance)
    loss = ndtr((-margin - ahead) / noise)
    win = ndtr((ahead - margin) / noise)
    return np.stack([loss, 1.0 - loss - win, win], axis=-1)


def _skills_of(run: Run, players: pd.Series, periods: pd.Series) -> pd.DataFrame:
    """Rows of skills of players in periods, in this order."""
    skills = run.skills().set_index(["player", "period"])
    return skills.loc[pd.MultiIndex.from_arrays([players, periods])]


def _advantage(run: Run, is_white: pd.Series) -> np.ndarray:
    """What White's advantage adds to the lead of a side, points."""
    return np.where(is_white, 1.0, -1.0) * run.meta.params["white_advantage"]


def expected_scores(run: Run, sides: pd.DataFrame) -> pd.Series:
    """Expected scores by the skills of the period, for constant or moving margins of TTT."""
    own = _skills_of(run, sides.player, sides.period)
    opponent = _skills_of(run, sides.opponent, sides.period)
    means = own["mean"].to_numpy(), opponent["mean"].to_numpy()
    chances = outcomes_by_hand(
        run,
        means[0] - means[1] + _advantage(run, sides.is_white),
        (means[0] + means[1]) / 2.0,
        own.sd.to_numpy() ** 2 + opponent.sd.to_numpy() ** 2,
        sides.year.to_numpy(),
    )
    return pd.Series(chances @ [0.0, 0.5, 1.0], index=sides.index)


def performance(run: Run, sides: pd.DataFrame) -> tuple[float, float]:
    """Mean and sd of the skill of a newcomer who had just the games of these sides, all of one player.

    The density of the skill, prior times the probabilities of all results, on a grid of 4 points. The prior is that
    of models without moving newcomers.
    """
    opponent = _skills_of(run, sides.opponent, sides.period)
    params = run.meta.params
    skill = params["prior_mean"] + np.arange(-10.0, 10.0, 4.0 / 400.0)[:, np.newaxis] * 400.0
    mean = opponent["mean"].to_numpy()
    chances = outcomes_by_hand(
        run,
        skill - mean + _advantage(run, sides.is_white),
        (skill + mean) / 2.0,
        opponent.sd.to_numpy() ** 2,
        sides.year.to_numpy(),
    )
    outcome = (2.0 * sides.points).astype(int).to_numpy()
    happened = np.take_along_axis(chances, outcome[np.newaxis, :, np.newaxis], axis=2)
    log_density = np.log(np.maximum(happened[..., 0], 1e-300)).sum(axis=1)
    log_density -= 0.5 * ((skill[:, 0] - params["prior_mean"]) / params["prior_sd"]) ** 2
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    average = float(weight @ skill[:, 0])
    return average, math.sqrt(float(weight @ (skill[:, 0] - average) ** 2))


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
