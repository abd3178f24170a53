"""Runs whose large tables workers of Dask write are those of one process, also when one is killed meanwhile."""

from __future__ import annotations

import os
import signal

import duckdb
import pytest

from tests.support.run_tables import tables, written_games
from ttt_cli import api
from ttt_cli.inference.ep import slices
from ttt_cli.runs import write
from ttt_cli.runs.run import open_run
from ttt_cli.support.errors import RunError

pytestmark = pytest.mark.slow


@pytest.fixture
def small(monkeypatch):
    """A few games are slices enough, and several parts."""
    monkeypatch.setattr(slices, "GAMES_EACH", 5)
    monkeypatch.setattr("ttt_cli.room.AT_ONCE", 30)


class Killing:
    """Workers of a cluster, one of whom is killed when the first part is written."""

    def __init__(self, client, work):
        self._client, self._work, self.killed = client, work, 0

    def __call__(self, worker, chains):
        for item, outcome in self._work(worker, chains):
            if not self.killed:
                self.killed = min(self._client.run(os.getpid).values())
                os.kill(self.killed, signal.SIGKILL)
            yield item, outcome


def full(_, chains):
    """Workers whose disk is full."""
    error = "IO Error: Could not write to file: No space left on device"
    yield from ((chain[0], duckdb.IOException(error)) for chain in chains)


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
def test_workers_write_what_one_process_writes(client, tmp_path, monkeypatch, small):
    """The same fit is written by both, while a worker is killed."""
    keep, place = write.write_run, tmp_path / "file.ttt"

    def both(output, *what):
        *fitted, workers = what
        killing = Killing(client, workers)
        keep(place, *fitted, killing)
        assert killing.killed
        with pytest.raises(RunError, match=r"cannot be written: .*No space left on device"):
            keep(tmp_path / "full.ttt", *fitted, full)
        keep(output, *fitted)

    monkeypatch.setattr(api, "write_run", both)
    games = written_games(tmp_path / "games.csv")
    found = api.fit(
        games, output=tmp_path / "found.ttt", growth=310.0, posterior="factorised",
        cluster=client.scheduler.address, scratch=str(tmp_path / "scratch"),
    )  # fmt: skip
    assert "2 slices of time" in " ".join(found.meta.notes)
    expected, content = tables(found), tables(open_run(place))
    for table in expected:
        assert content[table] == expected[table], table
    assert not list((tmp_path / "scratch").rglob("*.parquet"))
    assert not list(tmp_path.glob("*full*"))
