"""Careers against slow twins, a dense Gaussian, the design's figures and differences."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.builders import CAREER, EXACT, assert_slopes, fit_rows, make_games, random_rows, skills
from tests.support.laid_out import histories
from ttt_cli import read_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import by_player, spans
from ttt_cli.histories import DECLINE_YEARS, later_on
from ttt_cli.inference.ep import slices
from ttt_cli.systems import registry, ttt, ttt_d
from ttt_cli.timeline import build_timeline

JOINT = SolverConfig(tol=1e-7, posterior="joint")
DESIGN = {"growth": 200.0, "decline": 10.0, "early": 3.0}
MATCH = [
    (1858, "M", "A", 2), (1858, "M", "A", 2), (1858, "M", "A", 1), (1858, "M", "A", 0),
    (1861, "A", "M", 1), (1861, "M", "A", 2),
]  # fmt: skip
ROWS = [
    (1850, "a", "b", 2),
    (1850, "b", "a", 1),
    (1851, "b", "c", 2),
    (1853, "a", "c", 0),
    (1853, "c", "b", 1),
    (1860, "a", "b", 2),
    (1860, "a", "c", 1),
]


def test_the_figures_of_the_design():
    """Made independently of this code; the joint evidence is the design's exact -7.0120 nearly."""
    timeline, fit = fit_rows(MATCH, draw_probability=0.303, **DESIGN)
    assert fit.log_evidence == pytest.approx(-7.211026, abs=1e-6)
    found = skills(timeline, fit)
    assert found["M", 1858][0] == pytest.approx(1316.4514, abs=1e-4)
    assert found["M", 1861][0] == pytest.approx(1463.2472, abs=1e-4)
    timeline, fit = fit_rows(MATCH, solver=JOINT, draw_probability=0.303, **DESIGN)
    assert fit.log_evidence == pytest.approx(-7.0120, abs=5e-4)
    found = skills(timeline, fit)
    assert found["M", 1858][0] == pytest.approx(1314.8, abs=0.5)
    assert found["M", 1861][0] == pytest.approx(1461.5, abs=0.5)


@pytest.mark.parametrize("model", ["ttt", "ttt-d", "trueskill"])
def test_without_any_the_lengths_of_careers_change_nothing(model):
    lengths = {"growth_years": 1.0, "decline_after": 2.0, "early_years": 7.0}
    for solver in (EXACT, JOINT):
        (_, plain), (_, same) = (fit_rows(ROWS, model, solver, **given) for given in ({}, lengths))
        assert np.array_equal(plain.mean, same.mean)
        assert np.array_equal(plain.sd, same.sd)
        assert plain.log_evidence == same.log_evidence


@pytest.mark.parametrize("solver", [EXACT, JOINT])
@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_skills_that_do_not_drift_still_have_careers(model, solver):
    """One unknown for every player, along a curve: the limit of ever smaller drifts, gradients too."""
    module = registry.load(model)
    given = {"beta": 300.0, "draw_margin" if model == "ttt" else "draw_margin_mean": 110.0, **CAREER}
    timeline, fit = fit_rows(ROWS, model, solver, tau=0.0, **given)
    _, near = fit_rows(ROWS, model, solver, tau=0.02, **given)
    assert fit.mean == pytest.approx(near.mean, abs=0.01)
    assert fit.sd == pytest.approx(near.sd, abs=0.01)
    assert fit.log_evidence == pytest.approx(near.log_evidence, abs=1e-5)
    slopes = module.gradient(timeline, module.Params(tau=0.0, **given), fit)
    for key in ("growth", "growth_years", "decline"):
        ends = [
            fit_rows(ROWS, model, solver, tau=0.0, **given | {key: given[key] + step})[1].log_evidence
            for step in (-0.01, 0.01)
        ]
        assert slopes[key] == pytest.approx((ends[1] - ends[0]) / 0.02, rel=1e-3, abs=1e-7), key


def test_months_and_days_pass_as_years_do():
    """Games in one month of every year: its periods are as far apart as the years."""
    _, years = fit_rows(ROWS, **CAREER)
    _, months = fit_rows(ROWS, period="month", **CAREER)
    _, days = fit_rows(ROWS, period="day", **CAREER)
    assert months.mean == pytest.approx(years.mean, abs=1e-6)
    assert months.log_evidence == pytest.approx(years.log_evidence, abs=1e-8)
    assert days.mean == pytest.approx(years.mean, abs=0.5)
    assert not np.array_equal(days.mean, years.mean)


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_slices_and_warm_starts_come_to_the_same(model, monkeypatch):
    monkeypatch.setattr(slices, "GAMES_EACH", 2)
    module = registry.load(model)
    timeline, one = fit_rows(ROWS, model, SolverConfig(tol=1e-9, threads=1, posterior="factorised"), **CAREER)
    three = SolverConfig(tol=1e-9, threads=3, posterior="factorised")
    far = module.fit(timeline, module.Params(growth=700.0), EXACT)
    for start in (None, far):
        other = module.fit(timeline, module.Params(**CAREER), three, start=start)
        assert other.mean == pytest.approx(one.mean, abs=1e-6)
        assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-8)


