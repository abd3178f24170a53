"""Laws that hold for the forecasts of every rating system there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.builders import make_games
from ttt_cli.config.schema import Colours, SolverConfig
from ttt_cli.evaluate.forecast import (
    Forecaster,
    blocks,
    expected,
    forecast,
    known_before,
    naive_probabilities,
    score,
)
from ttt_cli.inference.bradley_terry import LogDensity
from ttt_cli.inference.params import ExpectedParams
from ttt_cli.systems import registry
from ttt_cli.systems.weighted_ep import GamesSoFar
from ttt_cli.timeline import Timeline, build_timeline

SOLVER = SolverConfig(tol=1e-6, posterior="factorised")
NAMES = list("abcde")


def history(seed: int, years: int = 4, games: int = 6) -> list[tuple[Any, ...]]:
    """Games of five players, some of whom come late; the players of a year differ from year to year."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for year in range(years):
        for _ in range(games):
            white, black = rng.permutation(NAMES[: 3 + year])[:2].tolist()
            rows.append((1900 + 2 * year, white, black, int(rng.integers(3))))
    return rows


@pytest.mark.parametrize("name", registry.MODULES)
def test_no_forecast_sees_its_own_game_or_a_later_one(name: str) -> None:
    rows = history(1)
    model = registry.load(name)
    changed = [(*row[:3], 2 - row[3]) if row[0] >= 1904 else row for row in rows]
    one, other = (
        forecast(build_timeline(make_games(games)), model, model.Params(), SOLVER).model
        for games in (rows, changed)
    )
    seen = sum(row[0] <= 1904 for row in rows)
    assert one[:seen] == pytest.approx(other[:seen], abs=1e-12)
    assert np.allclose(one.sum(axis=1), 1.0)
    assert (one > 0).all()


@pytest.mark.parametrize("name", registry.MODULES)
def test_what_is_predicted_is_what_a_fit_of_the_past_alone_predicts(name: str) -> None:
    """Also where one fit serves all periods, with the share of draws in the past as the chance of one."""
    model = registry.load(name)
    timeline = build_timeline(make_games(history(2)))
    found = forecast(timeline, model, model.Params(), SOLVER).model
    for step, stop in blocks(timeline, 1, 1):
        known = known_before(timeline, step, stop)
        share = float(naive_probabilities(timeline.until(step))[1])
        fields = model.Params.model_fields
        fit = model.fit(
            known,
            model.Params(**({"draw_probability": share} if "draw_probability" in fields else {})),
            SOLVER,
        )
        nodes = slice(int(timeline.node_start[step]), int(timeline.node_start[stop]))
        games = slice(int(timeline.game_start[step]), int(timeline.game_start[stop]))
        columns = expected(fit, nodes)
        white, black = (
            {key: column[ends[games] - nodes.start] for key, column in columns.items()}
            for ends in (timeline.game_white, timeline.game_black)
        )
        assert found[games] == pytest.approx(model.predict(fit.params, white, black), abs=1e-4)


@pytest.mark.parametrize("name", [name for name in registry.MODULES if name != "naive"])
def test_odds_given_lower_the_chances_of_who_gives_them(name: str) -> None:
    model = registry.load(name)
    timeline = build_timeline(make_games(history(3)))
    last = int(timeline.game_start[-2])
    probabilities = []
    for points in (0.0, -200.0):
        offset = np.zeros(timeline.n_games)
        offset[last:] = points
        found = forecast(replace(timeline, offset=offset), model, model.Params(), SOLVER, first=3)
        probabilities.append(found.model)
    even, given = probabilities
    assert (given[:, 0] > even[:, 0]).all()
    assert (given[:, 2] < even[:, 2]).all()


FILTERS = [name for name in registry.MODULES if registry.load(name).TRAITS.kind == "filtered"]


@pytest.mark.parametrize("name", [name for name in FILTERS if name != "naive"])
@pytest.mark.parametrize("colours", ["known", "unknown"])
def test_with_one_game_a_period_the_scores_of_a_filter_add_up_to_its_evidence(
    name: str, colours: Colours
) -> None:
    """Odds, weights and unknown colours too: the forecast counts them as the model does when it learns."""
    model = registry.load(name)
    rng = np.random.default_rng(6)
    rows = [
        (
            1900 + year,
            *rng.permutation(NAMES)[:2].tolist(),
            int(rng.integers(3)),
            1.0 - 0.5 * (year % 2),
            100.0 * (year % 3),
        )
        for year in range(12)
    ]
    timeline = build_timeline(make_games(rows), "year", colours)
    params = model.Params(
        **({"draw_probability": 0.4} if "draw_probability" in model.Params.model_fields else {})
    )
    params = params.model_copy(update={"white_advantage": 40.0})
    found = forecast(timeline, model, params, SOLVER).model
    total = score(found, timeline.outcome, timeline.weight).log_score
    evidence = model.fit(timeline, params, SOLVER).log_evidence
    assert total == pytest.approx(evidence, abs=1e-3)


