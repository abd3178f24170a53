"""The examples of CONTRIBUTING.md: each in a copy of the package, which it changes in the files shown only."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from run_blocks import ROOT, same, transcript

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NEW_FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
NEW_LINE = re.compile(r"<!-- after `(.+?)` in: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
SHELL = f'ttt() {{ "{sys.executable}" -m ttt_cli "$@"; }}; python() {{ "{sys.executable}" "$@"; }};'
EXAMPLES = ("A rating system", "An input format", "A prior", "A column of `top`", "A kind of plot")
LONG = ("A rating system", "A prior")  # they fit many histories


def section(heading: str) -> str:
    """What stands under a heading."""
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, its configs, documentation, tests and the sample, with its compiled kernels."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("ttt_cli", "configs", "sample_pgn", "docs", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name)
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, folder / file.name)
    return folder


def change(folder: Path, text: str) -> list[str]:
    """Do what an example shows; the files touched."""
    touched = []
    for path, content in NEW_FILE.findall(text):
        file = folder / path
        assert not file.exists()
        file.write_text(content, encoding="utf-8")
        touched.append(path)
    for before, path, added in NEW_LINE.findall(text):
        file = folder / path
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if before in line]
        assert len(places) == 1, f"{path}: {before} stands in {len(places)} lines"
        lines.insert(places[0] + 1, added)
        file.write_text("".join(lines), encoding="utf-8")
        touched.append(path)
    return list(dict.fromkeys(touched))


@pytest.mark.slow
@pytest.mark.parametrize(
    "heading", [pytest.param(name, marks=[pytest.mark.large] * (name in LONG)) for name in EXAMPLES]
)
def test_an_example_works_and_touches_no_other_file(
    heading: str, package: Path, tmp_path: Path
) -> None:
    text, copy = section(heading), tmp_path / "copy"
    shutil.copytree(package, copy)
    touched = change(copy, text)
    assert f"Files touched: {', '.join(f'`{path}`' for path in touched)}." in " ".join(text.split())
    environment = {**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "80", "TERM": "dumb"}
    for block in CONSOLE.findall(text):
        for command, shown in transcript(block):
            ran = subprocess.run(
                ["bash", "-c", f"{SHELL} {command}"],
                cwd=copy,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert same(shown, ran.stderr + ran.stdout), ran.stderr + ran.stdout


def test_every_example_is_run() -> None:
    assert {
        heading
        for heading in re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
        if "<!-- " in section(heading)
    } == set(EXAMPLES)
