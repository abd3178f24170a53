"""What all tests share: hypothesis without deadlines (kernels compile at first use), and where real data may be."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from tests.support.browser import CHROMIUM, Browser, running_browser
from tests.support.command_server import Server
from tests.support.handmade import RECORDS, Record, write_small_run
from tests.support.strategies import BY_DAY
from ttt_cli.parallel.processes import available_cores
from ttt_cli.runs.run import Run, open_run
from ttt_cli.support.progress import SILENT

if TYPE_CHECKING:
    from distributed import Client

settings.register_profile("ttt", deadline=None, derandomize=True, max_examples=BY_DAY)
settings.register_profile("nightly", deadline=None, max_examples=5 * BY_DAY)  # others every night
settings.load_profile("ttt")

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"


def pytest_xdist_auto_num_workers() -> int:
    """One more than cores: workers also wait, for disks, browsers and other processes."""
    return available_cores() + 1


def pytest_configure(config: pytest.Config) -> None:
    """Before workers of the whole suite start: kernels compiled once for all.

    No threads for small matrices, which cost 20 times as much with other loads beside; Python's own compiled files are
    kept whatever the environment says, since each of many processes would compile the package anew; interrupts are
    heard also in the background of a shell.
    """
    gc.disable()  # while tests are collected nothing is garbage
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    threadpool_limits(1)  # numpy is loaded here already
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    workers = config.getoption("numprocesses", None)
    if (
        workers
        and config.args_source is pytest.Config.ArgsSource.TESTPATHS
        and not hasattr(config, "workerinput")
    ):
        from ttt_cli.kernels.warm import every_kernel, warm

        warm(every_kernel(), SILENT, jobs=workers)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long runs only where it is asked for."""
    if "large" not in config.getoption("markexpr", ""):
        large = [item for item in items if item.get_closest_marker("large")]
        config.hook.pytest_deselected(items=large)
        items[:] = [item for item in items if item not in large]


def pytest_collection_finish() -> None:
    """Before the first test: what is loaded stays, and need not be looked at for garbage again and again."""
    gc.enable()
    gc.freeze()


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # DuckDB counts what is left at the end


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data, where there is one."""
    if not DATA.is_dir():
        pytest.skip(f"no real data at {DATA}")
    return DATA


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """Runs of some records, to be read only: each is written once."""

    @cache
    def made(*records: Record, further: str | None = None) -> Run:
        place = tmp_path_factory.mktemp("small") / ("d.ttt" if further else "a.ttt")
        write_small_run(place, records or RECORDS, further=further)
        return open_run(place)

    return made


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """For the pages, which run a hundred commands; those with their own starts are in tests/cli/test_processes.py.

    All workers share it.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with Server(shared / "server") as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all pages."""
    if CHROMIUM is None:
        pytest.skip("no chromium here")
    with running_browser() as running:
        yield running


@pytest.fixture(scope="session")
def cluster() -> "Iterator[Client]":
    """A Dask cluster of two workers on this machine."""
    from ttt_cli.parallel.cluster import cluster_client

    with cluster_client("local:2") as found:
        yield found


@pytest.fixture
def client(cluster: "Client") -> "Client":
    """It, when both are there, also after a test that killed one."""
    cluster.wait_for_workers(2)
    return cluster
