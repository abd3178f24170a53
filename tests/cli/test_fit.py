import csv
import io
import json
import os
import signal
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.commands import Ran
from ttt_cli import api
from ttt_cli.cli import main
from ttt_cli.cli.fit import default_output
from ttt_cli.formats import FORMATS
from ttt_cli.inference.ep import slices_in_files
from ttt_cli.runs.run import open_run
from ttt_cli.support.progress import Wait, listening
from ttt_cli.systems import ttt

GAMES = """date,white,black,result
1857,"Morphy, Paul","Paulsen, Louis",1-0
1858,"Anderssen, Adolf","Morphy, Paul",0-1
1858,"Anderssen, Adolf","Morphy, Paul",1/2-1/2
1861,"Anderssen, Adolf","Paulsen, Louis",*
1862,"Anderssen, Adolf","Paulsen, Louis",0-1
"""


class Sweeps(list[float]):
    """Changes of sweeps, and the signal that the next fit gets, if any."""

    number = 0


@pytest.fixture
def here(folder: Path) -> Path:
    (folder / "games.csv").write_text(GAMES)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_run_is_written_beside_a_summary_on_stderr(here: Path, ran: Ran) -> None:
    out, err = ran("fit games.csv")
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == "games.csv: 5 rows, 4 games, 1 row dropped"
    assert lines[1] == "  dropped: no result, 1 (games.csv:5)"
    assert "3 players, 4 games, 1857 to 1862" in err
    assert "converged in" in err
    assert lines[-1] == "games.ttt written"
    assert names(here) == ["games.csv", "games.ttt"]
    assert open_run("games.ttt").meta.games == 4


@pytest.mark.slow
def test_a_run_named_without_an_ending_is_found_by_all_commands(here: Path, ran: Ran) -> None:
    assert ran("fit games.csv -o a").err.splitlines()[-1] == "a.ttt written"
    assert names(here) == ["a.ttt", "games.csv"]
    for asked in ([], ["-r", "a"], ["-r", "a.ttt"]):
        assert ran(["top", *asked]).err.startswith("" if asked else "a.ttt: 4 games")
    (here / "more.csv").write_text("date,white,black,result\n1863,A,B,1-0\n")
    assert main.run(["update", "a", "more.csv", "-o", "b", "-q"]) == 0
    assert names(here) == ["a.ttt", "b.ttt", "games.csv", "more.csv"]


def test_an_ending_of_ones_own_is_kept_and_what_it_costs_is_told(here: Path, ran: Ran) -> None:
    told = ran("fit games.csv -o a.db").err.splitlines()[-1]
    assert told == "a.db written; only *.ttt are found unasked, this one by -r a.db"
    assert names(here) == ["a.db", "games.csv"]


def test_what_stands_at_a_name_without_an_ending_is_meant(here: Path) -> None:
    (here / "a").write_text("mine")
    (here / "b").mkdir()
    for name in ("a", "b"):
        assert main.run(["fit", "games.csv", "-o", name, "-q"]) == 2
    assert names(here) == ["a", "b", "games.csv"]


def test_settings_reach_the_model_and_the_run(here: Path) -> None:
    assert (
        main.run(["fit", "games.csv", "-s", "model.beta=600", "-s", "data.period=quarter", "-q"])
        == 0
    )
    meta = open_run("games.ttt").meta
    assert meta.params["beta"] == 600
    assert meta.config["model"]["beta"] == 600
    assert meta.period == "quarter"


@pytest.mark.slow
def test_a_second_fit_says_what_it_replaces(here: Path, ran: Ran) -> None:
    ran("fit games.csv")
    assert (
        "games.ttt written; it replaces ttt-career, 4 games 1857-1862"
        in ran("fit games.csv -s model.beta=600").err
    )
    assert open_run("games.ttt").meta.params["beta"] == 600


def test_not_converged_is_written_and_exits_4(here: Path, ran: Ran) -> None:
    assert "NOT CONVERGED" in ran("fit games.csv -s solver.max_sweeps=1", 4).err
    assert open_run("games.ttt").meta.converged is False


def test_skills_stream_instead(here: Path, ran: Ran) -> None:
    rows = list(csv.DictReader(io.StringIO(ran("fit games.csv -f csv -o -").out)))
    assert list(rows[0]) == ["player", "period", "mean", "sd", "games"]
    assert [row["period"] for row in rows if row["player"] == "Paulsen, Louis"] == [
        *("1857", "1858", "1859", "1860", "1861", "1862"),
    ]
    assert names(here) == ["games.csv"]
    assert len(json.loads(ran("fit games.csv -f json -o - -s solver.max_sweeps=1", 4).out)) == len(
        rows
    )


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> Sweeps:
    """Changes of the sweeps of all fits; a fit gets the signal `number` after two sweeps."""
    found = Sweeps()
    real_fit = ttt.fit

    def fit(*args: object, on_sweep: object, **rest: object) -> object:
        def on(sweep: int, change: float, _: float) -> None:
            found.append(change)
            if sweep == 2 and found.number:
                os.kill(os.getpid(), found.number)

        return real_fit(*args, on_sweep=on, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(ttt, "fit", fit)
    return found


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)]
)
def test_a_signal_between_sweeps_leaves_the_old_run_and_nothing_else(
    here: Path, number: signal.Signals, code: int, swept: Sweeps, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["fit", "games.csv", "-q"]) == 0
    before = (here / "games.ttt").read_bytes()
    swept.number = number
    assert main.run(["fit", "games.csv", "-s", "solver.tol=1e-12"]) == code
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert names(here) == ["games.csv", "games.ttt"]
    assert (here / "games.ttt").read_bytes() == before
    if number == signal.SIGINT:
        assert "interrupted" in capsys.readouterr().err


