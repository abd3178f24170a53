"""Where a cluster is, and a client of it for as long as the work lasts."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ttt_cli.cluster.local import import_dask, local_scheduler
from ttt_cli.errors import ConfigError, SetupError

if TYPE_CHECKING:
    from distributed import Client

CONNECTED: Final = 30  # seconds after which a scheduler should have answered
_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_ADDRESS = re.compile(r"((tcp|tls|ucx|wss?)://)?(?!local:)[^\s/]+:\d+")
_FORMS: Final = "local:N, HOST:PORT, tls://HOST:PORT or the scheduler's FILE.json"


def cluster_asked(configured: str | None) -> str | None:
    """Where to work: as it is configured (`solver.cluster`), else `$TTT_CLUSTER`; None: without a cluster."""
    return configured or os.environ.get("TTT_CLUSTER") or None


def check_place(where: str) -> str:
    """A place as it was given. Raises ValueError for what can be none."""
    if not (_LOCAL.fullmatch(where) or _ADDRESS.fullmatch(where) or where.endswith(".json")):
        raise ValueError(f"{where!r} is no cluster: it is given as {_FORMS}")
    return where


def local_workers(where: str) -> int | None:
    """How many workers are to be begun on this machine; None for a cluster that stands."""
    found = _LOCAL.fullmatch(where)
    return int(found[1]) if found else None


@contextmanager
def cluster_client(where: str) -> Iterator[Client]:
    """A client of the cluster at `where`, which is the address of its scheduler, the file that the scheduler wrote
    (`--scheduler-file`), or `local:N`: N workers of this machine, which end with the block or with this process,
    whatever ends it. Certificates for `tls://` are those of Dask's own config.

    Raises ConfigError for what is no place, SetupError without Dask or when no scheduler answers.
    """
    try:
        check_place(where)
    except ValueError as error:
        raise ConfigError(str(error), hint="--cluster, solver.cluster or $TTT_CLUSTER says where") from error
    workers = local_workers(where)
    if not workers:
        import_dask()
    place: AbstractContextManager[str] = local_scheduler(workers) if workers else nullcontext(where)
    with place as address, _quiet(), _connected(address, workers) as client:
        yield client


@contextmanager
def _connected(where: str, workers: int | None) -> Iterator[Client]:
    from distributed import Client, Security

    if where.startswith("tls://") and not Security().get_connection_args("client").get("ssl_context"):
        raise SetupError(
            f"{where} asks for certificates",
            hint="distributed.comm.tls in Dask's config names them (docs/cluster.md)",
        )
    at = {"scheduler_file": where} if where.endswith(".json") else {"address": where}
    if where.endswith(".json") and not Path(where).is_file():
        raise SetupError(f"there is no {where}", hint="dask scheduler --scheduler-file writes it")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions, which the work itself looks at
            client = Client(**at, timeout=CONNECTED, set_as_default=False, name="ttt")
        if workers:
            client.wait_for_workers(workers, timeout=CONNECTED)
    except Exception as error:
        raise SetupError(
            f"no Dask scheduler answers at {where}", hint=f"is it running? {error or type(error).__name__}"
        ) from error
    with client:
        yield client


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing of what Dask logs in this process: what ends the work is told as an error."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    levels = {name: logging.getLogger(name).level for name in names}
    try:
        for name in names:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
