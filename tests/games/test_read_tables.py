"""The same games as CSV, TSV, JSON objects and Parquet are the same games."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.reference.tables import PlainTableReader
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.games.table import GAME_COLUMNS, Games
from ttt_cli.support.errors import DataError

CSV = (
    "date,white,black,result,event,round,weight\n"
    '1858.06.15,"Morphy, Paul","Anderssen, Adolf",1-0,Paris,1,1\n'
    '1858-06,"Löwenthal, J",Morphy P,1/2-1/2,"London ""match""",,2.5\n'
    "1859,NN,A,1-0,,,1\n"
    "1860,B,,0-1,,,1\n"
    "1860,B,A,0-1,,,0\n"
)


def same(one: Games, other: Games) -> bool:
    columns = all(
        (getattr(one, name) == getattr(other, name)).all() for name in GAME_COLUMNS if name != "source_line"
    )
    return columns and one.players == other.players and one.report.dropped == other.report.dropped


def forms(folder: Path) -> dict[str, bytes]:
    """The table in every form that is read."""
    (folder / "games.csv").write_text(CSV, encoding="utf-8")
    written = f"FROM read_csv('{folder}/games.csv', all_varchar = true)"
    with duckdb.connect() as connection:
        for name, options in {
            "tsv": "DELIMITER '\t'",
            "jsonl": "FORMAT json",
            "parquet": "FORMAT parquet",
        }.items():
            connection.execute(f"COPY ({written}) TO '{folder}/games.{name}' ({options})")
    found = {path.suffix[1:]: path.read_bytes() for path in folder.iterdir()}
    found["array"] = json.dumps([json.loads(line) for line in found["jsonl"].splitlines()], indent=2).encode()
    return found


def test_one_table_in_many_forms(tmp_path: Path) -> None:
    contents = forms(tmp_path)
    expected = read_games([io.BytesIO(contents.pop("csv"))])
    assert (expected.report.rows, expected.report.used) == (5, 2)
    kinds = {"tsv": "csv", "array": "jsonl"}
    for form, content in contents.items():
        for packed in (content, gzip.compress(content)):
            games = read_games([io.BytesIO(packed)])
            assert games.report.files[0].kind == kinds.get(form, form)
            assert same(games, expected), form
        lines = {"tsv": [2, 3], "jsonl": [1, 2], "parquet": [1, 2], "array": [2, 11]}
        assert games.source_line.tolist() == lines[form]


def test_the_format_may_be_given(tmp_path: Path) -> None:
    expected = read_games([io.BytesIO(forms(tmp_path)["csv"])])
    for form, content in forms(tmp_path).items():
        config = DataConfig(format="jsonl" if form == "array" else form)  # type: ignore[arg-type]
        assert same(read_games([io.BytesIO(content)], config), expected), form
    tabs = b"year\twhite\tblack\tresult\n1858\tA;B;C;D\tE;F;G;H\t1\n"
    assert read_games([io.BytesIO(tabs)], DataConfig(format="tsv")).players == ("A;B;C;D", "E;F;G;H")


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_a_format_that_it_is_not(kind: str) -> None:
    with pytest.raises(DataError, match=r"as Parquet|not JSON"):
        read_games([io.BytesIO(CSV.encode())], DataConfig(format=kind))  # type: ignore[arg-type]


def test_a_table_is_read_as_by_the_csv_module(monkeypatch: pytest.MonkeyPatch) -> None:
    from ttt_cli.reading import delimited

    chance = random.Random(1851)
    rows = ["year,month,day,white,black,games,score,event,status"]
    for _ in range(1000):
        white, black = chance.sample("ABCDEFGH", 2)
        games = chance.choice(["", "1", "4", "5"])
        score = chance.choice(["0", "0.5", "1", "1", "x", '"2"', '""'])
        date = f"{chance.randint(1840, 1845)},{chance.randint(0, 12)},{chance.choice(['', '7', '31'])}"
        rows.append(f'{date},"{white} ""x""",{black},{games},{score},"E, {chance.randint(1, 9)}",formal')
    content = "\n".join([*rows[:500], "a,row,too,short", *rows[500:]]).encode()
    expected = read_games([io.BytesIO(content)])
    assert expected.report.dropped["bad row"] == 1
    monkeypatch.setattr(delimited, "TableReader", PlainTableReader)
    games = read_games([io.BytesIO(content)])
    assert same(games, expected)
    assert (games.source_line == expected.source_line).all()
    assert games.report.problems == expected.report.problems


@pytest.mark.slow
def test_a_small_table_waits_for_nothing_heavy_and_no_table_for_pandas() -> None:
    program = (
        "import io, sys; from ttt_cli.games.read import read_games; "
        "read_games([io.BytesIO(b'date,white,black,result\\n1858,A,B,1-0\\n')]); "
        'read_games([io.BytesIO(b\'{"date": 1858, "white": "A", "black": "B", "result": 1}\')]); '
        "print(*{'duckdb', 'pandas'} & set(sys.modules)); "
        "read_games([io.BytesIO(b'date,white,black,result\\n' + 400_000 * b'1858,A,B,1-0\\n')]); "
        "print(*{'duckdb', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["", ""]
