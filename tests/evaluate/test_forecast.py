"""Forecasts: laws of every rating system, prequential scores by hand and on known skills, moving draw margins."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from tests.reference.ttt_ep import tilted
from tests.support.builders import EXACT, fit_rows, make_games, random_rows, skills
from tests.support.cases import each
from tests.support.recorder import Recorder
from tests.support.sides import games_of_sides
from ttt_cli import api
from ttt_cli.config.documents import Document
from ttt_cli.config.schema import Colours, SolverConfig
from ttt_cli.evaluate.forecast import (
    Forecaster,
    beliefs_at,
    blocks,
    find_period_index,
    forecast,
    known_before,
    naive_probabilities,
    predict_run,
    score,
)
from ttt_cli.inference.bradley_terry import LogDensity
from ttt_cli.inference.params import DrawParams
from ttt_cli.runs.write import memory_run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.support.normal import normal_cdf
from ttt_cli.systems import registry, ttt
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import Timeline, build_timeline
from ttt_cli.views.games_of_player import games_of
from ttt_cli.views.versus import versus_view

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


def with_share(model: Any, share: float) -> Any:
    """Parameters with this share of draws, where one sets the margin."""
    return model.Params(
        **({"draw_probability": share} if "draw_probability" in model.Params.model_fields else {})
    )


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
        fit = model.fit(known, with_share(model, share), SOLVER)
        nodes = slice(int(timeline.node_start[step]), int(timeline.node_start[stop]))
        games = slice(int(timeline.game_start[step]), int(timeline.game_start[stop]))
        columns = beliefs_at(fit, nodes)
        white, black = (
            {key: column[ends[games] - nodes.start] for key, column in columns.items()}
            for ends in (timeline.game_white, timeline.game_black)
        )
        assert found[games] == pytest.approx(model.predict(fit.params, white, black), abs=1e-4)


def test_games_to_be_predicted_are_counted_by_no_node() -> None:
    timeline = build_timeline(make_games(history(2)))
    for step, stop in blocks(timeline, 1, 2):
        known = known_before(timeline, step, stop)
        counted = timeline.node_games[: known.n_nodes].copy()
        counted[timeline.node_start[step] :] = 0.0
        assert known.node_games == pytest.approx(counted, abs=1e-12)


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
    params = with_share(model, 0.4).model_copy(update={"white_advantage": 40.0})
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
    once = name in FILTERS and issubclass(counting.Params, DrawParams) and name != "weighted-ep"
    assert (counting.fits == 1) == once
    if name == "trueskill":
        given: Any = Counting(name)
        forecast(timeline, given, given.Params(draw_margin=100.0), SOLVER)
        assert (counting.fits, given.fits) == (4, 1)


def test_fits_begin_at_those_with_other_parameters_of_the_same_period() -> None:
    timeline = build_timeline(make_games(history(5, games=40)))
    ttt = registry.load("ttt")
    starts: dict[int, Any] = {}
    sweeps = []
    for _ in range(2):
        forecaster = Forecaster(timeline, ttt, ttt.Params(draw_margin=100.0), SOLVER, starts=starts)
        found = [forecaster.predict(step, stop) for step, stop in blocks(timeline, 1, 1)]
        sweeps.append(sum(fit.status.sweeps for fit in starts.values()))
    assert sorted(starts) == [1, 2, 3]
    assert sweeps[1] < sweeps[0]
    plain = forecast(timeline, ttt, ttt.Params(draw_margin=100.0), SOLVER, first=1).model
    assert np.concatenate(found) == pytest.approx(plain, abs=1e-6)


def test_forecasts_of_ratings_alone_need_no_exact_deviations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


PARAMS = {"beta": 300.0, "tau": 70.0, "draw_margin": 130.0}
MODELS = {
    "ttt": PARAMS,
    "ttt-d": {"beta": 300.0, "tau": 70.0},
    "trueskill": {**PARAMS, "draw_margin": "auto"},
}
THREE_YEARS = [
    (1900, "a", "b", 2), (1900, "b", "a", 1), (1900, "a", "b", 2),
    (1903, "b", "a", 2), (1903, "a", "c", 0),
    (1904, "c", "b", 1), (1904, "a", "c", 2),
]  # fmt: skip


def predicted_of(rows, model="ttt", players=(), **kwargs):
    options = {key: kwargs.pop(key) for key in ("first", "every") if key in kwargs}
    module = registry.load(model)
    timeline = build_timeline(make_games(rows, players))
    return timeline, forecast(timeline, module, module.Params(**kwargs), EXACT, **options)


def probabilities_by_hand(lead, variance, margin):
    return [math.exp(tilted(lead, variance, outcome, margin)[2]) for outcome in (-1, 0, 1)]


def test_each_period_is_predicted_from_a_fit_of_the_earlier_ones_and_drift():
    """Players of 1903 from a fit of 1900 alone, three years' drift later; the newcomer c from the prior."""
    _, found = predicted_of(THREE_YEARS, **PARAMS)
    known = skills(*fit_rows(THREE_YEARS[:3], **PARAMS))
    noise, margin = 2 * 300**2, 130
    (mean_a, sd_a), (mean_b, sd_b) = known["a", 1900], known["b", 1900]
    drift = 3 * 70**2
    by_hand = [
        probabilities_by_hand(0, noise + 2 * 400**2, margin),
        probabilities_by_hand(mean_b - mean_a, noise + sd_a**2 + sd_b**2 + 2 * drift, margin),
        probabilities_by_hand(mean_a - 1200, noise + sd_a**2 + drift + 400**2, margin),
    ]
    assert found.model[[0, 3, 4]] == pytest.approx(np.array(by_hand), abs=1e-9)
    later = skills(*fit_rows(THREE_YEARS[:5], **PARAMS))
    (mean_a, sd_a), (mean_c, sd_c) = later["a", 1903], later["c", 1903]
    last = probabilities_by_hand(mean_a - mean_c, noise + sd_a**2 + sd_c**2 + 2 * 70**2, margin)
    assert found.model[6] == pytest.approx(last, abs=1e-9)