def test_the_same_command_with_the_same_scratch_continues_an_interrupted_fit(
    here: Path, swept: Sweeps, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices_in_files, "resident", lambda: 0)
    monkeypatch.setattr(slices_in_files.FilesPlacement, "fits_in_memory", lambda *_: False)
    command = "fit games.csv -q -c ttt -s solver.tol=1e-9 --memory 1GB --scratch kept"
    ran(command)
    fresh = swept.copy()
    assert names(here / "kept") == []
    swept.number = signal.SIGINT
    ran(command, 130)
    assert len(names(here / "kept")) == 1
    swept.number = 0
    swept.clear()
    ran(command)
    assert swept[0] < fresh[1] < fresh[0]
    assert names(here) == ["games.csv", "games.ttt", "kept"]
    assert names(here / "kept") == []


@each(
    "source, output",
    [
        ("games.pgn", "games.ttt"),
        ("far/away/Games.PGN.gz", "Games.ttt"),
        ("london.1851.csv.zst", "london.1851.ttt"),
        ("-", "stdin.ttt"),
        ("games", "games.ttt"),
        (".pgn", ".pgn.ttt"),
        ("games.txt.bz2", "games.ttt"),
    ],
)
def test_the_run_is_named_after_the_first_file(source: str, output: str) -> None:
    assert default_output(source) == output


@each("suffix", [suffix for form in FORMATS for suffix in form.suffixes])
def test_the_name_of_the_run_has_no_suffix_of_any_format(suffix: str) -> None:
    assert default_output(f"london{suffix}") == "london.ttt"
    assert default_output(f"london{suffix}.xz") == "london.ttt"


def test_the_command_says_at_once_that_it_loads(here: Path) -> None:
    waits: list[Wait] = []
    with listening(waits.append):
        assert main.run(["fit", "missing.csv"]) == 3
    assert [(wait.sentence, wait.over) for wait in waits[:2]] == [
        ("loading the program", False),
        ("loading the program", True),
    ]


def test_a_file_of_a_folder_that_cannot_be_read_may_be_left_out(folder: Path, ran: Ran) -> None:
    (folder / "games").mkdir()
    (folder / "games" / "a.csv").write_text(CHESS)
    (folder / "games" / "b.csv").write_text("1900,Lasker,Schlechter,1\n")
    err = ran("fit games", 3).err
    assert "games/b.csv: its columns are not known" in err
    assert "or leave the file out: name the others, or a pattern as 'games/*.pgn'" in err
    assert "leave the file out" not in ran("fit games/b.csv", 3).err


CHESS = "date,white,black,result\n1900,Lasker,Steinitz,1-0\n1901,Lasker,Steinitz,0-1\n"
FOOTBALL = (
    "date,home_team,away_team,home_score,away_score\n1900,Reds,Blues,2,0\n1901,Blues,Reds,1,1\n"
)
TENNIS = "date,winner,loser\n1900,Ann,Bea\n1901,Bea,Ann\n"


@pytest.mark.slow
@each(
    "text, options, growth",
    [
        (CHESS, "-s model.beta=500", 310.0),
        (CHESS, "-c ttt", 0.0),
        (CHESS, "-s model.name=ttt", 0.0),
        (FOOTBALL, "", 0.0),
        (TENNIS, "", 0.0),
        (FOOTBALL, "-c ttt-career", 310.0),
    ],
)
def test_without_a_config_chess_has_careers_and_other_sports_have_none(
    text: str, options: str, growth: float, here: Path, ran: Ran
) -> None:
    (here / "games.csv").write_text(text, encoding="utf-8")
    summary = ran(f"fit games.csv {options}").err
    params = open_run("games.ttt").meta.params
    assert params["growth"] == growth
    assert (params["beta"] == 500.0) == ("beta=500" in options)
    name = "ttt-career" if growth else "ttt"
    assert f"\n{name}: TrueSkill Through Time" in summary
    assert ("skills rise in the years after the debut" in summary) == bool(growth)


@pytest.mark.slow
def test_python_has_the_same_default(here: Path) -> None:
    games = api.read_games(here / "games.csv")
    for chosen, growth in (
        ({}, 310.0),
        ({"model": "ttt"}, 0.0),
        ({"config": "ttt"}, 0.0),
        ({"beta": 500}, 310.0),
    ):
        assert api.fit(games, **chosen).meta.params["growth"] == growth
