"""Files of games in, one table of all records or games out, with the account of what became of every record."""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise, repeat
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from ttt_cli.cluster import cluster_asked, local_workers
from ttt_cli.config.schema import DataConfig, SolverConfig, drops_unplayed
from ttt_cli.games.aliases import Aliases, read_aliases
from ttt_cli.games.players import Mentions, Sides, all_mentions, find_mentions, identify, unmatched
from ttt_cli.games.selection import People, needs_all, select
from ttt_cli.games.table import (
    GAME_KINDS,
    GameColumns,
    Games,
    Records,
    compact,
    game_columns,
    no_texts,
    table_of,
    years_of,
)
from ttt_cli.games.validate import FURTHER, Dictionaries, Validated, record_words
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.batches import FileRecords
from ttt_cli.reading.columns import Column, alike, chosen, concatenated, counts_of, spread
from ttt_cli.reading.input import Input
from ttt_cli.reading.reports import TEXT_COLUMNS, FileReport, Problem, ReadReport
from ttt_cli.reading.sources import OTHER_FILE, Named, find_sources, read_sources
from ttt_cli.room import MEMORY, FileRoom, Kept, Room, folder_of_files
from ttt_cli.support.arrays import Ids, Places
from ttt_cli.support.errors import DataError
from ttt_cli.support.progress import SILENT, Progress

_DEFAULT: Final = DataConfig()
AT_ONCE: Final = 1 << 21  # records of which games are made at a time, or those of one year
_USUAL: Final[dict[str, np.generic]] = {
    "weight": np.float64(1.0),
    "offset": np.float64(0.0),
    "moves": np.int64(0),
    "neutral": np.False_,
    "computer": np.False_,
}
_EMPTY: Final = np.uint8(0)  # the number of the empty text
_SIDES: Final = "white", "black"
_TEXTS: Final = FURTHER[:-2]  # without ids
_Span = tuple[int, int]  # the first and the last of some years


@dataclass
class _FileOfGames:
    """The account of a file; records of `years[i]` are `starts[i]` up to `starts[i + 1]` of those that are kept."""

    report: FileReport
    years: Ids
    starts: Places
    dropped: Counter[str] = field(default_factory=Counter)
    noticed: Counter[str] = field(default_factory=Counter)

    def rows(self, span: _Span | None) -> slice:
        """The records from the first to the last year of a span, or all."""
        begin, end = (0, -1) if span is None else np.searchsorted(self.years, [span[0], span[1] + 1])
        return slice(int(self.starts[begin]), int(self.starts[end]))

    def count_dropped(self, reject_code: NDArray[np.int8]) -> None:
        """Add some records that are not used to the account."""
        counts = counts_of(reject_code, len(reasons.DROP_REASONS) + 1)[1:]
        self.dropped.update(dict(zip(reasons.DROP_REASONS, counts, strict=True)))

    def account(self) -> FileReport:
        """The report with the numbers of records by reason and by remark."""
        used = self.report.rows - self.dropped.total()
        return replace(self.report, used=used, dropped=dict(+self.dropped), noticed=dict(+self.noticed))


def _by_year(rows: Places, year: NDArray[np.int16]) -> tuple[Places, Ids, Places]:
    """The rows in order of their years, the years, and the place of the first row of each."""
    order = np.argsort(year, kind="stable")
    rows = rows[order]
    year = year[order]
    first = np.flatnonzero(np.diff(year, prepend=-1))
    return rows, year[first].astype(np.int32), first


