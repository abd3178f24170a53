"""Runs under failing disks and kill -9. Few cases of each kind; `benchmarks/faults.py` runs as many as one likes."""

from collections.abc import Iterator

import pytest

from tests.faults.harness import COMMANDS, FAULTS, KILL, Fault, Harness, State, available, spread

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(available() is not None, reason=available() or "all is there"),
]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    with Harness(tmp_path_factory.mktemp("faults")) as running:
        yield running


@pytest.mark.large
@pytest.mark.parametrize("command", COMMANDS)
def test_a_failing_call_loses_nothing(harness: Harness, command: str) -> None:
    at = list(COMMANDS).index(command)  # other calls for each
    calls = {
        fault: spread(harness.count(command, fault), 12)[at * 2 :][
            : 2 if fault.error == KILL else 1
        ]
        or [1]
        for fault in FAULTS
    }
    struck = {
        (fault.name, call): harness.strike(command, fault, call)
        for fault in calls
        for call in calls[fault]
    }
    assert not {case: wrong for case, wrong in struck.items() if wrong}


@pytest.mark.parametrize("extra", [[], ["--no-wait"]], ids=["waits", "refused"])
def test_of_two_updates_at_once_none_is_lost(harness: Harness, extra: list[str]) -> None:
    assert harness.collide(*extra) is None


def test_faults_strike_and_losses_are_seen(harness: Harness) -> None:
    broken = Fault("no fault", 0, 0, False)
    assert harness.strike("update", broken, 1) is None
    with harness.case() as folder:
        answer = harness.run(folder, COMMANDS["update"], FAULTS[0].at(1))
        assert (answer["code"], "No space left on device" in answer["said"]) == (2, True)
        killed = harness.run(
            folder, COMMANDS["update"], FAULTS[-1].at(harness.count("update", FAULTS[-1]) // 2)
        )
        assert killed["code"] == -9
    after, _ = harness.after("update")
    lost = State({}, after.points, after.table)
    empty = State({name: {} for name in after.runs}, after.points, after.table)
    for found, code in ((lost, 2), (empty, 2), (harness.before, 0)):
        assert (harness._compare("update", code, found) or "").startswith("LOST")
