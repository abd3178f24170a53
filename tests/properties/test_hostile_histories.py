"""Filters on histories made to mislead them: reversals of huge matches, in which the weaker side wins everything."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.builders import fit_rows

FILTERS = [
    ("elo", {}),
    ("elo", {"update": "period"}),
    ("elo", {"expectation": "normal"}),
    ("glicko", {}),
    ("glicko", {"smooth": True}),
    ("glicko2", {}),
    ("glicko2", {"volatility_change": 1.2}),
    ("trueskill", {}),
    ("chessmetrics", {}),
    ("naive", {}),
    ("weighted-ep", {}),
]
SPREAD = 2_500.0  # points for each player, of ratings around their prior mean; a match of 10,000 wins takes 2,000
COST = 15.0  # nats a game


def comeback(games):
    return [(1900 + year, "a", "b", 2 if year < 10 else 0, games) for year in range(20)]


def alternating(games):
    return [(1900 + year, "a", "b", 2 * (year % 2), games) for year in range(40)]


def weaker_wins(seed, players=5, years=30):
    """Matches of up to 10,000 games, each won by whoever has won fewer games so far."""
    random = np.random.default_rng(seed)
    won = dict.fromkeys("abcdefgh"[:players], 0.0)
    rows = []
    for year in range(years):
        for _ in range(random.integers(1, 4)):
            first, second = random.choice(list(won), 2, replace=False).tolist()
            games = float(10 ** random.integers(0, 5))
            first_wins = won[first] <= won[second]
            won[first if first_wins else second] += games
            rows.append((1900 + year, first, second, 2 if first_wins else 0, games))
    return rows


HISTORIES = {
    "comeback": comeback(100.0),
    "alternating": alternating(100.0),
    "alternating matches": alternating(10_000.0),
    "one match": [(1900, "a", "b", 2, 10_000.0)],
    "one reversal": [(1900, "a", "b", 2, 10_000.0), (1901, "a", "b", 0, 10_000.0)],
    **{f"weaker wins {seed}": weaker_wins(seed) for seed in range(6)},
}


@pytest.mark.parametrize(("system", "params"), FILTERS)
@pytest.mark.parametrize("name", HISTORIES)
def test_no_filter_runs_away(system, params, name):
    """Glicko and Glicko-2 reached 7 million points, and 270 nats a game."""
    rows = HISTORIES[name]
    _, fit = fit_rows(rows, system, **params)
    prior_mean = fit.params.get("prior_mean", fit.params.get("reference_rating"))
    assert np.isfinite(fit.mean).all()
    players = {player for row in rows for player in row[1:3]}
    assert np.abs(fit.mean - prior_mean).max() < SPREAD * len(players)
    assert -COST < fit.log_evidence / sum(row[4] for row in rows) < 0.0
    if system.startswith("glicko"):
        assert (
            fit.sd <= 2**0.5 * fit.params["prior_sd"]
        ).all()  # before the period and in it a newcomer's
