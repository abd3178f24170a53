"""A site of which another process makes a part."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from tests.views.report.site.conftest import TOLD, run_of
from ttt_cli.cli import main
from ttt_cli.parallel import processes
from ttt_cli.runs.run import Run, open_run
from ttt_cli.support.errors import RunError
from ttt_cli.views.report import links, shared_work
from ttt_cli.views.report.site import write_site


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    lines = [
        "date,white,black,result,event,site,round",
        *[",".join(f'"{cell}"' for cell in row) for row in TOLD],
    ]
    (folder / "games.csv").write_text("\n".join(lines))
    assert (
        main.run(["fit", str(folder / "games.csv"), "-c", "elo", "-q", "-o", str(folder / "a.ttt")])
        == 0
    )
    return open_run(folder / "a.ttt")


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few games are many, and two players have pages of their own."""
    monkeypatch.setattr(shared_work, "_LARGE", 1)
    monkeypatch.setattr(shared_work, "available_cores", lambda: 2)
    monkeypatch.setattr(links, "OWN_PAGES", 2)


def files(run: Run, place: Path) -> dict[str, bytes]:
    write_site(run, place, title="Masters")
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in place.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
def test_another_process_makes_the_same_pages(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "OWN_PAGES", 3000)  # as the other process has it
    with_another = files(run, tmp_path / "another")
    monkeypatch.setattr(shared_work, "_LARGE", 1000)
    assert files(run, tmp_path / "alone") == with_another


def test_what_a_lost_process_leaves_is_made_here(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_WORKER_PROGRAM", "raise SystemExit(3)")
    made_here = files(run, tmp_path / "here")
    monkeypatch.setattr(shared_work, "_LARGE", 1000)
    assert files(run, tmp_path / "alone") == made_here
    assert any(name.startswith("players/few_") for name in made_here)


def test_a_run_is_opened_again_by_another_process(run: Run) -> None:
    assert pickle.loads(pickle.dumps(run)).meta == run.meta
    with pytest.raises(RunError, match="in memory"):
        pickle.dumps(run_of(TOLD))
