"""Asking a run in SQL: a database in memory, the file attached to it, and our own views over the file's tables.

A run may come from anybody. What its file defines (views, macros, defaults) is never evaluated: names are looked for in
the database in memory, where all definitions are ours, and every name of the file is written in full. Nor may any SQL
here touch another file, load code or change these settings.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ttt_cli.files import real_place
from ttt_cli.runs.connection import attach, check_file, check_name, translated
from ttt_cli.runs.folder import check_parts, database_of, is_folder, parts_of, put_together, spread_out
from ttt_cli.runs.schema import DATABASE, HELD, session_views
from ttt_cli.runs.untrusted import check_catalog, check_numbers

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttt_cli.config.schema import Config, Period
    from ttt_cli.fitted import Fit
    from ttt_cli.games.table import Games
    from ttt_cli.runs.meta import RunMeta
    from ttt_cli.timeline import Timeline

Signature = tuple[int, ...]
_SETTINGS: Final = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "2GB",
    "max_temp_directory_size": "20GB",
}
_CHAINS: Final[dict[Signature, tuple[str, ...]]] = {}  # of files whose catalog was found sound here
_SOUND: Final[set[Signature]] = set()  # files whose numbers were, too
_MOST_SOUND: Final = 1000


class Session:
    """A run file, held only while questions are asked. `also`: files that SQL may write besides.

    Every method raises RunError when the file is missing, no run, too new, damaged or held by another.
    """

    def __init__(self, path: Path, also: tuple[Path, ...] = ()) -> None:
        check_name(path)
        self._path = path
        self._also = tuple(map(real_place, also))
        self._connection: DuckDBPyConnection | None = None
        self._askers = 0
        self._lock = threading.Lock()
        self._spread = False  # the tables of a folder are there as one run's
        self._seen: Signature = ()
        self._chains: tuple[str, ...] = ()
        self._shown: tuple[float, float] | None = None

    @property
    def shown(self) -> bool:
        """Whether `show` was called since the file last changed."""
        return self._shown is not None

    @property
    def chains(self) -> tuple[str, ...]:
        """Those of the file, as it was when last asked."""
        return self._chains

    @property
    def changed(self) -> bool:
        """Whether the file is another one, or was written to, since it was last asked."""
        return self._seen != signature(self._path)

    @contextmanager
    def asked(self) -> Iterator[DuckDBPyConnection]:
        """A cursor of its own. The file is held from the first of several to the end of the last."""
        with translated(self._path), ExitStack() as stack:
            with self._lock:
                if self._askers == 0:
                    self._attach()
                self._askers += 1
                stack.callback(self._let_go)
            with closing(self._live.cursor()) as cursor:
                yield cursor

    @contextmanager
    def writable(self) -> Iterator[DuckDBPyConnection]:
        """A connection that may write to the tables of the run; whoever else asks this session waits."""
        with self.released():
            self._attach(write=True)
            try:
                yield self._live
                self._live.execute(f"CHECKPOINT {DATABASE}")
            finally:
                self._detach()

    @contextmanager
    def released(self) -> Iterator[None]:
        """The file is let go inside the block, so that another may take its place; whoever asks this session waits."""
        with self._lock:
            if self._askers:
                self._detach()
            try:
                yield
            finally:
                if self._askers:
                    self._attach()

    def show(self, meta: RunMeta, *, slope: float = 1.0, shift: float = 0.0) -> None:
        """Let queries find the tables and views of the run, skills on a scale. Called while it is open.

        Raises RunError when the numbers of the run cannot be true.
        """
        with self._lock, closing(self._live.cursor()) as cursor:
            if not self.shown:
                self._check(cursor, meta)
            if self._shown != (slope, shift):
                period: Period = meta.period  # type: ignore[assignment]
                held = {name for (name,) in cursor.execute(HELD).fetchall()}
                views = session_views(
                    self._chains, period, held, slope=slope, shift=shift, numbered=self._spread
                )
                cursor.execute(views)
                self._shown = slope, shift

    def close(self) -> None:
        """Let everything go unless something is still being asked."""
        if self._connection is not None and not self._askers:
            self._connection.close()
            self._connection = self._shown = None
            self._seen = ()

    def _check(self, connection: DuckDBPyConnection, meta: RunMeta) -> None:
        if self._seen not in _SOUND:
            if self._spread:
                check_parts(connection, DATABASE, real_place(self._path), whole=True)
            check_numbers(connection, self._path, meta, self._chains)
            if len(_SOUND) >= _MOST_SOUND:
                _SOUND.clear()
            _SOUND.add(self._seen)

    @property
    def _live(self) -> DuckDBPyConnection:
        if self._connection is None:
            place = real_place(self._path)
            parts = chain.from_iterable(parts_of(place).values()) if is_folder(place) else ()
            self._connection = _closed_off(place, (database_of(place), *parts, *self._also))
        return self._connection

    def _attach(self, *, write: bool = False) -> None:
        check_file(self._path)
        attach(self._live, self._path, write=write)
        try:
            if self._seen != (seen := signature(self._path)):
                self._chains = _CHAINS.get(seen) or check_catalog(self._live, self._path)
                self._seen, self._shown = seen, None
                remember(seen, self._chains)
            if is_folder(self._path) and not write:
                self._spread = True
                spread_out(self._live, real_place(self._path))
        except BaseException:
            self._detach()
            raise

    def _let_go(self) -> None:
        with self._lock:
            self._askers -= 1
            if self._askers == 0:
                self._detach()

    def _detach(self) -> None:
        if self._spread:
            put_together(self._live)
            self._spread = False
        else:
            self._live.execute(f"DETACH {DATABASE}")


class MemorySession(Session):
    """A run in memory: made here, nowhere else, and gone when closed."""

    def __init__(self, games: Games, timeline: Timeline, fit: Fit, config: Config) -> None:
        import duckdb

        from ttt_cli.runs.storing.fill import fill
        from ttt_cli.runs.storing.large import Tables

        super().__init__(Path())
        self._chains = tuple(fit.chains)
        self._connection = duckdb.connect(":memory:")
        self._connection.execute(f"ATTACH ':memory:' AS {DATABASE}; USE {DATABASE}")
        fill(Tables(self._connection), games, timeline, fit, config)
        self._connection.execute("USE memory")

    @contextmanager
    def asked(self) -> Iterator[DuckDBPyConnection]:
        """A cursor of its own."""
        with translated(None), closing(self._live.cursor()) as cursor:
            yield cursor

    writable = asked

    def _check(self, connection: DuckDBPyConnection, meta: RunMeta) -> None:
        pass


def _closed_off(place: Path, files: Sequence[Path]) -> DuckDBPyConnection:
    """A database in memory whose SQL reaches these files and their logs and nothing else, for good."""
    import duckdb

    allowed = [f"{file}{end}" for file in files for end in ("", ".wal", ".wal.checkpoint", ".wal.recovery")]
    connection = duckdb.connect(":memory:", config={**_SETTINGS, "temp_directory": f"{place}.tmp"})
    connection.execute("SET allowed_paths = ?", [allowed])
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    return connection


def remember(seen: Signature, chains: tuple[str, ...]) -> None:
    """Check the catalog of a file no more while its signature stands."""
    if len(_CHAINS) >= _MOST_SOUND:
        _CHAINS.clear()
    _CHAINS[seen] = chains


def signature(path: Path) -> Signature:
    """What changes when a file, or its log, is replaced or written to."""
    place = real_place(path)
    database = database_of(place)
    files = [database_of(path), database.with_name(f"{database.name}.wal")]
    if is_folder(place):
        files += chain.from_iterable(parts_of(place).values())
    facts = [file.stat() for file in files if file.exists()]
    return tuple(n for s in facts for n in (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns))