class Collector:
    """Takes the records of one file after the other and makes Records or Games of them all.

    With `everything`, Records keep all records and texts; else there are Games only. The columns are in `room`; in
    files, games are made of the records of some years at a time. Raises DataError when the alias file of `data`
    cannot be used.
    """

    def __init__(self, data: DataConfig = _DEFAULT, *, everything: bool = False, room: Room = MEMORY) -> None:
        self._data = data
        self._everything = everything
        self._room = room
        self.aliases = Aliases() if data.aliases is None else read_aliases(data.aliases)
        by_event = data.filter.events or data.filter.exclude or data.filter.exclude_events
        texts = [*TEXT_COLUMNS]
        texts += ["variant"]
        texts += ["time_control", "odds"] if everything or by_event else []
        texts += ["status"] if everything or self.aliases.by_status else []
        links = everything or bool(by_event)
        keep_byes = not drops_unplayed(data)
        self.dictionaries = Dictionaries([*texts, "white_id", "black_id"], links=links, keep_byes=keep_byes)
        self._by_year = room is not MEMORY and not needs_all(data)
        self._files: list[_FileOfGames] = []
        self._names = *_USUAL, "line", "date", "result", "reject_code", *_SIDES, *texts
        self._columns: dict[str, list[NDArray[Any] | Kept]] = defaultdict(list)  # by name, those of each file
        self._mentions: list[Mentions] = []
        self._n_mentions = 0
        self._n_computers = 0  # records with a computer by its type or title
        self.problems: list[Problem] = []  # of single records so far, file by file, by line
        self._same_player: list[Problem] = []
        self.skipped: list[Problem] = []  # of files

    def add(self, records: FileRecords, kind: str, *, digest: str, size: int) -> FileReport:
        """Validate the records of a file that has been read to its end; report on those that cannot be games.

        Names and filters are applied when all files have been read.
        """
        validated = Validated(records, self.dictionaries, self._data)
        columns = validated.columns
        if records.rejected:  # which are inserted by line
            places, reject_codes = np.array(sorted(records.rejected, key=itemgetter(0)), np.int64).T
            after = np.searchsorted(columns["line"], places, side="right")
            columns["line"] = columns["line"].astype(np.int64)
            added = {"line": places, "reject_code": reject_codes, "weight": 1.0}
            for name in columns:
                columns[name] = np.insert(columns[name], after, added.get(name, 0))
        notes = sorted([*records.rejects, *validated.notes, *records.notes], key=attrgetter("line"))
        self.problems += [Problem(records.path, *note) for note in notes]
        n = records.rows
        years = years_of(self.dictionaries.days)
        nothing = np.broadcast_to(_EMPTY, n)
        ids = Sides(columns.pop("white_id", nothing), columns.pop("black_id", nothing))
        mentions, (columns["white"], columns["black"]) = find_mentions(
            Sides(columns.pop("white_written"), columns.pop("black_written")),
            len(self.dictionaries.names.values),
            ids=None if not self._data.ids or (ids[0] is ids[1]) else ids,
            status=columns.get("status") if self.aliases.by_status else None,
            years=years[columns["date"]] if self.aliases.by_years else None,
            first=self._n_mentions,
        )
        self._mentions.append(mentions)
        self._n_mentions += len(mentions.times)
        self._n_computers += int(np.count_nonzero(columns.get("computer", False)))
        report = FileReport(records.path, kind, digest, size, n, n, {}, chess=records.layout.chess)
        file = _FileOfGames(report, np.zeros(0, np.int32), np.array([0, n]))
        self._files.append(file)
        file.count_dropped(columns["reject_code"])
        rows: slice | Places = slice(n)
        if not self._everything and (columns["reject_code"].any() or self._by_year):
            rows = np.flatnonzero(columns["reject_code"] == 0)
            first = np.zeros(1, np.int64)
            if self._by_year:
                rows, file.years, first = _by_year(rows, years[columns["date"][rows]])
            file.starts = np.append(first, len(rows))
        for name in self._names:
            column = columns.pop(name, np.broadcast_to(_USUAL.get(name, _EMPTY), n))
            column = column if isinstance(rows, slice) else chosen(column, rows)
            self._columns[name].append(self._room.keep(f"{name}-of-{len(self._files)}", column))
        return file.account()

    def records(self) -> Records:
        """All records, names united and filters applied. Call it once."""
        self._identify()
        records = self._selected(None)
        files = tuple(map(_FileOfGames.account, self._files))
        return replace(records, files=files, problems=self._all_problems())

    def games(self, progress: Progress = SILENT) -> Games:
        """All games by date, then as read; players sorted by name. Call it once."""
        self._identify()
        pieces: dict[str, list[NDArray[Any] | Kept]] = defaultdict(list)
        spans: list[_Span | None] = [] if self._by_year else [None]
        counts: Counter[int] = Counter()  # of records by year, of which some are looked at together
        for file in self._files:
            counts.update(dict(zip(file.years.tolist(), np.diff(file.starts).tolist(), strict=self._by_year)))
        first = 0
        held = AT_ONCE
        for year in sorted(counts):
            if held + counts[year] > AT_ONCE:
                first = year
                held = 0
                spans.append(None)
            spans[-1] = (first, year)
            held += counts[year]
        with (progress if self._by_year else SILENT).task("sorting games", float(len(spans))) as bar:
            for number, span in enumerate(spans):
                for name, column in game_columns(self._selected(span))._asdict().items():
                    values = column.codes if isinstance(column, Column) else column
                    pieces[name].append(self._room.keep(f"{name}-{number}", values))
                bar.advance()
        columns: dict[str, Any] = {}
        for name in list(pieces):
            columns[name] = whole = self._joined(name, pieces.pop(name))
            if name in TEXT_COLUMNS:
                columns[name] = no_texts(len(whole)) if alike(whole) else Column(whole, self._texts[name])
        self._columns.clear()
        files = tuple(map(_FileOfGames.account, self._files))
        report = ReadReport(files, self._all_problems(), self.aliases.source)
        shared = self._shared
        return table_of(GameColumns(**columns), shared["players"], report, shared["spellings"], self._room)

    def _joined(self, name: str, parts: Sequence[NDArray[Any] | Kept]) -> NDArray[Any]:
        """A column of all games, in the room; of one entry where all entries are equal."""
        if self._room is MEMORY or all(isinstance(part, np.ndarray) for part in parts):
            return concatenated(cast(Sequence[NDArray[Any]], parts))
        whole = self._room.empty(name, (sum(map(len, parts)),), GAME_KINDS.get(name, np.int32))
        first = 0
        for part in parts:
            whole[first : first + len(part)] = part[:]
            first += len(part)
            self._room.let_go()
        return whole

    def _identify(self) -> None:
        """Find out who is who, and what all records share."""
        every = self.dictionaries
        mentions = all_mentions(self._mentions)
        self._texts: dict[str, tuple[str, ...]] = {}
        for name, column in every.columns.items():
            self._texts[name] = tuple(column.values)
        ids = self._texts["white_id"]
        statuses = self._texts.get("status", ())
        who = identify(every.names, mentions, self._data.names, self.aliases, ids=ids, statuses=statuses)
        # of each mention
        self._player = who.player
        self._name = mentions.name
        self._written = tuple(map(every.names.values.__getitem__, mentions.name.tolist()))
        is_player = who.player >= 0
        games = np.bincount(who.player[is_player], mentions.times[is_player], len(who.players)).astype(
            np.int64
        )
        self._people = People.of(who.players, self._data, games, self._n_computers)
        self._texts["date"], _, precisions = zip(*every.dates.values, strict=True)
        self._texts["result"], _ = zip(*every.results.values, strict=True)
        self._shared: dict[str, Any] = {
            "files": tuple(map(attrgetter("report"), self._files)),
            "date_day": every.days,
            "date_precision": np.array(precisions, np.int8),
            "tally": every.tallies,
            "players": who.players,
            "aliases": self.aliases.source,
            "spellings": who.spellings,
        }

    def _selected(self, span: _Span | None) -> Records:
        """The records of some years, or all, with filters applied; releases all."""
        records = self._records(span)
        used = records.reject_code == 0
        same = used & (records.white == records.black)
        reject_code = np.where(same, np.int8(reasons.REJECT_CODE[reasons.SAME_PLAYER]), records.reject_code)
        for row in np.flatnonzero(same).tolist():
            white = self._name[records.white_written.codes[row]]
            black = self._name[records.black_written.codes[row]]
            date = records.date.codes[row]
            result = records.result.codes[row]
            words = record_words(self.dictionaries, date, white, black, result)
            path = self._files[int(np.searchsorted(records.starts, row, side="right")) - 1].report.path
            line = int(records.line[row])
            self._same_player.append(Problem(path, line, reasons.SAME_PLAYER, words, reasons.DROPPED))
        if not self._everything:
            nobody = no_texts(len(records))
            records = replace(records, white_written=nobody, black_written=nobody)
        compacted = replace(records, reject_code=reject_code)
        if span:
            texts: dict[str, Any] = {name: compact(getattr(records, name)) for name in _TEXTS}
            compacted = replace(compacted, **texts)
        reject_code, noticed = select(compacted, self._data, self._people)
        dropped = np.where(used, reject_code, 0)
        for file, (begin, end) in zip(self._files, pairwise(records.starts.tolist()), strict=True):
            file.count_dropped(dropped[begin:end])
            for what, rows in noticed.items():
                file.noticed[what] += int(np.count_nonzero(rows[begin:end]))
        return replace(records, reject_code=reject_code)

    def _records(self, span: _Span | None) -> Records:
        """The records of some years, or all, before filters; releases all."""
        rows = list(map(_FileOfGames.rows, self._files, repeat(span)))
        columns: dict[str, Any] = {}
        for name in self._names:
            parts = self._columns[name] if span else self._columns.pop(name)
            found = [part[one] for part, one in zip(parts, rows, strict=True)]
            starts = np.cumsum([0, *map(len, found)])
            columns[name] = concatenated(found)
            if name in self._texts:
                columns[name] = Column(columns[name], self._texts[name])
            del parts, found
        for name in _TEXTS:
            columns.setdefault(name, no_texts(len(columns["line"])))
        for side in _SIDES:
            columns[f"{side}_written"] = Column(columns[side], self._written)
            columns[side] = spread(self._player, columns[side])
        return Records(**self._shared, **columns, starts=starts)

    def _all_problems(self) -> tuple[Problem, ...]:
        """Problems of skipped files, of records by file and line, and of the alias file if no name has a spelling."""
        problems = [*self.problems, *self._same_player]
        if self._same_player:
            number = {file.report.path: number for number, file in enumerate(self._files)}
            problems.sort(key=lambda problem: (number[problem.file], problem.line))
        aliases = self.aliases
        idle = unmatched(self.dictionaries.names, self._data.names, aliases)
        if idle and aliases.source is not None:
            shown = "; ".join(idle[:3]) + ("; ..." if len(idle) > 3 else "")
            detail = f"{len(idle):,} of {len(aliases.lines):,} spellings: {shown}"
            line = aliases.lines[idle[0]]
            problems.append(Problem(aliases.source.path, line, reasons.IDLE_ALIAS, detail, reasons.KEPT))
        return (*self.skipped, *problems)


