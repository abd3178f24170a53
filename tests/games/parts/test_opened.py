"""Which games lie in files, where, and how long; and that a fit of them is that of games in memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.games.parts.test_read import same, write_files
from ttt_cli import api
from ttt_cli.config.schema import DataConfig, SolverConfig
from ttt_cli.games.parts import read
from ttt_cli.games.parts.opened import games_for
from ttt_cli.games.players.careers import careers_of
from ttt_cli.games.read import read_games
from ttt_cli.games.selection.groups import find_groups
from ttt_cli.room import MEMORY, FileRoom
from ttt_cli.views.ingest.summary import warning_lines

DATA = DataConfig()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("TTT_CLUSTER", raising=False)
    monkeypatch.setattr(read, "RECORDS", 100)
    (tmp_path / "files").mkdir()
    return write_files(tmp_path / "files")


@pytest.mark.parametrize("keys", [{"memory": "1GB"}, {"cluster": "local:2"}])
def test_games_lie_in_files_of_the_scratch_folder_as_long_as_they_are_used(tmp_path, folder, keys):
    scratch = tmp_path / "scratch"
    with games_for([folder], DATA, SolverConfig(**keys, scratch=str(scratch))) as games:
        same(read_games([folder]), games)
        assert games.room is not MEMORY
        assert list(scratch.iterdir())
    assert not list(scratch.iterdir())


class Ended(Exception):
    """Ctrl-C, for instance."""


def test_games_of_a_fit_that_ended_are_used_by_the_next_that_asks_for_them(tmp_path, folder, monkeypatch):
    scratch, told = tmp_path / "scratch", []
    solver = SolverConfig(memory="1GB", scratch=str(scratch))

    def ended(data=DATA):
        with pytest.raises(Ended), games_for([folder], data, solver, tell=told.append):
            raise Ended

    ended()
    with monkeypatch.context() as patch:
        patch.setattr("ttt_cli.games.parts.opened.read_in_parts", None)
        ended()
        with games_for([folder], DATA, solver, tell=told.append) as games:
            same(read_games([folder]), games)
            assert games.room.rows == FileRoom(tmp_path).rows
    assert told == ["games are those that a fit which was ended has read"] * 2
    assert not list(scratch.iterdir())
    ended()
    other = DataConfig(names="clean")
    ended(other)
    assert len(list(scratch.iterdir())) == 1
    first = sorted(place for place in folder.rglob("*") if place.is_file())[0]
    os.utime(first, ns=(0, 0))
    with games_for([folder], other, solver, tell=told.append) as games:
        same(read_games([folder], other), games)
        assert len(list(scratch.iterdir())) == 1
    assert len(told) == 2
    assert not list(scratch.iterdir())


def test_games_that_are_at_work_are_read_by_another_for_itself(tmp_path, folder):
    solver = SolverConfig(memory="1GB", scratch=str(tmp_path / "scratch"))
    with games_for([folder], DATA, solver) as one, games_for([folder], DATA, solver) as other:
        assert one.room.folder != other.room.folder
        same(one, other)


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
def test_games_of_a_process_that_was_killed_are_used_again(tmp_path, folder, monkeypatch):
    solver = SolverConfig(memory="1GB", scratch=str(tmp_path / "scratch"))
    script = f"""
import os, signal
from ttt_cli.config.schema import DataConfig, SolverConfig
from ttt_cli.games.parts.opened import games_for
with games_for([{str(folder)!r}], DataConfig(), SolverConfig(memory="1GB", scratch={solver.scratch!r})):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    monkeypatch.setattr("ttt_cli.games.parts.opened.read_in_parts", None)
    with games_for([folder], DATA, solver) as games:
        same(read_games([folder]), games)


def test_without_such_wishes_games_are_in_memory(folder, monkeypatch):
    with games_for([folder], DATA, SolverConfig()) as games:
        assert games.room is MEMORY
    with games_for([folder], DATA, SolverConfig(cluster="10.0.0.5:8786")) as games:
        assert games.room is MEMORY  # other machines need not find what is written here


def test_what_needs_all_games_is_read_as_a_whole_and_told(folder):
    told = []
    data = DataConfig.model_validate({"filter": {"min_games": 3}})
    with games_for([folder], data, SolverConfig(memory="1GB"), tell=told.append) as games:
        same(read_games([folder], data), games)
    assert told == ["all games are held in memory: --min-games and --largest-group look at all games"]


def test_a_fit_of_games_in_files_is_that_of_games_in_memory(tmp_path, folder):
    whole = api.fit(folder, posterior="factorised")
    parts = api.fit(folder, posterior="factorised", memory="1GB", scratch=str(tmp_path / "scratch"))
    assert parts.meta.log_evidence == pytest.approx(whole.meta.log_evidence, rel=1e-9)
    for table in ("skills", "players", "games"):
        one, other = getattr(whole, table)(), getattr(parts, table)()
        assert one.columns.tolist() == other.columns.tolist()
        for name in one.columns:
            if one[name].dtype == np.float64:
                assert other[name].to_numpy() == pytest.approx(one[name].to_numpy(), rel=1e-9, nan_ok=True)
            else:
                assert one[name].tolist() == other[name].tolist()


def test_what_is_said_of_games_in_files_is_what_is_said_of_games_in_memory(tmp_path, folder):
    with games_for([folder], DATA, SolverConfig(memory="1GB")) as games:
        whole, parts = read_games([folder]), replace(games, room=FileRoom(tmp_path, rows=7))
        for lines in (
            find_groups,
            careers_of,
            lambda some: [*warning_lines(some)],
            lambda some: some.draw_share,
        ):
            one, other = lines(whole), lines(parts)
            assert str(one) == str(other)
