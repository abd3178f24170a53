"""Prequential scores: by hand, against laws, and on games whose skills are known."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.ttt_ep import tilted
from tests.support.builders import EXACT, fit_rows, historical, make_games, skills
from tests.support.cases import each
from tests.support.recorder import Recorder
from tests.support.strategies import examples
from ttt_cli import api
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.forecast import find_step, forecast, known_before, predict_run, score
from ttt_cli.evaluate.simulate import Plan, simulate
from ttt_cli.support.errors import LookupFailed
from ttt_cli.systems import registry, trueskill, ttt, ttt_d
from ttt_cli.timeline import build_timeline

pytestmark = pytest.mark.slow

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

histories = st.lists(
    st.tuples(
        st.integers(1900, 1904), st.permutations("abcd").map(lambda p: (p[0], p[1])), st.integers(0, 2)
    ).map(lambda row: (row[0], *row[1], row[2])),
    min_size=2,
    max_size=15,
)
laws = examples(12)


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
    _, found = predicted_of(THREE_YEARS, prior_sd=1e-6, tau=0)  # so sure of all that the margin alone decides
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


@pytest.mark.parametrize("model", MODELS)
@laws
@given(histories, st.integers(0, 100), st.integers(0, 2))
def test_a_score_never_sees_its_own_game(model, rows, which, outcome):
    rows = sorted(rows, key=lambda row: row[0])
    row = rows[which % len(rows)]
    changed = [(*r[:3], outcome) if r is row else r for r in rows]
    seen = sum(r[0] <= row[0] for r in rows)
    one, other = (predicted_of(history, model, **MODELS[model])[1] for history in (rows, changed))
    assert np.array_equal(one.model[:seen], other.model[:seen])
    assert np.array_equal(one.naive[:seen], other.naive[:seen])


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
@laws
@given(histories, st.randoms(use_true_random=False))
def test_order_inside_a_period_does_not_matter(model, rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    total = []
    for history in (rows, shuffled):
        timeline, found = predicted_of(history, model, **MODELS[model])
        total.append(score(found.model, timeline.outcome, timeline.weight))
    assert total[0].log_score == pytest.approx(total[1].log_score, abs=1e-7)
    assert total[0].brier == pytest.approx(total[1].brier, abs=1e-8)


@laws
@given(histories)
def test_refitting_a_filter_is_going_on_with_it(rows):
    timeline, found = predicted_of(rows, "trueskill", **PARAMS)
    for every in (2, 5):
        assert np.array_equal(predicted_of(rows, "trueskill", every=every, **PARAMS)[1].model, found.model)
    for step in range(len(timeline.periods)):
        fit = trueskill.fit(known_before(timeline, step, step + 1), trueskill.Params(**PARAMS), EXACT)
        for game in range(timeline.game_start[step], timeline.game_start[step + 1]):
            white, black = (
                {"mean": fit.mean[[node]], "sd": fit.sd[[node]]}
                for node in (timeline.game_white[game], timeline.game_black[game])
            )
            expected = trueskill.predict(fit.params, white, black)[0]
            assert found.model[game] == pytest.approx(expected, abs=1e-12)


def test_with_one_game_a_period_the_scores_add_up_to_the_evidence():
    """The chain rule of probability: exactly for a filter, nearly for TTT, whose inference is approximate."""
    rng = np.random.default_rng(2)
    rows = [
        (1900 + year, *rng.permutation(list("abcd"))[:2].tolist(), int(rng.integers(3))) for year in range(30)
    ]
    for model, near in (("trueskill", 1e-9), ("ttt", 0.02), ("ttt-d", 0.02)):
        params = {key: value for key, value in PARAMS.items() if model != "ttt-d" or key != "draw_margin"}
        timeline, found = predicted_of(rows, model, **params)
        total = score(found.model, timeline.outcome, timeline.weight).log_score
        assert total == pytest.approx(fit_rows(rows, model, **params)[1].log_evidence, rel=near)


def test_what_is_certain_scores_nothing_and_what_is_unknown_like_the_naive_model():
    won = [(year, "a", "b", 2) for year in range(1900, 1910)]
    timeline, sure = predicted_of(won, prior_sd=1000, beta=1, tau=0, draw_margin=0.1)
    found = score(sure.model, timeline.outcome, timeline.weight)
    assert found.per_game > math.log(0.5) / 10 - 0.2
    assert sure.model[-1, 2] > 0.9
    timeline, unsure = predicted_of(THREE_YEARS, beta=1e9)
    assert unsure.model == pytest.approx(unsure.naive, abs=1e-6)


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


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_leaving_one_out_by_cavity_is_close_to_fitting_without_the_game(model):
    """Up to 2 % too low: a cavity is sharper than it should be, as the other sites were made with the game there."""
    rng = np.random.default_rng(4)
    names = list("abcdef")
    rows = [
        (int(rng.integers(1900, 1904)), *rng.permutation(names)[:2].tolist(), int(rng.integers(3)))
        for _ in range(60)
    ]
    params = MODELS[model]
    timeline, fit = fit_rows(rows, model, **params)
    module = registry.load(model)
    total = 0.0
    for game in range(timeline.n_games):
        weight = timeline.weight.copy()
        weight[game] = 1e-12  # as good as left out, the nodes stay
        without = module.fit(replace(timeline, weight=weight), module.Params(**params), EXACT)
        white, black = (columns(without, ends[game]) for ends in (timeline.game_white, timeline.game_black))
        total += math.log(module.predict(without.params, white, black)[0, timeline.outcome[game]])
    assert 1.02 * total < fit.leave_one_out < total
    assert fit.leave_one_out > fit.log_evidence


def columns(fit, node):
    found = {}
    for name, chain in fit.chains.items():
        found["mean" if name == "skill" else name] = chain.mean[[node]]
        found["sd" if name == "skill" else f"{name}_sd"] = chain.sd[[node]]
    return found


@pytest.fixture(scope="module")
def simulated():
    plan = Plan(players=60, years=25, games=6000, clusters=3, draw_margin=180.0, white_advantage=70.0, seed=8)
    return build_timeline(simulate(plan).games())


def total(timeline, module=ttt, first=0, **params):
    found = forecast(timeline, module, module.Params(**params), SolverConfig(tol=0.5), first=first)
    assert found.converged
    scored = slice(int(timeline.game_start[first]), None)
    return [
        score(p, timeline.outcome[scored], timeline.weight[scored]).per_game
        for p in (found.model, found.naive)
    ]


def test_the_parameters_that_made_the_games_foresee_them_best(simulated):
    truth = {"beta": 480, "tau": 60, "draw_margin": 180, "white_advantage": 70}
    best, naive = total(simulated, **truth)
    assert best > naive + 0.02
    for key, values in {
        "beta": (240, 960),
        "tau": (5, 240),
        "draw_margin": (90, 330),
        "white_advantage": (0, 160),
    }.items():
        for value in values:
            assert total(simulated, **{**truth, key: value})[0] < best


@pytest.mark.parametrize("module", [ttt, trueskill, ttt_d])
def test_an_advantage_estimated_from_the_past_foresees_nearly_as_well_as_the_true_one(simulated, module):
    first = 5
    true, blind, found = (
        total(simulated, module, first, white_advantage=value)[0] for value in (70, 0, "estimate")
    )
    assert blind < found
    assert abs(true - found) < 0.1 * (true - blind)


def in_a_ring(outcomes):
    """60 games a year from 1900, between neighbours of four."""
    return [
        (1900 + i // 60, "abcd"[i % 4], "abcd"[(i + 1) % 4], outcome) for i, outcome in enumerate(outcomes)
    ]


def test_an_advantage_is_estimated_from_enough_games_of_the_past_only():
    rows = in_a_ring([0 if i % 5 == 0 else 2 for i in range(180)])
    _, found = predicted_of(rows, white_advantage="estimate", draw_margin=100)
    _, blind = predicted_of(rows, draw_margin=100)
    assert found.model[:120] == pytest.approx(blind.model[:120])  # 60 games are too few
    gamma = fit_rows(rows[:120], white_advantage="estimate", draw_margin=100)[1].params["white_advantage"]
    assert gamma > 50
    _, held = predicted_of(rows, first=2, white_advantage=gamma, draw_margin=100)
    assert found.model[120:] == pytest.approx(held.model, abs=1e-4)


@each("model", MODELS)
def test_unknown_colours_are_averaged_over(model):
    """The filter says what each game's log probability was; and it does not matter who is named first."""
    module = registry.load(model)
    rows = [(1900 + i, *("ab" if i % 3 else "ba"), i % 2 * 2) for i in range(8)]
    turned = [
        (year, b, a, 2 - outcome) if year % 2 else (year, a, b, outcome) for year, a, b, outcome in rows
    ]
    params = module.Params(**{**MODELS[model], "white_advantage": 150.0})
    found = []
    for history in (rows, turned):
        timeline = build_timeline(make_games(history), "year", "unknown")
        probabilities = forecast(timeline, module, params, EXACT).model
        found.append(probabilities[np.arange(8), timeline.outcome])
    assert found[0] == pytest.approx(found[1], abs=1e-8)
    if model == "trueskill":
        fixed = params.model_copy(update={"draw_margin": 130.0})
        probabilities = forecast(timeline, module, fixed, EXACT).model
        total = np.log(probabilities[np.arange(8), timeline.outcome]).sum()
        assert total == pytest.approx(module.fit(timeline, fixed, EXACT).log_evidence, abs=1e-9)


