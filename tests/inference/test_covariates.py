"""Covariates: against the slow twins, gradients, what repeats White's advantage, estimates, and errors."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from tests.inference.test_twins import OWN, PLAY, given
from tests.reference.ttt_ep import Twin, assert_is_twin
from tests.support.apart import Apart
from tests.support.builders import EXACT, make_games, random_rows
from tests.support.sides import games_of_sides
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.forecast import Forecaster
from ttt_cli.fitted import points_added
from ttt_cli.games.covariates import CovariateTexts
from ttt_cli.games.table import no_texts
from ttt_cli.inference.covariates import (
    explain_covariates,
    explained_shares,
    find_terms,
    typical_size,
    with_points,
)
from ttt_cli.inference.links import merge_games
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry, ttt
from ttt_cli.timeline import build_timeline

JOINT = SolverConfig(tol=1e-8, posterior="joint")
SURFACES = ("hard", "hard", "clay", "grass", "hard")


def column(values):
    """A column of texts."""
    distinct = list(dict.fromkeys(["", *values]))
    return CodedColumn(
        np.array([distinct.index(value) for value in values], np.int32), tuple(distinct)
    )


def single(name, values, *, is_category=False):
    """A covariate of games, or of differences."""
    nothing = no_texts(len(values))
    return CovariateTexts(
        name, is_category, column([str(value) for value in values]), nothing, nothing
    )


def sided(name, white, black):
    """A covariate of the two sides."""
    texts = [column([str(value) for value in values]) for values in (white, black)]
    return CovariateTexts(name, False, no_texts(len(white)), *texts)


def with_covariates(games, seed=0):
    """The games with home -1 to 1, days of rest of both sides, and a surface."""
    rng = np.random.default_rng(seed)
    n = len(games)
    covariates = (
        single("home", rng.integers(-1, 2, n)),
        sided("rest", rng.integers(1, 9, n), rng.integers(1, 9, n)),
        single("surface", rng.choice(SURFACES, n)),
    )
    return replace(games, covariates=covariates)


POINTS = {"home": 70.0, "rest": -12.5, "surface": {"clay": 45.0, "grass": -30.0}}
TERMS = {"home": 70.0, "rest": -12.5, "surface.clay": 45.0, "surface.grass": -30.0}


def params_of(model, **params):
    return registry.load(model).Params(**(PLAY if model == "ttt" else OWN), **params)


CASES = {
    "plain": (random_rows(0, 20), {}, "known"),
    "advantage, handicaps and neutral ground": (
        given(random_rows(2, 20), offsets=(0.0, 0.0, 120.0), neutral=(1, 3)), {"white_advantage": 60.0}, "known"),
    "unknown colours": (random_rows(6, 15), {"white_advantage": 60.0}, "unknown"),
}  # fmt: skip


def test_games_are_merged_where_all_that_bears_on_them_is_equal():
    """Four players, so that pairs meet again in a period, at few handicaps; against a dictionary of all games."""
    rows = given(random_rows(3, 300, players=4), offsets=(0.0, 0.0, 120.0), neutral=(1, 7))
    timeline = build_timeline(with_covariates(make_games(rows), seed=3))
    terms = ("home", "surface.clay")
    # on neutral ground a game and its mirror image are equal
    is_mirrored = (timeline.advantage_owner == 0) & (timeline.game_white > timeline.game_black)
    sign = np.where(is_mirrored, -1.0, 1.0)[:, np.newaxis]
    expected = Counter()
    for game in zip(
        np.where(is_mirrored, timeline.game_black, timeline.game_white),
        np.where(is_mirrored, timeline.game_white, timeline.game_black),
        np.where(is_mirrored, 2 - timeline.outcome, timeline.outcome),
        -1.0 * (timeline.advantage_owner == 0) + 0.0,
        *(np.column_stack([timeline.offset, timeline.covariate_columns(terms)]) * sign + 0.0).T,
        strict=True,
    ):
        expected[game] += 1.0
    merged = merge_games(timeline, colours=True, terms=terms)
    pairs = merged.games
    offset, by_advantage, *covariates = merged.handicap.T
    games = zip(
        pairs.first, pairs.second, pairs.code, by_advantage, offset, *covariates, strict=True
    )
    assert dict(zip(games, pairs.weight, strict=True)) == expected
    assert len(expected) == len(merged) < 300


@pytest.mark.parametrize(("case", "model", "solver"), [
    ("plain", "ttt", EXACT),
    ("plain", "ttt", JOINT),
    ("advantage, handicaps and neutral ground", "ttt", EXACT),
    ("unknown colours", "ttt", EXACT),
    pytest.param("advantage, handicaps and neutral ground", "ttt", JOINT, marks=pytest.mark.slow),
    pytest.param("unknown colours", "ttt", JOINT, marks=pytest.mark.slow),
    pytest.param("plain", "ttt-d", EXACT, marks=pytest.mark.slow),
    pytest.param("plain", "ttt-d", JOINT, marks=pytest.mark.slow),
    pytest.param("advantage, handicaps and neutral ground", "ttt-d", EXACT, marks=pytest.mark.slow),
])  # fmt: skip
def test_beliefs_and_evidence_are_those_of_the_dense_twin(case, model, solver):
    """The twin has the points of all covariates as handicaps, by hand."""
    rows, params, colours = CASES[case]
    timeline = build_timeline(with_covariates(make_games(rows)), colours=colours)
    module = registry.load(model)
    params = params_of(model, covariates=POINTS, **params)
    fit = module.fit(timeline, params, solver)
    home, rest, surface = with_covariates(make_games(rows)).covariates
    points = 70.0 * np.array([float(home.single.values[code]) for code in home.single.codes])
    for sign, side in ((-12.5, rest.white), (12.5, rest.black)):
        points += sign * np.array([float(side.values[code]) for code in side.codes])
    if colours == "known":  # the category of a game adds to White's advantage
        of_surface = {"hard": 0.0, "clay": 45.0, "grass": -30.0}
        not_neutral = timeline.advantage_owner != 0
        points += not_neutral * np.array(
            [of_surface[surface.single.values[code]] for code in surface.single.codes]
        )
    assert points_added(fit.params, timeline) == pytest.approx(points, abs=1e-12)
    as_handicaps = replace(timeline, offset=timeline.offset + points / fit.elo_unit)
    assert_is_twin(
        fit, Twin(as_handicaps, params, joint=solver is JOINT, unit=fit.elo_unit).run(), 1e-6
    )


@pytest.mark.parametrize(("model", "solver"), [
    ("ttt", EXACT),
    ("ttt", JOINT),
    pytest.param("ttt-d", EXACT, marks=pytest.mark.slow),
    pytest.param("ttt-d", JOINT, marks=pytest.mark.slow),
])  # fmt: skip
def test_slopes_are_those_of_differences(model, solver):
    rows = given(random_rows(4, 40), offsets=(0.0, 0.0, 120.0), neutral=(1, 3))
    timeline = build_timeline(with_covariates(make_games(rows)))
    module = registry.load(model)
    params = params_of(model, covariates=POINTS, white_advantage=90.0)
    slopes = module.gradient(timeline, params, module.fit(timeline, params, solver))
    for term, points in TERMS.items():
        ends = []
        for step in (-0.1, 0.1):
            changed = params.model_copy(
                update={"covariates": with_points(POINTS, {term: points + step})}
            )
            ends.append(module.fit(timeline, changed, solver).log_evidence)
        expected = (ends[1] - ends[0]) / 0.2
        assert slopes[f"covariates.{term}"] == pytest.approx(expected, rel=2e-4, abs=1e-8)


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_without_points_a_covariate_changes_no_bit(model):
    games = make_games(random_rows(1, 30))
    module = registry.load(model)
    zero = {"home": 0.0, "rest": 0.0, "surface": {"clay": 0.0}}
    params = params_of(model, white_advantage=20.0)
    plain = module.fit(build_timeline(games), params, EXACT)
    timeline = build_timeline(with_covariates(games))
    for covariates in ({}, zero):
        fit = module.fit(timeline, params.model_copy(update={"covariates": covariates}), EXACT)
        assert fit.mean.tolist() == plain.mean.tolist()
        assert fit.sd.tolist() == plain.sd.tolist()
        assert (fit.log_evidence, fit.leave_one_out) == (plain.log_evidence, plain.leave_one_out)
        assert {key: fit.params[key] for key in plain.params} == plain.params
    assert {key for key in fit.params if key not in plain.params} == {
        "covariates.home", "covariates.rest", "covariates.surface.clay",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("model", "posterior"), [("ttt", "joint"), ("ttt", "factorised"), ("ttt-d", "joint")]
)
def test_a_covariate_that_repeats_whites_advantage_gives_its_numbers(model, posterior):
    games = make_games(given(random_rows(3, 60), offsets=(0.0, 50.0)))
    ones = replace(games, covariates=(single("white", [1] * len(games)),))
    module = registry.load(model)
    solver = SolverConfig(tol=1e-6, posterior=posterior)
    by_advantage = module.fit(
        build_timeline(games), params_of(model, white_advantage="estimate"), solver
    )
    by_covariate = module.fit(
        build_timeline(ones),
        params_of(model, covariates={"white": "estimate"}, white_advantage=0.0),
        solver,
    )
    advantage = by_advantage.params["white_advantage"]
    error = by_advantage.standard_errors["white_advantage"]
    assert abs(advantage) > 1.0
    assert by_covariate.params["covariates.white"] == pytest.approx(advantage, abs=1e-3 * error)
    assert by_covariate.standard_errors["covariates.white"] == pytest.approx(error, rel=0.02)
    assert by_covariate.mean == pytest.approx(by_advantage.mean, abs=2e-3 * error)
    assert by_covariate.log_evidence == pytest.approx(by_advantage.log_evidence, abs=1e-3)
    at = {"white_advantage": advantage}
    given_advantage = module.fit(build_timeline(games), params_of(model, **at), solver)
    given_points = module.fit(
        build_timeline(ones),
        params_of(model, covariates={"white": advantage}, white_advantage=0.0),
        solver,
    )
    assert given_points.mean == pytest.approx(given_advantage.mean, abs=1e-4)
    assert given_points.log_evidence == pytest.approx(given_advantage.log_evidence, abs=1e-7)


def test_estimates_are_the_top_of_the_posterior_whose_curvature_gives_their_errors():
    """By differences of the evidence and the prior, for White's advantage and three covariates together."""
    games = with_covariates(make_games(random_rows(7, 150, players=8)))
    timeline = build_timeline(games)
    settings = {
        "home": "estimate",
        "rest": "estimate",
        "surface": {"clay": "estimate", "grass": -30.0},
    }
    params = params_of("ttt", covariates=settings, white_advantage="estimate")
    fit = ttt.fit(timeline, params, JOINT)
    keys = ["white_advantage", "covariates.home", "covariates.rest", "covariates.surface.clay"]
    assert list(fit.standard_errors) == keys
    assert fit.params["covariates.surface.grass"] == -30.0
    sds = [
        100.0,
        *(100.0 / typical_size(timeline, key.removeprefix("covariates.")) for key in keys[1:]),
    ]
    errors = np.array([fit.standard_errors[key] for key in keys])
    at = np.array([fit.params[key] for key in keys])

    def log_posterior(values):
        advantage, *points = values
        terms = with_points(
            settings, dict(zip(("home", "rest", "surface.clay"), points, strict=True))
        )
        changed = params.model_copy(
            update={"covariates": terms, "white_advantage": float(advantage)}
        )
        density = -0.5 * float(((values / sds) ** 2).sum())
        return (
            ttt.fit(timeline, changed, JOINT, start=fit, evidence_only=True).log_evidence + density
        )

    steps = 0.2 * np.diag(errors)
    top = log_posterior(at)
    slopes = [(log_posterior(at + step) - log_posterior(at - step)) / 0.4 for step in steps]
    assert np.abs(slopes).max() < 0.01  # standard errors from the top
    curvature = np.empty((4, 4))
    for i in range(4):
        for j in range(4):
            a, b = steps[i], steps[j]
            corners = (
                log_posterior(at + a + b) - log_posterior(at + a - b) - log_posterior(at - a + b)
            )
            curvature[i, j] = -(corners + log_posterior(at - a - b)) / 0.16
    assert np.sqrt(np.diag(np.linalg.inv(curvature))) == pytest.approx(np.ones(4), rel=0.02)
    assert top > log_posterior(at + steps[1])


