"""Games that lie in a folder are known again by a fit that goes on: they are read once."""

import pickle
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from ttt_cli import __version__
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import files_named
from ttt_cli.games.table import Games
from ttt_cli.reading.sources import Named
from ttt_cli.room import FileRoom, Shared, no_room

GAMES: Final = "games.pickle"  # in the folder: of which files and settings they are, then these
DIGEST: Final = 16  # bytes


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
