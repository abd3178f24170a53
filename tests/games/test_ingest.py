"""Records become games: the first reject_code counts, players are numbered by name, games sorted by date."""

from __future__ import annotations

import numpy as np

from tests.support.cases import each
from ttt_cli.games.read import Collector
from ttt_cli.games.table import Games
from ttt_cli.reading.batches import FileRecords, text_table

Record = tuple[str, str, str, str]


def collect(*files: list[Record], weights: list[str] | None = None) -> Games:
    collector = Collector()
    for number, rows in enumerate(files):
        names = ("dates", "whites", "blacks", "results")
        columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
        columns |= {} if weights is None else {"weights": weights[: len(rows)]}
        records = FileRecords(f"file{number}", text_table(range(1, len(rows) + 1), columns))
        collector.add(records, "csv", digest="", size=0)
    return collector.games()


def test_columns() -> None:
    games = collect([("1859", "Z", "B", "1-0"), ("1858", "B", "A", "0-1"), ("1858", "A", "Z", "1/2-1/2")])
    assert games.players == ("A", "B", "Z")
    assert games.white.tolist() == [1, 0, 2]
    assert games.black.tolist() == [0, 2, 1]
    assert games.outcome.tolist() == [0, 1, 2]
    assert games.weight.tolist() == [1.0, 1.0, 1.0]
    assert games.source_line.tolist() == [2, 3, 1]
    assert games.date_precision.tolist() == [0, 0, 0]
    assert (
        games.date.astype("datetime64[D]") == np.array(["1858-07-02", "1858-07-02", "1859-07-02"], "M8[D]")
    ).all()


def test_several_files_keep_their_order_within_a_date() -> None:
    rows = [("1858", "A", "B", "1-0"), ("1857", "A", "B", "0-1")]
    games = collect(rows, rows)
    assert games.source_file.tolist() == [0, 1, 0, 1]
    assert games.source_line.tolist() == [2, 2, 1, 1]
    assert [(file.path, file.rows, file.used) for file in games.report.files] == [
        ("file0", 2, 2),
        ("file1", 2, 2),
    ]


def test_players_without_a_game_are_nobody() -> None:
    assert collect([("1858", "A", "B", "1-0"), ("1858", "C", "D", "*"), ("", "E", "A", "1-0")]).players == (
        "A",
        "B",
    )


@each(
    "row, reason",
    [
        (("", "", "NN", "*"), "no player"),
        (("", "NN", "?", "*"), "no player"),
        (("", "A", "NN", "*"), "unnamed player"),
        (("", "NN", "NN", "*"), "unnamed player"),
        (("", "A", "A ", "*"), "same player twice"),
        (("", "A", "B", "*"), "no date"),
        (("soon", "A", "B", "*"), "bad date"),
        (("1858.02.30", "A", "B", "*"), "no result"),
        (("1858", "A", "B", "+:-"), "forfeit"),
        (("1858", "A", "B", "quickly"), "unknown result"),
    ],
)
def test_the_first_fault_counts(row: Record, reason: str) -> None:
    report = collect([("1858", "A", "B", "1-0"), row], weights=["1", "none"]).report
    assert (report.rows, report.used, report.dropped) == (2, 1, {reason: 1})
    assert [(p.file, p.line, p.reason, p.action) for p in report.problems] == [
        ("file0", 2, reason, "dropped")
    ]


def test_weights() -> None:
    rows = [("1858", "A", "B", "1-0")] * 8
    weights = ["1", " 2.5 ", "0,5", "0", "-1", "nan", "inf", ""]
    games = collect(rows, weights=weights)
    assert games.weight.tolist() == [1.0, 2.5, 0.5]
    assert games.report.dropped == {"bad weight": 5}