def read_games(
    sources: Sequence[Named],
    data: DataConfig = _DEFAULT,
    *,
    progress: Progress = SILENT,
    room: Room = MEMORY,
    jobs: int | None = None,
) -> Games:
    """Read files (`-` is standard input, streams give bytes), folders and patterns into one table of games in `room`.

    Records that cannot be used, or that the filters of `data` do not want, are left out, counted and reported in
    `Games.report`. `jobs` processes read, None: as many as pay off. Raises DataError when a file cannot be read, when
    what was named has no record that could be a game, when filters leave none, and for what `data.strict` and
    `data.max_errors` do not let pass; ConfigError when configured columns, players or an encoding do not exist;
    SetupError when there is no room.
    """
    collector = Collector(data, room=room)
    _collect(sources, collector, data, progress, jobs=jobs)
    games = collector.games(progress)
    if data.strict:
        _refuse_problems(games.report.problems)
    if not len(games):
        what = f"none of the {games.report.rows:,} records is left: {games.report.dropped_words}"
        hint = "ask for less with --years, --players and the like, or in data.filter"
        if reasons.ENGINE in games.report.dropped and data.drop is None:
            hint = "data.drop: [] keeps games with computers"
        raise DataError(what, hint=hint)
    return games


@contextmanager
def games_for(
    named: Sequence[Named],
    data: DataConfig,
    solver: SolverConfig,
    *,
    progress: Progress = SILENT,
    tell: Callable[[str], object] = lambda _: None,
) -> Iterator[Games]:
    """The games in files for a fit, valid inside the block; `tell` receives notes on how they were read.

    They are in files with `solver.memory`, and on a cluster whose workers find these files, else in memory. Raises as
    `read_games`.
    """
    where = cluster_asked(solver.cluster)
    if not (solver.memory or (where and (solver.scratch or local_workers(where)))):
        yield read_games(named, data, progress=progress)
        return
    if needs_all(data):
        tell("all games are held in memory: filter.min_games and filter.largest_group look at all games")
    scratch = None if solver.scratch is None else Path(solver.scratch)
    with folder_of_files(scratch, "games") as folder:
        jobs = 1 if solver.memory else None
        yield read_games(named, data, progress=progress, room=FileRoom(folder), jobs=jobs)


