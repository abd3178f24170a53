"""A fit over slices that are held apart: the fixed point, the evidence and the steps of a whole timeline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.apart import Apart, agree, history
from tests.support.builders import EXACT, make_games
from tests.support.strategies import examples, game_rows
from ttt_cli.inference.ep import through_time
from ttt_cli.systems import ttt, ttt_d
from ttt_cli.timeline import build_timeline

CAREER = {"growth": 310.0, "early": 2.8, "decline": 11.0}
MOVING = [
    {**CAREER, "prior_mean_drift": 40.0},
    {"draw_margin_drift": 0.3},
    {"draw_margin_strength": -0.4},
    {"draw_margin_drift": 0.2, "draw_margin_strength": 0.3, **CAREER},
    {"draw_margin_drift": 0.2, "draw_margin_strength": 0.3, **CAREER, "prior_mean_drift": 40.0},
]
seeds = st.integers(0, 2**32 - 1)


def compare(timeline, params, cuts, solver=EXACT, **how):
    """A fit in these slices and the whole one are the same; returns both."""
    model = ttt_d if isinstance(params, ttt_d.Params) else ttt
    whole, apart = (
        model.fit(timeline, params, solver, placement=where) for where in (None, Apart(cuts, **how))
    )
    # with draw margins it is relative to that without games, which is found roughly where they move
    agree(whole, apart, tol=1e-8, evidence=1e-9 if model is ttt else 2e-5)
    return whole, apart


@pytest.mark.slow
@examples(12)
@given(
    seeds,
    st.sets(st.integers(1, 13)),
    st.sampled_from([0.0, 60.0]),
    st.sampled_from([{}, CAREER, {"white_advantage": 30.0}, *MOVING]),
    st.sampled_from([ttt, ttt_d]),
)
def test_slices_come_to_what_the_whole_comes_to(seed, inner, tau, others, model):
    timeline = history(seed)
    periods = len(timeline.periods)
    cuts = sorted({0, *(cut for cut in inner if cut < periods), periods})
    compare(timeline, model.Params(tau=tau, beta=300, **others), cuts)


@examples(6)
@given(game_rows(1908, "abcde", [1.0, 0.5, 3.0], [0.0, 50.0]))
def test_every_period_may_be_a_slice(rows):
    timeline = build_timeline(make_games(rows))
    params = ttt.Params(beta=300, draw_margin=110, white_advantage=20)
    compare(timeline, params, range(len(timeline.periods) + 1))


@pytest.mark.parametrize("model", [ttt, ttt_d])
def test_a_year_of_moving_margins_may_lie_in_several_slices(model):
    rng = np.random.default_rng(4)
    pairs = [rng.choice(6, 2, replace=False) for _ in range(120)]
    games = make_games([(1900, f"p{i}", f"p{j}", int(rng.integers(3))) for i, j in pairs])
    first, end = (np.datetime64(day).astype(int) for day in ("1900-01-01", "1904-01-01"))
    dates = np.sort(rng.integers(first, end, len(pairs))).astype(np.int32)
    timeline = build_timeline(replace(games, date=dates), "month")
    months = len(timeline.periods)
    whole, _ = compare(timeline, model.Params(beta=300, **MOVING[-1]), [0, 5, 17, 20, months])
    assert len(whole.draws.year) == 4


@pytest.mark.slow
@examples(10)
@given(
    seeds,
    st.dictionaries(st.integers(1, 120), st.integers(0, 2), max_size=12),
    st.sampled_from([{}, *MOVING]),
    st.sampled_from([ttt, ttt_d]),
    st.booleans(),
)
def test_whenever_slices_are_lost_it_comes_to_the_same(seed, lost, others, model, keep):
    """Also those that are lost while others are made again."""
    with TemporaryDirectory() as folder:
        how = {"lost": lost, "scratch": Path(folder) if keep else None}
        compare(history(seed), model.Params(tau=60, beta=300, **others), [0, 5, 9, 14], **how)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moving", "keep", "every"),
    [
        pytest.param(MOVING[2], False, 1, marks=pytest.mark.large),
        (MOVING[2], True, 5),
        pytest.param({"prior_mean_drift": 20.0, **CAREER}, True, 5, marks=pytest.mark.large),
    ],
)
def test_whatever_is_asked_when_slices_are_lost_it_comes_to_the_same(tmp_path, moving, keep, every):
    """One at every asking of a fit, and the other on the way to make it again: also when all that is left is to tell
    what was found.
    """
    timeline = history(3, players=6, years=8, games=30)
    params, solver = ttt.Params(tau=60, beta=300, **moving), EXACT.model_copy(update={"tol": 1e-3})

    def fitted(lost):
        place = Apart([0, 4, len(timeline.periods)], lost, tmp_path if keep else None)
        return ttt.fit(timeline, params, solver, placement=place), place.steps

    whole, asked = fitted({})
    for number in range(asked, 0, -every):
        first = number % 2
        fit, _ = fitted({number: first, number + 1 + number % 5: 1 - first})
        assert fit.status.converged, number
        assert fit.mean == pytest.approx(whole.mean, abs=1e-2), number
        assert fit.log_evidence == pytest.approx(whole.log_evidence, abs=1e-4), number
        if whole.draws:
            assert fit.draws.margin == pytest.approx(whole.draws.margin, abs=1e-2), number
        if whole.newcomers:
            assert fit.newcomers.mean == pytest.approx(whole.newcomers.mean, abs=1e-2), number


def test_plain_sweeps_come_to_the_same():
    compare(
        history(1),
        ttt.Params(beta=300),
        [0, 4, 5, 9, 14],
        EXACT.model_copy(update={"accelerate": False}),
    )


@pytest.mark.parametrize("others", [{}, MOVING[0]])
@pytest.mark.parametrize("cuts", [[0, 14], [0, 7, 14], range(15)])
def test_joint_means_take_the_steps_of_the_whole(monkeypatch, cuts, others):
    """Borders are coupled exactly, and levels solved for: conjugate gradients do not see them."""
    made = []
    for name in ("Inference", "SlicedInference"):
        real = getattr(through_time, name)
        monkeypatch.setattr(
            through_time,
            name,
            lambda *of, real=real, **options: made.append(real(*of, **options)) or made[-1],
        )
    timeline, params = history(7, players=30, games=300), ttt.Params(beta=300, **others)
    whole, apart = (
        ttt.fit(timeline, params, EXACT, placement=where) for where in (None, Apart(cuts))
    )
    steps = [one.steps / fit.status.sweeps for one, fit in zip(made, (whole, apart), strict=True)]
    assert steps[1] <= 1.2 * steps[0]


def test_a_guess_is_where_a_fit_begins():
    timeline, params = history(11), ttt.Params(beta=300)
    whole, cold = compare(timeline, params, [0, 5, 14])
    warm = ttt.fit(
        timeline, params, EXACT, placement=Apart([0, 5, 14]), start=replace(whole, state={})
    )
    agree(whole, warm)
    assert warm.trace[0][0] < 0.3 * cold.trace[0][0]


def test_slices_that_are_alone_need_no_borders():
    """Two groups of players, one after the other."""
    rows = [(1900 + k, "a", "b", k % 3) for k in range(4)] + [
        (1950 + k, "c", "d", k % 3) for k in range(4)
    ]
    compare(build_timeline(make_games(rows)), ttt.Params(), [0, 4, 8])


ALL_MOVE = {"growth": 300.0, "prior_mean_drift": 30.0, "draw_margin_drift": 0.3}
TOL = 1e-9


@examples(6)
@given(
    st.integers(0, 2**32 - 1),
    st.sets(st.integers(1, 13)),
    st.sampled_from([{}, ALL_MOVE, {"draw_margin_sd": 400.0, "draw_margin_tau": 0.0}]),
)
def test_the_evidence_without_games_is_that_of_the_whole(seed, inner, others):
    timeline, params = history(seed), ttt_d.Params(beta=300, **others).resolved()
    cuts = sorted(
        {0, *(cut for cut in inner if cut < len(timeline.periods)), len(timeline.periods)}
    )
    shared = ttt_d.through_time(timeline, params)
    found, inference = shared.empty_evidence(Apart(cuts), None, TOL), shared.without_games(TOL)
    assert found == pytest.approx(inference.log_evidence().log_evidence, abs=1e-9)


def test_nothing_of_ttt_d_is_done_with_the_whole_timeline(monkeypatch):
    def refused(*_, **__):
        raise AssertionError("the whole timeline in one place")

    timeline, params = history(3), ttt_d.Params(beta=300)
    monkeypatch.setattr(through_time, "merge_games", refused)
    monkeypatch.setattr(through_time, "Inference", refused)
    fit = ttt_d.fit(timeline, params, ttt_d.SolverConfig(), placement=Apart([0, 5, 14]))
    assert fit.status.converged


def test_an_estimated_advantage_counts_as_none_on_neutral_ground_in_slices_too():
    """Slices are cut once: a later advantage also changes what neutral games are played with."""
    timeline = history(7)
    owners = np.where(np.arange(timeline.n_games) % 3 == 0, 0, 1).astype(np.int8)
    timeline, params = (
        replace(timeline, advantage_owner=owners),
        ttt.Params(beta=300, white_advantage="estimate"),
    )
    whole = ttt.fit(timeline, params, EXACT.model_copy(update={"posterior": "factorised"}))
    apart = ttt.fit(timeline, params, EXACT, placement=Apart([0, 6, 14]))
    assert apart.params["white_advantage"] == pytest.approx(
        whole.params["white_advantage"], abs=1e-6
    )
    assert apart.mean == pytest.approx(whole.mean, abs=1e-6)
