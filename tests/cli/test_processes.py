"""The command as a whole process: what it imports, pipes that end early, odd encodings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.handmade import RECORDS, put_small_run

pytestmark = pytest.mark.slow

HEAVY = {"numba", "scipy", "pandas", "llvmlite", "pyarrow"}


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    put_small_run(tmp_path / "a.ttt", [*RECORDS, ("1862", "Müller, Jörg", "Paulsen, Louis", "0-1")])
    return tmp_path / "a.ttt"


def ttt(*args: str, script: str | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    start = ["-c", script] if script else ["-m", "ttt_cli"]
    env = {key: value for key, value in os.environ.items() if key not in ("TTT_RUN", "PYTHONIOENCODING")}
    return subprocess.run(
        [sys.executable, *start, *args], capture_output=True, check=False, env={**env, **environment}
    )


def imported_by(*args: str) -> set[str]:
    """Top-level modules that the command leaves imported."""
    script = (
        "import sys, json; from ttt_cli.cli.main import run; code = run(sys.argv[1:]);"
        "print(json.dumps(sorted({m.partition('.')[0] for m in sys.modules} |"
        " {m for m in sys.modules if m.startswith('ttt_cli')})), file=sys.stderr); sys.exit(code)"
    )
    result = ttt(*args, script=script)
    assert result.returncode == 0, result.stderr
    return set(json.loads(result.stderr.splitlines()[-1]))


def test_help_and_version_import_nothing_heavy() -> None:
    for args in (["--help"], ["--version"]):
        modules = imported_by(*args)
        assert not modules & (HEAVY | {"numpy", "duckdb", "rich", "tqdm", "pydantic"})
        assert "ttt_cli.cli.fit" not in modules


@pytest.mark.parametrize("fmt", ["table", "tsv", "json"])
def test_player_imports_no_numerics(run_file: Path, fmt: str) -> None:
    modules = imported_by("player", "morphy", "-r", str(run_file), "-f", fmt)
    assert not modules & (HEAVY | {"numpy", "pydantic", "tqdm"})


def test_a_reader_that_goes_away_ends_it_quietly(run_file: Path) -> None:
    script = (
        "import os, sys; from ttt_cli.cli.main import run; r, w = os.pipe(); os.close(r); os.dup2(w, 1);"
        "sys.exit(run(sys.argv[1:]))"
    )
    result = ttt("export", "games", "-r", str(run_file), script=script)
    assert (result.returncode, result.stderr) == (141, b"")


def test_ascii_output_is_never_an_error(run_file: Path) -> None:
    for fmt in ("table", "csv", "tsv", "json"):
        result = ttt("player", "muller", "-r", str(run_file), "-f", fmt, PYTHONIOENCODING="ascii")
        assert result.returncode == 0
        assert result.stdout.isascii()
        assert b"ller, J" in result.stdout
    assert (
        json.loads(ttt("player", "muller", "-r", str(run_file), "-f", "json").stdout)[0]["player"]
        == "Müller, Jörg"
    )


def test_errors_of_python_m_have_their_exit_codes(tmp_path: Path) -> None:
    result = ttt("player", "x", "-r", str(tmp_path / "no.ttt"))
    assert result.returncode == 2
    assert result.stdout == b""
    assert result.stderr.decode().startswith(f"{tmp_path / 'no.ttt'}: no such run\nhint: ")