def read_records(
    sources: Sequence[Named],
    data: DataConfig = _DEFAULT,
    *,
    progress: Progress = SILENT,
    on_unusable: Callable[[DataError], None] | None = None,
) -> Records:
    """Read files as `read_games` does into the table of all records, with what became of each.

    Raises as `read_games`, except that filters may leave nothing. `on_unusable` is called instead where a source has
    records, none of which could be a game.
    """
    collector = Collector(data, everything=True)
    _collect(sources, collector, data, progress, on_unusable)
    records = collector.records()
    if data.strict:
        _refuse_problems(records.problems)
    return records


def _collect(
    named: Sequence[Named],
    collector: Collector,
    data: DataConfig,
    progress: Progress,
    on_unusable: Callable[[DataError], None] | None = None,
    jobs: int | None = None,
) -> None:
    """Add all files to the collector. Raises DataError for sources without games, and beyond `data.max_errors`."""
    if not named:
        raise DataError("no file of games was named", hint="name PGN or CSV files, or - for standard input")
    sources, skipped = find_sources(named)
    collector.skipped += skipped
    sizes = list(map(attrgetter("size"), map(Input, map(attrgetter("what"), sources))))
    total = None if None in sizes else float(sum(filter(None, sizes)))
    dropped = 0
    with (
        progress.task("reading games", total, "B") as bar,
        closing(read_sources(sources, data, bar, jobs=jobs)) as parts,
    ):
        for origin, group in groupby(parts, lambda part: part[0].origin):
            reports = []
            for _, part in group:
                if isinstance(part, Problem):
                    collector.skipped.append(part)
                    continue
                reports.append(collector.add(part.records, part.kind, digest=part.digest, size=part.size))
                dropped += sum(reports[-1].dropped.values())
                if data.max_errors is not None and dropped > data.max_errors:
                    first = _first_dropped(collector.problems)
                    what = f"{first.reason}: {first.detail}; {dropped:,} records so far cannot be used"
                    hint = f"data.max_errors lets {data.max_errors:,} pass"
                    raise DataError(what, where=first.place, hint=hint)
            if not any(map(attrgetter("used"), reports)):
                error = _nothing(named[origin], reports, collector.problems)
                if on_unusable is None or not any(report.rows for report in reports):
                    raise error
                on_unusable(error)
    if arrow := sys.modules.get("pyarrow"):
        arrow.default_memory_pool().release_unused()


