"""All files' records as one table, with the account of what became of every one of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.dictionaries import FURTHER, Dictionaries, NoLinks
from ttt_cli.games.players.aliases import Aliases, read_aliases
from ttt_cli.games.players.unify import identify, spellings, unmatched
from ttt_cli.games.records import Records, games_of, years_of
from ttt_cli.games.selection.select import select
from ttt_cli.games.table import Games, no_texts
from ttt_cli.games.validate import SAID, Validated, record_words
from ttt_cli.reading.column import Codes, Column, concatenated, counts_of
from ttt_cli.reading.file_records import FileRecords
from ttt_cli.reading.reasons import DROP_REASONS, DROPPED, IDLE_ALIAS, KEPT, REJECT_CODE, SAME_PLAYER
from ttt_cli.reading.reports import FileReport, Problem

_DEFAULT: Final = DataConfig()
USUAL: Final[Mapping[str, np.generic]] = {
    "weight": np.float64(1.0),
    "offset": np.float64(0.0),
    "moves": np.int64(0),
    "neutral": np.False_,
}
_EMPTY: Final = np.uint8(0)  # the number of the empty text


class Collector:
    """Takes the records of one file after the other and makes Records or Games of them all.

    With `everything`, Records keep all texts; else only those of dates and results, which Games are made of.
    Raises DataError when the alias file of `data` cannot be used.
    """

    def __init__(self, data: DataConfig = _DEFAULT, *, everything: bool = False) -> None:
        self._data, self._everything = data, everything
        self.aliases = Aliases() if data.aliases is None else read_aliases(data.aliases)
        self.dictionaries = Dictionaries(FURTHER if everything else _needed(data, self.aliases))
        if not (everything or _by_event(data)):
            self.dictionaries.columns["site"] = NoLinks("")
        self._parts: list[dict[str, Any]] = []  # the columns of each file
        self._starts = [0]  # the number of the first record of each file, and of all records
        self._files: list[FileReport] = []
        self._problems: list[Problem] = []

    def add(self, records: FileRecords, kind: str, *, digest: str, size: int) -> FileReport:
        """Judge the records of a file that has been read to its end; report on those that cannot be games.

        What names and filters do follows when all files have been read.
        """
        validated = Validated(records, self.dictionaries, self._data)
        columns = _with_rejects(validated.columns, *records.rejected)
        self._parts.append(columns)
        self._starts.append(self._starts[-1] + len(columns["reject_code"]))
        notes = sorted([*records.rejects, *validated.notes, *records.notes], key=attrgetter("line"))
        self._problems += [Problem(records.path, *note) for note in notes]
        account = _account(columns["reject_code"])
        report = FileReport(records.path, kind, digest, size, records.rows, *account, chess=records.chess)
        self._files.append(report)
        return report

    def columns(self) -> dict[str, NDArray[Any]]:
        """All columns as numbers in the `dictionaries`, shape (records,), with the `reject_code`. For once.

        Those that hold the usual value throughout have stride 0.
        """
        names = dict.fromkeys([*self.dictionaries.columns, *(name for part in self._parts for name in part)])
        return {name: self._joined(name, USUAL.get(name, _EMPTY)) for name in names}

    def _joined(self, name: str, usual: np.generic) -> NDArray[Any]:
        found = (part.pop(name, None) for part in self._parts)
        sizes = np.diff(self._starts).tolist()
        rows = zip(found, sizes, strict=True)
        return concatenated([np.broadcast_to(usual, size) if one is None else one for one, size in rows])

    @property
    def by_id(self) -> bool:
        """Whether ids tell who players are."""
        return self._data.ids and len(self.dictionaries.columns["white_id"].values) > 1

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that was odd about single records, file by file, by line."""
        return tuple(self._problems)

    def games(self) -> Games:
        """All games in the order of their dates, then as read; players sorted by name. To be asked for once."""
        return games_of(self.records())

    def records(self) -> Records:
        """All records, names united and filters applied. To be asked for once."""
        records = self._united()
        selected = select(records, self._data)
        files = []
        for number, file in enumerate(self._files):
            part = slice(*self._starts[number : number + 2])
            used, dropped = _account(selected.reject_code[part])
            noticed = {
                what: int(rows[part].sum()) for what, rows in selected.noticed.items() if rows[part].any()
            }
            files.append(replace(file, used=used, dropped=dropped, noticed=noticed))
        records = replace(records, reject_code=selected.reject_code, files=tuple(files))
        return records if self._everything else _for_games(records)

    def _united(self) -> Records:
        """All records with their players, no filter applied."""
        dictionaries, column = self.dictionaries, self.columns()
        written = (column["white_written"], column["black_written"])
        texts = {name: Column(column[name], dictionaries.texts(name)) for name in dictionaries.columns}
        days = dictionaries.dates.days
        who = identify(
            dictionaries.names,
            written,
            self._data.names,
            self.aliases,
            ids=(column["white_id"], column["black_id"], texts["white_id"].values) if self.by_id else None,
            status=texts.get("status"),
            years=years_of(days)[column["date"]] if self.aliases.by_years else None,
        )
        reject_code = column["reject_code"]
        same = np.flatnonzero((reject_code == 0) & (who.white == who.black))
        reject_code[same] = REJECT_CODE[SAME_PLAYER]
        names = tuple(dictionaries.names.values) if self._everything else None
        nothing = no_texts(len(reject_code))
        kept: dict[str, Any] = {
            name: texts.get(name, nothing) for name in FURTHER if not name.endswith("_id")
        }
        kept |= {name: column[name] for name in ("line", *USUAL, "reject_code")}
        return Records(
            files=tuple(self._files),
            starts=np.array(self._starts, np.int64),
            date=Column(column["date"], dictionaries.dates.texts),
            white_written=Column(written[0], names) if names else nothing,
            black_written=Column(written[1], names) if names else nothing,
            result=Column(column["result"], tuple(text for text, _ in dictionaries.results.values)),
            **kept,
            date_day=days,
            date_precision=dictionaries.dates.precisions,
            tally=dictionaries.tallies,
            players=who.players,
            white=who.white,
            black=who.black,
            problems=(*self._told_of(same, column), *self.idle_aliases()),
            aliases=self.aliases.source,
            spellings=spellings(dictionaries.names.values, written, who),
        )

    def idle_aliases(self) -> Iterator[Problem]:
        """One account of the spellings of the alias file that no name has."""
        aliases = self.aliases
        idle = unmatched(self.dictionaries.names, self._data.names, aliases)
        if idle and aliases.source is not None:
            shown = "; ".join(idle[:3]) + ("; ..." if len(idle) > 3 else "")
            detail = f"{len(idle):,} of {len(aliases.lines):,} spellings: {shown}"
            yield Problem(aliases.source.path, aliases.lines[idle[0]], IDLE_ALIAS, detail, KEPT)

    def _told_of(self, same: NDArray[np.intp], column: Mapping[str, NDArray[Any]]) -> tuple[Problem, ...]:
        """All problems, those of records among them whose names turned out to be one player's."""
        if not len(same):
            return self.problems
        files = np.searchsorted(self._starts, same, side="right") - 1
        said = np.stack([column[name][same] for name in SAID])
        return self.with_same_player(self._files, self._problems, files, column["line"][same], said)

    def with_same_player(
        self, files: Sequence[FileReport], problems: Iterable[Problem], file: Codes, line: Codes, said: Codes
    ) -> tuple[Problem, ...]:
        """Problems, by file and line, and those of records whose names turned out to be one player's.

        `file` and `line`, shape (records,), are where these stand, `said` (4, records) numbers of what `SAID` names.
        """
        further = []
        for number, at, numbers in zip(file.tolist(), line.tolist(), said.T.tolist(), strict=True):
            words = record_words(self.dictionaries, *numbers)
            further.append(Problem(files[number].path, at, SAME_PLAYER, words, DROPPED))
        place = {one.path: number for number, one in enumerate(files)}
        return tuple(sorted([*problems, *further], key=lambda problem: (place[problem.file], problem.line)))


