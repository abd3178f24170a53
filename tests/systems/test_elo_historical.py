"""Elo's historical method against another package, a plain twin and its laws."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.elo_historical_plain import ratings
from tests.support.builders import fit_rows, means
from tests.support.strategies import by_year, examples, game_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.systems import elo_historical

WORLD = {"draw_margin": 100}
BUSY = [
    (1900, "a", "b", 2), (1901, "b", "c", 1), (1903, "c", "a", 0), (1906, "a", "b", 0), (1907, "c", "b", 2),
    (1908, "d", "e", 2), (1911, "a", "d", 1), (1911, "e", "f", 2), (1930, "g", "h", 2), (1931, "h", "a", 1),
]  # fmt: skip

games = game_rows(1917, "abcde", (1.0, 2.0, 0.5), (0.0, -180.0, 90.0), 14).map(by_year)


def test_a_period_as_another_package_rates_it():
    """choix 0.4.1, opt_pairwise (Newton-CG, tol 1e-12, alpha 0) and ilsr_pairwise: 29.57983328 and twice it below.

    Every game given as two comparisons, a draw as one each way; a padding of four is a drawn game beside each.
    """
    rows = [(1901, *pair, outcome) for pair, outcome in zip(
        ["ab", "ab", "bc", "bc", "ac", "ac"], [2, 1, 2, 2, 2, 0], strict=True
    )]  # fmt: skip
    found = means(*fit_rows(rows, "elo-historical", padding=4))
    assert [found["a", 1901], found["b", 1901]] == pytest.approx([1529.57983328] * 2, abs=1e-6)
    assert found["c", 1901] == pytest.approx(1440.84033344, abs=1e-6)


@examples(15)
@given(games, st.sampled_from([1, 5]), st.sampled_from([1.0, 4.0]))
def test_it_is_the_plain_twin(rows, span, padding):
    fitted = fit_rows(rows, "elo-historical", span=span, padding=padding, smoothing=2, **WORLD)
    assert fitted[1].status.converged
    assert means(*fitted) == pytest.approx(ratings(rows, span, padding, 2.0), abs=1e-5)


def test_the_error_is_what_it_says_on_a_pool_that_hangs_by_few_games():
    """A chain of forty players, and series of hundreds between some."""
    names = [f"p{i:02d}" for i in range(40)]
    pairs = enumerate(pairwise(names))
    rows = [(1900, *pair, i % 3, 301.0 if i % 7 == 0 else 1.0) for i, pair in pairs]
    loose = fit_rows(rows, "elo-historical", SolverConfig(tol=0.5), **WORLD)[1]
    exact = fit_rows(rows, "elo-historical", **WORLD)[1]
    assert loose.status.converged
    assert np.abs(loose.mean - exact.mean).max() <= loose.status.remaining_error < 0.5


@pytest.mark.parametrize("period", ["quarter", "month", "week", "day"])
def test_periods_begin_in_the_same_years_whatever_the_time_step(period):
    """Games of 2 July: with all weight on the nearest five years, a finer step changes nothing."""
    yearly = means(*fit_rows(BUSY, "elo-historical", smoothing=0.1, **WORLD))
    timeline, fit = fit_rows(BUSY, "elo-historical", period=period, smoothing=0.1, **WORLD)
    finer = {(timeline.players[p], year): mean for (p, year), mean in zip(
        zip(timeline.node_player, np.floor(elo_historical.middles(timeline)), strict=True), fit.mean, strict=True
    )}  # fmt: skip
    assert finer == pytest.approx(yearly, abs=1e-3)


def test_nobody_has_no_component():
    nobody = np.zeros(0, np.int32)
    assert elo_historical.connected(0, nobody, nobody).tolist() == []
