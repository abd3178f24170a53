"""Sources read in other processes: the same as here, in the same order, errors and all; nothing stays behind."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from ttt_cli import work as processes
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.reading import sources as read_source
from ttt_cli.reading.input import Input
from ttt_cli.reading.sources import APART, FileRead, Source, jobs_for, read_sources
from ttt_cli.support.errors import ConfigError, DataError

pytestmark = pytest.mark.slow

PGN = '[Event "e{0}"]\n[Date "18{0}"]\n[White "A{0}"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e{1} 1-0\n\n'
CSV = "date,white,black,result\n1857,C,D,0-1\n1857,C,NN,0-1\n"


class Counted:
    def __init__(self) -> None:
        self.bytes = 0.0
        self.notes: set[str] = set()

    def advance(self, amount: float = 1, note: str = "") -> None:
        self.bytes += amount
        self.notes.add(note)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, content in {
        "a.pgn": "".join(PGN.format(n % 90 + 10, n % 8) for n in range(2000)),
        "b.csv": CSV,
        "c.pgn": PGN.format(10, 5) + PGN.format(11, 5).replace("1-0", "*"),
        "d.pgn": PGN.format(12, 5),
    }.items():
        (tmp_path / name).write_text(content)
    return [tmp_path / name for name in ("a.pgn", "b.csv", "c.pgn", "d.pgn")]


def told(
    files: Sequence[Path | str], jobs: int, data: DataConfig | None = None
) -> tuple[list[object], Counted]:
    bar = Counted()
    sources = [Source(str(file), number) for number, file in enumerate(files)]
    parts: list[object] = []
    for source, part in read_sources(sources, data or DataConfig(), bar, jobs=jobs):
        assert isinstance(part, FileRead)
        records = part.records
        columns = ["dates", "whites", "blacks", "results", *records.further]
        values = [(list(records.distinct(name)), records.codes(name).tolist()) for name in columns]
        parts.append(
            (
                source,
                part[1:],
                columns,
                values,
                records.lines.tolist(),
                None if records.moves is None else records.moves.tolist(),
            )
        )
    return parts, bar


def test_the_same_in_other_processes(files: list[Path]) -> None:
    here, bar = told(files, 1)
    apart, other_bar = told(files, 3)
    assert apart == here
    assert other_bar.bytes == bar.bytes == sum(file.stat().st_size for file in files)
    assert other_bar.notes == bar.notes == {file.name for file in files}


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_come_in_order(files: list[Path], jobs: int) -> None:
    page = files[0].with_name("page.pgn")
    page.write_text("<html>")
    seen: list[object] = []
    empty = files[0].with_name("empty.pgn")
    empty.touch()
    parts = read_sources(
        [Source(str(file), 0) for file in (files[1], page, empty)], DataConfig(), Counted(), jobs=jobs
    )
    with pytest.raises(DataError, match="is a web page") as caught:
        seen.extend(source.what for source, _ in parts)
    assert seen == [str(files[1])]
    assert caught.value.where == str(page)
    assert "download" in str(caught.value.hint)
    assert caught.value.exit_code == 3


def test_config_errors_arrive(files: list[Path]) -> None:
    with pytest.raises(ConfigError, match="unknown encoding"):
        told(files[:2], 2, DataConfig(encoding="nonsense"))


def test_nothing_stays_behind(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """When the reader is left half way, its processes have ended and been waited for, and so have its threads."""
    started: list[processes._Process] = []

    class Recorded(processes._Process):
        def __init__(self) -> None:
            super().__init__()
            started.append(self)

    monkeypatch.setattr(processes, "_Process", Recorded)
    before = set(threading.enumerate())
    parts = read_sources([Source(str(file), 0) for file in files], DataConfig(), Counted(), jobs=2)
    next(parts)
    parts.close()
    assert [one.process.returncode for one in started] == [-signal.SIGKILL] * 2
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()


def test_a_process_that_dies_is_told(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    class Dying(processes._Process):
        def receive(self) -> object:
            self.process.kill()
            return super().receive()

    monkeypatch.setattr(processes, "_Process", Dying)
    with pytest.raises(processes.WorkerLost, match="SIGKILL") as caught:
        told(files, 2)
    assert "memory" in (caught.value.hint or "")
    assert "--jobs" not in (caught.value.hint or "")


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name != "posix", reason="signals of POSIX")
def test_interrupted_without_a_word(files: list[Path], tmp_path: Path) -> None:
    """Ctrl-C while processes read: one KeyboardInterrupt here and no output of theirs; a script needs no guard."""
    script = tmp_path / "script.py"
    script.write_text(f"""
import os, signal
from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.sources import read_sources
from ttt_cli.reading.sources import Source
class Bar:
    def advance(self, amount, note):
        os.kill(os.getpid(), signal.SIGINT)
try:
    list(read_sources([Source(f, 0) for f in {[str(file) for file in files]!r}], DataConfig(), Bar(), jobs=2))
except KeyboardInterrupt:
    print("interrupted")
""")
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "interrupted\n", "")


def test_when_processes_are_worth_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_source, "available_cores", lambda: 4)

    def jobs(*sizes: float, suffix: str = "pgn") -> int:
        inputs = []
        for number, size in enumerate(sizes):
            path = tmp_path / f"{number}.{suffix}"
            path.touch()
            os.truncate(path, math.ceil(size))
            inputs.append(Input(path))
        return jobs_for(inputs)

    assert jobs(APART) == jobs(APART, APART - 1) == 1
    assert jobs(APART, APART) == jobs(10 * APART, APART) == 2
    assert jobs(*[APART] * 9, 0) == 4
    assert jobs(APART / 20, APART / 20 + 1, suffix="pgn.xz") == 2
    monkeypatch.setattr(read_source, "available_cores", lambda: 1)
    assert jobs(APART, APART) == 1


def test_games_do_not_depend_on_processes(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    here = read_games(files)
    monkeypatch.setattr(read_source, "jobs_for", lambda inputs: 2)
    apart = read_games(files)
    assert apart.report == here.report
    assert apart.players == here.players
    assert [apart.white.tolist(), apart.outcome.tolist()] == [here.white.tolist(), here.outcome.tolist()]
