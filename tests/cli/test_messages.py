"""Mistakes, and options that exclude each other: what each command of messages.md prints, and its exit code.

To add one, add its command to messages.md. `python -m tests.cli.test_messages` writes what all of them print; read
what changed.
"""

import contextlib
import io
import os
import re
import shlex
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.support.handmade import put_small_run
from ttt_cli.cli import main

PAGE = Path(__file__).with_name("messages.md")
PROMPT, LONG = "$ ttt ", "y" * 300
GAMES = "date,white,black,result\n1900-01-01,Lasker,Steinitz,1-0\n1901-01-01,Lasker,Steinitz,0-1\n"
TEXTS = {
    "games.csv": GAMES,
    "-x.csv": GAMES,
    "odd.csv": "when,one,two,who\n1900,Lasker,Steinitz,1-0\n",
    "football.csv": "date,white,black,result\n1900,Ajax,Celtic,2-1\n1901,Celtic,Ajax,3-3\n",
    "empty.csv": "",
    "page.html": "<!doctype html><html><body>Not found</body></html>",
    "quote.yaml": "model:\n  name: 'ttt\n  beta: 480\n",
    "tab.yaml": "model:\n\tbeta: 480\n",
    "typo.yaml": "model:\n  betta: 480\n",
    "level.yaml": "beta: 480\n",
    "list.yaml": "- 1\n",
    "of_another_program.ttt": "no run",
}


def make_folder(place: Path) -> None:
    """Make good and bad files of all kinds, and one run."""
    put_small_run(place / "a.ttt")
    for name, text in TEXTS.items():
        (place / name).write_text(text, encoding="utf-8")
    (place / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with zipfile.ZipFile(place / "book.xlsx", "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("xl/workbook.xml", "<workbook/>")
    (place / "folder").mkdir()


def content(folder: Path) -> dict[Path, bytes]:
    """All files and folders."""
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def printed(command: str) -> str:
    """What a command prints, and its exit code. Everything is refused before a fit or a simulation begins."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
        patch("ttt_cli.systems.ttt.fit", None),
        patch("ttt_cli.evaluate.simulate.simulate", None),
    ):
        code = main.run(shlex.split(command.replace("LONG", LONG)))
    assert out.getvalue() == "", command
    return f"{err.getvalue().replace(LONG, 'LONG')}exit code {code}\n"


def transcript(folder: Path) -> Iterator[str]:
    """The page with what its commands print now, in a folder of `make_folder`, which they do not change."""
    before, in_block = content(folder), False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            in_block = not in_block
        if line.startswith(PROMPT):
            yield f"{line}\n{printed(line.removeprefix(PROMPT))}"
            assert content(folder) == before, line
        elif not in_block or line.startswith("```"):
            yield f"{line}\n"


@pytest.mark.slow
def test_commands_print_what_the_page_shows(here: Path) -> None:
    make_folder(here)
    page = PAGE.read_text(encoding="utf-8")
    assert "".join(transcript(here)) == page, (
        "run python -m tests.cli.test_messages, and read what changed"
    )
    assert "unexpected " not in page.replace("unexpected extra", "")
    assert not re.search(r"[^\S\n]\n|\ufffd|exit code [014]\n", page)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        os.environ.pop("TTT_RUN", None)
        make_folder(Path(place))
        new = "".join(transcript(Path(place)))
    PAGE.write_text(new, encoding="utf-8")
