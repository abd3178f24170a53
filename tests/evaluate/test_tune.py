"""Tuning finds what made artificial histories, says how sure that is, and survives fits that fail."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.builders import make_games
from tests.support.handmade import written
from ttt_cli.api import configure, fit
from ttt_cli.evaluate.forecast import forecast, score
from ttt_cli.evaluate.simulate import Plan, simulate
from ttt_cli.evaluate.tune import Objective, Tuning, tune
from ttt_cli.evaluate.tune_before import TunedSystem, TunePlan, tune_system
from ttt_cli.games.table import Games
from ttt_cli.parallel.processes import Reporting
from ttt_cli.runs.run import Run, open_run
from ttt_cli.systems import registry, ttt
from ttt_cli.systems.resolve import with_overrides
from ttt_cli.timeline import Timeline, build_timeline

pytestmark = pytest.mark.slow

SMALL = Plan(
    players=40,
    years=12,
    games=900,
    expansion=0.0,
    beta=350,
    tau=120,
    clusters=1,
    mixing=1.0,
    seed=6,
)


@pytest.fixture(scope="module")
def games() -> Games:
    return simulate(SMALL).games()


@pytest.fixture
def run(games: Games, tmp_path: Path) -> Run:
    place = tmp_path / "a.ttt"
    return open_run(written(place, lambda: fit(games, output=place), "tune"))


def value(found: Tuning, key: str) -> float:
    return next(one.value for one in found.parameters if one.key == key)


def error(found: Tuning, key: str) -> float:
    wanted = next(one.standard_error for one in found.parameters if one.key == key)
    assert wanted is not None
    return wanted


def of_search(found: Tuning) -> list[str]:
    """Remarks, those on the calibration of predictions apart."""
    return [remark for remark in found.remarks if "calibration slope" not in remark]


@pytest.mark.parametrize("advantage", [pytest.param(0.0, marks=pytest.mark.large), 60.0])
def test_the_parameters_that_made_a_history_are_found(advantage: float) -> None:
    plan = Plan(
        players=300, years=40, games=15_000, expansion=0.0, clusters=1, mixing=1.0,
        beta=400, tau=50, draw_margin=200, white_advantage=advantage, seed=1,
    )  # fmt: skip
    keys = ["beta", "tau", "draw_margin", *(["white_advantage"] if advantage else [])]
    found = tune(fit(simulate(plan).games(), prior_sd=400), ",".join(keys))
    assert found.converged
    assert [one.key for one in found.parameters] == keys
    for one in found.parameters:
        assert one.standard_error is not None
        assert one.standard_error < 0.2 * getattr(plan, one.key)
        assert abs(one.value - getattr(plan, one.key)) < 4 * one.standard_error, one
    assert found.sweeps < 10 * found.evaluations
    assert found.remarks == ()


@pytest.mark.large
def test_standard_errors_are_those_of_the_evidence_itself(games: Games) -> None:
    """Second differences of the evidence times the prior of White's advantage, in points, at the tuned values."""
    found = tune(fit(games, draw_margin=150, tol=1e-6), "beta,tau,white_advantage")
    keys = [one.key for one in found.parameters]
    top = np.array([one.value for one in found.parameters])
    steps = np.diag([0.1 * error(found, key) for key in keys])

    @cache
    def evidence(*beyond: float) -> float:
        at = top + np.array(beyond)
        return fit(
            games, draw_margin=150, tol=1e-8, **dict(zip(keys, at, strict=True))
        ).meta.log_evidence

    def posterior(*beyond: float) -> float:
        beta, _, advantage = top + np.array(beyond)
        return evidence(*beyond) - 0.5 * (advantage / (beta / 3.0)) ** 2

    curvature = np.array([[
        (posterior(*a + b) - posterior(*a - b) - posterior(*b - a) + posterior(*-a - b))
        / (4 * np.abs(a).sum() * np.abs(b).sum())
        for b in steps] for a in steps])  # fmt: skip
    covariance = np.linalg.inv(-curvature)
    expected = np.sqrt(np.diag(covariance))
    assert [error(found, key) for key in keys] == pytest.approx(expected, rel=0.02)
    assert found.correlations == pytest.approx(covariance / np.outer(expected, expected), abs=0.02)
    assert found.log_evidence == pytest.approx(evidence(*np.zeros(3)), abs=1e-6)


