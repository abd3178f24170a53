"""Grids, tuning and comparisons on a cluster: the same results as here, whatever is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pytest

from tests.support.handmade import RECORDS, games_of
from tests.support.plans import ONE_CIRCLE
from ttt_cli.api import configure, fit
from ttt_cli.evaluate import compare as compare_module
from ttt_cli.evaluate import grid as grid_module
from ttt_cli.evaluate import tune as tune_module
from ttt_cli.evaluate.compare import TuneOptions, compare
from ttt_cli.evaluate.grid import EvidenceGrid, evidence_grid
from ttt_cli.evaluate.simulate import simulate
from ttt_cli.parallel import processes
from ttt_cli.parallel.cluster import work_on
from ttt_cli.parallel.processes import Outcomes, watched
from ttt_cli.runs.run import open_run
from ttt_cli.timeline import build_timeline

if TYPE_CHECKING:
    from distributed import Client

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX"),
]

MOST = 2


class Mortal:
    """Does what another does; kills its process at the end of every such step, and at every such report: MOST times."""

    def __init__(self, worker: Any, marks: Path, steps: int, reports: int) -> None:
        self.worker, self.marks, self.every = worker, marks, {"step": steps, "report": reports}

    def step(self, item: Any, *, fresh: bool) -> Any:
        hear = processes._watching.get()[0]
        assert hear is not None

        def count(message: Any) -> None:
            hear(message)
            self._come_to("report")

        with watched(count):
            result = self.worker.step(item, fresh=fresh)
        self._come_to("step")
        return result

    def _come_to(self, what: str) -> None:
        (self.marks / f"{what} {uuid4()}").touch()
        if (
            len(list(self.marks.glob(f"{what}*"))) % self.every[what] == 0
            and killed(self.marks) < MOST
        ):
            (self.marks / f"killed {uuid4()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def on_it(client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """All that asks for a cluster works on that one, by mortal workers: the marks that they leave."""
    marks = tmp_path / "marks"
    marks.mkdir()
    monkeypatch.setenv("TTT_CLUSTER", "local:2")

    def engine(worker: Any, chains: Iterable[Sequence[Any]]) -> Outcomes:
        return work_on(client, Mortal(worker, marks, 6, 13), chains)

    for module in (grid_module, tune_module, compare_module):
        monkeypatch.setattr(
            module, "chain_workers", lambda where, jobs: nullcontext(engine if where else jobs)
        )
    return marks


def killed(marks: Path) -> int:
    return len(list(marks.glob("killed*")))


def results(found: EvidenceGrid) -> list[tuple[str, float, bool, int]]:
    return [(one.point, one.log_evidence, one.converged, one.sweeps) for one in found.points]


@pytest.mark.large
def test_a_grid_that_goes_on_is_the_same_when_workers_die(on_it: Path, tmp_path: Path) -> None:
    found = []
    for jobs in (1, None):
        place = tmp_path / f"{jobs}.ttt"
        fit(games_of(RECORDS), output=place)
        evidence_grid(open_run(place), "beta=200:800:4,tau=20", jobs=1)
        found.append(evidence_grid(open_run(place), "beta=200:800:4,tau=20:120:6", jobs=jobs))
        assert found[-1].stored == 4
        assert len(open_run(place).evidence_points()) == 25
    assert killed(on_it) == MOST
    assert results(found[0]) == results(found[1])


def test_a_comparison_is_the_same_when_workers_die(on_it: Path) -> None:
    timeline = build_timeline(simulate(ONE_CIRCLE).games())
    systems = [replace(configure(model=name), name=name) for name in ("whr", "elo", "trueskill")]
    tuning = TuneOptions(evaluations=10)
    here = compare(timeline, systems, "1856", tuning=tuning, jobs=1)
    there = compare(timeline, systems, "1856", tuning=tuning)
    assert killed(on_it) == MOST
    assert there.lost == ()
    for one, other in zip(there.entries, here.entries, strict=True):
        assert np.array_equal(one.probabilities, other.probabilities)
        assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-9, nan_ok=True)
        assert one.system.params == other.system.params
