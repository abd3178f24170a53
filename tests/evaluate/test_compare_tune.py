"""Tuning by what is predicted: where the best is known, where there is none, and what is left alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.support.builders import make_games
from ttt_cli.api import configure
from ttt_cli.evaluate.forecast import forecast, score
from ttt_cli.evaluate.simulate import Plan, simulate
from ttt_cli.evaluate.tune_system import TunedSystem, TunePlan, tune_system
from ttt_cli.systems import registry, ttt
from ttt_cli.systems.resolve import with_overrides
from ttt_cli.timeline import Timeline, build_timeline

PLAN = Plan(players=30, years=10, games=800, expansion=0.0, beta=350, tau=100, draw_margin=150, seed=9)


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return build_timeline(simulate(PLAN).games())


def tuned(
    timeline: Timeline, model: str, since: int = 4, evaluations: int = 60, **params: Any
) -> TunedSystem:
    end = len(timeline.periods)
    return tune_system(timeline, configure(model=model, **params), TunePlan(since, end, 1, evaluations))


def test_the_naive_model_comes_to_the_shares_of_the_games_that_are_scored(timeline: Timeline) -> None:
    """Two numbers, margin and White's advantage, for two free shares: the most probable ones are those observed."""
    found = tuned(timeline, "naive")
    scored = timeline.outcome[timeline.game_start[4] :]
    shares = [float((scored == outcome).mean()) for outcome in (0, 1, 2)]
    one = np.array([1500.0])
    predicted = registry.load("naive").predict(dict(found.values), {"mean": one}, {"mean": one})[0]
    assert predicted == pytest.approx(shares, abs=0.01)
    assert found.after == pytest.approx(sum(share * math.log(share) for share in shares), abs=1e-4)
    assert found.reached


def test_what_is_reported_is_what_is_predicted(timeline: Timeline) -> None:
    found = tuned(timeline, "trueskill", draw_margin=20.0)
    model, scored = registry.load("trueskill"), slice(int(timeline.game_start[4]), None)
    config = configure(model="trueskill")
    for values, value in ((found.start, found.before), (found.values, found.after)):
        params = with_overrides(config, values).params
        predicted = forecast(timeline, model, params, config.config.solver, first=4).model
        per_game = score(predicted, timeline.outcome[scored], timeline.weight[scored]).per_game
        assert per_game == pytest.approx(value, abs=1e-9)
    assert set(found.values) == {"beta", "tau", "draw_margin", "white_advantage"}


def test_an_advantage_is_not_tuned_where_nobody_knows_who_had_white() -> None:
    unknown = build_timeline(simulate(PLAN).games(), colours="unknown")
    found = tuned(unknown, "trueskill", draw_margin=20.0, evaluations=15)
    assert set(found.start) == {"beta", "tau", "draw_margin"}
    assert "white_advantage" not in found.values


def test_no_neighbour_is_better(timeline: Timeline) -> None:
    found = tuned(timeline, "elo", evaluations=100)
    assert found.reached
    model, scored = registry.load("elo"), slice(int(timeline.game_start[4]), None)
    config = configure(model="elo")
    for key, value in found.values.items():
        for moved in (0.8 * value, 1.25 * value):
            params = with_overrides(config, {**found.values, key: moved}).params
            predicted = forecast(timeline, model, params, config.config.solver, first=4).model
            assert score(predicted, timeline.outcome[scored], timeline.weight[scored]).per_game < found.after


def test_what_changes_nothing_is_left_alone(timeline: Timeline) -> None:
    found = tuned(timeline, "elo", evaluations=15)
    assert not set(found.values) & {"prior_mean", "alpha", "k_limit", "new_games", "top_rating"}
    assert "prior_mean" not in tuned(timeline, "whr", evaluations=15).values
    held = tuned(timeline, "ttt", evaluations=15, tau=0.0)
    assert not set(held.values) & {"prior_sd", "prior_mean", "tau"}


def test_places_that_cannot_be_are_gone_round() -> None:
    """With next to nothing but wins the margin goes towards 0, where the single draw is impossible."""
    rows = [(1900 + i // 8, "abcd"[i % 4], "bcda"[i % 4], 1 if i == 3 else 2 * (i % 2)) for i in range(48)]
    found = tuned(build_timeline(make_games(rows)), "ttt", since=2, evaluations=25)
    assert math.isfinite(found.after)
    assert found.after > found.before
    assert 0 < found.values["draw_margin"] < found.start["draw_margin"]


def test_defaults_that_follow_others_follow_the_new_ones() -> None:
    params = with_overrides(configure(model="ttt", beta=300.0), {"tau": 5.0}).params
    assert params == ttt.Params(beta=300.0, tau=5.0)
    assert "draw_margin" not in params.model_fields_set
