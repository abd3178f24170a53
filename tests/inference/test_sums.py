"""Teams and orders of finish: published figures, the dense twin, gradients, what a game of two is."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.reference.link_histories import FIGURES
from tests.reference.links_dense import JointTwin
from tests.support.builders import make_games
from tests.support.cases import each
from tests.support.random_sides import OFFSETS, PARAMS, as_history, random_rows
from tests.support.sides import games_of_sides, race
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit, points_added
from ttt_cli.games.covariates import NumberCovariate
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry, ttt
from ttt_cli.timeline import Timeline, build_timeline

JOINT = SolverConfig(tol=1e-9, posterior="joint", max_sweeps=2000)
FACTORISED = SolverConfig(tol=1e-10, posterior="factorised", max_sweeps=5000)
TEAMS = [
    (1900, "M / A", "B / C", 2), (1900, "M", "B", 0), (1902, "A / B", "M / C", 1), (1902, "C", "A", 2),
]  # fmt: skip
SIDES = [
    *race(1900, 1, ["M", "A", "B", "C"]),
    *race(1901, 2, ["A", "B", "M"], ties=[0]),
    *race(1903, 3, ["C / M", "A", "B"]),
]


def fitted(games, solver=JOINT, **params) -> tuple[Timeline, Fit]:
    timeline = build_timeline(games, "year", "known")
    return timeline, ttt.fit(timeline, ttt.Params(**{**PARAMS, **params}), solver)


def node_of(timeline: Timeline, player: str, year: int) -> int:
    names = [timeline.players[number] for number in timeline.node_player]
    years = [timeline.label(int(number)) for number in timeline.node_period]
    return list(zip(names, years, strict=True)).index((player, f"{year}"))


@each("name, rows", [("teams", TEAMS), ("sides", SIDES)])
def test_published_figures(name, rows):
    """Of a dense EP written from the definition."""
    _, log_z, beliefs = FIGURES[name]
    timeline, fit = fitted(games_of_sides(rows))
    assert fit.posterior == "joint"
    assert fit.log_evidence == pytest.approx(log_z, abs=1e-6)
    for (player, year), (mean, sd) in beliefs.items():
        node = node_of(timeline, player, year)
        assert fit.mean[node] == pytest.approx(mean, abs=1e-5)
        if sd is not None:
            assert fit.sd[node] == pytest.approx(sd, abs=1e-5)


def test_three_newcomers_of_trueskill():
    """25 +- 25/3, beta 25/6, draw probability .1, and a variance of (25/300)^2 more (Herbrich et al. 2006)."""
    params = {
        "prior_mean": 25.0, "prior_sd": math.hypot(25.0 / 3.0, 25.0 / 300.0), "beta": 25.0 / 6.0, "tau": 1.0,
        "draw_margin": "auto", "draw_probability": 0.1,
    }  # fmt: skip
    timeline, fit = fitted(games_of_sides(race(1900, 1, ["first", "second", "third"])), **params)
    for player, mean, sd in (
        ("first", 31.675, 6.656),
        ("second", 25.0, 6.208),
        ("third", 18.325, 6.656),
    ):
        node = node_of(timeline, player, 1900)
        assert (fit.mean[node], fit.sd[node]) == pytest.approx((mean, sd), abs=5e-4)


@each("lapse", [0.0, 0.15])
def test_an_order_of_two_is_a_game_of_two(lapse):
    """To rounding: the performances are integrated out exactly."""
    rows = [(1900, "A", "B", 2), (1901, "B", "C", 1), (1901, "A", "C", 0)]
    _, of_two = fitted(make_games(rows), lapse=lapse, beta=200.0)
    _, of_races = fitted(
        games_of_sides([((row[0], number), *row[1:]) for number, row in enumerate(rows, start=1)]),
        lapse=lapse,
        beta=200.0,
    )
    assert of_races.log_evidence == pytest.approx(of_two.log_evidence, abs=1e-9)
    assert of_races.mean == pytest.approx(of_two.mean, abs=1e-7)
    assert of_races.sd == pytest.approx(of_two.sd, abs=1e-7)


@each("seed, team", [(seed, team) for seed in range(4) for team in ("sum", "mean")])
def test_the_dense_twin(seed, team):
    """Teams of 1 to 4, shares, 3 to 6 sides, ties, categories, weights, handicaps, White's advantage, idle years."""
    rows, categories = random_rows(seed)
    timeline = build_timeline(games_of_sides(rows, categories), "year", "known")
    offsets = {name: value for name, value in OFFSETS.items() if name in categories}
    params = ttt.Params(**{**PARAMS, "white_advantage": 35.0}, team=team, offsets=offsets)
    fit = ttt.fit(timeline, params, JOINT)
    history = as_history(timeline, params, fit.elo_unit)
    twin = JointTwin(*history.prior(), history.links).run()
    assert fit.status.converged
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)
    mean, sd = twin.beliefs()
    for node in range(timeline.n_nodes):
        name = timeline.players[timeline.node_player[node]]
        variable = history.number(name, int(timeline.label(int(timeline.node_period[node]))))
        assert fit.mean[node] == pytest.approx(mean[variable], abs=1e-5)
        assert fit.sd[node] == pytest.approx(sd[variable], abs=1e-5)


