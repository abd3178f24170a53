"""The command as a whole process: what it imports, and surroundings in which it cannot do all it should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.handmade import RECORDS, put_small_run

pytestmark = pytest.mark.slow

HEAVY = {"numba", "scipy", "pandas", "llvmlite", "pyarrow", "pydantic", "tqdm"}
LIGHT = {  # commands, one after the other in one process, and what they do not load beside what is heavy
    "help": (
        ("--help", "--version", "plot --help", "games --help"),
        {"numpy", "duckdb", "rich", "ttt_cli.cli.fit", "altair", "vl_convert"},
    ),
    "without numpy": (
        (
            *(
                "top --peak",
                "top --years 2",
                "versus morphy anderssen --games 6",
                "players",
                "evidence -f json",
            ),
            *(
                "player anderssen --record",
                "player muller --upsets",
                "player muller -f table",
                "player muller -f tsv",
            ),
        ),
        {"numpy", "ttt_cli.games.where", "ttt_cli.reading.reports"},
    ),
    "with it": (("top", "top --leaders"), set()),
}


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    put_small_run(tmp_path / "a.ttt", [*RECORDS, ("1862", "Müller, Jörg", "Paulsen, Louis", "1-0")])
    return tmp_path / "a.ttt"


def ttt(
    *args: str, script: str | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    start = ["-c", script] if script else ["-m", "ttt_cli"]
    env = {
        key: value
        for key, value in os.environ.items()
        if key not in ("TTT_RUN", "PYTHONIOENCODING")
    }
    return subprocess.run(
        [sys.executable, *start, *args],
        capture_output=True,
        check=False,
        env={**env, **environment},
    )


@pytest.mark.parametrize("group", LIGHT)
def test_nothing_heavy_is_loaded_and_ascii_is_enough(group: str, run_file: Path) -> None:
    commands, unwanted = LIGHT[group]
    script = (
        "import sys; from ttt_cli.cli.main import run\n"
        "for command in sys.argv[1:]:\n"
        "    assert run(command.split()) == 0, command\n"
        "    loaded = {name for module in sys.modules for name in (module, module.partition('.')[0])}\n"
        f"    assert not loaded & {HEAVY | unwanted}, (command, loaded)\n"
        "    print('\\f', end='')"
    )
    result = ttt(*commands, script=script, TTT_RUN=str(run_file), PYTHONIOENCODING="ascii")
    assert result.returncode == 0, result.stderr
    *shown, end = result.stdout.split(b"\f")
    assert (len(shown), end) == (len(commands), b"")
    assert all(shown)
    assert result.stdout.isascii()


def test_a_fit_of_the_sample_loads_what_it_needs_of_scipy(tmp_path: Path) -> None:
    script = (
        "import sys; from ttt_cli.cli.main import run; code = run(sys.argv[1:])\n"
        "print({f'scipy.{part}' for part in ('linalg', 'optimize', 'sparse', 'special')} & set(sys.modules))\n"
        "sys.exit(code)"
    )
    result = ttt("fit", "@classics", "-q", "-o", str(tmp_path / "a.ttt"), script=script)
    assert (result.returncode, result.stdout) == (0, b"set()\n"), result.stderr


def test_a_reader_that_goes_away_ends_it_quietly(run_file: Path) -> None:
    script = (
        "import os, sys; from ttt_cli.cli.main import run; r, w = os.pipe(); os.close(r); os.dup2(w, 1);"
        "sys.exit(run(sys.argv[1:]))"
    )
    result = ttt("export", "games", "-r", str(run_file), script=script)
    assert (result.returncode, result.stderr) == (141, b"")


BAD = "ttt: output cannot be written: Bad file descriptor"
FULL = "ttt: output cannot be written: No space left on device"
SITUATIONS = {  # what a shell is told, the exit code, the last line on standard error
    "input closed": ("ttt fit - -q -o b.ttt <&-", 3, "<stdin>: cannot be read: Bad file descriptor"),
    "output closed": ("ttt top >&-", 2, BAD),
    "output closed, raw bytes": ("ttt report -q -o - >&-", 2, BAD),
    "output closed and not needed": ("ttt plot Morphy -q -o b.svg >&-", 0, ""),
    "messages closed": ("! ttt versus Morphy Paulsen 2>&- | grep -q 'each at the peak'", 0, ""),
    "all closed": ("ttt top <&- >&- 2>&-", 2, ""),
    "output full": ("ttt top >/dev/full", 2, FULL),
    "output full, unbuffered": ("PYTHONUNBUFFERED=1 ttt top >/dev/full", 2, FULL),
    "output full, help": ("ttt --help >/dev/full", 2, FULL),
    "output to a device": ("ttt export skills -o /dev/full", 2, "hint: name another file for the output"),
    "output added to what is read": ("printf 'date,white,black,result\\n1858,A,B,1-0\\n' >b.csv; "
                                     "ttt games - --list <b.csv >>b.csv", 2, "hint: redirect it to another file"),
    "messages full": ("ttt versus Morphy Paulsen 2>/dev/full >b.tsv", 0, ""),
    "messages full, error": ("ttt player nobody 2>/dev/full", 2, ""),
    "nothing is compiled": ("printf 'date,white,black,result\\n1858,A,B,1-0\\n' >b.csv; "
                            "NUMBA_DISABLE_JIT=1 ttt fit b.csv -q -o b.ttt", 2, "hint: unset NUMBA_DISABLE_JIT"),
    "nothing needs compiling": ("NUMBA_DISABLE_JIT=1 ttt top -q", 0, ""),
}  # fmt: skip

LIKE_OTHERS = {
    "output closed and not needed",
    "output full, unbuffered",
    "messages full, error",
    "nothing needs compiling",
}


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
@pytest.mark.parametrize(
    "situation",
    [pytest.param(name, marks=[pytest.mark.large] * (name in LIKE_OTHERS)) for name in SITUATIONS],
)
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