def test_the_gradient_is_that_of_the_evidence_times_the_prior_of_the_advantage(
    games: Games,
) -> None:
    """By differences, where the prior counts: at an advantage of 300 points it takes 2.5 nats."""
    timeline = build_timeline(games)
    resolved = configure(model="ttt", white_advantage="estimate", draw_margin=150.0, tol=1e-8)
    objective = Objective(resolved, timeline, ("beta", "tau", "white_advantage"), Reporting())
    at = np.array([math.log(400.0), math.log(100.0), 300.0 / 480.0])
    point = objective.at(at)
    assert point is not None
    beta, _, advantage = objective.values(at).values()
    log_prior = -0.5 * (advantage / (beta / 3.0)) ** 2
    assert log_prior == pytest.approx(-2.53, abs=0.01)
    assert point.value == pytest.approx(objective.log_evidence(point) + log_prior)
    for i, step in enumerate(np.eye(3) * 1e-3):
        below, above = objective.at(at - step), objective.at(at + step)
        assert below is not None
        assert above is not None
        assert point.gradient[i] == pytest.approx(
            (above.value - below.value) / 2e-3, rel=1e-3, abs=1e-3
        )


def test_overconfident_predictions_are_named_with_what_to_do() -> None:
    """Players who change their skills every year, fitted as if they did not."""
    plan = Plan(
        players=60, years=30, games=6_000, beta=100, tau=400, mixing=1.0, clusters=1, seed=3
    )
    run = fit(simulate(plan).games(), model="ttt", tau=1.0, beta=100.0)
    found = tune(run, "white_advantage")
    (remark,) = [remark for remark in found.remarks if "calibration slope" in remark]
    assert "overconfident" in remark
    assert "ttt compare CONFIG --tune --tune-by score" in remark


def test_the_search_starts_at_what_the_run_has_estimated() -> None:
    plan = Plan(
        players=8, years=3, games=200, beta=350, white_advantage=120, clusters=1, mixing=1.0, seed=4
    )
    run = fit(simulate(plan).games(), model="ttt", white_advantage="estimate")
    tuning = tune(run, "beta")
    starts = {parameter.key: parameter.start for parameter in tuning.parameters}
    assert starts["white_advantage"] == pytest.approx(run.meta.params["white_advantage"])
    assert starts["white_advantage"] > 20.0
    assert tuning.start_log_evidence == pytest.approx(run.meta.log_evidence, abs=1e-3)
    assert tuning.remarks[0] == "white_advantage is tuned, too, because the config estimates it"
    elsewhere = tune(run, "white_advantage", ["model.white_advantage=10"])
    assert [parameter.start for parameter in elsewhere.parameters] == [10.0]


def test_a_drift_of_nothing_is_begun_where_a_slope_shows(run: Run) -> None:
    found = tune(run, "tau", ["model.tau=0"])
    assert found.parameters[0].start == 4
    assert value(found, "tau") > 50
    assert of_search(found) == ["the search started at tau 4 instead of 0"]


@pytest.mark.parametrize(
    ("model", "keys"),
    [
        ("ttt", "draw_margin,beta"),
        ("ttt", "draw_probability,beta"),
        ("ttt-d", "nu0,varsigma0,varsigma"),
        ("trueskill", "beta,epsilon"),
    ],
)
def test_what_is_worked_out_becomes_a_number(games: Games, model: str, keys: str) -> None:
    run = fit(games, model=model)
    found = tune(run, keys)
    assert found.converged
    assert (
        found.log_evidence
        > found.start_log_evidence
        == pytest.approx(run.meta.log_evidence, abs=1e-4)
    )
    for one in found.parameters:
        assert getattr(found.config.model, one.key) == one.value
        if one.key != "draw_probability":
            assert one.start == pytest.approx(run.meta.params[one.key])
    again = fit(games, **found.config.model.params, model=model)
    assert again.meta.log_evidence == pytest.approx(found.log_evidence, abs=1e-4)


def test_every_fit_is_kept_and_the_run_stays_as_it_is(run: Run) -> None:
    before = run.meta
    found = tune(run)
    stored = open_run(run.path)
    points = stored.evidence_points()
    assert stored.meta == before
    assert max(point.log_evidence for point in points) == pytest.approx(
        found.log_evidence, abs=1e-3
    )
    assert len(points) == found.evaluations  # the first is the run's own
    assert all(point.converged for point in points)
    assert points[0].requested["beta"] == 480
    assert {point.params["prior_sd"] for point in points} == {400}