@each("seed, team", [(0, "sum"), (1, "mean"), (3, "sum")])
def test_covariates_of_teams_and_orders_of_finish(seed, team):
    """Of the dense twin: a column of the games, and the activity of all members; slopes by differences."""
    timeline = build_timeline(games_of_sides(random_rows(seed)[0]), "year", "known")
    rest = np.random.default_rng(seed).normal(0.0, 2.0, timeline.n_games)
    timeline = replace(timeline, covariates=(NumberCovariate("rest", rest),))
    covariates = {"rest": 25.0, "activity": 60.0}
    params = ttt.Params(**PARAMS, team=team, covariates=covariates)
    fit = ttt.fit(timeline, params, JOINT)
    history = as_history(timeline, params, fit.elo_unit)
    twin = JointTwin(*history.prior(), history.links).run()
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)
    offsets = np.array([link.offset for link in history.links])
    added = offsets - fit.elo_unit * timeline.offset
    assert points_added(fit.params, timeline) == pytest.approx(added, abs=1e-9)
    gradient = ttt.gradient(timeline, params, fit)
    for key, points in covariates.items():
        ends = [
            ttt.fit(
                timeline,
                params.model_copy(update={"covariates": {**covariates, key: points + change}}),
                JOINT,
            ).log_evidence
            for change in (-0.5, 0.5)
        ]
        assert gradient[f"covariates.{key}"] == pytest.approx(ends[1] - ends[0], rel=2e-4)


STEPS = {"2": 120.0, "3": 90.0}


def with_margins(rows: list[tuple]) -> list[tuple]:
    """Games of teams that are decided with margins of 1 to 3, or none; those of orders of finish have none."""
    return [
        row if isinstance(row[0], tuple) or row[3] == 1
        else (*row[:4], *(*row[4:], 1.0, 0.0)[:2], False, float(number % 4))
        for number, row in enumerate(rows)
    ]  # fmt: skip


@each("seed, team", [(0, "sum"), (1, "mean"), (3, "sum")])
def test_margins_of_victory_of_teams(seed, team):
    """Of the dense twin; the gradient in steps by differences."""
    rows, _ = random_rows(seed)
    timeline = build_timeline(games_of_sides(with_margins(rows)), "year", "known")
    params = ttt.Params(**{**PARAMS, "white_advantage": 35.0}, team=team, margin_steps=STEPS)
    fit = ttt.fit(timeline, params, JOINT)
    history = as_history(timeline, params, fit.elo_unit)
    assert any(0.0 < link.low * link.high < math.inf for link in history.links)
    twin = JointTwin(*history.prior(), history.links).run()
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)
    gradient = ttt.gradient(timeline, params, fit)
    for key, points in STEPS.items():
        ends = [
            ttt.fit(
                timeline,
                params.model_copy(update={"margin_steps": {**STEPS, key: points + change}}),
                JOINT,
            ).log_evidence
            for change in (-0.5, 0.5)
        ]
        assert gradient[f"margin_steps.{key}"] == pytest.approx(ends[1] - ends[0], rel=2e-4)


