"""Surroundings in which a command cannot do all it should: each has its exit code and a clear word."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.handmade import put_small_run

pytestmark = pytest.mark.slow

BAD = "ttt: output cannot be written: Bad file descriptor"
FULL = "ttt: output cannot be written: No space left on device"
SITUATIONS = {  # what a shell is told, the exit code, the last line on standard error
    "input closed": ("ttt fit - -q -o b.ttt <&-", 3, "<stdin>: cannot be read: Bad file descriptor"),
    "output closed": ("ttt top >&-", 2, BAD),
    "output closed, raw bytes": ("ttt report -q -o - >&-", 2, BAD),
    "output closed, echo": ("ttt config show >&-", 2, BAD),
    "output closed and not needed": ("ttt plot Morphy -q -o b.svg >&-", 0, ""),
    "messages closed": ("! ttt versus Morphy Paulsen 2>&- | grep -q 'the last period'", 0, ""),
    "all closed": ("ttt top <&- >&- 2>&-", 2, ""),
    "output full": ("ttt top >/dev/full", 2, FULL),
    "output full, unbuffered": ("PYTHONUNBUFFERED=1 ttt top >/dev/full", 2, FULL),
    "output full, raw bytes": ("ttt report -q -o - >/dev/full", 2, FULL),
    "output full, help": ("ttt --help >/dev/full", 2, FULL),
    "file full": ("ttt export skills -o /dev/full", 2, "/dev/full: cannot be written: No space left on device"),
    "messages full": ("ttt versus Morphy Paulsen 2>/dev/full >b.tsv", 0, ""),
    "messages full, error": ("ttt player nobody 2>/dev/full", 2, ""),
    "nothing is compiled": ("NUMBA_DISABLE_JIT=1 ttt simulate -q -o b.csv --games 9 && "
                            "NUMBA_DISABLE_JIT=1 ttt fit b.csv -q -o b.ttt", 2, "hint: unset NUMBA_DISABLE_JIT"),
    "nothing needs compiling": ("NUMBA_DISABLE_JIT=1 ttt top -q", 0, ""),
}  # fmt: skip


def shell(command: str, folder: Path) -> tuple[int, str]:
    """Exit code and standard error of a line of bash, in which `ttt` is this one."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    function = f'ttt() {{ "{sys.executable}" -m ttt_cli "$@"; }}'
    done = subprocess.run(
        ["bash", "-c", f"{function}\n{command}"],
        cwd=folder,
        env={**environment, "TTT_RUN": "a.ttt", "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("situation", SITUATIONS)
def test_situations(situation: str, tmp_path: Path) -> None:
    put_small_run(tmp_path / "a.ttt")
    command, code, message = SITUATIONS[situation]
    found, err = shell(command, tmp_path)
    assert (found, (err.splitlines() or [""])[-1]) == (code, message)


def test_a_user_whom_the_system_does_not_know(tmp_path: Path) -> None:
    put_small_run(tmp_path / "a.ttt")
    unknown = (
        "import os, pwd, sys; os.environ.pop('HOME', None); pwd.getpwuid = lambda uid: {}[uid];"
        "from ttt_cli.cli.main import run; sys.exit(run(sys.argv[1:]))"
    )
    for arguments in ("plot Morphy -q -o b.svg", "evidence -q"):
        assert shell(f'"{sys.executable}" -c "{unknown}" {arguments}', tmp_path) == (0, "")
