"""Intervals of ranks against samples of all skills."""

from __future__ import annotations

import numpy as np
import pytest

from tests.views.test_records import random_games
from ttt_cli import fit, top
from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.eligible import eligible
from ttt_cli.views.rankings.period import ranking


@pytest.fixture(scope="module")
def run() -> Run:
    return fit(random_games(), model="ttt", white_advantage=30.0)


def test_intervals_are_those_of_joint_samples(run: Run) -> None:
    table = top(run, 1904, None, ranks=True)
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
    rows = ranking(run, 1904, eligible(run), None, ranks=True)
    (line,) = [line for line in rows.title if "ahead of the next" in line]
    certain = int(line.split()[0])
    assert (ahead >= 0.96).sum() <= certain <= (ahead >= 0.94).sum()


def test_a_player_who_is_not_shown_counts_for_the_ranks_of_others(run: Run) -> None:
    everybody = top(run, 1904, None, ranks=True)
    few = top(run, 1904, 3, ranks=True)
    assert np.abs(few.rank_high - everybody.rank_high[:3]).max() <= 1


def test_without_uncertainties_or_unasked_there_are_none(run: Run) -> None:
    assert "rank_low" not in top(run, 1904)
    assert "rank_low" not in top(fit(random_games(), model="elo"), 1904, ranks=True)
