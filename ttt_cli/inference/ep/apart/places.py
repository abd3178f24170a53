"""Where a fit is to be: on a cluster, in files where memory is scarce, or in this process as a whole."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ttt_cli.cluster.client import cluster_asked, cluster_client, local_workers
from ttt_cli.config.schema import SolverConfig, size_of
from ttt_cli.errors import ConfigError
from ttt_cli.inference.ep.apart.fit import Place
from ttt_cli.inference.ep.apart.stored import Storage
from ttt_cli.timeline import Timeline


@contextmanager
def fit_place(
    solver: SolverConfig, timeline: Timeline, name: str, *, quantities: int, newcomers: bool = False
) -> Iterator[Place | None]:
    """Where the slices of a fit are to be, as the solver is configured; None: in this process, as a whole.

    `quantities` is how many a node has of the system of that name. Raises ConfigError where it has no slices.
    """
    where, scratch = cluster_asked(solver.cluster), None if solver.scratch is None else Path(solver.scratch)
    storage = None
    if solver.memory:
        storage = Storage(scratch, size_of(solver.memory), solver.threads, quantities, newcomers)
    if where is None and (storage is None or storage.holds(timeline)):
        yield None
    elif not quantities:
        raise ConfigError(
            f"{name} is not fitted {'over a cluster' if where else 'in less memory than it takes'} yet",
            hint="without --cluster (solver.cluster, $TTT_CLUSTER) and --memory (solver.memory) it is fitted whole",
        )
    elif where is None:
        assert storage is not None
        with closing(storage):
            yield storage
    else:
        from ttt_cli.inference.ep.cluster import Cluster

        with ExitStack() as stack:
            if scratch is None and local_workers(where):
                scratch = Path(
                    stack.enter_context(TemporaryDirectory(prefix="ttt-", ignore_cleanup_errors=True))
                )
            yield Cluster(stack.enter_context(cluster_client(where)), scratch)
