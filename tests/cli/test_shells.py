"""Completion in real shells: what they make of a word and a tab."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.handmade import put_small_run

SCRIPTS = Path(sys.executable).parent
CASES = [  # what is typed before the tab, and what the shell makes of it
    ("ttt top --lead", "ttt top --leaders"),
    ("ttt top -r ol", "ttt top -r old.ttt"),
    ("ttt fit gam", "ttt fit games.csv"),
    ("ttt fit games.csv -c ttt-w", "ttt fit games.csv -c ttt-white"),
    ("ttt fit games.csv -c min", "ttt fit games.csv -c mine.yaml"),
    ("ttt fit games.csv -s model.prior_s", "ttt fit games.csv -s model.prior_sd="),
    ("ttt player morp", "ttt player Morphy, Paul"),
    ("ttt versus paul and", "ttt versus paul Anderssen, Adolf"),
    ("ttt tune beta,ta", "ttt tune beta,tau"),
    ("ttt fit games.csv --exclude simul,corr", "ttt fit games.csv --exclude simul,correspondence"),
]
SHELLS = {  # by name, how each begins and what it needs before
    "bash": (["bash", "--norc", "--noprofile", "-i"], ""),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D; "),
}
NEW_LINE = "\x05\x15"  # to the end of the line, and all of it away
END = "told:"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (SCRIPTS / "ttt").exists(), reason="ttt is not installed"),
]
LONGEST = 120.0  # seconds that a shell may take for one answer; it comes in a fraction of one


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shell")
    for name in ("games.csv", "mine.yaml"):
        (place / name).touch()
    put_small_run(place / "old.ttt")
    return place


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("TTT_RUN", "ENV", "BASH_ENV")}
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "HOME": str(folder), "TERM": "dumb", "PS1": "> ", "COLUMNS": "200"}


class Terminal:
    """A shell that believes it talks to somebody."""

    def __init__(self, folder: Path, *command: str) -> None:
        import pty  # Windows has none

        self._here, there = pty.openpty()
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment(folder), stdin=there, stdout=there, stderr=there,
            start_new_session=True,
        )  # fmt: skip
        os.close(there)

    def types(self, text: str) -> None:
        os.write(self._here, text.encode())

    def until(self, expected: str) -> str:
        """What it shows, without what names are escaped by, until something expected appears in it."""
        shown = ""
        while expected not in shown:
            ready, _, _ = select.select([self._here], [], [], LONGEST)
            assert ready, f"{expected!r} does not come after {shown!r}"
            shown += re.sub(
                r"\x1b\[[0-9;?]*[a-zA-Z]|[\x07\x08\r\\]", "", os.read(self._here, 1 << 16).decode()
            )
        return shown

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._here)


@pytest.fixture(scope="module", params=SHELLS)
def shell(request: pytest.FixtureRequest, folder: Path) -> Iterator[Terminal]:
    """A shell that has been told how `ttt` is completed."""
    command, setup = SHELLS[request.param]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    terminal = Terminal(folder, *command)
    try:
        terminal.types(f'{setup}eval "$(ttt completion {command[0]} -q)"; echo read""y\n')
        terminal.until("ready")
        yield terminal
    finally:
        terminal.end()


@pytest.mark.parametrize(("typed", "made"), CASES, ids=[case[0] for case in CASES])
def test_a_word_is_completed(shell: Terminal, typed: str, made: str) -> None:
    shell.types(f'{NEW_LINE}echo agai""n\n')
    shell.until("again")
    shell.types(f"{typed}\t")
    head = typed if made.startswith(typed) else typed.rpartition(" ")[0] + " "
    shell.until(made.removeprefix(head))


@pytest.fixture(scope="module")
def told_in_fish(folder: Path) -> dict[str, list[str]]:
    """What fish is told for each word, with a description after a tab."""
    if shutil.which("fish") is None:
        pytest.skip("no fish here")
    asked = "".join(f"echo {END}; complete -C '{typed}'; " for typed, _ in CASES)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"ttt completion fish -q | source; {asked}"],
        cwd=folder, env=environment(folder), capture_output=True, text=True, check=True,
    )  # fmt: skip
    _, *told = done.stdout.split(f"{END}\n")
    return {typed: found.splitlines() for (typed, _), found in zip(CASES, told, strict=True)}


@pytest.mark.parametrize(("typed", "made"), CASES, ids=[case[0] for case in CASES])
def test_fish_is_told_the_candidates(typed: str, made: str, told_in_fish: dict[str, list[str]]) -> None:
    word = made.removeprefix(typed.rpartition(" ")[0] + " ")
    assert word in [line.partition("\t")[0] for line in told_in_fish[typed]]
