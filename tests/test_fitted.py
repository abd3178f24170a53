"""Histories: every period from first to last, the inactive ones from the bridge between their neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import root

from tests.builders import EXACT, fit_rows
from tests.laid_out import histories
from ttt_cli.fitted import by_player, periods_of_histories, spans

ROWS = [
    (1850, "a", "b", 2),
    (1850, "b", "a", 1),
    (1853, "a", "c", 0),
    (1858, "a", "b", 2),
    (1851, "b", "c", 2),
]


def exact_chain(prior_sd, tau, sites):
    """Posterior of a walk observed through Gaussian sites {year: (precision, weighted mean)}, by dense matrices."""
    years = np.arange(min(sites), max(sites) + 1)
    steps = years - years[0]
    covariance = prior_sd**2 + tau**2 * np.minimum.outer(steps, steps)
    precision = np.linalg.inv(covariance)
    weighted = np.zeros(len(years))
    for year, (p, w) in sites.items():
        precision[year - years[0], year - years[0]] += p
        weighted[year - years[0]] += w
    posterior = np.linalg.inv(precision)
    return dict(zip(years, zip(posterior @ weighted, np.sqrt(np.diag(posterior)), strict=True), strict=True))


def site_precisions(walk, variance):
    """The precisions of sites that give a walk (dense precision matrix) these variances."""
    found = root(lambda p: np.diag(np.linalg.inv(walk + np.diag(p))) / variance - 1, 1 / variance, tol=1e-14)
    return found.x


def test_all_years_equal_a_dense_smoother_over_all_years():
    """The sites of the fit are found by subtracting the walk's own precision from the posterior's of each player."""
    tau, prior_sd = 70.0, 400.0
    timeline, fit = fit_rows(ROWS, tau=tau, prior_sd=prior_sd, beta=300, draw_margin=100, solver=EXACT)
    chain = fit.chains["skill"]
    laid_out = histories(timeline, fit)
    for player, name in enumerate(timeline.players):
        nodes = np.flatnonzero(timeline.node_player == player)
        years = timeline.node_period[nodes]
        steps = years - years[0]
        walk = np.linalg.inv(prior_sd**2 + tau**2 * np.minimum.outer(steps, steps))
        precision = site_precisions(walk, chain.sd[nodes] ** 2)
        posterior = walk + np.diag(precision)
        weighted = posterior @ (chain.mean[nodes] - 1200)
        sites = dict(zip(years.tolist(), zip(precision, weighted, strict=True), strict=True))
        expected = exact_chain(prior_sd, tau, sites)
        rows = np.flatnonzero(laid_out.player == player)
        assert list(laid_out.period[rows]) == list(expected), name
        for row in rows:
            mean, sd = expected[laid_out.period[row]]
            assert laid_out.columns["mean"][row] == pytest.approx(1200 + mean, abs=1e-6)
            assert laid_out.columns["sd"][row] == pytest.approx(sd, abs=1e-6)


def test_games_are_counted_in_the_years_they_were_played():
    timeline, fit = fit_rows(ROWS)
    laid_out = histories(timeline, fit)
    of_a = laid_out.player == timeline.players.index("a")
    played = dict(zip(laid_out.period[of_a].tolist(), laid_out.games[of_a].tolist(), strict=True))
    assert played == {1850: 2, 1851: 0, 1852: 0, 1853: 1, 1854: 0, 1855: 0, 1856: 0, 1857: 0, 1858: 1}


def test_a_filter_only_grows_less_certain_in_idle_years():
    timeline, fit = fit_rows(ROWS, "trueskill", tau=70)
    laid_out = histories(timeline, fit)
    of_a = laid_out.player == timeline.players.index("a")
    mean, sd = laid_out.columns["mean"][of_a], laid_out.columns["sd"][of_a]
    assert mean[4] == mean[3]
    assert sd[4:8] ** 2 - sd[3] ** 2 == pytest.approx(70**2 * np.arange(1, 5))


def test_uncertainty_rises_and_falls_across_a_gap():
    rivals = [
        (year, x, y, o) for year in range(1850, 1859) for x, y in ("xy", "yz", "zx") for o in (0, 1, 2) * 10
    ]
    games = [(year, "a", x, o) for year in (1850, 1858) for x in "xyz" for o in (0, 1, 2) * 10]
    timeline, fit = fit_rows(rivals + games, tau=100)
    laid_out = histories(timeline, fit)
    of_a = laid_out.player == timeline.players.index("a")
    sd = laid_out.columns["sd"][of_a]
    assert sd.argmax() in (3, 4, 5)
    assert np.all(np.diff(sd[:4]) > 0)
    assert np.all(np.diff(sd[5:]) < 0)


def test_no_games_have_no_histories():
    from tests.builders import make_games
    from ttt_cli.config.schema import SolverConfig
    from ttt_cli.models import ttt
    from ttt_cli.timeline import build_timeline

    timeline = build_timeline(make_games([]))
    fit = ttt.fit(timeline, ttt.Params(), SolverConfig())
    assert len(histories(timeline, fit).player) == 0
    assert len(spans(timeline, fit, by_player(timeline)).player) == len(periods_of_histories(timeline)) == 0
    assert fit.log_evidence == 0


@given(
    st.lists(
        st.tuples(
            st.integers(1850, 1875), st.sampled_from("abcdef"), st.sampled_from("uvwxyz"), st.integers(0, 2)
        ),
        min_size=1,
        max_size=25,
    )
)
@settings(max_examples=40)
def test_spans_follow_each_other_from_the_first_game_to_the_last(rows):
    timeline, fit = fit_rows(rows, draw_margin=100)
    found = spans(timeline, fit, by_player(timeline))
    played = {}
    for year, *names, _ in rows:
        for name in names:
            played.setdefault(name, {}).setdefault(year, 0)
            played[name][year] += 1
    for player, name in enumerate(timeline.players):
        own = found.player == player
        years = sorted(played[name])
        assert found.period[own].tolist() == years
        assert found.until[own].tolist() == [*years[1:], years[-1] + 1]
        assert found.games[own].tolist() == [played[name][year] for year in years]
    whole = histories(timeline, fit)
    assert periods_of_histories(timeline).tolist() == sorted(set(whole.period.tolist()))
