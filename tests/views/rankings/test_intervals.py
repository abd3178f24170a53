"""Intervals of ranks against samples of all skills."""

from __future__ import annotations

import numpy as np
import pytest

from tests.views.test_records import random_games
from ttt_cli import fit, top
from ttt_cli.runs.run import Run
from ttt_cli.views.rankings import intervals
from ttt_cli.views.rankings.eligible import eligible
from ttt_cli.views.rankings.period import ranking


@pytest.fixture(scope="module")
def run() -> Run:
    return fit(random_games(), model="ttt", white_advantage=30.0)


def test_intervals_are_those_of_joint_samples(run: Run) -> None:
    table = top(run, 1904, None)
    players = list(table.player)
    samples = run.samples(100_000, 3, [(player, 1904) for player in players]).to_numpy()
    ranks = np.argsort(np.argsort(-samples, axis=1), axis=1) + 1
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    assert np.abs(table.rank_low - low).max() <= 1
    assert np.abs(table.rank_high - high).max() <= 1
    assert (table.rank_low == low).mean() > 0.8
    assert (table.rank_low <= table["rank"]).all()
    assert (table.rank_high >= table["rank"]).all()
    ahead = (samples[:, :-1] > samples[:, 1:]).mean(axis=0)
    rows = ranking(run, 1904, eligible(run), None)
    (line,) = [line for line in rows.title if "ahead of the next" in line]
    certain = int(line.split()[0])
    assert (ahead >= 0.96).sum() <= certain <= (ahead >= 0.94).sum()


def test_a_player_who_is_not_shown_counts_for_the_ranks_of_others(run: Run) -> None:
    everybody = top(run, 1904, None)
    few = top(run, 1904, 3)
    assert np.abs(few.rank_high - everybody.rank_high[:3]).max() <= 1


@pytest.mark.parametrize("together", [0, 4])
def test_other_players_are_independent(
    run: Run, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "MOST_TOGETHER", together)
    table = top(run, 1904, None)
    samples = np.random.default_rng(5).normal(table["mean"], table.sd, (200_000, len(table)))
    if together:
        joint = run.samples(
            200_000, 6, [(player, 1904) for player in table.player[:together]]
        ).to_numpy()
        samples[:, :together] = joint
    ranks = np.argsort(np.argsort(-samples, axis=1), axis=1) + 1
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    assert np.abs(table.rank_low - low).max() <= 1
    assert np.abs(table.rank_high - high).max() <= 1
    assert (table.rank_low == low).mean() > 0.7


def test_many_players_of_one_strength_have_all_ranks(run: Run) -> None:
    n_players = 20_000
    rows = intervals.rank_intervals(
        fit(random_games(), model="elo"),
        [("", 0)] * n_players,
        np.zeros(n_players),
        np.ones(n_players),
        3,
        1,
    )
    assert rows.low == pytest.approx([0.025 * n_players] * 3, rel=0.25)
    assert rows.high == pytest.approx([0.975 * n_players] * 3, rel=0.01)
    assert rows.n_certain == 0


def test_a_single_player_is_the_first_for_certain(run: Run) -> None:
    (rank,) = top(run, 1904, players=["p00"]).itertuples()
    assert (rank.rank_low, rank.rank_high) == (1, 1)


def test_without_uncertainties_and_by_other_orders_there_are_none(run: Run) -> None:
    assert top(fit(random_games(), model="elo"), 1904).rank_low.isna().all()
    for by in ("lower", "dominance"):
        assert "rank_low" not in ranking(run, 1904, eligible(run), None, by=by).columns
