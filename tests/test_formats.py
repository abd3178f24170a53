"""A new input format is one module and one entry in FORMATS: it is then recognised, read, named and configured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODULE = '''
"""Games as `date: winner beats loser`."""

from ttt_cli.reading.batches import text_table


def read_beats(blocks, data, name):
    lines = b"".join(blocks).decode().splitlines()
    fields = [line.replace(" beats ", ": ").split(": ") for line in lines]
    dates, whites, blacks = zip(*fields, strict=True)
    columns = {"dates": dates, "whites": whites, "blacks": blacks, "results": ["1-0"] * len(lines)}
    return text_table(range(1, len(lines) + 1), columns)
'''
PROGRAM = """
import re, sys
import ttt_cli.formats as formats
formats.FORMATS += (formats.Format("beats", "beats:read_beats", (".beats",), begins=re.compile(rb".*beats")),)
from ttt_cli.__main__ import main
main()
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "beats.py").write_text(MODULE, encoding="utf-8")
    program = f"import sys; sys.path.insert(0, {str(folder)!r})" + PROGRAM
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("where", ["games.txt", "folder", "-s"])
def test_a_new_format(where: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    content = "1858: Morphy beats Anderssen\n1851: Anderssen beats Staunton\n"
    names = {
        "games.txt": "games.txt",
        "folder": "folder/x.beats",
        "-s": "other.csv",
    }
    (tmp_path / names[where]).write_text(content, encoding="utf-8")
    chosen = ["-s", "data.format=beats", "other.csv"] if where == "-s" else [where]
    done = run(tmp_path, "games", "--list", "-f", "csv", *chosen)
    assert done.returncode == 0, done.stderr
    assert "1858,Morphy,Anderssen,1-0" in done.stdout.replace('"', "")
    assert len(done.stdout.splitlines()) == 3


def test_a_format_there_is_not(tmp_path: Path) -> None:
    done = run(tmp_path, "games", "-s", "data.format=beat", "x")
    assert done.returncode == 2
    assert "'parquet' or 'beats', not 'beat'" in done.stderr.replace("\n", " ")
