"""The command as a whole process: what it imports, pipes that end early, odd encodings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.handmade import RECORDS, put_small_run

pytestmark = pytest.mark.slow

HEAVY = {"numba", "scipy", "pandas", "llvmlite", "pyarrow", "pydantic", "tqdm"}
HELP = frozenset({"numpy", "duckdb", "rich", "ttt_cli.cli.fit", "altair", "vl_convert"})
QUICK = (
    *("top --peak", "top --years 2", "versus morphy anderssen --games 6", "players", "evidence -f json"),
    *(
        "player anderssen --record",
        "player muller --upsets",
        "player muller -f table",
        "player muller -f tsv",
    ),
)
# Commands, and what they do not load beside what is heavy
LIGHT: dict[str, frozenset[str]] = {
    **dict.fromkeys(("--help", "--version", "plot --help", "games --help"), HELP),
    **dict.fromkeys(("top", "top --leaders"), frozenset()),
    **dict.fromkeys(QUICK, frozenset({"numpy"})),
}


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    put_small_run(tmp_path / "a.ttt", [*RECORDS, ("1862", "Müller, Jörg", "Paulsen, Louis", "1-0")])
    return tmp_path / "a.ttt"


def ttt(*args: str, script: str | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    start = ["-c", script] if script else ["-m", "ttt_cli"]
    env = {key: value for key, value in os.environ.items() if key not in ("TTT_RUN", "PYTHONIOENCODING")}
    return subprocess.run(
        [sys.executable, *start, *args], capture_output=True, check=False, env={**env, **environment}
    )


@pytest.mark.parametrize("command", LIGHT)
def test_nothing_heavy_is_loaded_and_ascii_is_enough(command: str, run_file: Path) -> None:
    script = (
        "import sys; from ttt_cli.cli.main import run; code = run(sys.argv[1:]);"
        "print(*{m.partition('.')[0] for m in sys.modules}, *(m for m in sys.modules if m.startswith('ttt_cli')),"
        " file=sys.stderr); sys.exit(code)"
    )
    result = ttt(*command.split(), script=script, TTT_RUN=str(run_file), PYTHONIOENCODING="ascii")
    assert result.returncode == 0, result.stderr
    assert not set(result.stderr.decode().splitlines()[-1].split()) & (HEAVY | LIGHT[command])
    assert result.stdout
    assert result.stdout.isascii()


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