@pytest.mark.parametrize("model", ["ttt", pytest.param("ttt-d", marks=pytest.mark.slow)])
def test_slices_of_time_give_the_same(model):
    timeline = build_timeline(with_covariates(make_games(random_rows(5, 60, years=9))))
    module = registry.load(model)
    fixed = params_of(model, covariates=POINTS, white_advantage=30.0)
    whole = module.fit(timeline, fixed, EXACT)
    apart = module.fit(timeline, fixed, EXACT, placement=Apart([0, 3, 6, 9]))
    assert apart.mean == pytest.approx(whole.mean, abs=1e-6)
    assert apart.log_evidence == pytest.approx(whole.log_evidence, abs=1e-7)
    estimated = params_of(
        model, covariates={"home": "estimate", "rest": "estimate"}, white_advantage="estimate"
    )
    whole = module.fit(timeline, estimated, EXACT)
    apart = module.fit(timeline, estimated, EXACT, placement=Apart([0, 3, 6, 9]))
    for key, error in whole.standard_errors.items():
        assert apart.params[key] == pytest.approx(whole.params[key], abs=0.01 * error)
        assert apart.standard_errors[key] == pytest.approx(error, rel=0.01)


def test_categories_of_both_sides_are_differences():
    games = make_games(
        [(1900, "a", "b", 2), (1900, "b", "c", 1), (1901, "c", "a", 0), (1901, "a", "c", 0)]
    )
    titles = sided("title", ["gm", "im", "gm", ""], ["im", "im", "fm", "gm"])
    timeline = build_timeline(replace(games, covariates=(titles,)))
    (covariate,) = timeline.covariates
    assert covariate.values == ("gm", "im", "fm")
    assert timeline.covariate_columns(["title.gm", "title.im", "title.fm"]).tolist() == [
        [1, -1, 0], [0, 0, 0], [1, 0, -1], [0, 0, 0],
    ]  # fmt: skip


