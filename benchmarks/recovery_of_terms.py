"""Are covariates, activity, the age curve and means of newcomers recovered from artificial histories?

Draws histories in which winners play more in the next year (or, with --by-skill, strong players whatever their
results), skills rise and decline with age, and first skills depend on the federation. Then it tunes points of
covariates and activity, growth and decline, and estimates the means of federations. Over the histories 95 % of the
estimates should be within two standard errors of the truth.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from measuring import markdown, options_of

from ttt_cli import configure, fit
from ttt_cli.evaluate.tune import tune
from ttt_cli.support.arrays import Array

PRIOR_MEAN: Final = 1200.0
PRIOR_SD: Final = 250.0
BETA: Final = 300.0
TAU: Final = 30.0
MARGIN: Final = 120.0
GROWTH_YEARS: Final = 4.0
CAREER_AGE: Final = 15
DECLINE_AFTER: Final = 15.0
FEDERATION_SD: Final = 100.0  # of the mean of newcomers
FEDERATIONS: Final = ("AUT", "ENG", "FRA", "GER", "HUN", "SUI")
TRUTH: Final = {
    "white_advantage": 40.0,
    "covariates.home": 60.0,
    "covariates.rest": -10.0,
    "covariates.activity": 40.0,
    "growth": 300.0,
    "decline": 15.0,
}
HEADER: Final = ("parameter", "true", "mean", "+-", "within two errors", "mean z", "sd of z")


class History(NamedTuple):
    """Games and people as tables, and the mean of the newcomers of each federation above that of all, points."""

    games: pd.DataFrame
    people: pd.DataFrame
    means: dict[str, float]


def draw_history(seed: int, players: int, years: int, games: int, *, by_skill: bool) -> History:
    """Draw so many games a year; a fifth of the players has no federation.

    Players with a good score in the year before play more; with `by_skill` those of high skill.
    """
    rng = np.random.default_rng(seed)
    means = dict(zip(FEDERATIONS, rng.normal(0.0, FEDERATION_SD, len(FEDERATIONS)), strict=True))
    federation = rng.choice([*FEDERATIONS, ""], players, p=[*[0.8 / 6] * 6, 0.2])
    debut = rng.integers(-10, years - 2, players).clip(0)
    born = (debut - rng.integers(16, 26, players)).astype(np.float64)
    retired = debut + rng.integers(8, 31, players)
    skill = rng.normal([PRIOR_MEAN + means.get(name, 0.0) for name in federation], PRIOR_SD)
    eagerness = rng.lognormal(0.0, 0.7, players)
    games_last_year = np.zeros(players)
    score_last_year = np.zeros(players)  # wins less losses, a game
    rows = []
    has_played = np.zeros(players, bool)
    for year in range(years):
        drift = rng.normal(0.0, TAU, players) + _curve(year - born) - _curve(year - 1 - born)
        skill = skill + has_played * drift
        active = np.flatnonzero((debut <= year) & (year <= retired))
        above = score_last_year[active]
        if by_skill:
            above = (skill[active] - skill[active].mean()) / (2.0 * skill[active].std())
        chance = eagerness[active] * np.exp(above)
        white, black = (rng.choice(active, games, p=chance / chance.sum()) for _ in range(2))
        home = rng.integers(-1, 2, games)
        rest = rng.integers(-5, 6, games)
        activity = np.log1p(games_last_year)
        lead = skill[white] - skill[black] + TRUTH["white_advantage"]
        lead += TRUTH["covariates.home"] * home + TRUTH["covariates.rest"] * rest
        lead += TRUTH["covariates.activity"] * (activity[white] - activity[black])
        lead += rng.normal(0.0, BETA * np.sqrt(2.0), games)
        sign = np.where(np.abs(lead) > MARGIN, np.sign(lead), 0.0)
        result = np.where(sign > 0.0, "1-0", np.where(sign < 0.0, "0-1", "1/2-1/2"))
        table = {"date": 1900 + year, "white": white, "black": black, "result": result}
        of_year = pd.DataFrame({**table, "home": home, "rest": rest})
        played = white != black
        rows.append(of_year[played])
        both_sides = np.concatenate([white[played], black[played]])
        won_less_lost = np.concatenate([sign[played], -sign[played]])
        games_last_year = np.bincount(both_sides, minlength=players).astype(np.float64)
        score_last_year = np.bincount(both_sides, won_less_lost, players) / np.maximum(
            games_last_year, 1.0
        )
        has_played |= games_last_year > 0.0
    table_of_games = pd.concat(rows)
    for side in ("white", "black"):
        table_of_games[side] = [f"Player {number}" for number in table_of_games[side]]
    names = [f"Player {number}" for number in range(players)]
    births = [f"{1900 + year:.0f}-07-02" for year in born]
    people = pd.DataFrame({"name": names, "born": births, "federation": federation})
    return History(table_of_games, people, means)


def _curve(age: Array) -> Array:
    """The career curve at an age, points."""
    years = np.maximum(age - CAREER_AGE, 0.0)
    late = np.maximum(years - DECLINE_AFTER, 0.0)
    points: Array = (
        TRUTH["growth"] * (1.0 - np.exp(-years / GROWTH_YEARS)) - TRUTH["decline"] * late
    )
    return points


class Estimate(NamedTuple):
    """An estimate of a parameter, its standard error, and the truth."""

    key: str
    true: float
    value: float
    error: float


def estimates_of(history: History, folder: Path) -> list[Estimate]:
    """What is estimated from a history."""
    people = folder / "people.csv"
    history.people.to_csv(people, index=False)
    settings = [
        f"data.people={people}",
        "data.covariates={home: home, rest: rest}",
        f"model.prior_sd={PRIOR_SD}", f"model.beta={BETA}", f"model.tau={TAU}", f"model.draw_margin={MARGIN}",
        "model.growth=200", f"model.growth_years={GROWTH_YEARS}", "model.decline=10", "model.career_by=age",
        f"model.decline_after={DECLINE_AFTER}", f"model.career_age={CAREER_AGE}",
        "model.covariates={home: 1, rest: 1, activity: 1}", "model.white_advantage=1", "solver.threads=1",
    ]  # fmt: skip
    # points from which `tune` starts, with the priors of estimated ones; `estimate` would be a search before the search
    run = fit(history.games, configure("ttt", settings))
    tuned = tune(run, ",".join(TRUTH))
    estimates = [
        Estimate(parameter.key, TRUTH[parameter.key], parameter.value, parameter.standard_error or np.nan)
        for parameter in tuned.parameters
    ]  # fmt: skip
    at_tuned = [f"model.{parameter.key}={parameter.value}" for parameter in tuned.parameters]
    grouped = fit(
        history.games, configure("ttt", [*settings, *at_tuned, "model.newcomers_by=[federation]"])
    )
    groups = grouped.meta.groups["federation"]
    for name, (_, mean, error) in groups["groups"].items():
        estimates.append(Estimate("federation", history.means[name], mean, error))
    return estimates


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(
        __doc__,
        arguments,
        first=0,
        histories=100,
        players=150,
        years=25,
        games=160,
        by_skill=False,
        values="",
    )
    estimates: list[Estimate] = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.histories):
            history = draw_history(
                seed, options.players, options.years, options.games, by_skill=options.by_skill
            )
            estimates += estimates_of(history, Path(folder))
    table = pd.DataFrame(estimates)
    if options.values:
        table.to_csv(options.values, index=False)
    table["z"] = (table["value"] - table["true"]) / table["error"]
    rows = []
    for key, of_key in table.groupby("key", sort=False):
        off = of_key["value"] - of_key["true"]
        z = of_key["z"]
        rows.append((
            str(key), f"{of_key['true'].mean():.1f}", f"{of_key['value'].mean():.1f}",
            f"{off.std() / np.sqrt(len(off)):.1f}", f"{np.sum(np.abs(z) < 2.0)} of {len(z)}",
            f"{z.mean():+.2f}", f"{z.std():.2f}",
        ))  # fmt: skip
    print(markdown(HEADER, rows), flush=True)


if __name__ == "__main__":
    main()
