"""Games as a fit is to have them: in files where little memory or a cluster is asked for, else in memory."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from ttt_cli import __version__
from ttt_cli.cluster.chains import chain_workers
from ttt_cli.cluster.client import cluster_asked, local_workers
from ttt_cli.config.schema import DataConfig, SolverConfig
from ttt_cli.games.parts.read import read_in_parts, why_whole
from ttt_cli.games.read import files_named, read_games
from ttt_cli.games.table import Games
from ttt_cli.progress import SILENT, Progress
from ttt_cli.reading.source import jobs_for
from ttt_cli.reading.sources import Named
from ttt_cli.reading.streams import Input
from ttt_cli.room import FileRoom, Shared, folder_of_files, no_room

GAMES: Final = "games.pickle"  # in the folder: of which files and settings they are, then these
DIGEST: Final = 16  # bytes


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

    In `solver.scratch` they stay where the block raises. Raises as `read_games`, and SetupError when there is no room.
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


class Kept:
    """Games of these files as they are now, read with these settings."""

    def __init__(self, named: Sequence[Named], data: DataConfig) -> None:
        sources, skipped = files_named(named)
        files = [str(source.what) for source in sources] + ([data.aliases] if data.aliases else [])
        digest = blake2b(digest_size=DIGEST)
        digest.update(repr((__version__, Path.cwd(), data.model_dump_json(), sources, skipped)).encode())
        with suppress(OSError):  # reading will say so
            for place in map(Path, files):
                found = place.stat()
                digest.update(repr((found.st_size, found.st_mtime_ns)).encode())
        self._digest = digest.digest()

    def are_in(self, folder: Path) -> bool:
        """Whether a folder has them."""
        try:
            with (folder / GAMES).open("rb") as file:
                return file.read(DIGEST) == self._digest
        except OSError:
            return False

    def load(self, folder: Path) -> Games:
        """They, of a folder that has them."""
        found: Shared[Games] = pickle.loads((folder / GAMES).read_bytes()[DIGEST:])
        return found.what

    def keep(self, folder: Path, games: Games) -> None:
        """Keep them in a folder, where their columns lie. Raises SetupError when there is no room."""
        part = folder / f"{GAMES}.part"
        try:
            if isinstance(games.room, FileRoom):
                games.room.flush()
            part.write_bytes(self._digest + pickle.dumps(Shared(games), pickle.HIGHEST_PROTOCOL))
            part.replace(folder / GAMES)
        except OSError as error:
            raise no_room(folder, error) from error