def _first_dropped(problems: Iterable[Problem]) -> Problem:
    return next(
        one for one in problems if one.action == reasons.DROPPED and one.reason not in reasons.OF_COLUMNS
    )


def _nothing(named: Named, reports: Sequence[FileReport], problems: Sequence[Problem]) -> DataError:
    if not reports:
        return DataError("contains no file of games", where=str(named))
    total = ReadReport(tuple(reports))
    where, what = (reports[0].path, "") if len(reports) == 1 else (str(named), f" in {len(reports):,} files")
    if not total.rows:
        hint = "set data.format to pgn or csv if it was taken for the wrong kind"
        return DataError(f"holds no records{what} (read as {reports[0].kind})", where=where, hint=hint)
    paths = {report.path for report in reports}
    ours = [problem for problem in problems if problem.file in paths and problem.action == reasons.DROPPED]
    first = _first_dropped(ours)
    place = f"in line {first.line:,}" if len(reports) == 1 and first.line < reasons.LINES else first.place
    remedy = next((problem.detail for problem in ours if problem.reason in reasons.OF_COLUMNS), None)
    hint = remedy or f"the first is {place}: {first.reason} ({first.detail})"
    message = f"none of its {total.rows:,} records{what} can be used: {total.dropped_words}"
    return DataError(message, where=where, hint=hint)


def _refuse_problems(problems: Sequence[Problem]) -> None:
    """Raise DataError, with the first of them, when there are problems; files that are no games by name are none."""
    harmless = OTHER_FILE, reasons.NUMBERED_DATE, reasons.IDLE_ALIAS
    if serious := [problem for problem in problems if problem.reason not in harmless]:
        first = serious[0]
        more = f"; {len(serious):,} problems in all" if len(serious) > 1 else ""
        hint = "under data.strict every problem is an error; `ttt games` lists them"
        raise DataError(f"{first.reason}: {first.detail}{more}", where=first.place, hint=hint)
