"""Many files in, games in files of a folder out; what is read at a time is one file, or some years of all.

Each file is stored by itself and the names of all are united (`stored.py`), then the records of some years at a time
are chosen among and stored as games (`shards.py`), and these are put together. The result is that of `games.read`.
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any, Final

import numpy as np

from ttt_cli.arrays import Ids
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.ingest import Collector, by_reason
from ttt_cli.games.parts.shards import COMMON, TEXTS, Common, Shard, Sharder, Years
from ttt_cli.games.parts.stored import SIDES, StoredFile, Storer, Unifier, constant_of, load
from ttt_cli.games.read import bytes_of, checked, files_named, no_games, refuse_problems
from ttt_cli.games.selection.select import NOTICED, People
from ttt_cli.games.table import GAME_COLUMNS, GAME_KINDS, Games, no_texts, of_players
from ttt_cli.processes import Engine, run_chains
from ttt_cli.progress import SILENT, Progress
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.column import Column, alike
from ttt_cli.reading.reports import FileReport, Problem, ReadReport
from ttt_cli.reading.sources import Named, Source
from ttt_cli.room import FileRoom, no_room

RECORDS: Final = 1 << 21  # of a shard, unless a year has more
_FLAT: Final = "weight", "offset", "neutral"  # columns that are alike for all games, as a rule


def why_whole(sources: Sequence[Named], data: DataConfig) -> str | None:
    """Why games cannot be read in parts; None where they can."""
    if any(not isinstance(one, str | os.PathLike) or os.fspath(one) == "-" for one in sources):
        return "a stream is read only once"
    if data.filter.min_games > 1 or data.filter.largest_group:
        return "--min-games and --largest-group look at all games"
    return None


def read_in_parts(
    named: Sequence[Named], data: DataConfig, folder: Path, jobs: int | Engine, progress: Progress = SILENT
) -> Games:
    """Games as `read_games` has them, in files of `folder`, which is empty and is found by all who do the work.

    Raises as `read_games`, and SetupError when there is no room.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _Reading(named, data, folder, jobs, progress).games()
    except OSError as error:
        raise no_room(folder, error) from error


