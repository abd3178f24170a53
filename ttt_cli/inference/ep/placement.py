"""Where the slices of a fit are to be, as the solver is configured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from ttt_cli.config.schema import SolverConfig, size_of
from ttt_cli.inference.ep.slices_in_files import FilesPlacement
from ttt_cli.inference.ep.slices_on_cluster import Cluster
from ttt_cli.inference.ep.transport import Placement
from ttt_cli.parallel.cluster import cluster_asked, cluster_client, local_workers
from ttt_cli.support.errors import ConfigError
from ttt_cli.support.replacing import temporary_folder
from ttt_cli.timeline import Timeline


@contextmanager
def placement_of(
    solver: SolverConfig, timeline: Timeline, name: str, *, quantities: int, newcomers: bool = False
) -> Iterator[Placement | None]:
    """Files or a cluster; None: in this process, as one slice.

    `quantities`: how many a node has in the system of that name, 0 if this is not fitted in slices. Raises ConfigError
    for such a system if a cluster is asked for, or if the fit takes more than the memory that is allowed.
    """
    address = cluster_asked(solver.cluster)
    scratch = None if solver.scratch is None else Path(solver.scratch)
    storage = None
    if address is None and solver.memory:
        storage = FilesPlacement(
            scratch, size_of(solver.memory), solver.threads, quantities, newcomers
        )
    if address is None and (storage is None or storage.fits_in_memory(timeline)):
        yield None
    elif not quantities:
        raise ConfigError(
            f"{name} is not fitted {'over a cluster' if address else 'in less memory than it takes'} yet",
            hint="without --cluster (solver.cluster, $TTT_CLUSTER) and --memory (solver.memory) it is fitted whole",
        )
    elif storage is not None:
        with closing(storage):
            yield storage
    elif address is not None:
        with ExitStack() as stack:
            if scratch is None and local_workers(address):
                scratch = stack.enter_context(temporary_folder("cluster"))
            yield Cluster(stack.enter_context(cluster_client(address)), scratch)
