"""The records of a file, validated and stored in a folder by their years, as numbers of the values in that file."""

from __future__ import annotations

import pickle
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids, Places
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.ingest import Collector, rejected
from ttt_cli.games.players.unify import Identified, identify, spellings
from ttt_cli.games.records import years_of
from ttt_cli.processes import Reporting
from ttt_cli.reading.column import Column, alike, chosen
from ttt_cli.reading.reports import FileReport, Problem
from ttt_cli.reading.source import FileRead, SourceReader
from ttt_cli.reading.sources import Source
from ttt_cli.room import no_room

VALUES: Final = "values.pickle"
NAMED: Final = "named"  # the array of `Values`
SIDES: Final = "white", "black"
MAP: Final = "number-of-{}"  # the column with the number among all of each value of a file
PLAYER: Final = "player"  # of each of the file's `Values.named`
NAME: Final = "name"  # the number of its name among all


class Values(NamedTuple):
    """Distinct values of a file, by their numbers; `texts` those of further columns.

    `named` (4, n) are a name's number, an id's, a status's and the year, as far as they tell who that is, `times` (n,)
    how often this stands in the file: who has White or Black in a record is a number of these.
    """

    dates: list[Any]
    names: list[str]
    results: list[Any]
    texts: dict[str, list[str]]
    named: Ids
    times: Places


@dataclass(frozen=True)
class StoredFile:
    """A file whose records lie in `folder`, those of `years[i]` from `starts[i]` to `starts[i + 1]`.

    `dropped` are the reject codes of the others, how many have it, and the place of the first.
    """

    folder: Path
    report: FileReport
    problems: tuple[Problem, ...]
    dropped: tuple[tuple[int, int, int], ...]
    years: Ids
    starts: Places

    def values(self) -> Values:
        """What stands in the file."""
        found: Values = pickle.loads((self.folder / VALUES).read_bytes())
        return found

    def rows(self, first: int, last: int) -> slice:
        """The records of some years, the last among them."""
        begin, end = np.searchsorted(self.years, [first, last + 1])
        return slice(int(self.starts[begin]), int(self.starts[end]))


class Storer:
    """Reads sources into a folder."""

    def __init__(self, data: DataConfig, folder: Path) -> None:
        self._data, self._folder = data, folder

    def step(self, item: tuple[int, Source], *, fresh: bool) -> tuple[int, list[StoredFile | Problem]]:  # noqa: ARG002
        """The number of a source with the files in it."""
        number, source = item
        reader = SourceReader(self._data, much=True)
        with closing(reader.read(source, Reporting())) as parts:
            found = [
                part
                if isinstance(part, Problem)
                else _store(part, self._data, self._folder / f"{number}-{k}")
                for k, part in enumerate(parts)
            ]
        return number, found


def _store(read: FileRead, data: DataConfig, folder: Path) -> StoredFile:
    collector = Collector(data)
    report = collector.add(read.records, read.kind, digest=read.digest, size=read.size)
    dictionaries, columns = collector.dictionaries, collector.columns()
    years = years_of(dictionaries.dates.days)
    named, times, sides = _named(collector, columns, years)
    reject_code, line = columns.pop("reject_code"), columns["line"]
    columns |= dict(zip(SIDES, sides, strict=True))
    dropped = tuple(rejected(reject_code, line))
    rows = np.flatnonzero(reject_code == 0)
    year = years[columns["date"][rows]]
    order = np.argsort(year, kind="stable")
    rows, year = rows[order], year[order]
    present, begin = np.unique(year, return_index=True)
    texts = {name: pool.values for name, pool in dictionaries.columns.items()}
    values = Values(
        dictionaries.dates.values, dictionaries.names.values, dictionaries.results.values, texts, named, times
    )
    kept = {name: columns[name] for name in columns if not name.endswith(("_written", "_id"))}
    save(folder, {name: chosen(column, rows) for name, column in kept.items()}, values)
    starts = np.append(begin, len(rows)).astype(np.int64)
    return StoredFile(folder, report, collector.problems, dropped, present.astype(np.int32), starts)