def _for_games(records: Records) -> Records:
    """Without what Games are not made of."""
    texts: dict[str, Any] = dict.fromkeys(
        ("variant", "time_control", "status", "odds"), no_texts(len(records))
    )
    return replace(records, **texts, moves=np.broadcast_to(np.int64(0), len(records)))


def _by_event(data: DataConfig) -> bool:
    chosen = data.filter
    return bool(chosen.events or chosen.exclude or chosen.exclude_events)


def _needed(data: DataConfig, aliases: Aliases) -> Iterable[str]:
    """The further columns that names, filters and duplicates look at."""
    yield from ("event", "site", "round", "white_id", "black_id")
    if _by_event(data):
        yield from ("variant", "time_control", "odds")
    if aliases.by_status:
        yield "status"


def _with_rejects(columns: dict[str, Any], places: Codes, reject_codes: Codes) -> dict[str, Any]:
    """The columns of a file's records with those that could not be split into columns, where their lines stand.

    `places` and `reject_codes`, shape (rejects,), are of these; a column that is None stays so.
    """
    if not len(places):
        return columns
    order = np.argsort(places, kind="stable")
    places = places[order]
    after = np.searchsorted(columns["line"], places, side="right")
    added: dict[str, Any] = {"line": places, "reject_code": reject_codes[order], "weight": 1.0}

    def extended(name: str, column: NDArray[Any]) -> NDArray[Any]:
        more = added.get(name, 0)
        kind = np.result_type(column, more) if name == "line" else column.dtype
        return np.insert(column.astype(kind, copy=False), after, more)

    return {name: None if column is None else extended(name, column) for name, column in columns.items()}


def _account(reject_code: NDArray[np.int8]) -> tuple[int, dict[str, int]]:
    """How many records are used, and how many are not for each reason."""
    dropped = by_reason(rejected(reject_code))
    return len(reject_code) - sum(dropped.values()), dropped


def rejected(reject_code: NDArray[np.int8], place: Codes | None = None) -> Iterator[tuple[int, int, int]]:
    """Reject codes, how many records have each, and the first of these, or the first `place`."""
    for code, count in enumerate(counts_of(reject_code, len(DROP_REASONS) + 1)):
        if code and count:
            rows = reject_code == code
            yield code, count, int(np.argmax(rows) if place is None else place[rows].min())


def by_reason(met: Iterable[tuple[int, int, int]]) -> dict[str, int]:
    """Counts by reason, most frequent (then first met) first, of (reject code, count, where it is met first)."""
    ordered = sorted(met, key=lambda one: (-one[1], one[2], one[0]))
    return {DROP_REASONS[code - 1]: count for code, count, _ in ordered}
