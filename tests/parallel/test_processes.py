"""Work shared out among processes or a cluster: the same results, no process left behind, clear words when one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path
from threading import Event, get_ident, main_thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.parallel.cluster import work_on
from ttt_cli.parallel.processes import Engine, WorkerLost, interruptible, report, run_chains
from ttt_cli.support.errors import ConfigError

pytestmark = pytest.mark.slow

needs_signals = pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
everywhere = pytest.mark.parametrize(
    "jobs", [1, 2, pytest.param("cluster", marks=needs_signals)], indirect=True
)


@pytest.fixture
def jobs(request: pytest.FixtureRequest) -> int | Engine:
    """A number of processes, or those of the cluster."""
    return (
        partial(work_on, request.getfixturevalue("client"))
        if request.param == "cluster"
        else request.param
    )


class Recalling:
    """Answers with the item, what it did before in the chain, and the process it did it in."""

    def __init__(self) -> None:
        self.before: list[int] = []

    def step(self, item: int, *, fresh: bool) -> tuple[int, list[int], int]:
        self.before = [] if fresh else self.before
        past = list(self.before)
        self.before.append(item)
        return item, past, os.getpid()


class Obeying:
    """Does what the item says."""

    def step(self, item: str, *, fresh: bool) -> Any:
        match item:
            case "refuse":
                raise ConfigError("refused", where="here", hint="do not")
            case "odd":
                raise Unpicklable("odd", 1)
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "leave":
                os._exit(7)
            case "wait":
                Event().wait()
        return item


class Telling:
    """Answers with what the item is called in the environment."""

    def step(self, item: str, *, fresh: bool) -> str | None:
        return os.environ.get(item)


def test_no_library_takes_the_processors_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of threads in each, which spin between two calls, doubled what a grid took."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    assert list(run_chains(Telling(), [["OPENBLAS_NUM_THREADS"]], 2)) == ["1"]


class Reporting:
    """Reports its way through a step."""

    def step(self, item: int, *, fresh: bool) -> int:
        report("half")
        report("nearly")
        return item


class Unpicklable(Exception):
    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)


@given(st.lists(st.lists(st.integers(), max_size=5), max_size=6))
def test_here_chains_are_done_in_order_and_each_begins_afresh(chains: list[list[int]]) -> None:
    results = list(run_chains(Recalling(), chains, 1))
    assert [(item, past) for item, past, _ in results] == [
        (item, chain[:position]) for chain in chains for position, item in enumerate(chain)
    ]


@everywhere
def test_it_is_the_same_everywhere_and_chains_are_shared(jobs: int | Engine) -> None:
    chains = [[1, 2, 3], [], [4], [5, 6], [7, 8]]
    results = list(run_chains(Recalling(), chains, jobs))
    assert sorted(result[:2] for result in results) == [
        (item, chain[:position]) for chain in chains for position, item in enumerate(chain)
    ]
    workers = {process for *_, process in results}
    assert (os.getpid() in workers) == (jobs == 1)
    assert len(workers) == 2 or jobs != 2
    assert list(run_chains(Recalling(), [[], []], jobs)) == []


@everywhere
def test_an_error_arrives_as_it_was_and_costs_the_rest_of_its_chain_only(
    jobs: int | Engine,
) -> None:
    lost: list[tuple[str, Exception]] = []
    chains = [["a", "refuse", "b"], ["c", "d"], ["odd"], ["e", "f"]]
    results = run_chains(
        Obeying(), chains, jobs, on_lost=lambda item, error: lost.append((item, error))
    )
    assert sorted(results) == ["a", "c", "d", "e", "f"]
    errors = dict(lost)
    refused, odd = errors["refuse"], errors["odd"]
    assert isinstance(refused, ConfigError)
    assert (refused.where, refused.hint) == ("here", "do not")
    assert str(odd) == ("odd" if jobs == 1 else "Unpicklable: odd")
    with pytest.raises(ConfigError, match="here: refused"):
        list(run_chains(Obeying(), chains[:1], jobs))


@everywhere
def test_steps_report_before_they_are_done(jobs: int | Engine) -> None:
    heard: list[tuple[int, str]] = []
    results = run_chains(
        Reporting(), [[1, 2], [3]], jobs, on_report=lambda *reported: heard.append(reported)
    )
    for result in results:
        assert [message for item, message in heard if item == result] == ["half", "nearly"]
    assert sorted(item for item, _ in heard) == [1, 1, 2, 2, 3, 3]
    report("nobody")


@needs_signals
@pytest.mark.parametrize(("order", "how"), [("die", "SIGKILL"), ("leave", "exit code 7")])
def test_another_process_takes_the_place_of_one_that_dies(order: str, how: str) -> None:
    lost: list[tuple[str, Any]] = []
    chains = [[order, "x"], ["a", order, "x"], ["b", "c"], ["d"], [order]]
    results = run_chains(
        Obeying(), chains, 2, on_lost=lambda item, error: lost.append((item, error))
    )
    assert sorted(results) == ["a", "b", "c", "d"]
    assert [item for item, _ in lost] == [order] * 3
    assert all(how in str(error) and "memory" in error.hint for _, error in lost)


def test_closing_the_results_ends_processes_that_still_work() -> None:
    results = run_chains(Obeying(), [["wait"], ["a", "wait"]], 2)
    assert next(results) == "a"
    results.close()  # returns only when the processes are gone


WORKER = """
    import os, threading

    class Waiting:
        def step(self, item, *, fresh):
            if item == 2:
                threading.Event().wait()
            return os.getpid()
"""
SCRIPT = """
    import sys
    from ttt_cli.parallel.processes import run_chains
    from worker import Waiting

    try:
        for process in run_chains(Waiting(), [[1, 2], [1, 2]], 2):
            print(process, flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@needs_signals
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGKILL", -9)])
def test_no_process_outlives_the_one_that_began_it(tmp_path: Path, name: str, code: int) -> None:
    """And a script needs no guard against being run by them."""
    number = getattr(signal, name)
    for module, content in {"worker": WORKER, "script": SCRIPT}.items():
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(content))
    command = [sys.executable, str(tmp_path / "script.py")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, start_new_session=True) as parent:  # type: ignore[call-overload]
        assert parent.stdout is not None
        workers = {int(parent.stdout.readline()), int(parent.stdout.readline())}
        assert len(workers) == 2
        os.kill(parent.pid, number) if number == signal.SIGKILL else os.killpg(parent.pid, number)
        _, err = parent.communicate(timeout=60)  # ends when the last who could still write is gone
    assert parent.returncode == code
    assert err == ""


class Unreadable:
    """Cannot be made by another process."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("nothing",)

    def step(self, item: int, *, fresh: bool) -> int:
        return item


def test_a_worker_that_does_not_arrive(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(WorkerLost, match="exit code 1"):
        list(run_chains(Unreadable(), [[1]], 2))
    assert "invalid literal" in capfd.readouterr().err


def test_interruptible_work_gives_what_it_gives_and_raises_what_it_raises() -> None:
    assert interruptible(lambda: 7) == 7

    def refused() -> None:
        raise ConfigError("refused")

    with pytest.raises(ConfigError, match="refused"):
        interruptible(refused)


@needs_signals
def test_a_signal_is_heard_while_the_work_goes_on() -> None:
    go_on, ended = Event(), Event()

    def work() -> None:
        assert get_ident() != main_thread().ident
        signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)
        go_on.wait()  # as compiled code, which looks at nothing
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(60)