class Counting:
    """A model that counts its fits."""

    def __init__(self, name: str) -> None:
        self._model = registry.load(name)
        self.fits = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def fit(self, timeline: Timeline, *args: Any, **kwargs: Any) -> Any:
        self.fits += 1
        return self._model.fit(timeline, *args, **kwargs)


@pytest.mark.parametrize("name", registry.MODULES)
def test_a_filter_that_learns_the_same_whatever_is_made_of_draws_is_fitted_once(name: str) -> None:
    timeline = build_timeline(make_games(history(4)))
    counting: Any = Counting(name)
    forecast(timeline, counting, counting.Params(), SOLVER)
    once = name in FILTERS and issubclass(counting.Params, ExpectedParams) and name != "weighted-ep"
    assert (counting.fits == 1) == once


def test_a_filter_with_everything_given_is_fitted_once_and_else_for_every_period() -> None:
    timeline = build_timeline(make_games(history(4)))
    for margin, fits in ((100.0, 1), ("auto", 4)):
        counting: Any = Counting("trueskill")
        forecast(timeline, counting, counting.Params(draw_margin=margin), SOLVER)
        assert counting.fits == fits


def test_fits_begin_at_those_with_other_parameters_of_the_same_period() -> None:
    timeline = build_timeline(make_games(history(5, games=40)))
    ttt = registry.load("ttt")
    near: dict[int, Any] = {}
    sweeps = []
    for _ in range(2):
        forecaster = Forecaster(timeline, ttt, ttt.Params(draw_margin=100.0), SOLVER, near=near)
        found = [forecaster.predict(step, stop) for step, stop in blocks(timeline, 1, 1)]
        sweeps.append(sum(fit.status.sweeps for fit in near.values()))
    assert sorted(near) == [1, 2, 3]
    assert sweeps[1] < sweeps[0]
    plain = forecast(timeline, ttt, ttt.Params(draw_margin=100.0), SOLVER, first=1).model
    assert np.concatenate(found) == pytest.approx(plain, abs=1e-6)


def test_a_system_that_fits_every_period_anew_fits_those_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timeline = build_timeline(make_games(history(6, years=6)))
    years: list[float] = []
    infer = GamesSoFar._infer

    def counted(pool: GamesSoFar, year: float) -> None:
        years.append(year)
        infer(pool, year)

    monkeypatch.setattr(GamesSoFar, "_infer", counted)
    model = registry.load("weighted-ep")
    for margin in (90.0, "auto"):
        years.clear()
        forecast(timeline, model, model.Params(draw_margin=margin), SOLVER, first=3)
        assert years[-3:] == [1906.0, 1908.0, 1910.0]
        assert len(years) == 3


def test_forecasts_of_ratings_alone_need_no_exact_deviations(monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = build_timeline(make_games(history(7)))
    whr = registry.load("whr")
    own, exact = whr.Params(deviations="own"), whr.Params(deviations="exact")
    expected_too = forecast(timeline, whr, own, SOLVER, first=2).model
    monkeypatch.setattr(LogDensity, "information", None)
    assert np.array_equal(forecast(timeline, whr, exact, SOLVER, first=2).model, expected_too)


@pytest.mark.parametrize("name", ["whr", "edo"])
def test_what_a_forecast_leaves_undone_is_far_below_what_scores_show(name: str) -> None:
    """Of the tolerance that forecasts have by default: 1e-5 nats a game."""
    timeline = build_timeline(make_games(history(8, years=8, games=60)))
    model = registry.load(name)
    scored = timeline.game_start[4]
    losses = [
        score(
            forecast(timeline, model, model.Params(), solver, first=4).model,
            timeline.outcome[scored:],
            timeline.weight[scored:],
        ).per_game
        for solver in (SolverConfig(), SolverConfig(tol=1e-9))
    ]
    assert abs(losses[0] - losses[1]) < 1e-5
