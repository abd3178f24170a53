"""Laws of the systems that take all games of a period at once: Glicko, Glicko-2, Chessmetrics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders import fit_rows, make_games
from tests.support.strategies import game_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.systems.registry import load
from ttt_cli.timeline import build_timeline

MODELS = ("glicko", "glicko2", "chessmetrics")
SOLVER = SolverConfig(tol=1e-4)
games = game_rows(1906, "abcde", (1.0, 2.0), (0.0, 150.0), 15)
few = settings(max_examples=12)


def beliefs(rows, model, **params):
    """({(player, year): (mean, sd, mean before, sd before)}, log-evidence), an unknown sd as 0."""
    timeline, fit = fit_rows(rows, model, SOLVER, **{"draw_margin": 80, **params})
    chain = fit.chains["skill"]
    columns = np.nan_to_num(np.stack([chain.mean, chain.sd, chain.before_mean, chain.before_sd], axis=1))
    keys = zip(timeline.node_player, timeline.node_period, strict=True)
    return {
        (timeline.players[p], int(y)): row for (p, y), row in zip(keys, columns, strict=True)
    }, fit.log_evidence


def assert_same(one, other):
    assert set(one[0]) == set(other[0])
    for key, found in one[0].items():
        assert found == pytest.approx(other[0][key], abs=1e-6)
    assert one[1] == pytest.approx(other[1], abs=1e-8)


@pytest.mark.parametrize("model", MODELS)
@few
@given(games)
def test_colours_change_places_with_their_advantage(model, rows):
    turned = [(y, black, white, 2 - outcome, w, -lead) for y, white, black, outcome, w, lead in rows]
    assert_same(beliefs(rows, model, white_advantage=40), beliefs(turned, model, white_advantage=-40))


@pytest.mark.parametrize("model", MODELS)
@few
@given(games, st.randoms(use_true_random=False))
def test_names_and_order_inside_a_year_do_not_matter(model, rows, random):
    names = list("abcde")
    random.shuffle(names)
    new = dict(zip("abcde", names, strict=True))
    mixed = [(y, new[w], new[b], *rest) for y, w, b, *rest in rows]
    random.shuffle(mixed)
    found, evidence = beliefs(rows, model)
    renamed = {(new[name], year): row for (name, year), row in found.items()}
    assert_same((renamed, evidence), beliefs(mixed, model))


@pytest.mark.parametrize("model", MODELS)
@few
@given(games)
def test_a_weight_is_so_many_equal_games(model, rows):
    repeated = [(*row[:4], 1.0, row[5]) for row in rows for _ in range(int(row[4]))]
    assert_same(beliefs(rows, model), beliefs(repeated, model))


@pytest.mark.parametrize("model", MODELS)
@few
@given(games)
def test_later_games_change_nothing_before(model, rows):
    found, _ = beliefs(rows, model)
    early, _ = beliefs([row for row in rows if row[0] <= 1903] or [(1900, "a", "b", 1)], model)
    for key in set(early) & set(found) if any(row[0] <= 1903 for row in rows) else ():
        assert found[key] == pytest.approx(early[key], abs=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_unknown_colours_leave_white_s_advantage_out(model):
    rows = [(1900, "a", "b", 2), (1900, "b", "c", 1), (1901, "c", "a", 0)]
    module = load(model)
    timeline = build_timeline(make_games(rows), colours="unknown")
    fit = module.fit(timeline, module.Params(draw_margin=80, white_advantage=50), SOLVER)
    assert fit.params["white_advantage"] == 0
    _, plain = fit_rows(rows, model, SOLVER, draw_margin=80)
    assert np.array_equal(fit.mean, plain.mean)
    assert fit.log_evidence == plain.log_evidence