def test_numbers_may_be_missing_true_or_with_a_comma():
    games = make_games([(1900, "a", "b", 2)] * 5)
    timeline = build_timeline(
        replace(games, covariates=(single("x", ["yes", "", "2,5", "n/a", "-1"]),))
    )
    assert timeline.covariate_columns(["x"])[:, 0].tolist() == [1.0, 0.0, 2.5, 0.0, -1.0]


def test_numbers_that_are_categories_have_a_coefficient_each():
    games = make_games([(1900, "a", "b", 2)] * 4)
    timeline = build_timeline(
        replace(games, covariates=(single("kind", [3, 7, 7, ""], is_category=True),))
    )
    assert timeline.covariates[0].terms == ("kind.7", "kind.3")
    terms = find_terms(ttt.Params(covariates={"kind": "estimate"}), timeline)
    assert [term.name for term in terms] == ["kind.3"]


WRONG = {
    "unknown": ({"rain": 1.0}, "the games have no covariate rain"),
    "number by value": ({"home": {"a": 1.0}}, "home: the values are numbers"),
    "category as a number": ({"surface": 3.0}, "surface is a category"),
    "unknown value": ({"surface": {"carpet": 3.0}}, "no game has the value 'carpet'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_covariates_that_the_games_do_not_have_are_refused(case):
    covariates, message = WRONG[case]
    timeline = build_timeline(with_covariates(make_games(random_rows(0, 30))))
    with pytest.raises(ConfigError, match=message):
        ttt.fit(timeline, ttt.Params(covariates=covariates), EXACT)


def test_the_share_of_a_covariate_that_follows_from_who_plays():
    """By the definition: one minus the sum of squares that players leave, of dense least squares."""
    rows = random_rows(3, 60, players=6, weights=(1.0, 2.0))
    games = make_games(rows)
    rng = np.random.default_rng(1)
    strength = dict(zip(games.players, (1.0, 4.0, 2.0, 8.0, 5.0, 7.0), strict=True))
    of_players = [
        strength[row[1]] - strength[row[2]] for row in sorted(rows, key=lambda row: row[0])
    ]
    noisy = (np.array(of_players) + rng.normal(0.0, 2.0, len(rows))).tolist()
    timeline = build_timeline(
        replace(games, covariates=(single("sure", of_players), single("noisy", noisy)))
    )
    incidence = np.zeros((len(rows), len(games.players)))
    incidence[np.arange(len(rows)), games.white] = 1.0
    incidence[np.arange(len(rows)), games.black] -= 1.0
    root = np.sqrt(games.weight)
    of_player = np.linalg.lstsq(root[:, None] * incidence, root * noisy)[0]
    left = root * (incidence @ of_player - noisy)
    expected = 1.0 - left @ left / ((root * noisy) @ (root * noisy))
    assert 0.3 < expected < 0.95
    assert explained_shares(timeline, ["sure", "noisy"]) == pytest.approx([1.0, expected], abs=1e-6)
    fit = ttt.fit(timeline, params_of("ttt", covariates={"sure": 5.0, "noisy": 5.0}), EXACT)
    explained = explain_covariates(fit, timeline)
    assert explained.explained == pytest.approx(
        {"covariates.sure": 1.0, "covariates.noisy": expected}, abs=1e-6
    )
    (note,) = [note for note in explained.notes if "follows from who plays" in note]
    assert note.startswith("100.0 % of covariates.sure")


def test_the_share_of_a_covariate_that_follows_from_who_plays_in_teams():
    """R^2 of dense least squares on A, B, C and D; in the last game two of them play alone."""
    rows = [
        (1900, "A / B", "C / D", 2), (1900, "A / C", "B / D", 0), (1901, "A / D", "B / C", 1), (1901, "D", "A", 2),
    ]  # fmt: skip
    rest = np.array([-1.0, 1.0, 0.5, 4.0])
    incidence = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1], [-1, 0, 0, 1]])
    games = replace(games_of_sides(rows), covariates=(single("rest", rest),))
    left = rest - incidence @ np.linalg.lstsq(incidence, rest)[0]
    expected = 1.0 - left @ left / (rest @ rest)
    assert 0.1 < expected < 0.99
    assert explained_shares(build_timeline(games), ["rest"]) == pytest.approx([expected], abs=1e-6)


