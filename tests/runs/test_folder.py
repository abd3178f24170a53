"""Runs that are folders hold what runs in one file hold, and are asked, replaced and refused like those."""

from __future__ import annotations

import shutil

import duckdb
import pytest

from tests.support.run_tables import tables, written_games
from ttt_cli import api
from ttt_cli.cli.main import run as ttt
from ttt_cli.errors import RunError
from ttt_cli.runs import folder
from ttt_cli.runs.evidence import EvidencePoint
from ttt_cli.runs.locate import runs_here
from ttt_cli.runs.run import open_run
from ttt_cli.runs.storing import store

KEYS = {"posterior": "factorised"}


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    return written_games(tmp_path_factory.mktemp("games") / "games.csv")


@pytest.fixture
def both(games, tmp_path, monkeypatch):
    """The same run as a file and as a folder."""
    monkeypatch.setattr("ttt_cli.room.AT_ONCE", 7)
    whole = api.fit(games, output=tmp_path / "whole.ttt", **KEYS)
    parts = api.fit(games, output=tmp_path / "parts.ttt", run_size="1KB", memory="1GB", **KEYS)
    return whole, parts


def test_a_folder_holds_what_a_file_holds(both):
    whole, parts = both
    assert parts.path.is_dir()
    assert whole.path.is_file()
    assert {place.name.partition("-")[0] for place in parts.path.glob("*.parquet")} == {*folder.LARGE}
    one, other = tables(whole), tables(parts)
    for name in one:
        assert other[name] == one[name], name
    assert parts.stored_games().event[3] == whole.stored_games().event[3]
    assert parts.games().equals(whole.games())
    assert parts.skills().equals(whole.skills())
    assert not {"cluster", "memory", "run_size"} & {*parts.meta.config["solver"]}


@pytest.mark.parametrize(
    "command",
    [
        "top",
        "top --at 1904 --scale points",
        "player P1",
        "versus P1 P2",
        "players",
        "top --leaders --each",
        "export games -r {}",
    ],
)
def test_commands_say_the_same_of_both(both, capfd, command):
    said = []
    for run in both:
        words = command.split() if "{}" in command else [*command.split(), "-r", "{}"]
        code = ttt([word.format(run.path) for word in words])
        said.append((code, capfd.readouterr().out))
    assert said[0] == said[1]
    assert said[0][0] == 0


def test_a_folder_is_found_replaced_and_removed_like_a_file(both, games, tmp_path, monkeypatch):
    whole, parts = both
    monkeypatch.chdir(tmp_path)
    assert {place.name for place, _ in runs_here()} == {"whole.ttt", "parts.ttt"}
    before = parts.meta.created
    again = api.fit(games, output=parts.path, run_size="1KB", **KEYS)
    assert again.meta.created > before
    assert api.fit(games, output=parts.path, **KEYS).path.is_file()
    assert api.fit(games, output=whole.path, run_size="1KB", **KEYS).path.is_dir()
    assert {place.name for place in tmp_path.iterdir()} == {"whole.ttt", "parts.ttt"}


def test_evidence_is_kept_in_a_folder(both):
    _, parts = both
    with parts:
        point = parts.evidence_points()[0]
    other = EvidencePoint.from_row(("{}", *point.to_row()[1:]))
    parts.store_evidence([other])
    parts.merge_evidence()
    assert len(open_run(parts.path).evidence_points()) == 2
    assert len(open_run(parts.path).skills())


def test_a_write_that_is_broken_off_leaves_the_old_folder(both, games, monkeypatch):
    _, parts = both
    before = {place.name: place.stat().st_mtime_ns for place in parts.path.iterdir()}

    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "fill", broken)
    with pytest.raises(KeyboardInterrupt):
        api.fit(games, output=parts.path, run_size="1KB", **KEYS)
    assert {place.name: place.stat().st_mtime_ns for place in parts.path.iterdir()} == before


def last_file(run, table):
    return sorted(run.path.glob(f"{table}-*.parquet"))[-1]


@pytest.mark.parametrize(("table", "from_end"), [("spans", 300), ("game_rows", 6), ("game_texts", 0)])
def test_damaged_files_are_told(both, table, from_end):
    """A byte of them flipped, or the end cut off."""
    _, parts = both
    file = last_file(parts, table)
    content = bytearray(file.read_bytes())
    content[-from_end] ^= 1
    file.write_bytes(content if from_end else content[:-9])
    with pytest.raises(RunError, match=f"its file {file.name} is damaged") as caught:
        open_run(parts.path).players()
    assert caught.value.hint == "copy or move such a folder as a whole, or fit the games again"


def test_missing_files_and_those_of_other_runs_are_told(both):
    _, parts = both
    file = last_file(parts, "game_texts")
    other = file.rename(file.with_name("game_texts-9.parquet"))
    with pytest.raises(RunError, match=f"its file {file.name} is missing"):
        open_run(parts.path).players()
    shutil.copy(other, file)
    with pytest.raises(RunError, match=f"{other.name} is no file of this run"):
        open_run(parts.path).players()


def test_files_of_others_and_missing_ones_are_refused(both, tmp_path):
    """In a run that says nothing of its files."""
    _, parts = both
    with duckdb.connect(str(parts.path / folder.MAIN)) as database:
        database.execute(f"DELETE FROM meta WHERE key = '{folder.FILES}'")
    strange = tmp_path / "strange.ttt"
    shutil.copytree(parts.path, strange)
    first, *others = sorted(strange.glob("spans-*.parquet"))
    duckdb.execute(f"COPY (SELECT 1 AS player) TO '{others[-1]}'")
    with pytest.raises(RunError, match=f"Failed to read file .*{others[-1].name}"):
        open_run(strange).skills()
    duckdb.execute(f"COPY (SELECT 1 AS player) TO '{first}'")
    with pytest.raises(RunError, match="files of spans are not those that ttt makes"):
        open_run(strange).skills()
    shutil.rmtree(strange)
    shutil.copytree(parts.path, strange)
    next(strange.glob("game_rows-*.parquet")).unlink()
    with pytest.raises(RunError, match="game_rows` holds what cannot be"):
        open_run(strange).games()
    (tmp_path / "empty.ttt").mkdir()
    with pytest.raises(RunError, match="is a folder"):
        open_run(tmp_path / "empty.ttt")
