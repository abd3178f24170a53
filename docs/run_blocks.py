"""The fenced blocks of a document, run as a reader would run them.

`bash` and `console` blocks run in a shell whose standard output is a terminal of 80 columns without colour; a
`console` block shows commands after `$ ` and what they print, standard error first. `python` blocks are doctests,
`yaml` blocks are configs, `sql` blocks ask the run made before them and a `text` block after one shows the rows.
In what is shown, a line `...` stands for any lines, and numbers may differ by one in their last place.

`python docs/run_blocks.py [FILE...]` writes the outputs of `console` and `sql` blocks anew, else of all pages.
"""

from __future__ import annotations

import doctest
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOT_RUN = "<!-- not run by the tests:"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_RESET = "\x1b[0m"
_FITTED = re.compile(r"fitted \S+ UTC")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the line it begins in, and where it stands in the document."""

    language: str
    text: str
    line: int
    span: tuple[int, int]
    run: bool


def blocks_of(document: str) -> list[Block]:
    """All fenced blocks in order; `run` is false for those marked by a comment in the line before."""
    found = []
    for match in _FENCE.finditer(document):
        before = document[: match.start()].rstrip().rpartition("\n")[2]
        line = document.count("\n", 0, match.start()) + 1
        found.append(Block(match[1], match[2], line, match.span(2), not before.startswith(NOT_RUN)))
    return found


@dataclass(frozen=True)
class Printed:
    """What a command printed and how it ended."""

    out: str
    err: str
    code: int


class Session:
    """A folder with the sample in it, in which the blocks of one document run one after the other.

    `commands`: a folder whose programs come before all others.
    """

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        commands: Path | None = None,
    ) -> None:
        self.folder = folder
        self.environment = {**_environment(), **(environment or {})}
        if commands:
            self.environment["PATH"] = f"{commands}{os.pathsep}{self.environment['PATH']}"
        (folder / "sample_pgn").symlink_to(ROOT / "sample_pgn")
        self.names: dict[str, object] = {}

    def shell(self, command: str) -> Printed:
        """Run a command with the standard output on a terminal."""
        import pty  # Windows has none

        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            ["bash", "-euc", command],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
        )  # fmt: skip
        os.close(theirs)
        chunks: list[bytes] = []
        reader = threading.Thread(target=_drain, args=(ours, chunks))
        reader.start()
        _, err = process.communicate()
        reader.join()
        os.close(ours)
        # Where colorama is installed, every program that loads numba ends with this on a terminal.
        out = b"".join(chunks).decode().replace("\r\n", "\n").replace(_RESET, "")
        return Printed(out, err.decode(), process.returncode)

    def rows(self, sql: str) -> str:
        """The rows that a query of the newest run gives, as text in columns."""
        from ttt_cli import open_run

        newest = max(self.folder.glob("*.ttt"), key=lambda file: file.stat().st_mtime_ns)
        names, rows = open_run(newest).select(sql)
        table = [names, *(tuple(map(_shown, row)) for row in rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            for row in table
        )
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def python(self, text: str, name: str) -> None:
        """Run a doctest; raises AssertionError with the difference."""
        parser = doctest.DocTestParser()
        test = parser.get_doctest(text, self.names, name, name, 0)
        assert test.examples, f"{name}: no example begins with >>>"
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        said: list[str] = []
        runner.run(test, out=said.append, clear_globs=False)
        self.names = test.globs
        assert not runner.failures, "".join(said)


def transcript(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, without `$ `, and the output shown after each."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        while command.endswith("\\"):
            more, _, shown = shown.partition("\n")
            command += f"\n{more}"
        yield command, shown


def same(shown: str, printed: str) -> bool:
    """Whether what a document shows is what was printed."""
    groups: list[list[str]] = [[]]
    for line in shown.splitlines():
        if line.strip() == "...":
            groups.append([])
        else:
            groups[-1].append(line)
    lines = printed.splitlines()
    first, *others = groups
    if not _fits(first, lines[: len(first)]):
        return False
    if not others:
        return len(lines) == len(first)
    at, last = len(first), others.pop()
    for group in others:
        ends = range(at + len(group), len(lines) + 1)
        end = next((end for end in ends if _fits(group, lines[end - len(group) : end])), None)
        if end is None:
            return False
        at = end
    return len(lines) - at >= len(last) and _fits(last, lines[len(lines) - len(last) :])


def _fits(shown: list[str], printed: list[str]) -> bool:
    return len(shown) == len(printed) and all(map(_same_line, shown, printed))


def _same_line(shown: str, printed: str) -> bool:
    one, other = (" ".join(_FITTED.sub("fitted then", line).split()) for line in (shown, printed))
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    return all(map(_same_number, _NUMBER.findall(one), _NUMBER.findall(other)))


def _same_number(shown: str, printed: str) -> bool:
    if "." not in shown:
        return shown == printed
    last_place = 10.0 ** -len(shown.partition("e")[0].partition(".")[2])
    return math.isclose(float(shown), float(printed), rel_tol=1e-6, abs_tol=1.01 * last_place)


def _environment() -> dict[str, str]:
    settings = ("TTT_", "PYTEST_", "NO_COLOR", "FORCE_COLOR", "TTY_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(settings)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    return {**kept, "PATH": path, "TERM": "dumb", "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}


def _drain(descriptor: int, chunks: list[bytes]) -> None:
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # how a terminal ends on Linux
            return
        if not chunk:
            return
        chunks.append(chunk)


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def rewritten(document: str) -> str:
    """The document with what its commands and queries print now; shortened outputs (`...`) stay if they still hold."""
    pieces, end = [], 0
    blocks = blocks_of(document)
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder))
        for number, block in enumerate(blocks):
            text = block.text
            if block.run and block.language == "console":
                text = "".join(
                    _renewed(session, command, shown) for command, shown in transcript(text)
                )
            elif block.run and block.language == "bash":
                session.shell(text)
            elif block.language == "text" and number and blocks[number - 1].language == "sql":
                text = session.rows(blocks[number - 1].text)
            pieces += [document[end : block.span[0]], text]
            end = block.span[1]
    return "".join([*pieces, document[end:]])


def _renewed(session: Session, command: str, shown: str) -> str:
    printed = session.shell(command)
    now = "\n".join(line.rstrip() for line in (printed.err + printed.out).splitlines())
    return f"$ {command}\n" + (shown if same(shown, now) and shown else f"{now}\n" if now else "")


if __name__ == "__main__":
    for file in [Path(name) for name in sys.argv[1:]] or PAGES:
        file.write_text(rewritten(file.read_text(encoding="utf-8")), encoding="utf-8")
