"""Places of records: a line each, and the record's number where a line holds several."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.api import fit, read_games, update
from ttt_cli.cli import main
from ttt_cli.reading.reports import RecordPlaces, place_text

GAMES = [
    {"date": "1900", "white": white, "black": black, "result": result}
    for white, black, result in (("A", "B", "0-1"), ("A", "B", "1-0"), ("A", "C", "?"), ("C", "B", "1/2-1/2"))
]


@given(st.lists(st.integers(0, 2), max_size=12), st.lists(st.integers(0, 12), max_size=3))
def test_records_have_places_of_their_own_which_grow(steps: list[int], cuts: list[int]) -> None:
    """However the records come in parts."""
    lines, places = np.cumsum([1, *steps]), RecordPlaces()
    found = np.concatenate([places.several(part) for part in np.split(lines, sorted(cuts))]).tolist()
    assert found == sorted(set(found))
    repeated = steps.index(0) + 1 if 0 in steps else len(lines)
    records = [f" record {number}" if number > repeated else "" for number in range(1, len(lines) + 1)]
    assert [place_text("x", place) for place in found] == [
        f"x:{line}{record}" for line, record in zip(lines.tolist(), records, strict=True)
    ]


def test_a_bad_record_of_an_array_on_one_line_can_be_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.json").write_text(json.dumps([*GAMES[:2], 7, *GAMES[2:]]))
    assert main.run(["fit", "x.json", "-o", "x.ttt"]) == 0
    told = capsys.readouterr().err
    assert "bad row, 1 (x.json:1 record 3)" in told
    assert "no result, 1 (x.json:1 record 4)" in told
    assert main.run(["report", "-r", "x.ttt", "-o", "-", "-q"]) == 0
    assert "<td>x.json:1 record 4</td>" in capsys.readouterr().out
    assert main.run(["export", "games", "-r", "x.ttt", "-f", "csv"]) == 0
    assert [row.split(",")[7] for row in capsys.readouterr().out.split()] == ["line", "1", "1", "1"]
    assert main.run(["games", "x.json", "-q", "-s", "data.strict=true"]) == 3
    assert "x.json:1 record 3: bad row" in capsys.readouterr().err


@pytest.mark.parametrize("system", ["elo", "trueskill"])
def test_an_array_on_one_line_gives_what_lines_give(tmp_path: Path, system: str) -> None:
    """A loss and the win behind it are two games, not a match of one record."""
    array, lined = tmp_path / "x.json", tmp_path / "x.jsonl"
    array.write_text(json.dumps(GAMES))
    lined.write_text("".join(json.dumps(game) + "\n" for game in GAMES))
    fits = [fit(read_games(path), system) for path in (array, lined)]
    means = [run.select("SELECT player, mean FROM skills ORDER BY player")[1] for run in fits]
    assert means[0] == means[1]


@pytest.mark.slow
def test_an_update_knows_records_of_one_line_apart(tmp_path: Path) -> None:
    """Games that the run has already are told, each alone."""
    games = [{**game, "date": "1900-01-01"} for game in GAMES]
    (tmp_path / "x.json").write_text(json.dumps([*games, {**games[0], "white": "D"}]))
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(game) + "\n" for game in games))
    run = fit(read_games(tmp_path / "x.jsonl"), "elo", output=tmp_path / "x.ttt")
    files = update(run, tmp_path / "x.json").stored_games().report.files
    assert (files[1].used, files[1].noticed, files[1].dropped) == (4, {"duplicate": 3}, {"no result": 1})