class _Reading:
    def __init__(
        self, named: Sequence[Named], data: DataConfig, folder: Path, jobs: int | Engine, progress: Progress
    ) -> None:
        self._named, self._data, self._folder = named, data, folder
        self._jobs, self._progress = jobs, progress
        self._files: list[StoredFile] = []
        self._unifier = Unifier(data)

    def games(self) -> Games:
        """All games."""
        skipped = self._store()
        collector = self._unifier.collector
        who, spellings = self._unifier.united()
        self._unifier = Unifier(self._data)  # what it holds has been told
        shards = self._shards(collector, People.of(who.players, self._data))
        reports = self._reports(shards)
        problems = (*skipped, *self._problems(collector, shards), *collector.idle_aliases())
        if self._data.strict:
            refuse_problems(problems)
        report = ReadReport(reports, problems, collector.aliases.source)
        if not sum(shard.games for shard in shards):
            raise no_games(report)
        present = np.zeros(len(who.players), np.bool_)
        for shard in shards:
            present[shard.players] = True
        names = tuple(compress(who.players, present.tolist()))
        room = FileRoom(self._folder)
        texts = {name: collector.dictionaries.texts(name) for name in collector.dictionaries.columns}
        columns = _joined(room, shards, (np.cumsum(present) - 1).astype(np.int32), texts)
        return Games(
            **columns, players=names, report=report, spellings=of_players(spellings, names), room=room
        )

    def _store(self) -> list[Problem]:
        """Store all files and number what they hold; returns those that were passed over."""
        sources, skipped = files_named(self._named)
        found: dict[int, list[StoredFile | Problem]] = {}
        with self._progress.task("reading games", bytes_of(sources), "B") as bar:
            chains = [[one] for one in enumerate(sources)]
            worker = Storer(self._data, self._folder)
            for number, parts in run_chains(
                worker, chains, self._jobs, on_report=lambda _, read: bar.advance(*read)
            ):
                found[number] = parts

        def taken() -> Iterator[tuple[Source, FileReport | Problem]]:
            for number, source in enumerate(sources):
                for part in found[number]:
                    if isinstance(part, Problem):
                        yield source, part
                    else:
                        self._files.append(part)
                        yield source, part.report

        skipped += checked(self._named, taken(), lambda: _problems_of(self._files), self._data)
        for file in self._files:
            self._unifier.add(file)
        return skipped

    def _shards(self, collector: Collector, people: People) -> list[Shard]:
        """The games of some years each, in the order of time."""
        every = collector.dictionaries
        common = Common(
            tuple(replace(file, problems=()) for file in self._files),
            {name: every.texts(name) for name in TEXTS if name in every.columns},
            every.dates.days,
            every.dates.precisions,
            every.tallies,
            people,
        )
        (self._folder / COMMON).write_bytes(pickle.dumps(common, pickle.HIGHEST_PROTOCOL))
        plan = _planned(self._files)
        found: dict[int, Shard] = {}
        with self._progress.task("sorting games", float(len(plan))) as bar:
            worker = Sharder(self._data, self._folder)
            for shard in run_chains(worker, [[years] for years in plan], self._jobs):
                found[shard.number] = shard
                bar.advance()
        for file in self._files:
            shutil.rmtree(file.folder, ignore_errors=True)
        return [found[years.number] for years in plan]

    def _reports(self, shards: Sequence[Shard]) -> tuple[FileReport, ...]:
        """What each file gave."""
        used = sum((shard.used for shard in shards), np.zeros(len(self._files), np.int64))
        dropped: list[dict[int, tuple[int, int]]] = [
            {code: (count, first) for code, count, first in file.dropped} for file in self._files
        ]
        noticed: list[dict[str, int]] = [{} for _ in self._files]
        for shard in shards:
            for file, code, count, first in shard.dropped:
                before = dropped[file].get(code, (0, first))
                dropped[file][code] = before[0] + count, min(before[1], first)
            for file, what, count in shard.noticed:
                noticed[file][what] = noticed[file].get(what, 0) + count
        return tuple(
            replace(
                file.report,
                used=int(used[number]),
                dropped=by_reason((code, *of) for code, of in dropped[number].items()),
                noticed={what: noticed[number][what] for what in NOTICED if what in noticed[number]},
            )
            for number, file in enumerate(self._files)
        )

    def _problems(self, collector: Collector, shards: Sequence[Shard]) -> tuple[Problem, ...]:
        """All that was odd about records."""
        problems = _problems_of(self._files)
        if not any(len(shard.same_file) for shard in shards):
            return problems
        file, line = (
            np.concatenate([getattr(shard, name) for shard in shards]) for name in ("same_file", "same_line")
        )
        said = np.concatenate([shard.said for shard in shards], axis=1)
        return collector.with_same_player([file.report for file in self._files], problems, file, line, said)


def _problems_of(files: Iterable[StoredFile]) -> tuple[Problem, ...]:
    return tuple(problem for file in files for problem in file.problems)


def _planned(files: Sequence[StoredFile]) -> list[Years]:
    """Years with records, as many together as make a shard."""
    count: dict[int, int] = {}
    for file in files:
        for year, rows in zip(file.years.tolist(), np.diff(file.starts).tolist(), strict=True):
            count[year] = count.get(year, 0) + rows
    plan: list[Years] = []
    held = RECORDS
    for year in sorted(count):
        if held + count[year] > RECORDS:
            plan.append(Years(len(plan), year, year))
            held = 0
        plan[-1] = plan[-1]._replace(last=year)
        held += count[year]
    return plan


def _joined(
    room: FileRoom, shards: Sequence[Shard], number: Ids, texts: dict[str, tuple[str, ...]]
) -> dict[str, Any]:
    """The columns of all games; `number` is that of each player among those who have games."""
    every, shards = shards, [shard for shard in shards if shard.games]
    count = sum(shard.games for shard in shards)
    columns: dict[str, Any] = {}
    for name in (*GAME_COLUMNS, *TEXT_COLUMNS):
        values = [constant_of(shard.folder, name) for shard in shards]
        may_be = name in _FLAT or (name in TEXT_COLUMNS and values[0] == 0)
        if may_be and values[0] is not None and len(set(values)) == 1:
            columns[name] = np.broadcast_to(values[0], count)
            continue
        dtype = GAME_KINDS.get(name, np.int32)
        columns[name] = room.empty(name, (count,), dtype)
        begin = 0
        for shard in shards:
            here = slice(begin, begin := begin + shard.games)
            part = load(shard.folder, name, slice(0, shard.games))
            columns[name][here] = number[part] if name in SIDES else part
            room.let_go()
    for shard in every:
        shutil.rmtree(shard.folder, ignore_errors=True)
    for name in TEXT_COLUMNS:
        codes = columns[name]
        columns[name] = no_texts(count) if alike(codes) else Column(codes, texts[name])
    return columns
