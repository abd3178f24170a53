from pathlib import Path

import pytest

from tests.support.commands import Ran
from tests.support.handmade import written
from ttt_cli.cli import main
from ttt_cli.runs.run import open_run

pytestmark = pytest.mark.slow

HEAD = "date,white,black,result\n"
OLD = """1857,"Morphy, Paul","Paulsen, Louis",1-0
1858.12.20,"Anderssen, Adolf","Morphy, Paul",0-1
1862,"Anderssen, Adolf","Paulsen, Louis",0-1
"""
NEW = """1858.12.20,Adolf Anderssen,Paul Morphy,0-1
1858.12.21,Adolf Anderssen,Paul Morphy,1-0
1861,"Anderssen, Adolf","Kolisch, Ignatz",*
"""


@pytest.fixture
def here(folder: Path) -> Path:
    (folder / "old.csv").write_text(HEAD + OLD)
    (folder / "new.csv").write_text(HEAD + NEW)
    written(
        folder / "a.ttt",
        lambda: main.run(["fit", "old.csv", "-q", "-s", "model.beta=300", "-o", "a.ttt"]),
        "update",
    )
    return folder


def test_the_run_is_replaced_and_what_was_read_is_told(here: Path, ran: Ran) -> None:
    out, err = ran("update a.ttt new.csv")
    assert out == ""
    lines = err.splitlines()
    assert lines[0].startswith("a.ttt: ttt-career, 3 games 1857-1862, fitted ")
    assert lines[1] == "new.csv: 3 rows, 2 games, 1 row dropped"
    assert lines[2] == "  dropped: no result, 1 (new.csv:4)"
    assert (
        "  1 record seems to be of a game in the run, by day, players, colours and result: used nevertheless"
        in err
    )
    assert "3 players, 5 games, 1857 to 1862" in err
    assert "old.csv" not in err
    assert lines[-1] == "a.ttt written"
    run = open_run("a.ttt")
    assert run.meta.params["beta"] == 300
    assert run.select("SELECT path, rows, used FROM inputs")[1] == [
        ("old.csv", 3, 3),
        ("new.csv", 3, 2),
    ]
    assert sorted(path.name for path in here.iterdir()) == ["a.ttt", "new.csv", "old.csv"]


def test_options_reach_the_update(here: Path, ran: Ran) -> None:
    assert (
        "and result: left out"
        in ran("update a.ttt new.csv --dedupe -s model.beta=310 -o b.ttt").err
    )
    assert open_run("a.ttt").meta.games == 3
    run = open_run("b.ttt")
    assert (run.meta.games, run.meta.params["beta"]) == (4, 310)


def test_a_file_of_the_run_is_refused(here: Path, ran: Ran) -> None:
    before = (here / "a.ttt").read_bytes()
    err = ran("update a.ttt new.csv old.csv", 3).err.splitlines()
    assert err == [
        "old.csv: is in a.ttt already",
        "hint: leave it out, or count its games once more with --again",
    ]
    assert (here / "a.ttt").read_bytes() == before
    assert ran("update a.ttt old.csv --again -q").err == ""
    assert open_run("a.ttt").meta.games == 6


def test_not_converged_is_written_and_exits_4(here: Path) -> None:
    args = [
        "update",
        "a.ttt",
        "new.csv",
        "-q",
        "-s",
        "solver.tol=1e-12",
        "-s",
        "solver.max_sweeps=1",
    ]
    assert main.run(args) == 4
    assert open_run("a.ttt").meta.games == 5


def test_a_fit_starts_from_a_run(here: Path, ran: Ran) -> None:
    fixed = ["-s", "model.beta=300", "-s", "model.white_advantage=0", "-q"]
    assert main.run(["fit", "old.csv", *fixed, "-o", "fresh.ttt"]) == 0
    assert main.run(["fit", "old.csv", "--start", "fresh.ttt", *fixed, "-o", "b.ttt"]) == 0
    warm, fresh = open_run("b.ttt").meta, open_run("fresh.ttt").meta
    assert warm.trace[0][0] < 0.2 * fresh.trace[0][0]
    assert warm.log_evidence == pytest.approx(fresh.log_evidence, abs=1e-4)
    assert "none.ttt: no such run" in ran("fit missing.csv --start none.ttt", 2).err