@pytest.mark.slow
@pytest.mark.large
def test_simulated_points_are_found_again():
    """Of 20 histories at least 90 % of the estimates of three coefficients lie within two standard errors."""
    within = 0
    truth = {"home": 60.0, "rest": -10.0, "surface.clay": 80.0, "surface.grass": 0.0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        skill = {f"p{number}": rng.normal(0.0, 300.0) for number in range(20)}
        rows = [
            (1900 + number // 100, *rng.choice(list(skill), 2, replace=False).tolist())
            for number in range(500)
        ]
        games = with_covariates(make_games([(*row, 1) for row in rows]), seed)
        points = build_timeline(games).covariate_columns([*truth]) @ np.array([*truth.values()])
        lead = np.array(
            [
                skill[games.players[w]] - skill[games.players[b]]
                for w, b in zip(games.white, games.black, strict=True)
            ]
        )
        performance = lead + points + rng.normal(0.0, 480.0 * np.sqrt(2.0), len(rows))
        outcome = (1 + (performance > 150.0) - (performance < -150.0)).astype(np.int8)
        timeline = build_timeline(replace(games, outcome=outcome))
        params = ttt.Params(
            beta=480.0, tau=1.0, draw_margin=150.0, covariates=dict.fromkeys(("home", "rest", "surface"), "estimate"),
            white_advantage="estimate",
        )  # fmt: skip
        fit = ttt.fit(timeline, params, SolverConfig(posterior="joint"))
        for term, value in {**truth, None: 0.0}.items():
            key = f"covariates.{term}" if term else "white_advantage"
            within += abs(fit.params[key] - value) < 2.0 * fit.standard_errors[key]
    assert within >= 90  # of 100; 95 are expected


def knock_out_history(seed, points):
    """Games of 72 knock-out tournaments in 12 years: winners play on, so the better ones play more.

    Skills are N(0, 300^2) and walk by 60 points a year; activity adds `points` per unit.
    """
    rng = np.random.default_rng(seed)
    n_players = 32
    skill = rng.normal(0.0, 300.0, n_players)
    games_last_year = np.zeros(n_players)
    rows = []
    for year in range(1900, 1912):
        games_this_year = np.zeros(n_players)
        skill_this_year = skill + points * np.log1p(games_last_year)
        for _ in range(6):
            field = rng.permutation(n_players)[:16].tolist()
            while len(field) > 1:
                pairings = list(zip(field[::2], field[1::2], strict=True))
                field = []
                for first, second in pairings:
                    lead = skill_this_year[first] - skill_this_year[second]
                    is_won = lead + rng.normal(0.0, 480.0 * np.sqrt(2.0)) > 0.0
                    rows.append((year, f"p{first:02}", f"p{second:02}", 2 if is_won else 0))
                    field.append(first if is_won else second)
                    games_this_year[[first, second]] += 1.0
        games_last_year = games_this_year
        skill = skill + rng.normal(0.0, 60.0, n_players)
    return build_timeline(make_games(rows))


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.parametrize("points", [0.0, 60.0])
def test_activity_is_found_without_bias_where_winners_play_more(points):
    """In 100 histories: 95 % within two standard errors, and the mean within three of its own error."""
    deviations = []
    for seed in range(100):
        params = ttt.Params(
            prior_sd=300.0,
            tau=60.0,
            draw_margin=1.0,
            white_advantage=0.0,
            covariates={"activity": "estimate"},
        )
        fit = ttt.fit(knock_out_history(seed, points), params, SolverConfig(posterior="joint"))
        key = "covariates.activity"
        deviations.append((fit.params[key] - points) / fit.standard_errors[key])
    assert (
        np.count_nonzero(np.abs(deviations) < 2.0) >= 91
    )  # 95 are expected, with a deviation of 2.2
    assert abs(np.mean(deviations)) < 0.3


ACTIVE = [
    (1900, "a", "b", 2, 3.0), (1900, "c", "b", 1), (1901, "a", "c", 0), (1901, "b", "c", 2), (1903, "a", "b", 2),
    (1904, "a", "c", 1, 2.0),
]  # fmt: skip


def test_activity_is_of_the_year_before_only():
    """Games of a: 3 in 1900, 1 in 1901, 1 in 1903; of b: 4, 1, 1; of c: 1, 2, none in 1902 and 1903."""
    timeline = build_timeline(make_games(ACTIVE))
    by_hand = [0.0, 0.0, np.log(4 / 2), np.log(5 / 2), 0.0, np.log(2 / 1)]
    assert timeline.covariate_columns(["activity"])[:, 0] == pytest.approx(by_hand)
    monthly = build_timeline(make_games(ACTIVE), "month")
    assert monthly.covariate_columns(["activity"])[:, 0] == pytest.approx(by_hand)


def test_forms_of_activity_by_hand():
    """Games of a: 3 in 1900, 1 in 1901, 1 in 1903; of b: 4, 1, 1; of c: 1, 2. In 1903 a and b have idled a year."""
    timeline = build_timeline(make_games(ACTIVE))
    three_years = [0.0, 0.0, np.log(4 / 2), np.log(5 / 2), np.log(5 / 6), np.log(3 / 3)]
    root = [0.0, 0.0, np.sqrt(3) - 1.0, 2.0 - 1.0, 0.0, 1.0]
    root_of_four = [
        0.0,
        0.0,
        np.sqrt(3) - 1.0,
        2.0 - 1.0,
        np.sqrt(4) - np.sqrt(5),
        np.sqrt(5) - np.sqrt(3),
    ]
    idle = [0.0, 0.0, 0.0, 0.0, 0.0, -np.log(3)]
    for period in ("year", "month"):
        timeline = build_timeline(make_games(ACTIVE), period)
        for name, by_hand in {
            "activity_3y": three_years,
            "activity_36m": three_years,
            "root_activity": root,
            "root_activity_4y": root_of_four,
            "idle": idle,
        }.items():
            assert timeline.covariate_columns([name])[:, 0] == pytest.approx(by_hand), (
                period,
                name,
            )
    half_a_year = build_timeline(make_games(ACTIVE), "month").covariate_columns(["activity_6m"])
    assert not half_a_year.any()


@pytest.mark.parametrize(
    "name", ["activity_0y", "activity_3", "activity_3w", "log_activity", "idle_2y"]
)
def test_forms_of_activity_that_do_not_exist_are_refused(name):
    timeline = build_timeline(make_games(ACTIVE))
    with pytest.raises(ConfigError, match=f"the games have no covariate {name}"):
        ttt.fit(timeline, ttt.Params(covariates={name: 1.0}), EXACT)


def test_activity_is_the_covariate_with_its_values():
    games = make_games(random_rows(8, 80, years=8))
    values = build_timeline(games).covariate_columns(["activity"])[:, 0]
    assert len(np.unique(values)) > 20
    as_read = replace(games, covariates=(single("read", values.tolist()),))
    params = params_of("ttt", covariates={"activity": 30.0})
    computed = ttt.fit(build_timeline(games), params, JOINT)
    read = ttt.fit(build_timeline(as_read), params_of("ttt", covariates={"read": 30.0}), JOINT)
    assert computed.mean == pytest.approx(read.mean, abs=1e-9)
    assert computed.log_evidence == pytest.approx(read.log_evidence, abs=1e-9)
    apart = ttt.fit(build_timeline(games), params, EXACT, placement=Apart([0, 3, 6, 8]))
    assert apart.mean == pytest.approx(ttt.fit(build_timeline(games), params, EXACT).mean, abs=1e-6)


FORMS = {"activity_3y": 40.0, "root_activity": 10.0, "idle": -25.0}
SYSTEMS = ["elo", "glicko", "glicko2", "trueskill", "whr"]


@pytest.mark.parametrize("model", ["ttt", "ttt-d", *SYSTEMS])
def test_no_forecast_moves_with_later_results(model):
    games = make_games(random_rows(8, 160, years=8))
    later = np.arange(len(games)) >= len(games) // 2
    turned = replace(
        games, outcome=np.where(later, 2 - games.outcome, games.outcome).astype(np.int8)
    )
    module = registry.load(model)
    params = module.Params(covariates=FORMS, white_advantage=30.0)
    forecasts = []
    for played in (games, turned):
        timeline = build_timeline(played)
        step = int(np.searchsorted(timeline.game_start, len(games) // 2)) - 1
        forecasts.append(
            Forecaster(timeline, module, params, SolverConfig()).predict(step, step + 1)
        )
    assert forecasts[0].tolist() == forecasts[1].tolist()
    without = params.model_copy(update={"covariates": {}})
    unmoved = Forecaster(timeline, module, without, SolverConfig()).predict(step, step + 1)
    assert np.abs(forecasts[0] - unmoved).max() > 1e-3


@pytest.mark.parametrize("model", SYSTEMS)
def test_covariates_of_rating_systems_are_handicaps(model):
    """Given points are as the same points of handicap: in ratings, evidence, and forecasts."""
    games = with_covariates(make_games(random_rows(9, 120, years=6)))
    timeline = build_timeline(games)
    module = registry.load(model)
    params = module.Params(covariates=POINTS, white_advantage=30.0, draw_margin=100.0)
    fit = module.fit(timeline, params, EXACT)
    assert {key: fit.params[f"covariates.{key}"] for key in TERMS} == TERMS
    points = points_added(fit.params, timeline)
    as_handicaps = replace(timeline, offset=timeline.offset + points / fit.elo_unit)
    plain = params.model_copy(update={"covariates": {}})
    expected = module.fit(as_handicaps, plain, EXACT)
    assert fit.mean == pytest.approx(expected.mean, abs=1e-6)
    assert fit.log_evidence == pytest.approx(expected.log_evidence, abs=1e-8)
    assert np.abs(fit.mean - module.fit(timeline, plain, EXACT).mean).max() > 0.1
    assert "covariates" not in fit.params
    forecasts = [
        Forecaster(games, module, params_of_games, SolverConfig()).predict(3, 5)
        for games, params_of_games in ((timeline, params), (as_handicaps, plain))
    ]
    assert forecasts[0] == pytest.approx(forecasts[1], abs=1e-6)


def test_rating_systems_estimate_no_covariates():
    with pytest.raises(ValueError, match="valid number"):
        registry.load("elo").Params(covariates={"activity": "estimate"})


def test_without_points_activity_changes_no_bit():
    timeline = build_timeline(make_games(random_rows(1, 30)))
    plain = ttt.fit(timeline, params_of("ttt"), EXACT)
    fit = ttt.fit(timeline, params_of("ttt", covariates={"activity": 0.0}), EXACT)
    assert fit.mean.tolist() == plain.mean.tolist()
    assert fit.log_evidence == plain.log_evidence


@pytest.mark.parametrize(("won", "farthest"), [(0.9, False), (0.96, True)])
def test_an_estimate_is_at_most_ten_times_beta_in_games_of_typical_size(won, farthest):
    """A gale in few games makes the typical size large; in all others the wind decides as many as are won with it."""
    gale, n_gales, n_games, beta, margin = 50.0, 10_000.0, 1_000_000.0, 100.0, 30.0
    rows = [
        (1900, "a", "b", 2, won * n_games),
        (1900, "a", "b", 0, (1.0 - won) * n_games),
        (1900, "a", "b", 2, n_gales),
    ]
    games = replace(make_games(rows), covariates=(single("wind", [1, 1, gale]),))
    params = ttt.Params(
        beta=beta, prior_sd=1e-3, draw_margin=margin, covariates={"wind": "estimate"}
    )
    fit = ttt.fit(build_timeline(games), params, SolverConfig(tol=1e-6))
    size = math.sqrt((n_games + n_gales * gale**2) / (n_games + n_gales))

    def loss(points):
        """Minus the log posterior of players who are known to be equal."""
        sd = math.sqrt(2.0) * beta
        wins = won * norm.logcdf((points - margin) / sd) * n_games
        losses = (1.0 - won) * norm.logcdf((-points - margin) / sd) * n_games
        gales = n_gales * norm.logcdf((gale * points - margin) / sd)
        return 0.5 * (points * size / (beta / 3.0)) ** 2 - wins - losses - gales

    best = minimize_scalar(loss, bounds=(0.0, 5.0 * beta), options={"xatol": 1e-9}).x
    assert (best * size / beta > 10.0) == farthest
    assert farthest or best * size / beta > 9.0
    expected = 10.0 * beta / size if farthest else best
    assert fit.params["covariates.wind"] == pytest.approx(expected, rel=1e-4)
