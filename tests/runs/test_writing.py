"""One writer of a run at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.handmade import write_small_run
from ttt_cli.cli import main
from ttt_cli.runs.run import open_run
from ttt_cli.runs.write import writing
from ttt_cli.support.errors import RunError
from ttt_cli.support.files import waiting

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")]
NEW = "date,white,black,result\n1863,a,b,1-0\n"
HOLD = (
    "import sys; from ttt_cli.runs.write import writing\n"
    "with writing(sys.argv[1]):\n print('held', flush=True)\n sys.stdin.readline()"
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    main.run(["fit", _games("old", 3), "-q", "-o", "a.ttt"])
    return tmp_path / "a.ttt"


def _games(name: str, count: int) -> str:
    rows = "".join(f"18{50 + i},{name},b,1-0\n18{50 + i},b,{name},1/2-1/2\n" for i in range(count))
    Path(f"{name}.csv").write_text(f"date,white,black,result\n{rows}")
    return f"{name}.csv"


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir() if path.suffix != ".csv")


def test_who_holds_a_run_may_take_it_again_and_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "a.ttt"
    with writing(place):
        with writing(place):
            write_small_run(place)
        assert (tmp_path / ".a.ttt.lock").exists()
    assert list(tmp_path.iterdir()) == [place]


def test_a_link_and_its_run_are_one(tmp_path: Path) -> None:
    (tmp_path / "link.ttt").symlink_to("a.ttt")
    with writing(tmp_path / "a.ttt"), subprocess.Popen(
        [sys.executable, "-m", "ttt_cli", "fit", "-", "--no-wait", "-o", str(tmp_path / "link.ttt")],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        _, err = other.communicate(NEW)
    assert other.returncode == 2
    assert "another process writes this run" in err


COMMANDS = (
    ["update", "a.ttt", "new.csv"],
    ["fit", "new.csv", "-o", "a.ttt"],
    ["tune", "beta", "-r", "a.ttt"],
    ["evidence", "--grid", "beta=300/400", "-r", "a.ttt"],
)


@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: args[0])
def test_the_second_writer_is_refused_by_choice_or_waits(
    place: Path, args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _games("new", 2)
    before = place.read_bytes()
    command = [sys.executable, "-c", HOLD, "a.ttt"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert main.run([*args, "--no-wait"]) == 2
        assert capsys.readouterr().err.splitlines() == [
            "a.ttt: another process writes this run", "hint: leave --no-wait out to wait until it ends",
        ]  # fmt: skip
        assert place.read_bytes() == before
        assert main.run(["player", "old", "-r", "a.ttt"]) == 0  # readers need no lock
        told: list[str] = []

        def release(sentence: str) -> None:
            told.append(sentence)
            holder.communicate("\n")

        with waiting(release, wait=True), writing("a.ttt"):
            pass
        assert told == ["a.ttt: waiting for another process that writes this run (--no-wait refuses)"]
    assert main.run(args) in (0, 4)
    assert {*names()} - {"a.ttt.points"} == {"a.ttt"}


def test_a_command_that_waits_says_so_and_sees_what_the_other_wrote(place: Path) -> None:
    _games("new", 2)
    _games("newer", 1)
    command = [sys.executable, "-m", "ttt_cli", "update", "a.ttt", "newer.csv"]
    with writing(place):
        second = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert second.stderr is not None
        said = second.stderr.readline()
        assert said == "a.ttt: waiting for another process that writes this run (--no-wait refuses)\n"
        assert main.run(["update", "a.ttt", "new.csv", "-q"]) == 0
    _, rest = second.communicate()
    assert (second.returncode, rest.splitlines()[-1]) == (0, "a.ttt written")
    assert [name for (name,) in open_run(place).select("SELECT path FROM inputs")[1]] == [
        "old.csv", "new.csv", "newer.csv",
    ]  # fmt: skip
    assert names() == ["a.ttt"]


def test_places_for_no_run_are_refused(tmp_path: Path) -> None:
    for path, said in ((tmp_path, "is a folder"), (tmp_path / "no" / "a.ttt", "does not exist")):
        with pytest.raises(RunError, match=said), writing(path):
            pass


def test_a_run_in_memory_needs_no_lock() -> None:
    with writing(None):
        pass
