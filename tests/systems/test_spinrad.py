"""Spinrad's method against runs of another package, a plain twin and its laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.elo_plain import logistic, normal
from tests.reference.elo_plain import spinrad as plain_spinrad
from tests.support.builders import EXACT, fit_rows, make_games, means
from tests.support.strategies import by_year, examples, game_rows
from ttt_cli.systems import spinrad
from ttt_cli.timeline import build_timeline

ROWS = [
    (1900, "a", "b", 2), (1900, "b", "c", 1), (1900, "c", "a", 0),
    (1901, "a", "b", 0), (1901, "c", "b", 2), (1903, "a", "c", 1), (1903, "d", "a", 2),
]  # fmt: skip

games = game_rows(1905, "abcd", (1.0, 2.0, 3.0), (0.0, -180.0, 90.0)).map(by_year)
laws = examples(16)
WORLD = {"draw_margin": 100}


def test_two_rounds_as_another_package_makes_them():
    """EloCompetitor of elote 1.5.1, K 24 from 1500, given the games in order and in reverse, twice; the last means."""
    found = means(*fit_rows(ROWS, "spinrad", k=24, rounds=2))
    assert found == pytest.approx(
        {
            ("a", 1900): 1510.416485589943,
            ("a", 1901): 1491.1225750244816,
            ("a", 1903): 1491.6771478957667,
            ("b", 1900): 1464.514697053824,
            ("b", 1901): 1470.8673810557316,
            ("c", 1900): 1490.1599269428611,
            ("c", 1901): 1503.1011535064154,
            ("c", 1903): 1497.768665958823,
            ("d", 1903): 1540.6402540015988,
        },
        abs=1e-9,
    )


@laws
@given(games, st.integers(1, 3), st.booleans(), st.sampled_from(["logistic", "normal"]))
def test_it_is_the_plain_twin(rows, rounds, colours, expectation):
    timeline = build_timeline(make_games(rows), colours="known" if colours else "unknown")
    params = spinrad.Params(
        expectation=expectation, k=16, rounds=rounds, white_advantage=40, **WORLD
    )
    told = []
    fit = spinrad.fit(timeline, params, EXACT, on_sweep=lambda *round: told.append(round))
    expect = {"logistic": logistic, "normal": normal}[expectation]
    expected = plain_spinrad(rows, rounds, k=16.0, advantage=40.0, colours=colours, expect=expect)
    assert means(timeline, fit) == pytest.approx(expected, abs=1e-9)
    assert fit.status.sweeps == len(fit.trace) == rounds
    assert told == [(number, *step) for number, step in enumerate(fit.trace, 1)]
