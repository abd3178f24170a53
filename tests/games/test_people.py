"""Tables of people: read, joined to players by name, kept in runs, and joined again by updates."""

from __future__ import annotations

import csv
import gzip
import io
import math
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.cases import each
from ttt_cli import api
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.people import date_in_years
from ttt_cli.games.read import read_games, read_records
from ttt_cli.games.table import games_of
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.people import read_people
from ttt_cli.runs.run import open_run
from ttt_cli.storage import ArrayFiles
from ttt_cli.support.errors import DataError, RunError

GAMES = """date,white,black,result
1858,"Morphy, Paul","Anderssen, Adolf",1-0
1858,Morphy Paul,"Löwenthal, J. J.",1-0
1859,J. Kolisch,"Anderssen, Adolf",0-1
"""
PEOPLE = """name,born,died,sex,Fed,Peak Rating
"Morphy, Paul",22 June 1837,1884-07-10,m,USA,2690
Adolf Anderssen,1818,1879.03.??,m,GER,2600
"Lowenthal, JJ",n/a,1876,m,-,
Nobody,1900,,f,FRA,
"""
VALUES = {
    "Anderssen, Adolf": ("1818", "1879-03", "m", "GER", "2600"),
    "Löwenthal, J. J.": ("", "1876", "m", "", ""),
    "Morphy, Paul": ("1837-06-22", "1884-07-10", "m", "USA", "2690"),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.csv").write_text(GAMES, encoding="utf-8")
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    return tmp_path


def people_of(here: Path, text: str, **data: object):
    (here / "people.csv").write_text(text, encoding="utf-8")
    return read_games(["games.csv"], DataConfig(people="people.csv", **data))


def test_fields_are_joined_through_spellings_and_dates_are_as_far_as_they_are_known(
    here: Path,
) -> None:
    games = read_games(["games.csv"], DataConfig(people="people.csv"))
    assert games.people.fields == ("born", "died", "sex", "federation", "peak_rating")
    assert games.people.values == VALUES
    births = games.people.births(games.players)
    assert dict(zip(games.players, births, strict=True)) == {
        "Anderssen, Adolf": 1818.5,
        "J. Kolisch": pytest.approx(math.nan, nan_ok=True),
        "Löwenthal, J. J.": pytest.approx(math.nan, nan_ok=True),
        "Morphy, Paul": pytest.approx(1837 + 172 / 365.2425),
    }


def test_matched_and_unmatched_are_counted_and_the_first_is_named(here: Path) -> None:
    report = read_games(["games.csv"], DataConfig(people="people.csv")).report
    assert (report.people.rows, report.people.used) == (4, 3)
    (problem,) = report.problems
    assert (problem.place, problem.reason) == ("people.csv:5", reasons.UNKNOWN_PEOPLE)
    assert problem.detail == "1 of 4 people: Nobody"


def test_records_and_games_in_files_have_the_same_people(here: Path) -> None:
    data = DataConfig(people="people.csv")
    games = read_games(["games.csv"], data)
    of_records = games_of(read_records(["games.csv"], data))
    (here / "scratch").mkdir()
    in_files = read_games(["games.csv"], data, storage=ArrayFiles(here / "scratch"))
    for other in (of_records, in_files):
        assert other.people == games.people
        assert other.report == games.report


def as_parquet(text: str) -> bytes:
    header, *rows = csv.reader(io.StringIO(text))
    columns = {
        name: list(values) for name, values in zip(header, zip(*rows, strict=True), strict=True)
    }
    columns["born"] = [date(1837, 6, 22), date(1818, 7, 6), None, date(1900, 1, 1)]
    columns["Peak Rating"] = [2690.0, 2600.0, None, None]
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def test_semicolons_tabs_packed_and_parquet_files_are_read(here: Path) -> None:
    plain = read_people("people.csv")
    rows = list(csv.reader(io.StringIO(PEOPLE)))
    for delimiter in (";", "\t"):
        stream = io.StringIO()
        csv.writer(stream, delimiter=delimiter).writerows(rows)
        (here / "other.csv").write_text(stream.getvalue(), encoding="utf-8")
        assert read_people("other.csv").values == plain.values
    (here / "people.csv.gz").write_bytes(gzip.compress(PEOPLE.encode()))
    assert read_people("people.csv.gz").values == plain.values
    (here / "people.parquet").write_bytes(as_parquet(PEOPLE))
    games = read_games(["games.csv"], DataConfig(people="people.parquet"))
    born = {"Anderssen, Adolf": "1818-07-06"}
    assert games.people.values == {
        player: (born.get(player, texts[0]), *texts[1:]) for player, texts in VALUES.items()
    }


def test_aliases_and_clean_matching_decide_who_is_who(here: Path) -> None:
    (here / "aliases.csv").write_text('J. Kolisch,"Kolisch, Ignatz von"\n', encoding="utf-8")
    text = 'name,born\n"Kolisch, Ignatz von",1837\nAdolf Anderssen,1818\n'
    assert people_of(here, text, aliases="aliases.csv").people.values == {
        "J. Kolisch": ("1837",),
        "Anderssen, Adolf": ("1818",),
    }
    assert people_of(here, text, names="clean").people.values == {}


def test_a_name_of_several_players_is_nobodys(here: Path) -> None:
    (here / "games.csv").write_text(
        'date,white,black,result\n1858,Paul Louis,"Anderssen, Adolf",1-0\n1858,Louis Paul,Bird,1-0\n',
        encoding="utf-8",
    )
    assert people_of(here, 'name,born\n"Louis, Paul",1833\n').people.values == {}
    assert people_of(here, "name,born\nLouis Paul,1833\n").people.values == {
        "Louis Paul": ("1833",)
    }


def test_what_differs_between_rows_of_a_player_is_unknown(here: Path) -> None:
    text = 'name,born,federation,club\n"Morphy, Paul",1837,USA,\nPaul Morphy,1837-06-22,FRA,Nice\n'
    games = people_of(here, text)
    assert games.people.values == {"Morphy, Paul": ("1837-06-22", "", "Nice")}
    (problem,) = games.report.problems
    assert (problem.place, problem.reason) == ("people.csv:3", reasons.CONTRADICTING_PEOPLE)


def test_an_unreadable_birth_is_counted_and_unknown(here: Path) -> None:
    games = people_of(here, 'name,born\n"Morphy, Paul",long ago\n')
    assert games.people.values == {"Morphy, Paul": ("",)}
    (problem,) = games.report.problems
    assert (problem.reason, problem.detail) == (reasons.BAD_LIFE_DATE, "1 of 1 people: long ago")


@each(
    "text, message",
    [
        ("born,died\n1837,1884\n", "has no column of names"),
        ("", "has no column of names"),
        ("name,born,birth date\nA,1,2\n", "has two columns of born"),
    ],
)
def test_a_table_without_names_or_with_two_columns_of_one_name_is_refused(
    text: str, message: str, here: Path
) -> None:
    with pytest.raises(DataError, match=message):
        people_of(here, text)


def test_a_damaged_parquet_file_is_refused(here: Path) -> None:
    (here / "people.csv").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(DataError, match="cannot be read"):
        read_people("people.csv")


@each(
    "text, years",
    [
        ("1837", 1837.5),
        ("1837-06", 1837 + 5.5 / 12),
        ("1837-01-01", 1837.0),
        ("1836-12-31", 1836 + 365 / 365.2425),
    ],
)
def test_dates_are_in_years_with_the_middle_of_what_is_unknown(text: str, years: float) -> None:
    assert date_in_years(text) == pytest.approx(years)
    assert math.isnan(date_in_years(""))


def test_a_run_keeps_people_and_gives_them_back(here: Path) -> None:
    config = api.configure(model="elo", overrides=["data.people=people.csv"])
    run = api.fit("games.csv", config, output="a.ttt")
    games = run.stored_games()
    assert games.people == read_games(["games.csv"], config.config.data).people
    assert games.report.people == read_games(["games.csv"], config.config.data).report.people
    assert run.people().to_dict("list")["born"] == ["1818", "", "1837-06-22"]
    assert [*run.select("SELECT kind, rows, used FROM inputs")[1]][-1] == ("people", 4, 3)
    assert not api.fit("games.csv", model="elo").has_rows("people")


def test_people_of_other_names_than_players_are_refused_in_a_run(here: Path) -> None:
    import duckdb

    config = api.configure(model="elo", overrides=["data.people=people.csv"])
    api.fit("games.csv", config, output="a.ttt").close()
    with duckdb.connect("a.ttt") as connection:
        connection.execute("UPDATE people SET player = 'Nobody' WHERE player = 'Morphy, Paul'")
    with pytest.raises(RunError, match="`people` holds impossible values"):
        open_run("a.ttt").people()


def test_an_update_reads_the_table_again_for_all_players(here: Path) -> None:
    config = api.configure(model="elo", overrides=["data.people=people.csv"])
    run = api.fit("games.csv", config, output="a.ttt")
    (here / "new.csv").write_text(
        'date,white,black,result\n1860,Nobody,"Morphy, Paul",0-1\n', encoding="utf-8"
    )
    (here / "people.csv").write_text(PEOPLE.replace(",USA,", ",LOU,"), encoding="utf-8")
    after = api.update(run, "new.csv", output="b.ttt").stored_games()
    assert after.people.values["Nobody"] == ("1900", "", "f", "FRA", "")
    assert after.people.values["Morphy, Paul"][3] == "LOU"
    assert (after.report.people.rows, after.report.people.used) == (4, 4)
    assert after.report.problems == ()


def test_nobody_of_the_sample_plays_as_an_infant_or_after_death() -> None:
    sample = Path(__file__).parents[2] / "sample_pgn"
    games = read_games(
        [str(sample / "classics.pgn")], DataConfig(people=str(sample / "people.csv"))
    )
    assert games.report.people.rows == games.report.people.used == 334
    born = games.people.births(games.players)
    died = [date_in_years(text) for text in games.people.column("died", games.players)]
    years = 1970 + games.date / 365.2425
    for side in (games.white, games.black):
        ages = years - born[side]
        assert ages[~(born[side] != born[side])].min() > 8
        assert not any(year > died[player] + 0.51 for year, player in zip(years, side, strict=True))