def test_the_naive_model_knows_the_draws_of_the_past_and_one_game_of_each_outcome():
    _, found = predicted_of(THREE_YEARS, **PARAMS)
    assert found.naive[[0, 3, 5], 1] == pytest.approx([1 / 3, 2 / 6, 2 / 8])
    assert found.naive[:, 0] == pytest.approx((1 - found.naive[:, 1]) / 2)
    assert found.naive.sum(axis=1) == pytest.approx(1)


def test_an_automatic_margin_follows_the_share_of_draws_so_far():
    _, found = predicted_of(
        THREE_YEARS, prior_sd=1e-6, tau=0
    )  # so sure of all that the margin alone decides
    assert found.model == pytest.approx(found.naive, abs=1e-8)
    _, given = predicted_of(THREE_YEARS, prior_sd=1e-6, tau=0, draw_probability=0.4)
    assert given.model[:, 1] == pytest.approx(0.4, abs=1e-8)


def test_between_refits_players_drift_and_learn_nothing():
    _, found = predicted_of(THREE_YEARS, every=2, **PARAMS)
    _, always = predicted_of(THREE_YEARS, **PARAMS)
    assert found.model[:3] == pytest.approx(always.model[:3])
    nothing_known = probabilities_by_hand(0, 2 * (300**2 + 400**2 + 3 * 70**2), 130)
    assert found.model[3] == pytest.approx(
        nothing_known
    )  # three years after a first appearance that is not seen
    assert found.model[5:] == pytest.approx(always.model[5:])  # fitted again for 1904
    assert found.naive[3:5, 1] == pytest.approx(1 / 3)
    _, from_1903 = predicted_of(THREE_YEARS, first=1, every=2, **PARAMS)
    assert from_1903.model[:2] == pytest.approx(always.model[3:5])
    known = skills(*fit_rows(THREE_YEARS[:3], **PARAMS))
    mean, sd = known["b", 1900]  # c against b in 1904, four years after what is known of b
    hand = probabilities_by_hand(1200 - mean, 2 * 300**2 + 400**2 + 70**2 + sd**2 + 4 * 70**2, 130)
    assert from_1903.model[2] == pytest.approx(hand, abs=1e-9)


