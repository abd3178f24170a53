"""Work shared out among processes: the same results, no process left behind, clear words when one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.errors import ConfigError
from ttt_cli.processes import WorkerLost, run_chains, tell

needs_signals = pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")


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
    """Tells of its way through a step."""

    def step(self, item: int, *, fresh: bool) -> int:
        tell("half")
        tell("nearly")
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


def test_processes_do_the_same_and_share_the_chains() -> None:
    chains = [[1, 2, 3], [], [4], [5, 6], [7, 8]]
    results = list(run_chains(Recalling(), chains, 2))
    assert sorted(result[:2] for result in results) == sorted(
        result[:2] for result in run_chains(Recalling(), chains, 1)
    )
    workers = {process for *_, process in results}
    assert len(workers) == 2
    assert os.getpid() not in workers


def test_there_are_no_more_processes_than_chains() -> None:
    assert len({process for *_, process in run_chains(Recalling(), [[1, 2, 3], []], 8)}) == 1
    assert list(run_chains(Recalling(), [[], []], 8)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_a_step_is_raised_as_it_was(jobs: int) -> None:
    with pytest.raises(ConfigError, match="here: refused") as caught:
        list(run_chains(Obeying(), [["a", "refuse"], ["b", "refuse"]], jobs))
    assert (caught.value.where, caught.value.hint) == ("here", "do not")


def test_an_error_that_cannot_travel_is_told_in_words() -> None:
    with pytest.raises(RuntimeError, match="Unpicklable: odd"):
        list(run_chains(Obeying(), [["odd"]], 2))


@needs_signals
@pytest.mark.parametrize(("order", "how"), [("die", "SIGKILL"), ("leave", "exit code 7")])
def test_a_process_that_dies_is_an_error_after_the_results_that_were_there(order: str, how: str) -> None:
    seen: list[str] = []
    with pytest.raises(WorkerLost, match=how) as caught:
        seen.extend(run_chains(Obeying(), [["a", "b", order]], 2))
    assert seen == ["a", "b"]
    assert "memory" in (caught.value.hint or "")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_step_that_fails_costs_the_rest_of_its_chain_only(jobs: int) -> None:
    lost: list[tuple[str, Exception]] = []
    chains = [["a", "refuse", "b"], ["c", "d"], ["odd"], ["e", "f"]]
    results = run_chains(Obeying(), chains, jobs, on_lost=lambda item, error: lost.append((item, error)))
    assert sorted(results) == ["a", "c", "d", "e", "f"]
    assert {item: str(error).partition(":")[2] for item, error in lost} == {
        "refuse": " refused", "odd": " odd" if jobs > 1 else "",
    }  # fmt: skip


@needs_signals
@pytest.mark.parametrize(("order", "how"), [("die", "SIGKILL"), ("leave", "exit code 7")])
def test_another_process_takes_the_place_of_one_that_dies(order: str, how: str) -> None:
    lost: list[tuple[str, str]] = []
    chains = [[order, "x"], ["a", order, "x"], ["b", "c"], ["d"], [order]]
    results = run_chains(Obeying(), chains, 2, on_lost=lambda item, error: lost.append((item, str(error))))
    assert sorted(results) == ["a", "b", "c", "d"]
    assert [item for item, _ in lost] == [order] * 3
    assert all(how in why for _, why in lost)


@pytest.mark.parametrize("jobs", [1, 2])
def test_steps_are_heard_before_they_are_done(jobs: int) -> None:
    heard: list[tuple[int, str]] = []
    results = run_chains(Telling(), [[1, 2], [3]], jobs, on_told=lambda *told: heard.append(told))
    for result in results:
        assert [message for item, message in heard if item == result] == ["half", "nearly"]
    assert sorted(item for item, _ in heard) == [1, 1, 2, 2, 3, 3]
    tell("nobody")


def test_closing_the_results_ends_processes_that_still_work() -> None:
    results = run_chains(Obeying(), [["wait"], ["a", "wait"]], 2)
    assert next(results) == "a"
    results.close()  # returns only when the processes are gone


SCRIPT = """
    import os, sys, threading
    from ttt_cli.processes import run_chains

    class Waiting:
        def step(self, item, *, fresh):
            if item == 2:
                threading.Event().wait()
            return os.getpid()

    def work():
        try:
            for process in run_chains(Waiting(), [[1, 2], [1, 2]], 2):
                print(process, flush=True)
        except KeyboardInterrupt:
            sys.exit(130)
"""


def started(tmp_path: Path, end: str) -> subprocess.Popen[str]:
    place = tmp_path / "script.py"
    place.write_text(textwrap.dedent(SCRIPT) + textwrap.dedent(end))
    return subprocess.Popen(
        [sys.executable, str(place)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=os.name == "posix",
    )


@needs_signals
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_no_process_outlives_the_one_that_began_it(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with started(tmp_path, "if __name__ == '__main__': work()") as parent:
        assert parent.stdout is not None
        workers = {int(parent.stdout.readline()), int(parent.stdout.readline())}
        assert len(workers) == 2
        os.kill(parent.pid, number) if number == signal.SIGKILL else os.killpg(parent.pid, number)
        _, err = parent.communicate(timeout=60)  # ends when the last who could still write is gone
    assert parent.returncode == code
    assert err == ""


def test_a_script_without_a_guard_is_told_about_it(tmp_path: Path) -> None:
    with started(tmp_path, "work()") as parent:
        _, err = parent.communicate(timeout=60)
    assert parent.returncode == 1
    assert "WorkerLost" in err.splitlines()[-1]


def test_the_hint_for_a_process_that_never_worked_names_the_guard(tmp_path: Path) -> None:
    end = """
        try:
            work()
        except Exception as error:
            print(error.hint, flush=True)
    """
    with started(tmp_path, end) as parent:
        out, _ = parent.communicate(timeout=60)
    assert "__main__" in out
