"""Laws of all systems: mirrors, names, orders, weights, levels, nothing from the future in what a filter predicts."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import fit_rows, make_games, random_rows
from tests.support.strategies import examples, game_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.forecast import Forecaster
from ttt_cli.systems.registry import MODULES, load
from ttt_cli.timeline import build_timeline

PERIODS = ("glicko", "glicko2", "chessmetrics")
SYSTEMS = {
    **{name: {} for name in PERIODS},
    "elo": {"k": 24},
    "elo by period": {"k": 24, "update": "period"},
    "spinrad": {},
    "trueskill": {"beta": 250},
    "elo-historical": {"span": 3},
    "edo": {"prior_sd": 1e5},
    "whr": {"tau": 50},
    "weighted-ep": {},
    "ttt": {"beta": 300, "tau": 70},
    "ttt-d": {
        "beta": 300, "tau": 70, "draw_margin_mean": 140, "draw_margin_sd": 60, "draw_margin_tau": 15,
    },
}  # fmt: skip
ORDERED = ("elo", "spinrad", "trueskill")  # take games one after the other
BY_PERIOD = (
    *PERIODS,
    "elo by period",
    "weighted-ep",
)  # filters that predict all games of a period at once
LEVELLED = sorted({*SYSTEMS} - {"chessmetrics", "edo"})
SOLVER = SolverConfig(tol=1e-7)
ADVANTAGE = {"white_advantage": 90.0}
games = game_rows(1906, "abcde", (1.0, 2.0), (0.0, 150.0), 15)
few = examples(8)


def fitted(rows, system, colours="known", **params):
    margin = {} if system == "ttt-d" else {"draw_margin": 80}
    given = margin | SYSTEMS[system] | params
    return fit_rows(rows, system.partition(" ")[0], SOLVER, colours=colours, **given)


def beliefs(rows, system, **params):
    """({(player, year): (mean, sd, mean before, sd before) of each chain}, evidences), what is unknown as 0."""
    timeline, fit = fitted(rows, system, **params)
    names = ("mean", "sd", "before_mean", "before_sd")
    parts = [getattr(chain, name, chain.sd) for chain in fit.chains.values() for name in names]
    columns = np.nan_to_num(np.stack(parts, axis=1))
    keys = zip(timeline.node_player, timeline.node_period, strict=True)
    found = {(timeline.players[p], int(y)): row for (p, y), row in zip(keys, columns, strict=True)}
    return found, np.nan_to_num([fit.log_evidence, fit.leave_one_out])


def assert_same(one, other):
    assert set(one[0]) == set(other[0])
    for key, found in one[0].items():
        assert found == pytest.approx(other[0][key], abs=1e-5)
    assert one[1] == pytest.approx(other[1], abs=1e-7)


@pytest.mark.parametrize("system", SYSTEMS)
@few
@given(games)
def test_colours_change_places_with_their_advantage(system, rows):
    turned = [
        (y, black, white, 2 - outcome, w, -lead) for y, white, black, outcome, w, lead in rows
    ]
    assert_same(
        beliefs(rows, system, white_advantage=40), beliefs(turned, system, white_advantage=-40)
    )


@pytest.mark.parametrize("system", SYSTEMS)
@few
@given(games, st.randoms(use_true_random=False))
def test_names_and_order_inside_a_year_do_not_matter(system, rows, random):
    names = list("abcde")
    random.shuffle(names)
    new = dict(zip("abcde", names, strict=True))
    mixed = [(y, new[w], new[b], *rest) for y, w, b, *rest in rows]
    if system not in ORDERED:
        random.shuffle(mixed)
    found, evidence = beliefs(rows, system)
    renamed = {(new[name], year): row for (name, year), row in found.items()}
    assert_same((renamed, evidence), beliefs(mixed, system))


@pytest.mark.parametrize("system", SYSTEMS)
@few
@given(games)
def test_a_weight_is_so_many_equal_games(system, rows):
    repeated = [(*row[:4], 1.0, row[5]) for row in rows for _ in range(int(row[4]))]
    assert_same(beliefs(rows, system), beliefs(repeated, system))


@pytest.mark.parametrize("system", LEVELLED)
@few
@given(games)
def test_the_mean_of_the_prior_moves_all(system, rows):
    (one, evidence), (other, moved) = (
        beliefs(rows, system, prior_mean=mean) for mean in (1500, 2500)
    )
    for key, (mean, sd, *_) in one.items():
        assert other[key][:2] == pytest.approx((mean + 1000, sd), abs=1e-5)
    assert moved == pytest.approx(evidence, abs=1e-7)


@pytest.mark.parametrize("system", [*BY_PERIOD, "elo", "trueskill"])
@few
@given(games)
def test_later_games_change_nothing_before(system, rows):
    found, _ = beliefs([(1900, "a", "b", 1), *rows], system)
    early, _ = beliefs([(1900, "a", "b", 1), *(row for row in rows if row[0] <= 1903)], system)
    for key in early:
        assert found[key] == pytest.approx(early[key], abs=1e-6)


@pytest.mark.parametrize("system", BY_PERIOD)
@few
@given(games)
def test_the_evidence_is_that_of_predictions_from_before_each_period(system, rows):
    timeline, fit = fitted(rows, system, white_advantage=25)
    chain, given = fit.chains["skill"], timeline.offset * fit.elo_unit
    white, black = (
        {"mean": chain.before_mean[ends] + lead, "sd": chain.before_sd[ends]}
        for ends, lead in ((timeline.game_white, given), (timeline.game_black, 0.0))
    )
    predicted = load(system.partition(" ")[0]).predict(fit.params, white, black)
    assert predicted.sum(axis=1) == pytest.approx(1)
    happened = predicted[np.arange(timeline.n_games), timeline.outcome]
    assert fit.log_evidence == pytest.approx(timeline.weight @ np.log(happened), abs=1e-6)
    assert fit.leave_one_out == fit.log_evidence


@pytest.mark.parametrize("model", PERIODS)
def test_unknown_colours_leave_white_s_advantage_out(model):
    rows = [(1900, "a", "b", 2), (1900, "b", "c", 1), (1901, "c", "a", 0)]
    module = load(model)
    timeline = build_timeline(make_games(rows), colours="unknown")
    fit = module.fit(timeline, module.Params(draw_margin=80, white_advantage=50), SOLVER)
    assert fit.params["white_advantage"] == 0
    _, plain = fit_rows(rows, model, SOLVER, draw_margin=80)
    assert np.array_equal(fit.mean, plain.mean)
    assert fit.log_evidence == plain.log_evidence


def at_home_and_elsewhere(seed):
    """Some of the games at odds, some on neutral ground."""
    rows = random_rows(seed, 40, odds=(0.0, 0.0, 120.0))
    return [
        (1900 + number // 10, *row[1:], number % 5 in (1, 3)) for number, row in enumerate(rows)
    ]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_neutral_game_is_one_in_which_the_advantage_is_given_back(system):
    """As odds worth as many points."""
    rows = at_home_and_elsewhere(1)
    _, fit = fitted(rows, system, **ADVANTAGE)
    back = ADVANTAGE["white_advantage"] / fit.elo_unit
    given_back = [(*row[:5], row[5] - back * row[6]) for row in rows]
    assert_same(*(beliefs(them, system, **ADVANTAGE) for them in (rows, given_back)))
    _, counted = fitted([row[:6] for row in rows], system, **ADVANTAGE)
    assert np.abs(fit.mean - counted.mean).max() > 1.0


@pytest.mark.parametrize("system", ["ttt", "ttt-d", "trueskill", "elo", "weighted-ep"])
def test_among_unknown_colours_neutral_games_have_no_advantage_either(system):
    """Of two groups that never meet the evidence is that of each."""
    rows = [row[:6] for row in at_home_and_elsewhere(6)]
    neutral = [
        (year, a.upper(), b.upper(), *rest, True)
        for year, a, b, *rest, _ in at_home_and_elsewhere(7)
    ]
    one, other, both = (
        fitted(them, system, "unknown", **ADVANTAGE)[1].log_evidence
        for them in (rows, neutral, rows + neutral)
    )
    level = fitted([row[:6] for row in neutral], system, white_advantage=0.0)[1].log_evidence
    assert both == pytest.approx(one + other, abs=1e-6)
    assert other == pytest.approx(level, abs=1e-6)


@pytest.mark.parametrize(
    "system", ["ttt", pytest.param("ttt-d", marks=pytest.mark.slow), "trueskill"]
)
def test_the_estimated_advantage_is_that_of_the_games_not_on_neutral_ground(system):
    """Hosts win four of five; on neutral ground, where others meet, the second wins them all."""
    hosts = [(1900 + k % 4, *("ab", "ba")[k % 2], 2 * (k % 5 > 0)) for k in range(40)]
    elsewhere = [(1900 + k % 4, "c", "d", 0, 1.0, 0.0, True) for k in range(40)]
    alone, both = (
        fitted(rows, system, white_advantage="estimate")[1].params["white_advantage"]
        for rows in (hosts, hosts + elsewhere)
    )
    assert alone > 50.0
    assert both == pytest.approx(alone, abs=0.2)


@pytest.mark.parametrize("system", MODULES)
def test_neutral_games_are_predicted_without_advantage(system):
    module, rows = load(system), [row[:5] for row in at_home_and_elsewhere(5)]
    margin = {"draw_margin": 120.0} if "draw_margin" in module.Params.model_fields else {}
    params = module.Params(**ADVANTAGE, **margin)

    def predicted(*game):
        timeline = build_timeline(make_games([*rows, (1905, *game)]))
        step = len(timeline.periods) - 1
        return Forecaster(timeline, module, params, SOLVER).predict(step, step + 1)[-1]

    game = partial(predicted, "p00", "p01", 2, 1.0, 0.0)
    assert game(True) == pytest.approx(predicted("p01", "p00", 0, 1.0, 0.0, True)[::-1], abs=1e-9)
    assert game(True)[2] < game(False)[2] - 0.01
