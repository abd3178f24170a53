"""Careers by age: when they begin, of whom the birth is unknown, and their gradient."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.reference.ttt_ep import Twin, assert_is_twin
from tests.support.builders import CAREER, EXACT, assert_slopes, make_games, random_rows
from ttt_cli import api
from ttt_cli.fitted import spans
from ttt_cli.games.people import PeopleTable
from ttt_cli.histories import Curve, later_on
from ttt_cli.inference.prior import CareerYears, career_years, years_since_debut
from ttt_cli.runs.meta import in_use
from ttt_cli.systems import trueskill, ttt, ttt_d
from ttt_cli.timeline import Timeline, build_timeline
from ttt_cli.views.run import model_line

BY_AGE = {**CAREER, "career_by": "age", "career_age": 15.0}


def born(timeline: Timeline, *births: float) -> Timeline:
    """The timeline with births of its players."""
    return replace(timeline, births=np.resize(np.array(births, np.float64), len(timeline.players)))


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    """Some are younger than the beginning of careers, one has no known birth."""
    timeline = build_timeline(make_games(random_rows(4, 60, 7, 12)))
    first = timeline.node_period.min()
    return born(timeline, first - 20.0, first - 9.5, np.nan, first - 31.25, first - 14.9)


def test_careers_begin_at_an_age_and_the_unknown_debut_at_the_median_age() -> None:
    rows = [(1900, "a", "b", 2), (1905, "a", "c", 2), (1905, "b", "d", 2), (1910, "c", "a", 1)]
    timeline = born(
        build_timeline(make_games(rows)), 1880.5, 1893.5, np.nan, 1871.5
    )  # 20, 7 and 34 at the debut
    names = [(timeline.players[player], int(period)) for player, period in
             zip(timeline.node_player, timeline.node_period, strict=True)]  # fmt: skip
    years = career_years(timeline, 15.0)
    assert dict(zip(names, years.at, strict=True)) == {
        ("a", 1900): 5, ("b", 1900): 0, ("a", 1905): 10, ("b", 1905): 0, ("c", 1905): 5, ("d", 1905): 19,
        ("a", 1910): 15, ("c", 1910): 10,
    }  # fmt: skip
    assert dict(zip(names, years.before, strict=True)) == {
        ("a", 1900): 5, ("b", 1900): 0, ("a", 1905): 5, ("b", 1905): 0, ("c", 1905): 5, ("d", 1905): 19,
        ("a", 1910): 10, ("c", 1910): 5,
    }  # fmt: skip
    assert years.after == pytest.approx(years.before + timeline.gap_years)
    known = np.flatnonzero(timeline.previous >= 0)
    assert years.before[known] == pytest.approx(years.at[timeline.previous[known]])


def test_without_births_careers_are_those_since_the_debut_bit_for_bit(timeline: Timeline) -> None:
    since_debut = years_since_debut(timeline)
    expected = CareerYears(since_debut, since_debut - timeline.gap_years, since_debut)
    nobody = replace(timeline, births=None)
    for years in (career_years(timeline, None), career_years(nobody, 15.0)):
        for array, other in zip(years, expected, strict=True):
            assert np.array_equal(array, other)
    params = {"career_by": "age"}, {}
    fits = [ttt.fit(nobody, ttt.Params(**CAREER, **more), EXACT) for more in params]
    assert np.array_equal(fits[0].mean, fits[1].mean)


def test_births_at_the_debut_less_the_age_are_careers_since_the_debut(timeline: Timeline) -> None:
    first = dict(zip(timeline.node_player[::-1], timeline.node_period[::-1], strict=True))
    births = [first[player] + 0.5 - 15.0 for player in range(len(timeline.players))]
    for module in (ttt, trueskill):
        by_age = module.fit(born(timeline, *births), module.Params(**BY_AGE), EXACT)
        by_debut = module.fit(timeline, module.Params(**CAREER), EXACT)
        assert by_age.mean == pytest.approx(by_debut.mean)
        assert by_age.log_evidence == pytest.approx(by_debut.log_evidence)


def test_a_fit_by_age_is_that_of_a_twin() -> None:
    """Prior means and covariances from the curve at each node's age, written out."""
    timeline = build_timeline(make_games(random_rows(4, 20, 4, 12)))
    first = timeline.node_period.min()
    timeline = born(timeline, first - 20.0, first - 9.5, np.nan, first - 31.25)
    params = ttt.Params(**BY_AGE, beta=300.0, tau=70.0, draw_margin=100.0, white_advantage=20.0)
    twin = Twin(timeline, params)
    curve = Curve(**CAREER)
    at = career_years(timeline, 15.0).at
    n = timeline.n_nodes
    mean = np.empty(n)
    variance = np.empty(n)
    for node in range(n):
        before = timeline.previous[node]
        if before < 0:
            mean[node] = params.prior_mean
            variance[node] = params.prior_sd**2
            continue
        rest = curve.after(at[before])
        mean[node] = mean[before] + rest.change(timeline.gap_years[node])
        variance[node] = variance[before] + params.tau**2 * rest.clock(timeline.gap_years[node])
    earlier = np.minimum(variance[:, None], variance[None])
    same = timeline.node_player[:, None] == timeline.node_player[None]
    twin.prior_mean = mean
    twin.covariance = np.where(same, earlier, 0.0)
    assert_is_twin(ttt.fit(timeline, params, EXACT), twin.run())


@pytest.mark.parametrize("module", [ttt, ttt_d])
def test_the_gradient_by_age_is_that_of_differences(timeline: Timeline, module) -> None:
    keys = (
        "growth",
        "growth_years",
        "decline",
        "decline_after",
        "early",
        "early_years",
        "tau",
        "prior_sd",
    )
    assert_slopes(module, timeline, module.Params(**BY_AGE), keys, abs=1e-6)


def test_after_the_last_game_a_career_goes_on_from_the_age(timeline: Timeline) -> None:
    params = ttt.Params(**BY_AGE)
    fit = ttt.fit(timeline, params, EXACT)
    last = np.flatnonzero(timeline.next < 0)
    mean, sd = later_on(spans(timeline, fit, last), "skill", np.full(len(last), 3), 1.0)
    rest = Curve(**CAREER).after(career_years(timeline, 15.0).at[last])
    assert mean == pytest.approx(fit.mean[last] + rest.change(3.0))
    assert sd == pytest.approx(np.sqrt(fit.sd[last] ** 2 + params.tau**2 * rest.clock(3.0)))


def test_a_run_says_when_no_birth_is_known_and_when_careers_begin() -> None:
    games = make_games([(1900, "a", "b", 2), (1901, "b", "a", 1)])
    run = api.fit(games, model="ttt", **BY_AGE)
    assert any("no births are known" in note for note in run.meta.notes)
    assert in_use(run.meta.params)["career_age"] == 15.0
    assert model_line(run.meta).endswith(
        "skills rise in the years after the age of 15 and decline late"
    )
    people = PeopleTable(("born",), {"a": ("1880",)})
    known = api.fit(replace(games, people=people), model="ttt", **BY_AGE)
    assert not any("births" in note for note in known.meta.notes)
    by_debut = api.fit(games, model="ttt", **CAREER)
    assert {"career_by", "career_age"}.isdisjoint(in_use(by_debut.meta.params))
    assert model_line(by_debut.meta).endswith(
        "skills rise in the years after the debut and decline late"
    )
