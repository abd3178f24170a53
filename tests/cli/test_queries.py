"""Commands that read a run: their forms, and the run that they name."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.support.cases import each
from tests.support.commands import Ran
from tests.support.handmade import RECORDS, games_of, put_small_run, write_small_run
from ttt_cli import fit
from ttt_cli.cli import main, players, streams
from ttt_cli.cli.export import TABLES

pytestmark = pytest.mark.usefixtures("here")

SAID = "a.ttt: 7 games 1857-1862\n"
HEADERS = {
    "skills": "player,period,mean,sd,games",
    "players": "player,first,last,games,wins,draws,losses,peak_period,peak_mean,peak_sd,opponents",
    "games": "period,date,white,black,result,weight,file,line,event,site,round,neutral,category,margin,source,p_true,"
    "p_win,p_draw,p_loss,expected",
    "people": "player",
    "events": "event,from,to,games,players,strength,winner,site",
    "evidence": "beta,tau,draw_margin,log_evidence,converged,sweeps,remaining_error",
    "draws": "year,margin,sd,level",
    "newcomers": "year,mean,sd",
    "career": "years,mean,sd",
}
COUNTS = {
    "skills": 13,
    "players": 3,
    "games": 7,
    "events": 0,
    "people": 0,
    "evidence": 1,
    "draws": 0,
    "newcomers": 0,
    "career": 0,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    ["player Morphy", "players", "top", "top --leaders", "versus Morphy Paulsen", "export skills", "evidence",
     "plot -o x.svg", "report -o x.html"],
)  # fmt: skip
def test_the_run_is_said_unless_it_was_named(command: str, ran: Ran) -> None:
    assert ran(command.split()).err.startswith(SAID)
    assert ran([*command.split(), "-q"]).err == ""
    assert SAID not in ran([*command.split(), "-r", "a.ttt"]).err


@pytest.mark.slow
def test_a_table_says_it_in_its_title_and_an_error_too(
    ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "on_terminal", lambda: True)
    out, err = ran("player Morphy")
    assert SAID not in err
    assert "a.ttt: ttt, 7 games 1857-1862" in out
    assert ran("player Nobody", 2).err.startswith(f"{SAID}a.ttt: no player 'Nobody'")
    assert ran("top --at 1700", 2).err.startswith(SAID)


@each("command", ["top", "player morphy", "versus morphy anderssen", "players"])
def test_a_fit_that_had_not_converged_is_pointed_out(command: str, here: Path, ran: Ran) -> None:
    write_small_run(here / "b.ttt", converged=False)
    assert "did not converge" in ran(f"{command} -r b.ttt").err


@each("table", TABLES)
def test_every_table_is_exported_with_its_columns_and_rows(table: str, ran: Ran) -> None:
    header, *rows = csv.reader(io.StringIO(ran(["export", table, "-f", "csv"]).out))
    assert ",".join(header) == HEADERS[table]
    assert len(rows) == COUNTS[table]


def test_a_player_is_named_by_words_and_rows_are_tsv(ran: Ran) -> None:
    assert ran("player paul morphy").out == (
        "player\tperiod\tmean\tsd\tgames\n"
        "Morphy, Paul\t1857\t1000.0\t50.0\t2\nMorphy, Paul\t1858\t1003.0\t50.0\t3\n"
    )


def test_a_shared_surname_is_decided_with_a_line_on_stderr(here: Path, ran: Ran) -> None:
    brother = [("1862", "Morphy, Alonzo", "Paulsen, Louis", "0-1")]
    put_small_run(here / "b.ttt", [*RECORDS[:2] * 6, *brother])
    out, err = ran("player morphy -r b.ttt")
    assert "Alonzo" not in out
    assert "not Morphy, Alonzo (1 game, 1862)" in err
    assert ran("player morphy -r b.ttt -q").err == ""


@pytest.mark.slow
def test_the_history_of_a_player_has_record_and_upsets(ran: Ran) -> None:
    out = ran("player morphy -f table").out
    for part in (
        "Morphy, Paul (a.ttt)\n",
        "5 games (+3 =1 -1)",
        "record    score\n",
        "+2 =0 -1  0.667\n",
    ):
        assert part in out
    assert "a.pgn" not in out
    rows = json.loads(ran("player morphy --record -f json").out)
    assert [(row["period"], row["colour"], row["wins"]) for row in rows] == [
        ("1857", "both", 1), ("1857", "white", 1), ("1858", "both", 2), ("1858", "white", 1), ("1858", "black", 1),
    ]  # fmt: skip
    header, *wins = ran("player morphy --upsets -f csv").out.splitlines()
    assert header == "player,date,opponent,p_win,colour,mean,opponent_mean,event,file,line"
    assert len(wins) == 1
    assert "as_white" in ran("player morphy --record -f table").out


def test_a_table_of_players_has_the_first_and_a_pipe_all(
    ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(players, "_SHOWN", 2)
    n_players = len(ran("players -f csv").out.splitlines()) - 1
    assert n_players > 2
    assert f"2 of {n_players} players" in ran("players -f table").out
    for command in ("players -n 0 -f table", "players -n 9 -f table"):
        assert f"{n_players} of {n_players} players" in ran(command).out
    assert len(ran("players -n 1 -f csv").out.splitlines()) == 2


def test_players_are_listed_and_searched(ran: Ran) -> None:
    assert ran("players").out.splitlines()[0].split("\t")[0] == "player"
    assert [row["player"] for row in json.loads(ran("players paul m -f json").out)] == [
        "Morphy, Paul"
    ]
    header, row = ran("players --from 1860 --min-games 5 -n 1 -f csv").out.splitlines()
    assert header == "player,first,last,games,peak_mean,peak_sd,peak_period"
    assert row.startswith('"Anderssen, Adolf",1858,1862,5,')


@pytest.mark.slow
@each(
    "options, column, values",
    [
        ("--at 1858", "player", ["Morphy, Paul", "Anderssen, Adolf", "Paulsen, Louis"]),
        ("--peak -n 2", "period", ["1862", "1862"]),
        ("--years 2 --peak -n 1", "first", ["1861"]),
        ("", "rank", [1, 2]),
        ("--everyone", "rank", [1, 2, 3]),
        ("--peak --everyone", "rank", [1, 2, 3]),
        ("--peak --max-sd 1", "rank", []),
    ],
)
def test_the_forms_of_the_ranking(
    options: str, column: str, values: list[object], ran: Ran
) -> None:
    assert [row[column] for row in json.loads(ran(f"top {options} -f json").out)] == values


def test_a_ranking_has_its_columns_and_a_title(ran: Ran) -> None:
    (row,) = json.loads(ran("top --at 1858 -f json -n 1").out)
    assert list(row)[:8] == ["rank", "player", "period", "year", "mean", "sd", "games", "p_best"]
    out = ran("top --at 1858 -f table").out
    assert out.startswith("The best of 1858: 3 eligible players (a.ttt)\nrank  player")
    assert "\neligible: active within 2 years\n" in out


def test_two_players_are_compared(ran: Ran) -> None:
    out, err = ran("versus morphy anderssen -f json --games 4 --at 1858")
    found = json.loads(out)
    assert found["win"] + found["draw"] + found["loss"] == pytest.approx(1.0)
    assert found["match_win"] + found["match_draw"] + found["match_loss"] == pytest.approx(1.0)
    assert err == f"{SAID}Morphy, Paul in 1858, Anderssen, Adolf in 1858: as requested\n"
    out, err = ran("versus morphy anderssen -f table -q --at 1858")
    assert out.startswith("Morphy, Paul 1858 against Anderssen, Adolf 1858: expected ")
    assert "has beaten the other  2 " in out
    assert err == ""


@pytest.mark.slow
def test_a_joint_posterior_is_asked_without_scipy_and_a_compiler(tmp_path: Path) -> None:
    fit(games_of(RECORDS), output=tmp_path / "j.ttt", posterior="joint")
    script = (
        "import os, sys; from ttt_cli.cli.main import run;"
        f"code = run(['versus', 'morphy', 'anderssen', '-f', 'json', '-r', {str(tmp_path / 'j.ttt')!r}]);"
        f"code = code or run(['why', 'morphy', '--by', 'chain', '-o', os.devnull, '-r', {str(tmp_path / 'j.ttt')!r}]);"
        "sys.exit(code or len({'scipy', 'numba', 'pandas', 'pydantic'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert found.returncode == 0
    assert json.loads(found.stdout)["skills"] == "joint"


@pytest.mark.slow
def test_the_name_of_a_figure_decides_its_form(tmp_path: Path, ran: Ran) -> None:
    out, err = ran("plot Anderssen Morphy -o two.svg")
    assert (tmp_path / "two.svg").read_text(encoding="utf-8").startswith("<svg")
    assert out == ""
    assert "two.svg written" in err
    out, err = ran("player Anderssen -f csv --plot a.svg")
    assert out.startswith("player,period,mean,sd,games")
    assert "a.svg written" in err


def test_without_a_file_a_figure_is_a_png_named_by_the_players(tmp_path: Path, ran: Ran) -> None:
    ran("plot Anderssen Morphy")
    assert (tmp_path / "anderssen-morphy.png").read_bytes().startswith(b"\x89PNG")


def test_a_dash_is_svg_on_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main.run(["plot", "--kind", "games", "-o", "-"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"<svg")


def test_a_player_of_another_run_here_is_hinted_at(here: Path, ran: Ran) -> None:
    """After a trial fit the newest run is not the one that has the player."""
    put_small_run(here / "semi.ttt", [("1900", "Rubinstein, Akiba", "Schlechter, Carl", "1-0")])
    printed = ran("player morphy", 2)
    assert "semi.ttt: no player 'morphy' in this run" in printed.err
    assert (
        "hint: Morphy, Paul is in a.ttt: -r a.ttt; without -r the newest run here is taken"
        in printed.err
    )
    assert "a.ttt: -r" not in ran("player morphy -r semi.ttt", 2).err
    put_small_run(here / "a.ttt", [("1900", "Lasker, Emanuel", "Lasker, Edward", "1-0")])
    put_small_run(here / "semi.ttt", [("1900", "Rubinstein, Akiba", "Schlechter, Carl", "1-0")])
    assert "hint: lasker is in a.ttt: -r a.ttt; without -r" in ran("player lasker", 2).err
    assert "hint: `ttt players` lists them" in ran("player nobody", 2).err


def test_an_event_of_another_run_here_is_hinted_at(here: Path, ran: Ran) -> None:
    cup = pd.DataFrame(
        [("2014", "Brazil", "Germany", "0-1", "World Cup")],
        columns=["date", "white", "black", "result", "event"],
    )
    fit(cup, output=here / "cup.ttt", model="elo")
    os.utime(here / "cup.ttt", (0, 0))  # older than the run of the other tests
    hint = "hint: an event 'world cup 2014' is in cup.ttt: -r cup.ttt; without -r the newest run"
    assert hint in ran("event world cup 2014", 2).err
    assert "cup.ttt: -r" not in ran("event world cup 2014 -r a.ttt", 2).err
    assert "cup.ttt: -r" not in ran("event world cup 2013 -r cup.ttt", 2).err


@each("fmt", ["json", "jsonl", "parquet"])
def test_periods_have_their_year_as_a_number_where_types_are_kept(
    fmt: str, here: Path, ran: Ran
) -> None:
    for command in ("export skills", "player morphy"):
        out = here / f"{command.split()[1]}.{fmt}"
        ran(f"{command} -o {out.name}")
        ran(f"{command} -o {out.name}")  # which replaces its own
        if fmt == "parquet":
            frame = pd.read_parquet(out)
        else:
            frame = pd.read_json(out, lines=fmt == "jsonl", dtype={"period": str})
        assert list(frame.columns[:3]) == ["player", "period", "year"]
        assert frame.year.tolist() == frame.period.astype(int).tolist()
    assert ran("player morphy -f csv").out.startswith("player,period,mean")


def test_doubt_shows_the_run_without_games_of_a_condition_or_a_file(ran: Ran, folder: Path) -> None:
    fit(games_of(RECORDS), "ttt", output=folder / "joint.ttt", posterior="joint")
    rows = json.loads(ran("doubt -r joint.ttt -f json --where year=1858 --everyone").out)
    assert list(rows[0]) == ["player", "period", "year", "mean", "sd", "mean_without", "sd_without"]
    assert (
        len(json.loads(ran("doubt -r joint.ttt -f json --where year=1858 --refit -n 1").out)) == 1
    )
    header = ran(
        "doubt -r joint.ttt -f csv --where year=1858 --kind leaders --everyone"
    ).out.splitlines()[0]
    assert header == "from,to,number_one,number_one_without"
    exported = csv.DictReader(io.StringIO(ran("export games -r joint.ttt -f csv").out))
    lines = [
        f'{game["date"]},"{game["white"]}","{game["black"]}",{game["result"]}' for game in exported
    ]
    listed = ["date,white,black,result", *lines[:2], "1800,Nobody,Somebody,1-0"]
    (folder / "some.csv").write_text("\n".join(listed) + "\n")
    assert "of some.csv not found in joint.ttt" in ran("doubt -r joint.ttt --games some.csv").err
    leads = ran("doubt -r joint.ttt --leader 1858 --everyone -f csv").out.splitlines()
    assert leads[0] == "date,white,black,result,lead,event"
    assert len(leads) > 1


def test_why_needs_a_joint_posterior_and_names_what_was_left_out(ran: Ran, folder: Path) -> None:
    fit(games_of(RECORDS), "ttt", output=folder / "joint.ttt", posterior="joint")
    out, _ = ran("why morphy -r joint.ttt -f json --at 1858")
    rows = json.loads(out)
    assert rows
    assert list(rows[0])[:6] == ["date", "white", "black", "result", "expected", "change"]
    opponents = json.loads(
        ran("why morphy -r joint.ttt -f json --by opponent --versus paulsen").out
    )
    assert {row["opponent"] for row in opponents} <= {"Paulsen, Louis", "Anderssen, Adolf"}
    assert "both match" in ran("why morphy -r joint.ttt --versus morphy", 2).err
    assert ran("why morphy -r joint.ttt --by colour", 2).err
