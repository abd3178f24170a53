"""What the commands that look at a run load, and what they do where only ASCII can be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.handmade import RECORDS, put_small_run

pytestmark = pytest.mark.slow

HEAVY = {"numba", "llvmlite", "scipy", "pandas", "pyarrow", "pydantic", "tqdm"}
COMMANDS = {
    "top": ["top"],
    "leaders": ["top", "--leaders"],
    "peaks": ["top", "--peak"],
    "years": ["top", "--years", "2"],
    "versus": ["versus", "morphy", "anderssen", "--games", "6"],
    "players": ["players"],
    "record": ["player", "anderssen", "--record"],
    "upsets": ["player", "muller", "--upsets"],
    "player": ["player", "muller", "-f", "table"],
}
SCRIPT = (
    "import sys; from ttt_cli.cli.main import run; code = run(sys.argv[1:]);"
    "print(*sorted({m.partition('.')[0] for m in sys.modules}), file=sys.stderr); sys.exit(code)"
)


@pytest.fixture
def run_file(tmp_path: Path) -> str:
    put_small_run(tmp_path / "a.ttt", [*RECORDS, ("1862", "Müller, Jörg", "Paulsen, Louis", "1-0")])
    return str(tmp_path / "a.ttt")


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_heavy_is_loaded_and_ascii_is_enough(name: str, run_file: str) -> None:
    env = {key: value for key, value in os.environ.items() if key != "TTT_RUN"}
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, *COMMANDS[name], "-r", run_file],
        capture_output=True,
        check=False,
        env={**env, "PYTHONIOENCODING": "ascii"},
    )
    assert result.returncode == 0, result.stderr
    modules = set(result.stderr.decode().splitlines()[-1].split())
    assert not modules & HEAVY
    if name not in ("top", "leaders"):
        assert "numpy" not in modules
    assert result.stdout.isascii()
    assert result.stdout
