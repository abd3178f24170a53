"""Predictions, and questions to runs, with draw margins that move."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.support.builders import EXACT, make_games
from ttt_cli.config.load import Document
from ttt_cli.evaluate.forecast import Forecaster, expected, known_before
from ttt_cli.runs.write import memory_run
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import build_timeline
from ttt_cli.views.players import games_of
from ttt_cli.views.probability import normal_cdf
from ttt_cli.views.versus import versus_view

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
    d, noise = white["mean"] - black["mean"], 2 * params["beta"] ** 2 + white["sd"] ** 2 + black["sd"] ** 2
    if name == "ttt":
        sides = [(draws["margin"] * grown, noise)] * 2
    else:
        more = params["draw_margin_mean"] * (grown - 1)
        sides = [(side["draw_margin"] + more, noise + side["draw_margin_sd"] ** 2) for side in (black, white)]
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
    assert fit.draws.at(year) == pytest.approx(fit.draws.at(year - 1))  # nothing is known of the year itself
    if name == "ttt":
        assert fit.draws.at(year - 1) == pytest.approx(seen.draws.at(year - 1), abs=1e-5)
    found = Forecaster(timeline, model, params, EXACT).predict(step, step + 1)
    nodes = slice(int(timeline.node_start[step]), int(timeline.node_start[step + 1]))
    beliefs = expected(fit, nodes)
    draws = {"margin": fit.draws.margin[-1], "level": fit.draws.level[-1]}
    start = int(timeline.game_start[step])
    for g in range(start, start + 5):
        white, black = (
            {key: float(of[end[g] - nodes.start]) for key, of in beliefs.items()}
            for end in (timeline.game_white, timeline.game_black)
        )
        assert found[g - start] == pytest.approx(by_hand(name, fit.params, draws, white, black), abs=2e-4)


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
        (row["player"], row["period"]): row for row in run.skills().rename(columns={}).to_dict("records")
    }
    for year in (1900, 1905):
        draws = frame[frame["year"] == year].iloc[0]
        white, black = strengths["a", str(year)], strengths["b", str(year)]
        expected_odds = by_hand(name, fit.params, draws, white, black)
        view = versus_view(run, "a", "b", at=str(year))
        report = dict(zip(view.report.columns, view.report.rows[0], strict=True))
        assert (report["loss"], report["draw"], report["win"]) == pytest.approx(expected_odds, abs=1e-9)
        played = next(game for game in games_of(run, "a", "b") if game.period == str(year) and game.is_white)
        chance = played.chance
        assert (chance.loss, chance.draw, chance.win) == pytest.approx(expected_odds, abs=1e-9)


def test_without_a_draw_there_is_no_margin_that_could_move():
    decided = [(year, white, black, 2) for year, white, black, _ in rows()]
    timeline, model = build_timeline(make_games(decided)), registry.load("ttt")
    found = Forecaster(timeline, model, model.Params(**MOVING, draw_margin=0.0), EXACT).predict(3, 4)
    assert found[:, 1] == pytest.approx(0.0)
    assert found.sum(axis=1) == pytest.approx(1.0)


def test_a_run_of_one_margin_for_all_has_no_curve():
    games = make_games(rows())
    timeline = build_timeline(games)
    resolved = resolve(Document(values={"model": {"name": "ttt"}}))
    fit = resolved.model.fit(timeline, resolved.params, EXACT)
    run = memory_run(games, timeline, replace(fit), resolved.config)
    assert run.draws().empty
    assert run.draws_in(1900) is None