def test_a_bound_is_told() -> None:
    rng = np.random.default_rng(1)
    rows = [
        (1900 + i // 20, *rng.choice(list("abcdef"), 2, replace=False), int(2 * rng.integers(2)))
        for i in range(200)
    ]
    found = tune(fit(make_games(rows), draw_margin=20), "draw_margin,beta")
    margin, _ = found.parameters
    assert (margin.bound, margin.standard_error) == ("lower", None)
    assert margin.value == pytest.approx(0.04)
    assert found.converged
    assert "draw_margin stopped at its lower bound" in found.remarks[0]
    assert np.isnan(found.correlations[0]).all()
    assert found.correlations[1, 1] == 1.0


def failing(monkeypatch: pytest.MonkeyPatch, where: Callable[[Any], bool]) -> list[Any]:
    """Let fits end without convergence where told; the parameters of all fits, as they come."""
    real, seen = ttt.fit, []

    def unsure(timeline: Any, params: Any, *args: Any, **rest: Any) -> Any:
        seen.append(params)
        fitted = real(timeline, params, *args, **rest)
        return replace(fitted, status=replace(fitted.status, converged=not where(params)))

    monkeypatch.setattr(ttt, "fit", unsure)
    return seen


def test_a_top_that_no_fit_reaches_is_not_claimed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, lambda params: params.beta < 470)
    found = tune(run, "beta,tau")
    assert not found.converged
    assert "NOT CONVERGED" in found.remarks[0]
    assert "did not converge" in found.remarks[1]
    assert 470 <= value(found, "beta") < 480


def test_a_search_that_cannot_begin_says_so(run: Run) -> None:
    found = tune(run, "beta,tau", ["solver.max_sweeps=1"])
    assert not found.converged
    assert len(found.remarks) == 1
    assert "max_sweeps" in found.remarks[0]
    assert (value(found, "beta"), value(found, "tau")) == (480, 60)
    assert found.log_evidence == found.start_log_evidence == -math.inf


def test_a_search_goes_round_parameters_that_exclude_each_other(tmp_path: Path) -> None:
    history = simulate(Plan(players=25, years=8, games=500, clusters=1, seed=1)).games()
    place = tmp_path / "a.ttt"
    run = open_run(written(place, lambda: fit(history, output=place), "growth"))
    found = tune(run, "prior_mean_drift,growth")
    assert value(found, "growth") > 0.0


def test_an_interrupt_keeps_every_finished_fit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def interrupting(params: Any) -> bool:
        if len(seen) == 4:
            raise KeyboardInterrupt
        return False

    seen = failing(monkeypatch, interrupting)
    with pytest.raises(KeyboardInterrupt):
        tune(run)
    assert len(open_run(run.path).evidence_points()) == 3  # the first is the run's own


def test_what_the_games_cannot_tell_is_said_and_costs_the_others_nothing(run: Run) -> None:
    """Nobody here has played for fifteen years."""
    alone, found = tune(run, "beta"), tune(run, "beta,decline", ["model.decline=7"])
    assert of_search(found) == [
        "the games do not determine decline: the evidence does not depend on it"
    ]
    assert found.converged
    assert error(found, "beta") == pytest.approx(error(alone, "beta"), rel=0.01)
    assert [one.standard_error is None for one in found.parameters] == [False, True]


SHORT = Plan(
    players=30, years=10, games=800, expansion=0.0, beta=350, tau=100, draw_margin=150, seed=9
)


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return build_timeline(simulate(SHORT).games())


def tuned(
    timeline: Timeline, model: str, since: int = 4, evaluations: int = 60, **params: Any
) -> TunedSystem:
    end = len(timeline.periods)
    return tune_system(
        timeline, configure(model=model, **params), TunePlan(since, end, 1, evaluations)
    )


def test_the_naive_model_comes_to_the_shares_of_the_games_that_are_scored(
    timeline: Timeline,
) -> None:
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
    unknown = build_timeline(simulate(SHORT).games(), colours="unknown")
    found = tuned(unknown, "trueskill", draw_margin=20.0, evaluations=15)
    assert set(found.start) == {"beta", "tau", "draw_margin"}
    assert "white_advantage" not in found.values


def test_what_changes_nothing_is_left_alone(timeline: Timeline) -> None:
    found = tuned(timeline, "elo", evaluations=15)
    assert not set(found.values) & {"prior_mean", "alpha", "k_limit", "new_games", "top_rating"}
    assert "prior_mean" not in tuned(timeline, "whr", evaluations=15).values
    held = tuned(timeline, "ttt", evaluations=15, tau=0.0)
    assert not set(held.values) & {"prior_sd", "prior_mean", "tau"}


def test_places_that_cannot_be_are_gone_round() -> None:
    """With next to nothing but wins the margin goes towards 0, where the single draw is impossible."""
    rows = [
        (1900 + i // 8, "abcd"[i % 4], "bcda"[i % 4], 1 if i == 3 else 2 * (i % 2))
        for i in range(48)
    ]
    found = tuned(build_timeline(make_games(rows)), "ttt", since=2, evaluations=25)
    assert math.isfinite(found.after)
    assert found.after > found.before
    assert 0 < found.values["draw_margin"] < found.start["draw_margin"]