def test_scores_by_hand():
    probabilities = np.array([[0.2, 0.3, 0.5], [0.4, 0.2, 0.4 + 1e-15], [0.1, 0.6, 0.3]])
    found = score(probabilities, np.array([2, 0, 0], np.int8), np.array([1.0, 2.0, 1.0]))
    assert found.games == 4
    assert found.log_score == pytest.approx(math.log(0.5) + 2 * math.log(0.4) + math.log(0.1))
    assert found.per_game == found.log_score / 4
    brier = (0.04 + 0.09 + 0.25) + 2 * (0.36 + 0.04 + 0.16) + (0.81 + 0.36 + 0.09)
    assert found.brier == pytest.approx(brier / 4)
    assert found.accuracy == pytest.approx(
        (1 + 2 * 0.5 + 0) / 4
    )  # two outcomes are equally probable in the second


def test_impossible_outcomes_score_minus_infinity():
    found = score(np.array([[0.0, 0.0, 1.0]]), np.array([0], np.int8), np.ones(1))
    assert found.log_score == -math.inf
    assert found.brier == 2


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_leaving_one_out_by_cavity_is_close_to_fitting_without_the_game(model):
    """Up to 2 % too low: a cavity is sharper than it should be, as the other sites were made with the game there."""
    rows = random_rows(4, 60, 6, 4)
    params = MODELS[model]
    timeline, fit = fit_rows(rows, model, **params)
    module = registry.load(model)
    total = 0.0
    for game in range(timeline.n_games):
        weight = timeline.weight.copy()
        weight[game] = 1e-12  # as good as left out, the nodes stay
        without = module.fit(replace(timeline, weight=weight), module.Params(**params), EXACT)
        white, black = (
            beliefs_at(without, slice(ends[game], ends[game] + 1))
            for ends in (timeline.game_white, timeline.game_black)
        )
        total += math.log(module.predict(without.params, white, black)[0, timeline.outcome[game]])
    assert 1.02 * total < fit.leave_one_out < total
    assert fit.leave_one_out > fit.log_evidence


