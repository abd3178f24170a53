"""The promises of `run_chains` on a cluster: also when its workers die, join or cannot do the work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.parallel.test_processes import Unreadable
from ttt_cli.parallel.cluster import cluster_client, threads_each, work_on
from ttt_cli.parallel.processes import WorkerLost, end_if_unwanted, run_chains
from ttt_cli.support.errors import SetupError

if TYPE_CHECKING:
    from distributed import Client

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX"),
]


def test_each_worker_has_its_own_share_of_the_machine(client: Client) -> None:
    sessions = client.run(os.getsid, 0)
    assert len(
        {*sessions.values(), client.run_on_scheduler(os.getsid, 0), os.getsid(0)}
    ) == 2 + len(sessions)
    assert set(client.run(os.environ.get, "OPENBLAS_NUM_THREADS").values()) == {"1"}


class Unsendable:
    """Answers with what no pickle takes."""

    def step(self, item: int, *, fresh: bool) -> object:
        return lambda: item


@pytest.mark.parametrize(
    ("worker", "why"), [(Unreadable(), "invalid literal"), (Unsendable(), "lambda")]
)
def test_a_worker_that_cannot_do_the_work_says_what_it_needs(
    client: Client, worker: Any, why: str
) -> None:
    with pytest.raises(SetupError, match=f"cannot do the work: .*{why}") as caught:
        list(run_chains(worker, [[1], [2]], partial(work_on, client)))
    assert "same ttt" in (caught.value.hint or "")


class Dying:
    """Answers with what it did before in the chain; kills its process at the items `at` that no mark is kept of."""

    def __init__(self, marks: Path, at: Sequence[int], most: int = 1) -> None:
        self.marks, self.at, self.most = marks, at, most
        self.before: list[int] = []

    def step(self, item: int, *, fresh: bool) -> tuple[int, list[int]]:
        self.before = [] if fresh else self.before
        past = list(self.before)
        self.before.append(item)
        if item in self.at:
            for number in range(self.most):
                mark = self.marks / f"{item}-{number}"
                if not mark.exists():
                    mark.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
        return item, past


def test_what_is_lost_with_a_worker_is_done_again_to_the_same_result(
    client: Client, tmp_path: Path
) -> None:
    chains = [[1, 2, 3], [4, 5, 6], [7, 8], [9]]
    found = list(run_chains(Dying(tmp_path, [2, 6, 7]), chains, partial(work_on, client)))
    assert sorted(found) == [(i, chain[:at]) for chain in chains for at, i in enumerate(chain)]
    assert len(list(tmp_path.iterdir())) == 3


def test_an_item_that_ends_one_worker_after_the_other_is_given_up(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ttt_cli.parallel.cluster.DEATHS", 1)
    lost: list[tuple[int, Exception]] = []
    dying = Dying(tmp_path, [2], 100)
    results = run_chains(
        dying,
        [[1, 2, 3], [4, 5]],
        partial(work_on, client),
        on_lost=lambda *what: lost.append(what),
    )
    found = sorted(item for item, _ in results)
    assert found == [1, 4, 5], lost
    ((item, error),) = lost
    assert item == 2
    assert isinstance(error, WorkerLost)
    assert error.hint == "perhaps they ran out of memory"
    assert 2 < len(list(tmp_path.iterdir())) <= 6  # Dask may begin it again before we do


class Waiting:
    """Waits for what the item names, a mark made by another item, or for ever; as long as it is wanted."""

    def __init__(self, marks: Path) -> None:
        self.marks = marks

    def step(self, item: str, *, fresh: bool) -> str:
        if item.startswith("make "):
            (self.marks / item[5:]).touch()
        elif item.startswith("await "):
            while not (self.marks / item[6:]).exists():
                end_if_unwanted()
                os.sched_yield()
        return item


def test_what_is_at_work_ends_with_whoever_wanted_it(client: Client, tmp_path: Path) -> None:
    chains = [[f"make {name}", "await more"] for name in "abc"]
    results = run_chains(Waiting(tmp_path), chains, partial(work_on, client))
    assert next(results) in ("make a", "make b", "make c")
    results.close()
    for worker in client.scheduler_info()["workers"]:  # each does one thing at a time
        assert client.submit(os.getpid, workers=[worker], pure=False).result()
    assert len(list(tmp_path.iterdir())) <= 2


def test_a_worker_that_joins_is_used(tmp_path: Path) -> None:
    with cluster_client("local:1") as alone:
        chains = [["make a", "await b"], ["make b", "await a"]]
        results = run_chains(Waiting(tmp_path), chains, partial(work_on, alone))
        found = [next(results)]
        options = f"-m dask worker {alone.scheduler.address} --nthreads 1 --no-nanny --no-dashboard"
        command = [sys.executable, *options.split()]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "DASK_TEMPORARY_DIRECTORY": str(tmp_path),
        }
        with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as joined:
            assert sorted([*found, *results]) == ["await a", "await b", "make a", "make b"]
            joined.kill()


@pytest.mark.parametrize(
    ("where", "jobs", "threads", "each"),
    [(None, 2, None, 4), (None, 2, 2, 1), ("local:4", 9, None, 2), ("local:1", 9, 2, 2), ("a:1", 9, None, 1),
     ("a:1", 9, 6, 6)],
)  # fmt: skip
def test_threads_are_shared_out(
    where: str | None, jobs: int, threads: int | None, each: int
) -> None:
    assert threads_each(where, jobs, threads, 8) == each


def test_a_scheduler_that_is_lost_is_an_error_after_the_results_that_were_there(
    tmp_path: Path,
) -> None:
    with cluster_client("local:1") as alone:
        results = run_chains(Waiting(tmp_path), [["make a", "await b"]], partial(work_on, alone))
        assert next(results) == "make a"
        os.kill(alone.run_on_scheduler(os.getpid), signal.SIGKILL)
        with pytest.raises(SetupError, match="scheduler of the cluster does not answer"):
            next(results)
