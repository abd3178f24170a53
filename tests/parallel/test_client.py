"""Where a cluster is; one of this machine that ends with whoever began it; clear words where there is none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import psutil
import pytest

from tests.support.cases import each
from tests.support.handmade import RECORDS, games_of
from ttt_cli.api import configure, fit, open_run
from ttt_cli.evaluate.grid import run_config
from ttt_cli.parallel.cluster import check_address, cluster_asked, cluster_client, local_workers
from ttt_cli.support.errors import ConfigError, SetupError

if TYPE_CHECKING:
    from distributed import Client

needs_signals = pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")


@each(
    "where",
    ["local:2", "host:8786", "tcp://10.0.0.1:8786", "tls://[::1]:8786", "/shared/scheduler.json"],
)
def test_places(where: str) -> None:
    assert check_address(where) == where
    assert configure(cluster=where).config.solver.cluster == where
    assert local_workers(where) == (2 if where == "local:2" else None)


@each("where", ["", "local", "local:0", "host", "tcp://host", "http://host:1", "a b:1"])
def test_what_is_no_place_is_refused_wherever_it_stands(where: str) -> None:
    with pytest.raises(ConfigError, match=r"local:N, HOST:PORT"):
        configure(cluster=where)
    with pytest.raises(ConfigError, match=r"is no cluster") as caught, cluster_client(where):
        pass
    assert "TTT_CLUSTER" in (caught.value.hint or "")


def test_the_environment_says_where_when_the_config_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TTT_CLUSTER", raising=False)
    assert cluster_asked(None) is None
    monkeypatch.setenv("TTT_CLUSTER", "local:3")
    assert cluster_asked(None) == "local:3"
    assert cluster_asked("local:2") == "local:2"


@pytest.mark.slow
def test_a_run_never_says_where_to_work(tmp_path: Path, client: Client) -> None:
    """Whoever is asked to work for it could run code here."""
    place = tmp_path / "a.ttt"
    fit(games_of(RECORDS), configure(cluster=client.scheduler.address), output=place)
    assert "cluster" not in open_run(place).meta.config["solver"]
    with duckdb.connect(str(place)) as connection:
        connection.execute(
            'UPDATE meta SET value = replace(value, \'"tol"\', \'"cluster":"tcp://far.example:1","tol"\')'
        )
    assert run_config(open_run(place), []).config.solver.cluster is None


@pytest.mark.slow
def test_without_dask_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SetupError, match="not installed") as caught, cluster_client("local:2"):
        pass
    assert caught.value.hint == "pip install 'ttt-ratings[cluster]'"


@pytest.mark.slow
def test_nothing_of_dask_is_imported_before_a_cluster_is_asked_for() -> None:
    modules = "ttt_cli.api, ttt_cli.parallel.cluster, ttt_cli.evaluate.grid"
    script = (
        f"import sys, {modules}; print([n for n in sys.modules if n in ('dask', 'distributed')])"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"


@pytest.mark.slow
def test_no_scheduler_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttt_cli.parallel.cluster.CONNECTED", 0.1)
    with (
        pytest.raises(SetupError, match="no Dask scheduler answers"),
        cluster_client("127.0.0.1:9"),
    ):
        pass
    with (
        pytest.raises(SetupError, match="there is no"),
        cluster_client(str(tmp_path / "none.json")),
    ):
        pass
    with (
        pytest.raises(SetupError, match="asks for certificates"),
        cluster_client("tls://127.0.0.1:9"),
    ):
        pass


@pytest.mark.slow
def test_a_local_cluster_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ttt_cli.parallel.cluster._SCHEDULER_PROGRAM", "raise RuntimeError('no room')"
    )
    with pytest.raises(SetupError, match="did not start") as caught, cluster_client("local:1"):
        pass
    assert caught.value.hint == "RuntimeError: no room"


SCRIPT = """
    import os, sys, time
    from ttt_cli.parallel.cluster import cluster_client

    with cluster_client("local:2") as client:
        opened = os.open, sys.argv[1], os.O_WRONLY
        held = [*client.run(*opened), client.run_on_scheduler(*opened)]
        waiting = [client.submit(time.sleep, 1000 + i) for i in range(3)]
        print(len(held), flush=True)
        sys.stdin.read()
"""


@pytest.mark.slow
@needs_signals
@pytest.mark.parametrize("name", [None, pytest.param("SIGINT", marks=pytest.mark.large), "SIGKILL"])
def test_a_local_cluster_ends_with_whoever_began_it(name: str | None, tmp_path: Path) -> None:
    """And such a script needs no guard against being run by the workers, who leave nothing behind."""
    script, fifo = tmp_path / "script.py", tmp_path / "fifo"
    script.write_text(textwrap.dedent(SCRIPT))
    os.mkfifo(fifo)
    held = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    (tmp_path / "temporary").mkdir()
    with subprocess.Popen(
        [sys.executable, str(script), str(fifo)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"3\n"
        if name is not None:
            os.killpg(parent.pid, getattr(signal, name))
        parent.communicate()
    os.set_blocking(held, True)
    assert os.read(held, 1) == b""  # when the last who held it is gone
    os.close(held)
    assert list((tmp_path / "temporary").iterdir()) == []


def listening() -> int:
    """The number of ports on which this process answers."""
    return sum(one.status == "LISTEN" for one in psutil.Process().net_connections("inet"))


@pytest.mark.slow
def test_a_local_cluster_answers_on_nothing_but_its_own_ports(client: Client) -> None:
    """No dashboard, and no other server of Dask's over HTTP."""
    assert [client.run_on_scheduler(listening), *client.run(listening).values()] == [1, 1, 1]
