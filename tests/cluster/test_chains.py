"""The promises of `run_chains` on a cluster: also when its workers die, join or cannot do the work."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from distributed import Client

from tests.test_processes import Obeying, Recalling, Reporting, Unreadable
from ttt_cli.cluster.chains import DEATHS, work_on
from ttt_cli.cluster.client import cluster_client
from ttt_cli.errors import ConfigError, SetupError
from ttt_cli.processes import WorkerLost, run_chains

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster_client("local:2") as found:
        yield found


def test_it_does_the_same_and_shares_the_chains(client: Client) -> None:
    chains = [[1, 2, 3], [], [4], [5, 6], [7, 8]]
    results = list(run_chains(Recalling(), chains, partial(work_on, client)))
    assert sorted(result[:2] for result in results) == sorted(
        result[:2] for result in run_chains(Recalling(), chains, 1)
    )
    assert os.getpid() not in {process for *_, process in results}
    assert list(run_chains(Recalling(), [[], []], partial(work_on, client))) == []


def test_an_error_of_a_step_is_raised_as_it_was_and_costs_its_chain_only(client: Client) -> None:
    lost: list[tuple[str, Exception]] = []
    chains = [["a", "refuse", "b"], ["c", "d"], ["odd"], ["e", "f"]]
    results = run_chains(Obeying(), chains, partial(work_on, client), on_lost=lambda *what: lost.append(what))
    assert sorted(results) == ["a", "c", "d", "e", "f"]
    errors = dict(lost)
    assert isinstance(errors["refuse"], ConfigError)
    assert (errors["refuse"].where, errors["refuse"].hint) == ("here", "do not")
    assert "Unpicklable: odd" in str(errors["odd"])


def test_steps_report_before_they_are_done(client: Client) -> None:
    heard: list[tuple[int, str]] = []
    engine = partial(work_on, client)
    for result in run_chains(Reporting(), [[1, 2], [3]], engine, on_report=lambda *told: heard.append(told)):
        assert [message for item, message in heard if item == result] == ["half", "nearly"]
    assert sorted(item for item, _ in heard) == [1, 1, 2, 2, 3, 3]


def test_a_worker_that_does_not_arrive_says_what_it_needs(client: Client) -> None:
    with pytest.raises(SetupError, match="invalid literal") as caught:
        list(run_chains(Unreadable(), [[1]], partial(work_on, client)))
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


def test_what_is_lost_with_a_worker_is_done_again_to_the_same_result(client: Client, tmp_path: Path) -> None:
    chains = [[1, 2, 3], [4, 5, 6], [7, 8], [9]]
    found = list(run_chains(Dying(tmp_path, [2, 6, 7]), chains, partial(work_on, client)))
    assert sorted(found) == [(i, chain[:at]) for chain in chains for at, i in enumerate(chain)]
    assert len(list(tmp_path.iterdir())) == 3


def test_an_item_that_ends_one_worker_after_the_other_is_given_up(client: Client, tmp_path: Path) -> None:
    lost: list[tuple[int, Exception]] = []
    dying = Dying(tmp_path, [2], 100)
    results = run_chains(
        dying, [[1, 2, 3], [4, 5]], partial(work_on, client), on_lost=lambda *what: lost.append(what)
    )
    found = sorted(item for item, _ in results)
    assert found == [1, 4, 5], lost
    ((item, error),) = lost
    assert item == 2
    assert isinstance(error, WorkerLost)
    assert "memory" in (error.hint or "")
    assert len(list(tmp_path.iterdir())) == DEATHS + 1