def in_a_ring(outcomes):
    """60 games a year from 1900, between neighbours of four."""
    return [
        (1900 + i // 60, "abcd"[i % 4], "abcd"[(i + 1) % 4], outcome)
        for i, outcome in enumerate(outcomes)
    ]


def test_an_advantage_is_estimated_from_enough_games_of_the_past_only():
    rows = in_a_ring([0 if i % 5 == 0 else 2 for i in range(180)])
    _, found = predicted_of(rows, white_advantage="estimate", draw_margin=100)
    _, blind = predicted_of(rows, draw_margin=100)
    assert found.model[:120] == pytest.approx(blind.model[:120])  # 60 games are too few
    gamma = fit_rows(rows[:120], white_advantage="estimate", draw_margin=100)[1].params[
        "white_advantage"
    ]
    assert gamma > 50
    _, held = predicted_of(rows, first=2, white_advantage=gamma, draw_margin=100)
    assert found.model[120:] == pytest.approx(held.model, abs=1e-4)


def test_an_advantage_without_limit_is_not_estimated():
    rows = in_a_ring([2] * 180)
    _, found = predicted_of(rows, white_advantage="estimate", draw_margin=100)
    _, blind = predicted_of(rows, draw_margin=100)
    assert found.model == pytest.approx(blind.model)


def test_a_run_is_scored_under_its_config_from_a_period_on():
    run = api.fit(make_games(THREE_YEARS), model="ttt", **PARAMS)
    recorder = Recorder()
    found = predict_run(run, "1901", every=2, progress=recorder)
    timeline, expected = predicted_of(THREE_YEARS, first=1, every=2, **PARAMS)
    assert (found.first, found.every, found.converged) == ("1903", 2, True)
    assert found.games == 4
    again = score(expected.model, timeline.outcome[3:], timeline.weight[3:])
    model, naive = found.scores
    assert model.log_score == pytest.approx(again.log_score, abs=1e-4)
    assert naive == score(expected.naive, timeline.outcome[3:], timeline.weight[3:])
    assert recorder.notes == ["1904"]
    assert recorder.told[1:] == [2]
    assert recorder.told[0][1] == 2
    assert predict_run(run).first == "1900"


def test_the_first_period_is_found_by_its_label_or_year():
    timeline = build_timeline(make_games(THREE_YEARS))
    assert [find_period_index(timeline, text) for text in ("1066", "1900", "1901", "1904")] == [
        0,
        0,
        1,
        2,
    ]
    months = build_timeline(make_games(THREE_YEARS), "month")
    assert [
        find_period_index(months, text) for text in ("1903", "1903-07", "1903.07", "1903-08")
    ] == [
        1,
        1,
        1,
        2,
    ]
    with pytest.raises(LookupFailed, match="no games from 1905 on"):
        find_period_index(timeline, "1905")
    with pytest.raises(LookupFailed, match="'early' is not a period"):
        find_period_index(timeline, "early")
    with pytest.raises(LookupFailed, match="the run is by the year: 1903-07 is shorter"):
        find_period_index(timeline, "1903.07")


def test_fits_that_do_not_converge_are_told():
    timeline = build_timeline(make_games(THREE_YEARS))
    params = ttt.Params(**PARAMS)
    assert forecast(timeline, ttt, params, EXACT).converged
    assert not forecast(timeline, ttt, params, SolverConfig(max_sweeps=1)).converged


MOVING = {"beta": 300.0, "tau": 80.0, "draw_margin_drift": 0.3, "draw_margin_strength": 0.4}


def rows(years=6, games=30, seed=3):
    rng = np.random.default_rng(seed)
    found = []
    for year in range(years):
        for _ in range(games):
            i, j = rng.choice(6, 2, replace=False)
            outcome = 1 if rng.random() < 0.1 + 0.12 * year else 2 * (i < j)
            found.append((1900 + year, "abcdef"[i], "abcdef"[j], int(outcome)))
    return found


def by_hand(name, params, draws, white, black):
    """P(loss, draw, win) by the formulas of docs/models/draws.md."""
    above = ((white["mean"] + black["mean"]) / 2 - draws["level"]) / 400
    grown = math.exp(params["draw_margin_strength"] * min(max(above, -2), 2))
    d, noise = (
        white["mean"] - black["mean"],
        2 * params["beta"] ** 2 + white["sd"] ** 2 + black["sd"] ** 2,
    )
    if name == "ttt":
        sides = [(draws["margin"] * grown, noise)] * 2
    else:
        more = params["draw_margin_mean"] * (grown - 1)
        sides = [
            (side["draw_margin"] + more, noise + side["draw_margin_sd"] ** 2)
            for side in (black, white)
        ]
    win, loss = (
        normal_cdf((sign * d - margin) / math.sqrt(v))
        for sign, (margin, v) in zip((1, -1), sides, strict=True)
    )
    return loss, 1 - win - loss, win


@pytest.mark.parametrize("name", ["ttt", "ttt-d"])
def test_games_are_predicted_with_the_last_years_margin_and_level(name):
    timeline, model = build_timeline(make_games(rows())), registry.load(name)
    params = model.Params(**MOVING)
    step = 4
    fit = model.fit(known_before(timeline, step, step + 1), params, EXACT)
    seen = model.fit(timeline.until(step), params, EXACT)
    year = 1900 + step
    assert fit.draws.year.tolist()[-1] == year
    assert fit.draws.at(year) == pytest.approx(
        fit.draws.at(year - 1)
    )  # nothing is known of the year itself
    if name == "ttt":
        assert fit.draws.at(year - 1) == pytest.approx(seen.draws.at(year - 1), abs=1e-5)
    found = Forecaster(timeline, model, params, EXACT).predict(step, step + 1)
    nodes = slice(int(timeline.node_start[step]), int(timeline.node_start[step + 1]))
    beliefs = beliefs_at(fit, nodes)
    draws = {"margin": fit.draws.margin[-1], "level": fit.draws.level[-1]}
    start = int(timeline.game_start[step])
    for g in range(start, start + 5):
        white, black = (
            {key: float(of[end[g] - nodes.start]) for key, of in beliefs.items()}
            for end in (timeline.game_white, timeline.game_black)
        )
        assert found[g - start] == pytest.approx(
            by_hand(name, fit.params, draws, white, black), abs=2e-4
        )


@pytest.mark.parametrize("name", ["ttt", "ttt-d"])
def test_questions_to_a_run_take_the_margin_of_their_year(name):
    games = make_games(rows())
    timeline = build_timeline(games)
    resolved = resolve(
        Document(values={"model": {"name": name, **MOVING}, "solver": {"posterior": "factorised"}})
    )
    fit = resolved.model.fit(timeline, resolved.params, EXACT)
    run = memory_run(games, timeline, fit, resolved.config)
    frame = run.draws()
    assert frame["year"].tolist() == fit.draws.year.tolist()
    assert np.array_equal(frame["margin"], fit.draws.margin)
    assert np.array_equal(frame["sd"], fit.draws.sd)
    strengths = {
        (row["player"], row["period"]): row
        for row in run.skills().rename(columns={}).to_dict("records")
    }
    for year in (1900, 1905):
        draws = frame[frame["year"] == year].iloc[0]
        white, black = strengths["a", str(year)], strengths["b", str(year)]
        expected_odds = by_hand(name, fit.params, draws, white, black)
        view = versus_view(run, "a", "b", at=str(year))
        report = dict(zip(view.report.columns, view.report.rows[0], strict=True))
        assert (report["loss"], report["draw"], report["win"]) == pytest.approx(
            expected_odds, abs=1e-9
        )
        played = next(
            game for game in games_of(run, "a", "b") if game.period == str(year) and game.is_white
        )
        chance = played.chance
        assert (chance.loss, chance.draw, chance.win) == pytest.approx(expected_odds, abs=1e-9)


def test_without_a_draw_there_is_no_margin_that_could_move():
    decided = [(year, white, black, 2) for year, white, black, _ in rows()]
    timeline, model = build_timeline(make_games(decided)), registry.load("ttt")
    found = Forecaster(timeline, model, model.Params(**MOVING, draw_margin=0.0), EXACT).predict(
        3, 4
    )
    assert found[:, 1] == pytest.approx(0.0)
    assert found.sum(axis=1) == pytest.approx(1.0)


@each("team", ["sum", "mean"])
def test_forecasts_of_teams_are_those_of_sums(team):
    """P(d within the draw margin) of the difference of sums, with White's advantage, handicap and unequal teams."""
    rows = [
        (1900, "a", "b", 2),
        (1900, "c", "b", 1),
        (1901, "a / c", "b", 2, 1.0, 80.0),
        (1901, "a", "c", 2),
    ]
    timeline = build_timeline(games_of_sides(rows), "year", "known")
    params = ttt.Params(white_advantage=35.0, draw_margin=200.0, team=team)
    forecaster = Forecaster(timeline, ttt, params, EXACT)
    probabilities = forecaster.predict(1, 2)
    fit = ttt.fit(known_before(timeline, 1, 2), params, EXACT)
    skill = {
        timeline.players[timeline.node_player[node]]: (fit.mean[node], fit.sd[node])
        for node in range(3, timeline.n_nodes)
    }
    share = 1.0 if team == "sum" else 0.5
    players = 3.0 if team == "sum" else 2.0
    mean = share * (skill["a"][0] + skill["c"][0]) - skill["b"][0] + 35.0 + 80.0 * fit.elo_unit
    variance = share**2 * (skill["a"][1] ** 2 + skill["c"][1] ** 2) + skill["b"][1] ** 2
    noise = players * params.beta**2
    difference = NormalDist(mean, math.sqrt(variance + noise))
    margin = 200.0 * math.sqrt(players / 2.0)
    assert probabilities[0, 0] == pytest.approx(difference.cdf(-margin), abs=1e-9)
    assert probabilities[0, 2] == pytest.approx(1.0 - difference.cdf(margin), abs=1e-9)
    assert probabilities.sum(axis=1) == pytest.approx(1.0)