def _named(
    collector: Collector, columns: dict[str, NDArray[Any]], years: NDArray[np.signedinteger]
) -> tuple[Ids, Places, list[Ids]]:
    """What tells who a player is, as `Values` have it, and the numbers of White and Black of every record."""
    names = [columns[f"{side}_written"] for side in SIDES]
    unknown, aliases = np.broadcast_to(np.int32(0), 2 * len(names[0])), collector.aliases
    telling = [
        np.concatenate(names).astype(np.int32),
        np.concatenate([columns[f"{side}_id"] for side in SIDES]) if collector.by_id else unknown,
        np.tile(columns["status"], 2) if aliases.by_status else unknown,
        np.tile(years[columns["date"]], 2) if aliases.by_years else unknown,
    ]
    number = telling[0]
    for column in telling[1:]:
        if column.any():
            base = int(column.max()) + 1
            number = np.unique(number.astype(np.int64) * base + column, return_inverse=True)[1]
    times = np.bincount(number)
    first = np.zeros(len(times), np.int64)
    first[number] = np.arange(len(number))
    present = np.flatnonzero(times)
    rank = (np.cumsum(times > 0) - 1).astype(np.int32)
    named = np.stack([column[first[present]] for column in telling])
    return named, times[present], np.split(rank[number], 2)


def save(folder: Path, columns: dict[str, NDArray[Any]], values: Values | None = None) -> None:
    """Put columns, one entry where all are alike, and values into files. Raises SetupError when there is no room."""
    try:
        folder.mkdir(exist_ok=True)
        if values is not None:
            (folder / VALUES).write_bytes(pickle.dumps(values, pickle.HIGHEST_PROTOCOL))
        for name, column in columns.items():
            np.save(folder / f"{name}.npy", column[:1] if alike(column) else column)
    except OSError as error:
        raise no_room(folder, error) from error


def load(folder: Path, name: str, rows: slice) -> NDArray[Any]:
    """Some rows of a column; in the memory of one where all are alike, and 0 where there is no such column."""
    if not (folder / f"{name}.npy").exists():
        return np.broadcast_to(np.uint8(0), rows.stop - rows.start)
    found: NDArray[Any] = np.load(folder / f"{name}.npy", mmap_mode="r")
    if len(found) == 1:
        return np.broadcast_to(found[0], rows.stop - rows.start)
    return np.array(found[rows])


def constant_of(folder: Path, name: str) -> Any:
    """The entry of a column whose entries are alike; None where they are not."""
    found: NDArray[Any] = np.load(folder / f"{name}.npy", mmap_mode="r")
    return found[0].item() if len(found) == 1 else None


class Unifier:
    """Takes one file after the other, and then tells who is who.

    `collector` has the dictionaries of all; each file's folder gets the numbers that its values have there (`MAP`,
    `NAME`), and those of its players (`PLAYER`).
    """

    def __init__(self, data: DataConfig) -> None:
        self._data = data
        self.collector = Collector(data)
        self._folders: list[Path] = []
        self._named: list[Ids] = []
        self._times: list[Places] = []

    def add(self, file: StoredFile) -> None:
        """Number the values of a file."""
        values, every = file.values(), self.collector.dictionaries
        names = every.names.ids(values.names)
        numbers = {name: every.columns[name].ids(texts) for name, texts in values.texts.items()}
        named = values.named.astype(np.int32)
        name, of_id, status, _ = named
        named[0] = names[name]
        for row, column in ((of_id, "white_id"), (status, "status")):
            if column in numbers:
                row[:] = numbers[column][row]
        maps = {
            "date": every.dates.ids(values.dates),
            "result": every.results.ids(values.results),
            **numbers,
        }
        kept = {MAP.format(name): column for name, column in maps.items()}
        save(file.folder, kept | {NAME: named[0]})
        self._folders.append(file.folder)
        self._named.append(named)
        self._times.append(values.times)

    def united(self) -> tuple[Identified, tuple[tuple[str, str], ...]]:
        """All players, and their other spellings. To be asked for once."""
        collector, cuts = self.collector, np.cumsum([len(times) for times in self._times])[:-1]
        times = np.concatenate([np.empty(0, np.int64), *self._times])
        name, of_id, status, year = np.concatenate([np.empty((4, 0), np.int32), *self._named], axis=1)
        self._named, self._times = [], []
        every, written = collector.dictionaries, (name, name)
        who = identify(
            every.names,
            written,
            self._data.names,
            collector.aliases,
            ids=(of_id, of_id, every.texts("white_id")) if collector.by_id else None,
            status=Column(status, every.texts("status")) if collector.aliases.by_status else None,
            years=year if collector.aliases.by_years else None,
            times=times,
        )
        for folder, players in zip(self._folders, np.split(who.white, cuts), strict=True):
            save(folder, {PLAYER: players.astype(np.int32)})
        return who, spellings(every.names.values, written, who)
