"""Workers of Dask read files into a folder that all of them find, also when one is killed meanwhile."""

from __future__ import annotations

import os
import signal

import pytest

from tests.games.parts.test_read import same, write_files
from ttt_cli.config.schema import DataConfig, SolverConfig
from ttt_cli.games.parts import read
from ttt_cli.games.parts.opened import games_for
from ttt_cli.games.read import read_games

pytestmark = pytest.mark.slow


class Killing:
    """Progress that kills a worker of a cluster when the first file has been read."""

    def __init__(self, client):
        self._client, self.killed = client, 0

    def task(self, *_):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def advance(self, *_):
        if not self.killed:
            pids = self._client.run(os.getpid)
            self.killed = min(pids.values())
            os.kill(self.killed, signal.SIGKILL)


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
def test_workers_read_what_one_process_reads_though_one_is_killed(client, tmp_path, monkeypatch):
    monkeypatch.setattr(read, "RECORDS", 100)
    (tmp_path / "files").mkdir()
    folder = write_files(tmp_path / "files")
    solver = SolverConfig(cluster=client.scheduler.address, scratch=str(tmp_path / "scratch"))
    progress = Killing(client)
    with games_for([folder], DataConfig(), solver, progress=progress) as games:
        same(read_games([folder]), games)
    assert progress.killed
