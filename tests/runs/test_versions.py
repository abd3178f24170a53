"""Runs of every format there has been, each fitted from tests/fixtures/runs/games.csv by a ttt of its time."""

from __future__ import annotations

import gzip
from pathlib import Path

import duckdb
import pytest

from ttt_cli.api import fit, top, update
from ttt_cli.cli.main import run as ttt
from ttt_cli.runs.run import open_run
from ttt_cli.runs.schema import FORMAT
from ttt_cli.support.errors import RunError

FIXTURES = Path(__file__).parents[1] / "fixtures" / "runs"
GAMES = FIXTURES / "games.csv"
FURTHER = 'date,white,black,result\n1870,Neumann,"Steinitz, William",0-1\n'


@pytest.fixture
def old_run(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    place = tmp_path / "old run.ttt"
    place.write_bytes(gzip.decompress((FIXTURES / f"format-{request.param}.ttt.gz").read_bytes()))
    return place


def test_a_run_of_every_format_is_kept() -> None:
    kept = {file.name for file in FIXTURES.glob("*.gz")}
    assert kept == {f"format-{number}.ttt.gz" for number in range(1, FORMAT + 1)}


@pytest.mark.slow
@pytest.mark.parametrize("old_run", range(1, FORMAT), indirect=True)
def test_an_older_format_is_refused_with_the_command_that_replaces_it(
    old_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = old_run.read_bytes()
    with pytest.raises(RunError, match=f"this one opens format {FORMAT}") as raised:
        open_run(old_run)
    hint = raised.value.hint or ""
    assert f"`ttt fit FILE... -o '{old_run}'`" in hint
    monkeypatch.chdir(FIXTURES)
    for command in (["top"], ["player", "Morphy"], ["evidence"], ["export", "skills"]):
        assert ttt([*command, "-r", str(old_run)]) == 2
    assert ttt(["update", str(old_run), "games.csv"]) == 2
    assert capsys.readouterr().err.count(hint) == 5
    assert old_run.read_bytes() == before
    assert ttt(["fit", "games.csv", "-o", str(old_run), "-q"]) == 0
    assert open_run(old_run).meta.format == FORMAT


@pytest.mark.slow
@pytest.mark.parametrize("old_run", [FORMAT], indirect=True)
def test_the_first_run_of_this_format_answers_as_a_new_one(old_run: Path, tmp_path: Path) -> None:
    old = open_run(old_run)
    new = fit(GAMES, model=old.meta.model, posterior=old.meta.posterior)
    here, there = old.skills(), new.skills()
    assert here[["player", "period", "games"]].equals(there[["player", "period", "games"]])
    assert (here[["mean", "sd"]] - there[["mean", "sd"]]).abs().max().max() < 0.01
    assert list(top(old, "1858").player) == list(top(new, "1858").player)
    assert old.games()[["date", "white", "black", "result"]].equals(
        new.games()[["date", "white", "black", "result"]]
    )
    for command in (
        ["player", "Morphy"],
        ["versus", "Morphy", "Anderssen"],
        ["evidence"],
        ["players"],
        ["export", "skills"],
    ):
        assert ttt([*command, "-r", str(old_run), "-q"]) == 0
    further = tmp_path / "further.csv"
    further.write_text(FURTHER, encoding="utf-8")
    assert update(old_run, further).meta.games == 13


@pytest.mark.parametrize("old_run", [FORMAT], indirect=True)
def test_a_newer_format_asks_for_a_newer_ttt(old_run: Path) -> None:
    with duckdb.connect(str(old_run)) as database:
        database.execute(f"UPDATE meta SET value = '{FORMAT + 1}' WHERE key = 'format'")
    with pytest.raises(
        RunError, match=f"in format {FORMAT + 1}; this one knows formats to {FORMAT}"
    ) as raised:
        open_run(old_run)
    assert (raised.value.hint or "").startswith("upgrade ttt")
