"""Games as a fit is to have them: in files where little memory or a cluster is asked for, else in memory."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ttt_cli.cluster.chains import chain_workers
from ttt_cli.cluster.client import cluster_asked, local_workers
from ttt_cli.config.schema import DataConfig, SolverConfig
from ttt_cli.games.parts.kept import Kept
from ttt_cli.games.parts.read import read_in_parts, why_whole
from ttt_cli.games.read import files_named, read_games
from ttt_cli.games.table import Games
from ttt_cli.progress import SILENT, Progress
from ttt_cli.reading.many import jobs_for
from ttt_cli.reading.sources import Named
from ttt_cli.reading.streams import Input
from ttt_cli.room import folder_of_files


@contextmanager
def games_for(
    named: Sequence[Named],
    data: DataConfig,
    solver: SolverConfig,
    *,
    progress: Progress = SILENT,
    tell: Callable[[str], object] = lambda _: None,
) -> Iterator[Games]:
    """The games in files, for as long as the block lasts; `tell` gets what is to be known of how they were read.

    In `solver.scratch` they stay where the block raises, for the next that asks for them.
    Raises as `read_games`, and SetupError when there is no room for files.
    """
    where = cluster_asked(solver.cluster)
    local = None if where is None else local_workers(where)
    if not (solver.memory or local or (where and solver.scratch)):
        yield read_games(named, data, progress=progress)
        return
    if why := why_whole(named, data):
        tell(f"all games are held in memory: {why}")
        yield read_games(named, data, progress=progress)
        return
    if solver.memory:
        where, jobs = None, 1
    elif local:
        inputs = [Input(source.what) for source in files_named(named)[0]]
        where, jobs = None, min(local, jobs_for(inputs))
    else:
        jobs = 1
    scratch, kept = None if solver.scratch is None else Path(solver.scratch), Kept(named, data)
    with folder_of_files(scratch, "games", kept.are_in) as folder:
        if kept.are_in(folder):
            tell("games are those that a fit which was ended has read")
            games = kept.load(folder)
        else:
            with chain_workers(where, jobs) as workers:
                games = read_in_parts(named, data, folder, workers, progress)
            if scratch:
                kept.keep(folder, games)
        yield games
