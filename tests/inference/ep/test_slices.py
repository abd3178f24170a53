"""Slices of time: threads side by side come to the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.builders import make_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.ep import slices
from ttt_cli.inference.ep.slices import Slices
from ttt_cli.processes import available_cores
from ttt_cli.systems import registry
from ttt_cli.timeline import build_timeline

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def small_slices(monkeypatch):
    monkeypatch.setattr(slices, "GAMES_EACH", 5)


@pytest.fixture(scope="module")
def timeline():
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(300):
        i, j = rng.choice(12, 2, replace=False)
        rows.append((int(rng.integers(1900, 1925)), f"p{i:02d}", f"p{j:02d}", int(rng.integers(0, 3))))
    return build_timeline(make_games(rows))


def sliced(timeline, threads):
    return Slices(timeline.node_start, timeline.game_start, timeline.previous, threads)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_slices_hold_everything_once(timeline, threads):
    found = sliced(timeline, threads)
    assert len(found) == threads
    for parts, end in (
        ([part[:2] for part in found.parts], len(timeline.periods)),
        ([part[2:4] for part in found.parts], timeline.n_nodes),
        ([part[4:] for part in found.parts], timeline.n_games),
    ):
        assert [number for begin, stop in parts for number in range(begin, stop)] == list(range(end))
    sizes = [end - begin for *_, begin, end in found.parts]
    assert max(sizes) < 2 * timeline.n_games / threads + 20
    for _, _, begin, end, low, high in found.parts:
        players = np.concatenate([timeline.game_white[low:high], timeline.game_black[low:high]])
        assert players.min() >= begin
        assert players.max() < end


def test_the_links_between_slices_are_known(timeline):
    found = sliced(timeline, 3)
    where = np.concatenate(
        [np.full(end - begin, k) for k, (_, _, begin, end, _, _) in enumerate(found.parts)]
    )
    expected = [
        node for node in range(timeline.n_nodes)
        if timeline.previous[node] >= 0 and where[timeline.previous[node]] != where[node]
    ]  # fmt: skip
    assert found.later.tolist() == expected


def test_few_games_are_one_slice(timeline, monkeypatch):
    monkeypatch.setattr(slices, "GAMES_EACH", 200)
    assert len(sliced(timeline, 4)) == 1


def test_tasks_are_done_for_every_slice_in_order(timeline):
    assert sliced(timeline, 3).run(lambda number: 10 * number) == [0, 10, 20]


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_any_number_of_threads_comes_to_the_same(timeline, model, accelerate):
    module = registry.load(model)
    params = module.Params(beta=300, tau=70, white_advantage=20)
    one, *others = (
        module.fit(timeline, params, SolverConfig(tol=1e-8, threads=threads, accelerate=accelerate))
        for threads in (1, 2, 3, 5)
    )
    for other in others:
        assert other.status.converged
        assert other.mean == pytest.approx(one.mean, abs=1e-6)
        assert other.sd == pytest.approx(one.sd, abs=1e-6)
        assert other.chains["skill"].covariance == pytest.approx(one.chains["skill"].covariance, rel=1e-6)
        assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-7)
        assert other.leave_one_out == pytest.approx(one.leave_one_out, abs=1e-6)
        assert other.status.sweeps <= 3 * one.status.sweeps


def test_there_is_at_least_one_core():
    assert available_cores() >= 1
