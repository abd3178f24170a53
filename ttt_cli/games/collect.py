"""Collect the records of all files of a reading, before it is known who is who."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import CHESS_SPEEDS, FILE_SOURCE, DataConfig, drops_unplayed
from ttt_cli.games.aliases import Aliases, read_aliases
from ttt_cli.games.dictionaries import IDS, Dictionaries
from ttt_cli.games.players import Mentions, SideColumns, all_mentions, find_mentions
from ttt_cli.games.record_columns import RecordColumns
from ttt_cli.games.selection import filters_need_all_games
from ttt_cli.games.sources import file_label
from ttt_cli.games.table import years_of
from ttt_cli.games.validate import validate
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.batches import FileRecords
from ttt_cli.reading.columns import Codes, counts_of, has_stride_0, rows_of_column
from ttt_cli.reading.covariates import CATEGORY_WRITTEN, SOURCE, covariate_fields
from ttt_cli.reading.people import PeopleFile, read_people
from ttt_cli.reading.races import RACE
from ttt_cli.reading.reports import FileReport, Problem
from ttt_cli.reading.text_columns import TEXT_COLUMNS
from ttt_cli.storage import MEMORY, ArrayStorage, StoredArray
from ttt_cli.support.arrays import Ids, Places

_DEFAULT: Final = DataConfig()
_EMPTY: Final = np.uint8(0)  # the number of the empty text

StoredColumn = NDArray[Any] | StoredArray


@dataclass(frozen=True)
class CollectedFile:
    """The records of a file: all of them, or those that were not rejected.

    They are in the order of the file, or sorted by year: then those of `years[i]` are `starts[i]` to `starts[i + 1]`.
    In the order of the file `years` is empty and `starts` is 0 and the number of records.

    | name | shape | |
    |---|---|---|
    | report | | of the file after validation, before filters |
    | columns | (records,) each | columns of `RecordColumns` and its texts by name; `white_mention`, `black_mention` |
    | | | in place of names |
    | years | (years,) | distinct years, or none |
    | starts | (years + 1,) | the first record of each year, and the number of records; (2,) without years |
    """

    report: FileReport
    columns: dict[str, StoredColumn]
    years: Ids
    starts: Places


@dataclass(frozen=True)
class Collected:
    """The records of all files, and what they share."""

    data: DataConfig
    everything: bool  # whether rejected records and all texts are there
    by_year: bool  # whether the records of files are sorted by year
    storage: ArrayStorage
    aliases: Aliases
    people: PeopleFile | None
    dictionaries: Dictionaries
    files: tuple[CollectedFile, ...]
    mentions: Mentions
    n_computers: int  # records with a computer by its type or title
    problems: tuple[Problem, ...]  # of records, file by file, by line
    skipped: tuple[Problem, ...]  # files that were not read


class Collector:
    """Takes the records of one file after the other.

    With `everything`, it keeps all records and texts, else those that games are made of. The columns are in `storage`;
    in files, the records are sorted by year. Raises DataError when the alias file or the people of `data` cannot be
    used.
    """

    def __init__(
        self,
        data: DataConfig = _DEFAULT,
        *,
        everything: bool = False,
        storage: ArrayStorage = MEMORY,
    ) -> None:
        self._data = data
        self._everything = everything
        self._by_year = (
            storage is not MEMORY and not everything and not filters_need_all_games(data)
        )
        self._storage = storage
        self._aliases = Aliases() if data.aliases is None else read_aliases(data.aliases)
        self._people = None if data.people is None else read_people(data.people)
        self._dictionaries = _dictionaries_for(data, self._aliases, everything=everything)
        self._files: list[CollectedFile] = []
        self._mentions: list[Mentions] = []
        self._n_mentions = 0
        self._n_computers = 0
        self.problems: list[Problem] = []  # of records so far, file by file, by line

    def add(self, records: FileRecords, kind: str, *, digest: str, size: int) -> FileReport:
        """Validate the records of a file that has been read to its end; report on those that cannot be games.

        Names and filters are applied when all files have been read.
        """
        validated = validate(records, self._dictionaries, self._data)
        notes = [*records.rejects, *validated.notes, *records.notes]
        notes.sort(key=lambda note: note.line)
        self.problems += [
            Problem(records.path, note.line, note.reason, note.detail, note.action)
            for note in notes
        ]
        columns = _as_dict(validated.columns, records.rejected)
        if self._data.source == FILE_SOURCE:
            (label,) = self._dictionaries.columns[SOURCE].numbers_of([file_label(records.path)])
            columns[SOURCE] = np.broadcast_to(label, records.rows)
        winner_first = validated.winner_first
        del validated  # columns are freed one by one when they are stored
        for name in self._dictionaries.columns:
            if name not in IDS:
                columns.setdefault(name, np.broadcast_to(_EMPTY, records.rows))
        self._n_computers += int(np.count_nonzero(columns["computer"]))
        self._find_mentions(columns)
        report = FileReport(
            path=records.path,
            kind=kind,
            digest=digest,
            size=size,
            rows=records.rows,
            used=int(np.count_nonzero(columns["reject_code"] == 0)),
            dropped=_count_reasons(columns["reject_code"]),
            chess=records.layout.chess,
            home=records.layout.home,
            winner_first=winner_first,
            race_rows=records.layout.race_rows,
        )
        self._files.append(self._store(columns, report))
        return report

    def collected(self, skipped: Sequence[Problem] = ()) -> Collected:
        """All records so far; `skipped`: files that were not read."""
        return Collected(
            data=self._data,
            everything=self._everything,
            by_year=self._by_year,
            storage=self._storage,
            aliases=self._aliases,
            people=self._people,
            dictionaries=self._dictionaries,
            files=tuple(self._files),
            mentions=all_mentions(self._mentions),
            n_computers=self._n_computers,
            problems=tuple(self.problems),
            skipped=tuple(skipped),
        )

    def _find_mentions(self, columns: dict[str, NDArray[Any]]) -> None:
        """Replace names by `white_mention` and `black_mention`, numbered through all files; removes columns of ids."""
        n_records = len(columns["line"])
        no_id = np.broadcast_to(_EMPTY, n_records)
        ids = SideColumns(columns.pop("white_id", no_id), columns.pop("black_id", no_id))
        has_ids = self._data.ids and not (ids.white is no_id and ids.black is no_id)
        status = columns.get("status") if self._aliases.by_status else None
        years = _year_of(columns["date"], self._dictionaries) if self._aliases.by_years else None
        distinct = find_mentions(
            SideColumns(columns.pop("white"), columns.pop("black")),
            len(self._dictionaries.names.values),
            n_teams=len(self._dictionaries.teams),
            ids=ids if has_ids else None,
            status=status,
            years=years,
            first=self._n_mentions,
        )
        columns["white_mention"] = distinct.number_of.white
        columns["black_mention"] = distinct.number_of.black
        self._mentions.append(distinct.mentions)
        self._n_mentions += len(distinct.mentions.times)

    def _store(self, columns: dict[str, NDArray[Any]], report: FileReport) -> CollectedFile:
        """Move the records that are kept to the storage. Empties `columns`, so that each is freed once it is stored."""
        order = self._order(columns)
        file_number = len(self._files)
        stored = {}
        for name in list(columns):
            column = columns.pop(name)
            if order.rows is not None:
                column = rows_of_column(column, order.rows)
            stored[name] = self._storage.store(f"{name}-of-{file_number}", column)
        return CollectedFile(report, stored, order.years, order.starts)

    def _order(self, columns: Mapping[str, NDArray[Any]]) -> "_Order":
        """Which records are kept, and in which order."""
        is_used = columns["reject_code"] == 0
        if not self._by_year:
            no_years = np.zeros(0, np.int32)
            if self._everything or is_used.all():
                return _Order(None, no_years, np.array([0, len(is_used)]))
            rows = np.flatnonzero(is_used)
            return _Order(rows, no_years, np.array([0, len(rows)]))
        rows = np.flatnonzero(is_used)
        year = _year_of(columns["date"][rows], self._dictionaries)
        order_by_year = np.argsort(year, kind="stable")
        sorted_years = year[order_by_year]
        first_of_year = np.flatnonzero(np.diff(sorted_years, prepend=-1))
        distinct_years = sorted_years[first_of_year].astype(np.int32)
        return _Order(rows[order_by_year], distinct_years, np.append(first_of_year, len(rows)))


class _Order(NamedTuple):
    """Records that are kept, in their order."""

    rows: Places | None  # None: all of them
    years: Ids  # distinct years, empty where records are not sorted by year
    starts: Places  # the first record of each year, and the number of records


def _dictionaries_for(data: DataConfig, aliases: Aliases, *, everything: bool) -> Dictionaries:
    """Dictionaries of the texts that are needed.

    Web addresses among sites are kept only where filters match events, or where everything is wanted.
    """
    filters = data.filter
    matches_events = bool(filters.events or filters.exclude or filters.exclude_events)
    texts = [*TEXT_COLUMNS, RACE, "variant"]
    if everything or matches_events:
        texts += ["time_control", "odds"]
    if everything or aliases.by_status:
        texts.append("status")
    by_speed = data.category == CHESS_SPEEDS
    if by_speed and "time_control" not in texts:
        texts.append("time_control")
    if data.category_column is not None:
        texts.append(CATEGORY_WRITTEN)
    if data.source is not None:
        texts.append(SOURCE)
    texts += [field for name in data.covariates for field in covariate_fields(name)]
    return Dictionaries(
        [*texts, *IDS],
        keep_web_addresses=everything or matches_events,
        keep_byes=not drops_unplayed(data),
    )


def _year_of(date: Codes, dictionaries: Dictionaries) -> NDArray[np.int16]:
    """The year of each record by the number of its date."""
    return years_of(dictionaries.days)[date]


def _as_dict(columns: RecordColumns, rejected: list[tuple[int, int]]) -> dict[str, NDArray[Any]]:
    """The columns by name, with records that the reader rejected inserted by line; `rejected`: line and reject code."""
    by_name: dict[str, NDArray[Any]] = {**vars(columns), **columns.texts}
    del by_name["texts"]
    if not rejected:
        return by_name
    lines, reject_codes = np.array(
        sorted(rejected, key=lambda line_and_code: line_and_code[0]), np.int64
    ).T
    positions = np.searchsorted(columns.line, lines, side="right")
    by_name["line"] = by_name["line"].astype(np.int64)
    zeros = np.zeros(len(lines), np.int64)
    values_of_rejected = {"line": lines, "reject_code": reject_codes, "weight": np.ones(len(lines))}
    values_of_rejected["p_true"] = values_of_rejected["weight"]
    return {
        name: _with_inserted(column, positions, values_of_rejected.get(name, zeros))
        for name, column in by_name.items()
    }


def _with_inserted(column: NDArray[Any], positions: Places, values: NDArray[Any]) -> NDArray[Any]:
    """The column with values inserted at these positions; a column of stride 0 keeps it if no other value comes in."""
    if has_stride_0(column):
        entry = column[0] if len(column) else values[0]
        if np.all(values == entry):
            return np.broadcast_to(values.astype(column.dtype)[0], len(column) + len(values))
    return np.insert(column, positions, values)


def _count_reasons(reject_code: NDArray[np.int8]) -> dict[str, int]:
    """Numbers of rejected records by reason, in the order of DROP_REASONS."""
    counts = counts_of(reject_code, len(reasons.DROP_REASONS) + 1)
    return {
        reason: counts[code] for code, reason in enumerate(reasons.DROP_REASONS, 1) if counts[code]
    }