def test_an_advantage_without_limit_is_not_estimated():
    rows = in_a_ring([2] * 180)
    _, found = predicted_of(rows, white_advantage="estimate", draw_margin=100)
    _, blind = predicted_of(rows, draw_margin=100)
    assert found.model == pytest.approx(blind.model)


def test_a_loose_tolerance_of_the_refits_changes_next_to_nothing(data):
    timeline = build_timeline(make_games(historical(data, "historical_pre1942.csv.gz")))
    loose, fine = (
        forecast(timeline, ttt, ttt.Params(), SolverConfig(tol=tol), first=60).model for tol in (0.01, 1e-6)
    )
    assert 0 < np.abs(loose - fine).max() < 1e-3


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
    assert [find_step(timeline, text) for text in ("1066", "1900", "1901", "1904")] == [0, 0, 1, 2]
    months = build_timeline(make_games(THREE_YEARS), "month")
    assert [find_step(months, text) for text in ("1903", "1903-07", "1903.07", "1903-08")] == [1, 1, 1, 2]
    with pytest.raises(LookupFailed, match="no games from 1905 on"):
        find_step(timeline, "1905")
    with pytest.raises(LookupFailed, match="'early' is not a period"):
        find_step(timeline, "early")
    with pytest.raises(LookupFailed, match="the run is by the year: 1903-07 is shorter"):
        find_step(timeline, "1903.07")


def test_fits_that_do_not_converge_are_told():
    timeline = build_timeline(make_games(THREE_YEARS))
    params = ttt.Params(**PARAMS)
    assert forecast(timeline, ttt, params, EXACT).converged
    assert not forecast(timeline, ttt, params, SolverConfig(max_sweeps=1)).converged
