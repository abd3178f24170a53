"""Performances against integrals that are computed here."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad

from ttt_cli import fit
from ttt_cli.runs.run import Run
from ttt_cli.views.history.events import Events, find_events
from ttt_cli.views.history.people import read_people
from ttt_cli.views.history.performances import find_performances
from ttt_cli.views.history.played import PlayedGames, played_games

PRIOR = {
    "prior_mean": 1200.0,
    "prior_sd": 400.0,
    "white_advantage": 40.0,
    "draw_margin": 150.0,
    "beta": 450.0,
}
GAMES = [
    (1900, "a", "b", "1-0", "Cup"),
    (1900, "a", "c", "1/2-1/2", "Cup"),
    (1900, "d", "a", "0-1", "Cup"),
    (1900, "b", "c", "0-1", "Cup"),
    (1900, "c", "d", "1/2-1/2", "Cup"),
    (1900, "b", "d", "1-0", "Cup"),
    *[(1901, "a", "d", "1-0", "Match")] * 4,
    (1901, "e", "f", "1-0", "Newcomers"),
]


def run_of(**keys: object) -> Run:
    table = pd.DataFrame(GAMES, columns=["date", "white", "black", "result", "event"])
    return fit(table, model="ttt", **keys)


def read(run: Run) -> tuple[PlayedGames, Events, list[str]]:
    played = played_games(run)
    return played, find_events(played), [person.name for person in read_people(run).rows]


def posterior(run: Run, player: str, year: int, prior_mean: float = 1200.0) -> tuple[float, float]:
    """Mean and sd of the skill of a newcomer who had the player's games of a year."""
    skills = {
        (row.player, int(row.period)): (row.mean, row.sd) for row in run.skills().itertuples()
    }
    params = run.meta.params
    games = [game for game in GAMES if game[0] == year and player in game[1:3]]

    def density(skill: float) -> float:
        product = NormalDist(prior_mean, params["prior_sd"]).pdf(skill)
        for _, white, black, result, _ in games:
            mean, sd = skills[black if player == white else white, year]
            ahead = skill - mean if player == white else mean - skill
            noise = NormalDist(
                ahead + params["white_advantage"], math.hypot(math.sqrt(2.0) * params["beta"], sd)
            )
            margin = params["draw_margin"]
            chances = {"1-0": 1.0 - noise.cdf(margin), "0-1": noise.cdf(-margin)}
            product *= chances.get(result, noise.cdf(margin) - noise.cdf(-margin))
        return product

    total, first, second = (
        quad(lambda skill: skill**power * density(skill), -1500.0, 4500.0, points=[1200.0, 1800.0])[
            0
        ]
        for power in range(3)
    )
    return first / total, math.sqrt(second / total - (first / total) ** 2)


@pytest.fixture(scope="module")
def run() -> Run:
    return run_of(**PRIOR)


def test_a_performance_is_the_posterior_of_a_newcomer_with_these_games(run: Run) -> None:
    _, events, names = read(run)
    entries = events.entries
    mean, sd = entries.performances
    for event, of_event in enumerate(events.rows):
        rows = entries.of(event)
        for entry in range(rows.start, rows.stop):
            expected = posterior(run, names[entries.player[entry]], of_event.year)
            assert (mean[entry], sd[entry]) == pytest.approx(expected, abs=0.05)


def test_some_entries_have_the_performances_and_points_of_all(run: Run) -> None:
    _, events, _ = read(run)
    entries = events.entries
    chosen = np.array([5, 0, 3])
    some = entries.performances_of(chosen)
    expected = entries.expected_of(chosen)
    assert expected == pytest.approx(entries.expected[chosen])
    assert some.mean == pytest.approx(entries.performances.mean[chosen])
    assert some.sd == pytest.approx(entries.performances.sd[chosen])


def test_weights_count_as_so_many_games(run: Run) -> None:
    """Four games against one opponent in one period are one of weight four."""
    played, events, names = read(run)
    match = events.entries.of(1)
    totals = played.of(names.index("a")).take(np.arange(3, 7)).totals(np.zeros(4))
    heavy = played.of(names.index("a")).take(np.array([3]))
    heavy.weight[:] = 4.0
    alone = find_performances(heavy.totals(np.zeros(1)))
    assert find_performances(totals).mean == pytest.approx(alone.mean, abs=1e-6)
    assert alone.mean[0] == pytest.approx(events.entries.performances.mean[match][0], abs=1e-6)


def test_without_a_prior_it_is_the_skill_of_the_points_scored() -> None:
    table = pd.DataFrame(GAMES, columns=["date", "white", "black", "result", "event"])
    run = fit(table, model="elo")
    played, events, names = read(run)
    entries = events.entries
    mean, sd = entries.performances
    assert np.isnan(sd).all()
    row = entries.of(0).start + [names[player] for player in entries.player[entries.of(0)]].index(
        "c"
    )
    assert entries.points[row] == 2.0
    assert mean[row] == pytest.approx(1500.0, abs=400.0)
    assert np.isnan(mean[entries.of(1)]).all()  # all games won, all lost
    assert played.run is run


MATCHED = ("a @ 1900 = 2500", "b @ 1900 = 1800", "matched")


@pytest.mark.parametrize("model", ["ttt", "elo"])
@pytest.mark.parametrize("scale", [(), ("a @ 1900 = 2500",), MATCHED])
def test_performances_are_on_the_shown_scale(scale: tuple[str, ...], model: str, tmp_path) -> None:
    path = tmp_path / "a.ttt"
    games = pd.DataFrame(GAMES, columns=["date", "white", "black", "result", "event"])
    fit(games, model=model, output=path, **(PRIOR if model == "ttt" else {}))
    run = Run(path, scale)
    _, events, _ = read(run)
    plain = read(Run(path))[1].entries.performances
    mean, sd = events.entries.performances
    assert mean == pytest.approx(plain.mean * run.scale.slope + run.scale.shift, nan_ok=True)
    assert sd == pytest.approx(plain.sd * run.scale.slope, nan_ok=True)


def test_a_prior_that_moves_is_that_of_the_year() -> None:
    run = run_of(**PRIOR, prior_mean_drift=30.0, growth=100.0)
    above = run.newcomers().set_index("year")["mean"]
    assert len(set(above)) > 1
    _, events, names = read(run)
    entry = events.entries.of(2).start
    mean, sd = events.entries.performances
    player = names[events.entries.player[entry]]
    expected = posterior(run, player, 1901, run.meta.params["prior_mean"] + above.loc[1901])
    assert (mean[entry], sd[entry]) == pytest.approx(expected, abs=0.05)
