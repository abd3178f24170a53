"""Commands that write, with calls that fail or kill: what must be there after each, and how it is looked for.

The shim needs Linux and a C compiler; `available` says what is missing.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from ttt_cli.runs.run import open_run
from ttt_cli.runs.schema import TABLES
from ttt_cli.support.replacing import sweep

Digest = dict[str, list[tuple[Any, ...]]]
HERE: Final = Path(__file__).parent
DATA, SYNC, RENAME, OTHER = 1, 2, 4, 8
FOREVER: Final = 1 << 40
KILL: Final = -1
COUNT: Final = (0, 0, 0, 0)
RUN, TABLE, SPEC = "g.ttt", "skills.csv", "beta=300/400"


@dataclass(frozen=True)
class Fault:
    """One way to fail: which calls, for how long, and with what error (KILL: the process dies there)."""

    name: str
    kinds: int
    error: int
    lasting: bool

    def at(self, call: int) -> tuple[int, int, int, int]:
        """As the shim wants it, from the `call`-th on, counted from 1."""
        return self.kinds, call, FOREVER if self.lasting else call, self.error


FAULTS: Final = (
    Fault("disk full", DATA, errno.ENOSPC, True),
    Fault("write EIO", DATA, errno.EIO, False),
    Fault("fsync EIO", SYNC, errno.EIO, False),
    Fault("rename EIO", RENAME, errno.EIO, False),
    Fault("kill -9", DATA | SYNC | RENAME | OTHER, KILL, False),
)
COMMANDS: Final = {
    "fit": ["fit", "all.csv", "-o", RUN],
    "new": ["fit", "all.csv", "-o", "new.ttt"],
    "update": ["update", RUN, "new.csv"],
    "grid": ["evidence", "--grid", SPEC, "-r", RUN, "-o", "grid.csv"],
    "tune": ["tune", "beta", "-r", RUN],
    "export": ["export", "skills", "-r", RUN, "-o", TABLE],
}


def available() -> str | None:
    """What is missing for faults, if anything."""
    if sys.platform != "linux":
        return "needs Linux"
    return None if shutil.which("cc") else "needs a C compiler"


@dataclass
class State:
    """What stands in a folder: its runs by their tables (no settings, no points), points, and the table exported."""

    runs: dict[str, Digest] = field(default_factory=dict)
    points: dict[str, float] = field(default_factory=dict)
    table: str = ""


def look(folder: Path) -> State:
    """Raises RunError when a run there cannot be read."""
    state = State(table=(folder / TABLE).read_text() if (folder / TABLE).exists() else "")
    for place in folder.glob("*.ttt"):
        run = open_run(place)
        tables = sorted(TABLES.keys() - {"meta", "evidence"})
        state.runs[place.name] = {
            name: run.select(f"FROM run.main.{name} ORDER BY rowid")[1] for name in tables
        }
        if place.name == RUN:
            state.points = {point.point: point.log_evidence for point in run.evidence_points()}
        run.close()
    return state


class Harness:
    """A process that runs commands in forks, and the folder from which every case begins, for a `with` statement.

    `root`: the checkout whose `ttt` is run.
    """

    def __init__(self, folder: Path, root: Path = HERE.parents[1]) -> None:
        self.folder, self.base, self._root = folder, folder / "base", root
        self.base.mkdir()
        old = [
            f"{1850 + i % 20},p{i % 7},q{i % 5},{('1-0', '0-1', '1/2-1/2')[i % 3]}"
            for i in range(60)
        ]
        new = [f"{1871 + i % 3},p{i % 7},n{i % 2},1-0" for i in range(12)]
        newer = [f"{1875 + i % 3},p{i % 7},m{i % 2},0-1" for i in range(9)]
        for name, lines in (("old", old), ("new", new), ("newer", newer), ("all", old + new)):
            text = "\n".join(["date,white,black,result", *lines])
            (self.base / f"{name}.csv").write_text(f"{text}\n", encoding="utf-8")
        (self.base / TABLE).write_text("player,period,mean,sd,games\nold,1850,0,1,2\n")
        self._after: dict[str, tuple[State, dict[str, int]]] = {}

    def __enter__(self) -> Self:
        shim = self.folder / "shim.so"
        compile_it = [
            "cc",
            "-O1",
            "-shared",
            "-fPIC",
            "-o",
            str(shim),
            str(HERE / "shim.c"),
            "-ldl",
        ]
        subprocess.run(compile_it, check=True)
        environment = {**os.environ, "LD_PRELOAD": str(shim), "PYTHONPATH": str(self._root)}
        self._log = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "driver.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, env=environment,
        )  # fmt: skip
        assert self.run(self.base, ["fit", "old.csv", "-o", RUN])["code"] == 0
        self.before = look(self.base)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        self._log.close()

    def run_all(
        self, folder: Path, *commands: Sequence[str], fault: tuple[int, int, int, int] = COUNT
    ) -> list[dict[str, Any]]:
        """Commands in a folder, at once, to their ends: of each its `code`, `counts` of calls, and what it `said`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        cases = [{"folder": str(folder), "args": args, "fault": fault} for args in commands]
        self._process.stdin.write(json.dumps(cases) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._log.seek(0)
            raise RuntimeError(f"the driver ended by itself: {self._log.read()[-2000:]}")
        answers: list[dict[str, Any]] = json.loads(line)
        return answers

    def run(
        self, folder: Path, args: Sequence[str], fault: tuple[int, int, int, int] = COUNT
    ) -> dict[str, Any]:
        """One command in a folder, to its end."""
        return self.run_all(folder, [*args, "-q"], fault=fault)[0]

    @contextmanager
    def case(self) -> Iterator[Path]:
        """A copy of the folder from which cases begin."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            folder = Path(name) / "case"
            shutil.copytree(self.base, folder)
            yield folder

    def after(self, command: str) -> tuple[State, dict[str, int]]:
        """What stands there when all goes well, and how many calls of each kind that takes."""
        if command not in self._after:
            with self.case() as folder:
                answer = self.run(folder, COMMANDS[command])
                assert answer["code"] == 0, answer
                self._after[command] = look(folder), answer["counts"]
        return self._after[command]

    def count(self, command: str, fault: Fault) -> int:
        """How many calls of a command a fault may strike."""
        return sum(n for kind, n in self.after(command)[1].items() if int(kind) & fault.kinds)

    def collide(self, *extra: str) -> str | None:
        """Two updates at once; what is wrong then, None if nothing."""
        with self.case() as folder:
            files = ["new.csv", "newer.csv"]
            both = self.run_all(folder, *(["update", RUN, file, *extra] for file in files))
            codes = [answer["code"] for answer in both]
            run = open_run(folder / RUN)
            found = {name for (name,) in run.select("SELECT path FROM inputs")[1]}
            run.close()
            expected = {
                "old.csv",
                *(file for file, code in zip(files, codes, strict=True) if code == 0),
            }
            allowed = [[0, 0]] if not extra else [[0, 0], [0, 2], [2, 0]]
            if found != expected or codes not in allowed:
                return f"LOST: exit codes {codes}, and the run is of {sorted(found)}"
            return (
                None
                if {*folder.iterdir()} == {folder / p.name for p in self.base.iterdir()}
                else "litter"
            )

    def strike(self, command: str, fault: Fault, call: int) -> str | None:
        """Run a command with a fault from its `call`-th call on; what is wrong then, None if nothing."""
        with self.case() as folder:
            answer = self.run(folder, COMMANDS[command], fault.at(call))
            sweep(folder)
            left = {path.name for path in folder.iterdir()} - {
                path.name for path in self.base.iterdir()
            }
            allowed = {"new.ttt", "grid.csv", f"{RUN}.points", "new.ttt.points"}
            try:
                found = look(folder)
            except Exception as error:
                return f"LOST: {error}"
            wrong = self._compare(command, answer["code"], found)
            if wrong or not left <= allowed:
                return wrong or f"left {sorted(left - allowed)}"
            killed = fault.error == KILL and answer["code"] == -signal.SIGKILL
            if not killed and answer["code"] not in (0, 2):
                return f"exit code {answer['code']}: {answer['said'][-300:]}"
            return None

    def _compare(self, command: str, code: int, found: State) -> str | None:
        """Everything is as before or as after, and as after when the command says so."""
        before, after = self.before, self.after(command)[0]
        known = {*before.points.items(), *after.points.items()}
        for name in {*before.runs, *after.runs}:
            mine = found.runs.get(name)
            if mine not in (before.runs.get(name), after.runs.get(name)):
                return f"LOST: {name} is neither the old run nor the new one"
            if code == 0 and mine != after.runs.get(name):
                return f"LOST: exit code 0, and {name} is not the new one"
        if found.table not in (before.table, after.table) or (
            code == 0 and found.table != after.table
        ):
            return "LOST: the exported table is neither the old nor the new one"
        if not found.points or not found.points.items() <= known:
            return "LOST: points that were never computed"
        if code == 0 and found.points != after.points:
            return "LOST: exit code 0, and points are missing"
        return None


def spread(count: int, most: int) -> list[int]:
    """Calls from the first to the last of `count`, evenly, at `most` so many."""
    number = min(count, most)
    return sorted({1 + (count - 1) * i // max(number - 1, 1) for i in range(number)})
