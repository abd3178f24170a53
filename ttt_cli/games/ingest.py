"""All files' records as one table, with the account of what became of every one of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.aliases import Aliases, read_aliases
from ttt_cli.games.records import Records, game_columns, table_of, years_of
from ttt_cli.games.selection import NOTICED, People, needs_all, select
from ttt_cli.games.table import GAME_KINDS, Games, compact, no_texts
from ttt_cli.games.unify import Identified, Mentions, find_mentions, identify, unmatched
from ttt_cli.games.validate import FURTHER, Dictionaries, NoLinks, Validated, record_words
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.batches import FileRecords
from ttt_cli.reading.columns import Codes, Column, alike, chosen, concatenated, counts_of, spread
from ttt_cli.reading.reports import (
    DROP_REASONS,
    DROPPED,
    IDLE_ALIAS,
    KEPT,
    LINES,
    REJECT_CODE,
    SAME_PLAYER,
    FileReport,
    Problem,
    ReadReport,
)
from ttt_cli.room import MEMORY, Kept, Room
from ttt_cli.support.arrays import Ids, Places
from ttt_cli.support.progress import SILENT, Progress

_DEFAULT: Final = DataConfig()
AT_ONCE: Final = 1 << 21  # records of which games are made at a time, or those of one year
_USUAL: Final[dict[str, np.generic]] = {
    "weight": np.float64(1.0),
    "offset": np.float64(0.0),
    "moves": np.int64(0),
    "neutral": np.False_,
}
_EMPTY: Final = np.uint8(0)  # the number of the empty text
_SIDES: Final = "white", "black"
_TEXTS: Final = tuple(name for name in FURTHER if not name.endswith("_id"))
_Span = tuple[int, int]  # the first and the last of some years


@dataclass
class _FileOfGames:
    """The account and the columns of a file; in files, records of `years[i]` are `starts[i]` up to `starts[i + 1]`.

    `dropped` are counts and first lines by reject code.
    """

    report: FileReport
    dropped: dict[int, tuple[int, int]] = field(default_factory=dict)
    noticed: Counter[str] = field(default_factory=Counter)
    columns: dict[str, NDArray[Any] | Kept] = field(default_factory=dict)
    years: Ids = field(default_factory=lambda: np.zeros(0, np.int32))
    starts: Places = field(default_factory=lambda: np.zeros(1, np.int64))

    def rows(self, span: _Span | None) -> slice:
        """The records from the first to the last year of a span, or all."""
        begin, end = (0, -1) if span is None else np.searchsorted(self.years, [span[0], span[1] + 1])
        return slice(int(self.starts[begin]), int(self.starts[end]))

    def count_dropped(self, reject_code: NDArray[np.int8], lines: Codes) -> None:
        """Add some records that are not used to the account."""
        for code, count in enumerate(counts_of(reject_code, len(DROP_REASONS) + 1)):
            if code and count:
                before, first = self.dropped.get(code, (0, LINES**2))
                self.dropped[code] = before + count, min(first, int(lines[reject_code == code].min()))

    def account(self) -> FileReport:
        """The report with records not used by reason, most frequent (then first met) first."""
        ordered = sorted((-count, first, code) for code, (count, first) in self.dropped.items())
        dropped = {DROP_REASONS[code - 1]: -count for count, _, code in ordered}
        noticed = {what: self.noticed[what] for what in NOTICED if self.noticed[what]}
        used = self.report.rows - sum(dropped.values())
        return replace(self.report, used=used, dropped=dropped, noticed=noticed)


class _United(NamedTuple):
    """Who the mentions are, the number of the `name` of each, and what else all records share."""

    who: Identified
    name: Places
    people: People
    texts: dict[str, tuple[str, ...]]
    days: Ids
    precisions: NDArray[np.int8]


class Collector:
    """Takes the records of one file after the other and makes Records or Games of them all.

    With `everything`, Records keep all records and texts; else there are Games only. The columns are in `room`; in
    files, games are made of the records of some years at a time. Raises DataError when the alias file of `data`
    cannot be used.
    """

    def __init__(self, data: DataConfig = _DEFAULT, *, everything: bool = False, room: Room = MEMORY) -> None:
        self._data, self._everything, self._room = data, everything, room
        self.aliases = Aliases() if data.aliases is None else read_aliases(data.aliases)
        by_event = data.filter.events or data.filter.exclude or data.filter.exclude_events
        needed = ["event", "site", "round", "white_id", "black_id"]
        needed += ["variant", "time_control", "odds"] if by_event else []
        needed += ["status"] if self.aliases.by_status else []
        self.dictionaries = Dictionaries(FURTHER if everything else needed)
        if not (everything or by_event):
            self.dictionaries.columns["site"] = NoLinks("")
        self._by_year = room is not MEMORY and not needs_all(data)
        self._files: list[_FileOfGames] = []
        self._mentions = [Mentions(*np.zeros((5, 0), np.int64))]
        self.problems: list[Problem] = []  # of single records so far, file by file, by line
        self._same_player: list[Problem] = []

    def add(self, records: FileRecords, kind: str, *, digest: str, size: int) -> FileReport:
        """Validate the records of a file that has been read to its end; report on those that cannot be games.

        Names and filters are applied when all files have been read.
        """
        validated = Validated(records, self.dictionaries, self._data)
        columns = _with_rejects(validated.columns, records.rejected)
        notes = sorted([*records.rejects, *validated.notes, *records.notes], key=attrgetter("line"))
        self.problems += [Problem(records.path, *note) for note in notes]
        n = records.rows
        file = _FileOfGames(FileReport(records.path, kind, digest, size, n, n, {}, chess=records.chess))
        self._files.append(file)
        file.count_dropped(columns["reject_code"], columns["line"])
        columns = {name: column for name, column in columns.items() if column is not None}
        years = years_of(self.dictionaries.dates.days)
        nothing = np.broadcast_to(_EMPTY, len(columns["line"]))
        known = self._data.ids and any(f"{side}_id" in columns for side in _SIDES)
        white_id, black_id = (columns.pop(f"{side}_id", nothing) for side in _SIDES)
        mentions, sides = find_mentions(
            (columns.pop("white_written"), columns.pop("black_written")),
            len(self.dictionaries.names.values),
            ids=(white_id, black_id) if known else None,
            status=columns.get("status") if self.aliases.by_status else None,
            years=years[columns["date"]] if self.aliases.by_years else None,
            first=sum(len(one.times) for one in self._mentions),
        )
        self._mentions.append(mentions)
        columns |= zip(_SIDES, sides, strict=True)
        file.starts = np.array([0, len(columns["line"])])
        if not self._everything and (columns["reject_code"].any() or self._by_year):
            rows = np.flatnonzero(columns["reject_code"] == 0)
            file.starts = np.array([0, len(rows)])
            if self._by_year:
                year = years[columns["date"][rows]]
                order = np.argsort(year, kind="stable")
                rows = rows[order]
                file.years, first = np.unique(year[order].astype(np.int32), return_index=True)
                file.starts = np.append(first, len(rows))
            del columns["reject_code"]
            columns = {name: chosen(column, rows) for name, column in columns.items()}
        number = len(self._files)
        for name, column in columns.items():
            file.columns[name] = self._room.keep(f"{name}-of-{number}", column)
        return file.account()

    def records(self) -> Records:
        """All records, names united and filters applied. Call it once."""
        records = self._selected(self._united(), None)
        return replace(
            records, files=tuple(file.account() for file in self._files), problems=self._all_problems()
        )

    def games(self, skipped: Sequence[Problem] = (), progress: Progress = SILENT) -> Games:
        """All games by date, then as read; players sorted by name. Call it once.

        Problems of `skipped` files come first in the report.
        """
        united, pieces = self._united(), []
        spans = self._spans() if self._by_year else [None]
        with (progress if self._by_year else SILENT).task("sorting games", float(len(spans))) as bar:
            for number, span in enumerate(spans):
                found: dict[str, Any] = game_columns(self._selected(united, span))
                found |= {name: found[name].codes for name in TEXT_COLUMNS}
                pieces.append(
                    {name: self._room.keep(f"{name}-{number}", found.pop(name)) for name in [*found]}
                )
                bar.advance()
        columns: dict[str, Any] = {
            name: self._joined(name, [piece.pop(name) for piece in pieces]) for name in [*pieces[0]]
        }
        for name in TEXT_COLUMNS:
            codes = columns[name]
            columns[name] = no_texts(len(codes)) if alike(codes) else Column(codes, united.texts[name])
        for file in self._files:
            file.columns.clear()
        files = tuple(file.account() for file in self._files)
        report = ReadReport(files, (*skipped, *self._all_problems()), self.aliases.source)
        return table_of(columns, united.who.players, report, united.who.spellings, self._room)

    def _joined(self, name: str, parts: Sequence[NDArray[Any] | Kept]) -> NDArray[Any]:
        """A column of all games, in the room; of one entry where all entries are equal."""
        if self._room is MEMORY or all(isinstance(part, np.ndarray) for part in parts):
            return concatenated([part[:] for part in parts])
        whole = self._room.empty(name, (sum(map(len, parts)),), GAME_KINDS.get(name, np.int32))
        first = 0
        for part in parts:
            whole[first : first + len(part)] = part[:]
            first += len(part)
            self._room.let_go()
        return whole

    def _united(self) -> _United:
        """Who is who in all records."""
        dictionaries = self.dictionaries
        mentions = Mentions(*map(np.concatenate, zip(*self._mentions, strict=True)))
        self._mentions.clear()
        texts = {name: tuple(column.values) for name, column in dictionaries.columns.items()}
        who = identify(
            dictionaries.names,
            mentions,
            self._data.names,
            self.aliases,
            ids=texts["white_id"],
            statuses=texts.get("status", ()),
        )
        return _United(
            who,
            mentions.name,
            People.of(who.players, self._data),
            texts,
            dictionaries.dates.days,
            dictionaries.dates.precisions,
        )

    def _spans(self) -> list[_Span]:
        """Years with records, as many together as are looked at at once."""
        counts: Counter[int] = Counter()
        for file in self._files:
            counts.update(dict(zip(file.years.tolist(), np.diff(file.starts).tolist(), strict=True)))
        spans: list[_Span] = []
        held = AT_ONCE
        for year in sorted(counts):
            if held + counts[year] > AT_ONCE:
                spans.append((year, year))
                held = 0
            spans[-1] = (spans[-1][0], year)
            held += counts[year]
        return spans

    def _selected(self, united: _United, span: _Span | None) -> Records:
        """The records of some years, or all, with filters applied."""
        records, mentions = self._records(united, span)
        used = records.reject_code == 0
        same = used & (records.white == records.black)
        reject_code = np.where(same, np.int8(REJECT_CODE[SAME_PLAYER]), records.reject_code)
        for row in np.flatnonzero(same).tolist():
            white, black = (united.name[side[row]] for side in mentions)
            date, result = records.date.codes[row], records.result.codes[row]
            words = record_words(self.dictionaries, date, white, black, result)
            file = self._files[int(np.searchsorted(records.starts, row, side="right")) - 1]
            problem = Problem(file.report.path, int(records.line[row]), SAME_PLAYER, words, DROPPED)
            self._same_player.append(problem)
        del mentions
        texts: dict[str, Any] = {name: compact(getattr(records, name)) for name in _TEXTS if span}
        compacted = replace(records, **texts, reject_code=reject_code)
        reject_code, noticed = select(compacted, self._data, united.people)
        dropped = np.where(used, reject_code, 0)
        for file, (begin, end) in zip(self._files, pairwise(records.starts.tolist()), strict=True):
            file.count_dropped(dropped[begin:end], records.line[begin:end])
            for what, rows in noticed.items():
                file.noticed[what] += int(np.count_nonzero(rows[begin:end]))
        return replace(records, reject_code=reject_code)

    def _records(self, united: _United, span: _Span | None) -> tuple[Records, list[Codes]]:
        """The records of some years, or all, before filters, and the mentions of both sides; releases all."""
        every = self.dictionaries
        rows = [file.rows(span) for file in self._files]
        starts = np.cumsum([0, *(one.stop - one.start for one in rows)])

        def column(name: str) -> NDArray[Any]:
            found = []
            for file, one in zip(self._files, rows, strict=True):
                values = file.columns.get(name) if span else file.columns.pop(name, None)
                usual = np.broadcast_to(_USUAL.get(name, _EMPTY), one.stop - one.start)
                found.append(usual if values is None else values[one])
            return concatenated(found)

        mentions = [column(side) for side in _SIDES]
        white, black = (spread(united.who.player, side) for side in mentions)
        nothing = no_texts(len(white))
        written = [nothing, nothing]
        date = Column(column("date"), every.dates.texts if self._everything else ())
        if self._everything:
            written = [Column(spread(united.name, side), tuple(every.names.values)) for side in mentions]
        kept: dict[str, Any] = {name: column(name) for name in ("line", *_USUAL)}
        kept |= {name: Column(column(name), united.texts.get(name, ("",))) for name in _TEXTS}
        records = Records(
            files=tuple(file.report for file in self._files),
            starts=starts,
            date=date,
            white_written=written[0],
            black_written=written[1],
            result=Column(column("result"), tuple(text for text, _ in every.results.values)),
            **kept,
            date_day=united.days,
            date_precision=united.precisions,
            tally=every.tallies,
            players=united.who.players,
            white=white,
            black=black,
            reject_code=column("reject_code") if self._everything else np.zeros(len(white), np.int8),
            aliases=self.aliases.source,
            spellings=united.who.spellings,
        )
        return records, mentions

    def _all_problems(self) -> tuple[Problem, ...]:
        """Problems by file and line, and an account of the spellings of the alias file that no name has."""
        problems = [*self.problems, *self._same_player]
        if self._same_player:
            number = {file.report.path: number for number, file in enumerate(self._files)}
            problems.sort(key=lambda problem: (number[problem.file], problem.line))
        aliases = self.aliases
        idle = unmatched(self.dictionaries.names, self._data.names, aliases)
        if idle and aliases.source is not None:
            shown = "; ".join(idle[:3]) + ("; ..." if len(idle) > 3 else "")
            detail = f"{len(idle):,} of {len(aliases.lines):,} spellings: {shown}"
            problems.append(Problem(aliases.source.path, aliases.lines[idle[0]], IDLE_ALIAS, detail, KEPT))
        return tuple(problems)


def _with_rejects(columns: dict[str, Any], rejected: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """The columns of a file's records with the rejected rows inserted by line; a column that is None stays so."""
    if not rejected:
        return columns
    places, reject_codes = np.array(sorted(rejected, key=itemgetter(0)), np.int64).T
    after = np.searchsorted(columns["line"], places, side="right")
    added: dict[str, Any] = {"line": places, "reject_code": reject_codes.astype(np.int8), "weight": 1.0}

    def extended(name: str, column: NDArray[Any]) -> NDArray[Any]:
        more = added.get(name, 0)
        kind = np.result_type(column, more) if name == "line" else column.dtype
        return np.insert(column.astype(kind, copy=False), after, more)

    return {name: None if column is None else extended(name, column) for name, column in columns.items()}