@pytest.mark.slow
@each("solver, seed, team", [(JOINT, 0, "sum"), (JOINT, 1, "mean"), (FACTORISED, 2, "sum")])
def test_gradients_are_those_of_differences(solver, seed, team):
    rows, categories = random_rows(seed)
    timeline = build_timeline(games_of_sides(rows, categories), "year", "known")
    offsets = OFFSETS if "rapid" in categories else {}
    params = ttt.Params(**{**PARAMS, "white_advantage": 35.0}, team=team, offsets=offsets)
    gradient = ttt.gradient(timeline, params, ttt.fit(timeline, params, solver))

    def slope(change, step=0.1):
        high, low = (
            ttt.fit(timeline, params.model_copy(update=change(sign * step)), solver).log_evidence
            for sign in (1.0, -1.0)
        )
        return (high - low) / (2.0 * step)

    for key in ("prior_sd", "beta", "tau", "draw_margin", "white_advantage"):
        value = getattr(params, key)
        expected = slope(lambda step, key=key, value=value: {key: value + step})
        assert gradient[key] == pytest.approx(expected, rel=2e-4, abs=2e-7), key
    for key in ("sd", "tau") if offsets else ():
        expected = slope(
            lambda step, key=key: {
                "offsets": {"rapid": {**OFFSETS["rapid"], key: OFFSETS["rapid"][key] + step}}
            }
        )
        assert gradient[f"offsets.rapid.{key}"] == pytest.approx(expected, rel=2e-4, abs=2e-7), key


def test_games_of_two_beside_teams_are_merged_as_before():
    """The rows of two players are pairs still."""
    timeline = build_timeline(games_of_sides([*TEAMS, (1900, "M", "B", 0)]), "year", "known")
    shared = ttt.through_time(timeline, ttt.Params(**PARAMS), 250.0)
    assert shared.sums.base.n_games == 3
    assert len(shared.merged) == 2


@each("name", ["ttt-d", "elo", "whr"])
def test_systems_for_two_players_refuse_teams(name):
    model = registry.load(name)
    timeline = build_timeline(games_of_sides(TEAMS), "year", "known")
    with pytest.raises(ConfigError, match="rates games of two players"):
        registry.fit(model, timeline, model.Params(), SolverConfig())


@each(
    "params",
    [
        {"draw_margin_drift": 0.1},
        {"draw_margin_strength": 0.1},
    ],
)
def test_what_is_not_fitted_with_teams_is_refused(params):
    with pytest.raises(ConfigError, match="games of teams and orders of finish"):
        fitted(games_of_sides(TEAMS), **params)


def test_colours_are_none_of_orders_of_finish():
    """The first of two neighbours has won, which says nothing about who is named first."""
    assert not build_timeline(games_of_sides(SIDES * 10), "year", "auto").notes


def test_games_of_nodes_count_each_member_once_a_row():
    timeline = build_timeline(games_of_sides([*TEAMS, (1900, "A", "C", 1, 3.0)]), "year", "known")
    games = {
        (timeline.players[player], timeline.label(int(period))): count
        for player, period, count in zip(
            timeline.node_player, timeline.node_period, timeline.node_games, strict=True
        )
    }
    assert games["A", "1900"] == 4.0
    assert games["M", "1900"] == 2.0
    assert games["B", "1902"] == 1.0
    assert timeline.until(1).node_games.tolist() == [4.0, 2.0, 4.0, 2.0]