@pytest.mark.parametrize("solver", [EXACT, JOINT])
@pytest.mark.parametrize("model", ["ttt", "ttt-d", "trueskill"])
def test_between_games_and_after_them_a_skill_is_what_a_node_there_would_have(model, solver):
    """Nodes without games, which a game of no weight brings, change nothing and say what is believed there."""
    sure = {
        "draw_margin_mean": 400.0,
        "draw_margin_sd": 20.0,
        "draw_margin_tau": 1.0,
    }  # nothing keeps it positive
    margin = sure if model == "ttt-d" else {"draw_margin": 110.0}
    module, rows = registry.load(model), [*ROWS, (1867, "x", "y", 2)]
    params = module.Params(beta=300.0, tau=70.0, **margin, **CAREER)
    timeline = build_timeline(make_games(rows))
    found = histories(timeline, module.fit(timeline, params, solver), onward=True)
    empty = [(year, "a", "c", 1, 1e-13) for year in (1851, 1852, 1856, 1859, 1863, 1867)]
    dense = build_timeline(make_games([*rows, *empty]))
    expected = module.fit(dense, params, solver)
    for i in range(dense.n_nodes):
        (row,) = np.flatnonzero(
            (found.player == dense.node_player[i]) & (found.period == dense.node_period[i])
        )
        assert found.columns["mean"][row] == pytest.approx(expected.mean[i], abs=1e-5)
        assert found.columns["sd"][row] == pytest.approx(expected.sd[i], abs=1e-5)


@pytest.mark.parametrize(("period", "steps"), [("year", 1), ("month", 12)])
def test_a_decline_ends(period, steps):
    rows = [(1000, "a", "b", 2), (1500, "a", "c", 1), (2000, "d", "a", 1)]
    timeline, fit = fit_rows(rows, "ttt", period=period, decline=11.0, decline_after=15.0, prior_mean=1200.0)
    assert fit.mean.min() > 1200.0 - DECLINE_YEARS * 11.0 - 400.0
    found = spans(timeline, fit, by_player(timeline))
    last = np.isnan(found["until"])
    ends = {name: column[last] for name, column in found.items()}
    far, farther = (
        later_on(ends, "skill", np.full(last.sum(), years * steps), steps)[0] for years in (200, 900)
    )
    assert far == pytest.approx(farther)
    assert far.min() >= ends["mean"].min() - DECLINE_YEARS * 11.0 - 1e-6


@pytest.mark.parametrize("solver", [EXACT, JOINT])
@pytest.mark.parametrize("module", [ttt, pytest.param(ttt_d, marks=pytest.mark.slow)])
def test_the_gradient_is_that_of_differences(module, solver):
    timeline = build_timeline(make_games(random_rows(3, 60, 6, 9)))
    params = module.Params(beta=300.0, tau=70.0, **CAREER)
    assert_slopes(module, timeline, params, ("tau", *CAREER), solver)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "early", "log_evidence", "figures"),
    [
        ("historical_pre1942", 0.0, -19296.6562, {
            ("Morphy, Paul", 1858): (2160.4058, 71.0370), ("Lasker, Emanuel", 1896): (1879.7288, 68.0700)}),
        ("historical_pre1942", 3.0, -19310.3720, {
            ("Morphy, Paul", 1858): (2166.4142, 71.8308), ("Lasker, Emanuel", 1896): (1884.3084, 72.4481)}),
        ("historical", 3.0, -333010.332, {("Kasparov, Gary", 1999): (2695.1502, 51.3442)}),
    ],
)  # fmt: skip
def test_the_figures_of_the_design_on_real_games(data, name, early, log_evidence, figures):
    """Made independently of this code."""
    timeline = build_timeline(read_games(data / f"{name}.csv.gz", filter={"exclude": []}))
    fit = ttt.fit(timeline, ttt.Params(**DESIGN | {"early": early}), SolverConfig(posterior="factorised"))
    assert fit.log_evidence == pytest.approx(log_evidence, abs=0.002)
    found = skills(timeline, fit)
    for who, figure in figures.items():
        assert found[who] == pytest.approx(figure, abs=0.01)
