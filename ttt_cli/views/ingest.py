"""The ingest report of `ttt games`, and the list of its records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from os.path import commonpath
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.event_set_names import EVENT_SETS
from ttt_cli.games.duplicates import find_duplicates
from ttt_cli.games.event_sets import CONSULTATION
from ttt_cli.games.groups import Groups, careers_of, find_groups, long_careers
from ttt_cli.games.suspects import Suspect, alias_lines, find_suspects
from ttt_cli.games.table import Games, Records, games_of
from ttt_cli.games.teams_and_engines import teams_and_engines
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.reports import Problem
from ttt_cli.support.arrays import Places
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.ingest_columns import (
    CAREER_COLUMNS,
    DROPPED_COLUMNS,
    DUPLICATES_COLUMNS,
    EXCLUDED_COLUMNS,
    FILES_COLUMNS,
    GROUPS_COLUMNS,
    LONG_COLUMNS,
    NOT_PERSONS_COLUMNS,
    ODD_COLUMNS,
    PLAYERS_COLUMNS,
    RECORD_COLUMNS,
    SUSPECTS_COLUMNS,
    TOTAL_COLUMNS,
    YEARS_COLUMNS,
)
from ttt_cli.views.reading_lines import names_written
from ttt_cli.views.rows import Rows, counted

# Reject codes of records that are listed as duplicates, and of those that they are compared with: as the filter of
# duplicates compares them, which comes before the filters of few games and of the largest group.
_USED_OR_DUPLICATE: Final = reasons.codes_of((None, reasons.DUPLICATE))
_COMPARED: Final = reasons.codes_of(
    (None, reasons.DUPLICATE, reasons.FEW_GAMES, reasons.OTHER_GROUP)
)
_SHARES: Final = {"share": 3, "draw_share": 3}
_NARROW: Final = 30  # years that are shown one by one, more of them by decade
_PIECE: Final = 8192


class IngestReport:
    """The ingest report: sections by name, each computed when it is used.

    Long sections show their first `most` rows, all with None. `short` paths leave out the folder of all files, shown in
    the heading of `files`. Without `suspects` no names are compared.
    """

    def __init__(
        self, records: Records, most: int | None = 10, *, short: bool = False, suspects: bool = True
    ) -> None:
        self.records = records
        self._most = most
        self._compare_names = suspects
        self.folder = ""
        with suppress(ValueError):  # some paths are absolute, others not
            self.folder = (
                commonpath([PurePath(file.path).parent for file in records.files]) if short else ""
            )
        self.rows: NDArray[np.int64] = np.flatnonzero(records.used)
        result = records.result.codes[self.rows]
        self.played: NDArray[np.int32] = records.tally.sum(axis=1).astype(np.int32)[result]
        self.drawn: NDArray[np.int32] = records.tally[:, 1].astype(np.int32)[result]
        self.year: NDArray[np.int16] = records.year[self.rows]

    def section(self, name: str) -> Rows:
        """The rows of a section, with its heading as the title."""
        section = SECTIONS[name]
        heading = section.heading
        if name == "files" and self.folder:
            heading += f" in {self.folder}"
        rows = list(section.rows(self))
        most = len(rows) if self._most is None or name in ("total", "years") else self._most
        if len(rows) > most:
            heading += f": {most:,} of {len(rows):,}"
        columns = column_names(section.columns)
        hidden = _HIDDEN.get(name, frozenset())
        return Rows(columns, rows[:most], (heading,), _SHARES, hidden, single=name == "total")

    def tables(self, form: str, only: str | None) -> Iterator[Rows]:
        """The section `only`, or all of them in a form.

        `form` is the format of the output, as of `-f`. All sections are a table each, without those that are empty,
        for `table`; one object for `json`; one table of section, row, key and value for any other format.
        """
        if form == "table":
            for name in [only] if only else SECTIONS:
                rows = self.section(name)
                if name == "years" and len(list(rows.rows)) > _NARROW:
                    columns = ("decade", *rows.columns[1:])
                    decades = _over_time(self, 10)
                    rows = replace(rows, columns=columns, rows=decades, title=("Games by decade",))
                if only or (rows.rows and not self._is_irrelevant(name)):
                    yield rows
        elif only:
            yield self.section(only)
        elif form == "json":
            yield self.as_object()
        else:
            yield self.as_long_rows()

    def _is_irrelevant(self, name: str) -> bool:
        """Whether a section says nothing: a single group, or persons in other games than chess."""
        if name == "groups":
            return len(self.groups) < 2
        return name == "not_persons" and not self.records.report.chess

    def path(self, path: str) -> str:
        """A path as it is shown."""
        return path.removeprefix(f"{self.folder}/") if self.folder else path

    def place(self, row: int) -> str:
        """`file:line` of a record, as it is shown."""
        return self.path(self.records.place(row))

    def suggestions(self) -> tuple[str, str]:
        """An alias file of the names that may be one person's, and a message with a place for its path."""
        lines = list(alias_lines(self.games, self.suspects))
        suggestions = lines[1::2]  # each after the line of its evidence
        doubtful = sum(suggestion.startswith("#") for suggestion in suggestions)
        comments = f", {doubtful:,} of them as comments" if doubtful else ""
        text = "".join(f"{line}\n" for line in lines)
        return text, f"{counted(len(suggestions), 'suggestion')} written to {{}}{comments}"

    def as_object(self) -> Rows:
        """All sections as one row, for JSON: the first an object, the others lists of objects."""
        values = [objects[0] if name == "total" else objects for name, objects in self._objects()]
        return Rows(tuple(SECTIONS), [tuple(values)], single=True)

    def as_long_rows(self) -> Rows:
        """Everything as rows `section,row,key,value`; rows are numbered from 1, values are texts."""
        rows = (
            (name, number, key, None if value is None else str(value))
            for name, objects in self._objects()
            for number, record in enumerate(objects, 1)
            for key, value in record.items()
        )
        return Rows(column_names(LONG_COLUMNS), rows)

    def _objects(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        for name in SECTIONS:
            yield name, list(self.section(name).records())

    @cached_property
    def games(self) -> Games:
        """The games that a fit would take."""
        return games_of(self.records)

    @cached_property
    def groups(self) -> Groups:
        """Groups of players linked by games."""
        return find_groups(self.games)

    @cached_property
    def suspects(self) -> list[Suspect]:
        """Pairs of names that may be one person's."""
        return find_suspects(self.games) if self._compare_names and len(self.games) else []

    @cached_property
    def duplicates(self) -> Places:
        """Records that repeat a better one, and this; shape (duplicates, 2).

        Of the repeating records those that are used, or left out as duplicates.
        """
        reject_code = self.records.reject_code
        pairs = find_duplicates(self.records, np.isin(reject_code, _COMPARED))
        repeats = pairs[:, 0]
        return pairs[np.isin(reject_code[repeats], _USED_OR_DUPLICATE)]


Row = tuple[Any, ...]


def _total(report: IngestReport) -> list[Row]:
    read_report = report.records.report
    groups = report.groups.groups
    games = int(report.played.sum())
    has_games = len(report.year) > 0
    total = {
        "files": len(read_report.files),
        "rows": read_report.rows,
        "used": read_report.used,
        "dropped": read_report.rows - read_report.used,
        "games": games,
        "draw_share": float(report.drawn.sum() / games) if games else None,
        "names": names_written(report.games),
        "players": len(report.games.players),
        "first": int(report.year.min()) if has_games else None,
        "last": int(report.year.max()) if has_games else None,
        "groups": len(groups),
        "largest_group": groups[0].players if groups else 0,
        "duplicates": len(report.duplicates),
        "suspects": len(report.suspects),
    }
    return [tuple(total[column] for column in column_names(TOTAL_COLUMNS))]


def _files(report: IngestReport) -> Iterator[Row]:
    for file in report.records.files:
        repeats = file.noticed.get(reasons.DUPLICATE, 0) + file.dropped.get(reasons.DUPLICATE, 0)
        counts = (file.rows, file.used, file.rows - file.used, repeats, file.size)
        yield report.path(file.path), file.kind, *counts


def _dropped(report: IngestReport) -> Iterator[Row]:
    """Records that are not used by reason, filters included, with the place of the first."""
    for reason, count in report.records.report.dropped.items():
        first = int(np.argmax(report.records.reject_code == reasons.REJECT_CODE[reason]))
        yield reason, count, report.place(first)


def _excluded(report: IngestReport) -> list[Row]:
    """Events that are left out by `data.filter`, with the reason, rows and years of each; most rows first."""
    records = report.records
    codes = reasons.codes_of((reasons.EXCLUDED_EVENT, *EVENT_SETS))
    rows = np.flatnonzero(np.isin(records.reject_code, codes))
    events = records.event.codes[rows].tolist()
    reject_codes = records.reject_code[rows].tolist()
    years: dict[tuple[int, int], list[int]] = defaultdict(list)  # by event and reason, a year a row
    for event, code, year in zip(events, reject_codes, records.year[rows].tolist(), strict=True):
        years[event, code].append(year)
    excluded = []
    for (event, code), of_event in years.items():
        name = records.event.values[event]
        reason = reasons.DROP_REASONS[code - 1]
        excluded.append((name, reason, len(of_event), min(of_event), max(of_event)))
    return sorted(excluded, key=lambda row: (-row[2], row[0], row[1]))


def _odd(report: IngestReport) -> Iterator[Row]:
    """Oddities of records that are used all the same, by action, with the place of the first of each."""
    oddities: dict[tuple[str, str], list[Problem]] = defaultdict(list)
    for problem in report.records.problems:
        if problem.action != reasons.DROPPED:
            oddities[problem.action, problem.reason].append(problem)
    for (action, reason), problems in sorted(
        oddities.items(), key=lambda item: (-len(item[1]), item[0])
    ):
        first = problems[0]
        yield action, reason, len(problems), report.path(first.place), first.detail


def _over_time(report: IngestReport, step: int = 1) -> list[Row]:
    """Games with the share of draws, by periods of `step` years, empty ones included."""
    if not len(report.year):
        return []
    first = int(report.year.min()) // step
    number = report.year // step - first
    games = np.bincount(number, report.played).astype(int).tolist()
    draws = np.bincount(number, report.drawn).astype(int).tolist()
    return [
        ((first + index) * step, played, drawn, drawn / played if played else None)
        for index, (played, drawn) in enumerate(zip(games, draws, strict=True))
    ]


def _players(report: IngestReport) -> Iterator[Row]:
    records = report.records
    rows = report.rows
    careers = careers_of(report.games)
    players = np.concatenate([records.white[rows], records.black[rows]])
    # careers are of the players with games, in the order of all players of the records
    has_games = np.bincount(players) > 0
    played = np.bincount(players, np.tile(report.played, 2))[has_games].astype(int)
    order = np.argsort(-played, kind="stable")
    names = [careers.names[index] for index in order.tolist()]
    first = careers.first[order].tolist()
    last = careers.last[order].tolist()
    return zip(names, played[order].tolist(), first, last, strict=True)


def _groups(report: IngestReport) -> Iterator[Row]:
    for number, group in enumerate(report.groups.groups, 1):
        yield number, group.players, group.games, group.first, group.last, "; ".join(group.leading)


def _duplicates(report: IngestReport) -> Iterator[Row]:
    records = report.records
    for row, original in report.duplicates.tolist():
        white = records.players[records.white[row]]
        black = records.players[records.black[row]]
        game = (records.date[row], white, black, records.result[row])
        used = bool(records.reject_code[row] == 0)
        yield report.place(row), report.place(original), *game, used


def _not_persons(report: IngestReport) -> list[Row]:
    """Names of teams and engines, and names with games over more than a long career, perhaps of two people.

    `rows` are those in which a name occurs, used or left out as a team, its consultation game or an engine.
    """
    records = report.records
    kinds = (reasons.TEAM, reasons.ENGINE)
    # Of records that are used, or left out for a team or engine
    codes = reasons.codes_of((None, *kinds, CONSULTATION))
    counts = _rows_of_players(records, np.flatnonzero(np.isin(records.reject_code, codes)))
    used = _rows_of_players(records, report.rows)
    rows: list[Row] = []
    for kind, is_of_kind in zip(kinds, teams_and_engines(records.players), strict=True):
        for player in np.flatnonzero(is_of_kind).tolist():
            if counts[player]:
                rows.append(
                    (records.players[player], kind, counts[player], used[player], None, None)
                )
    rows.sort(key=lambda row: (-row[2], row[0]))
    for career in long_careers(report.games):
        rows.append(
            (career.name, "two people", career.games, career.games, career.first, career.last)
        )
    return rows


def _rows_of_players(records: Records, rows: NDArray[np.int64]) -> list[int]:
    """The number of these rows of each player."""
    players = np.concatenate([records.white[rows], records.black[rows]])
    counts: list[int] = np.bincount(players, minlength=len(records.players)).tolist()
    return counts


def _suspects(report: IngestReport) -> Iterator[Row]:
    """Pairs of names that may be one person's, likely ones first; `others`: further players the synonym may be.

    `shared` counts common opponents, `sure` marks those that `--suggest` unites.
    """
    for suspect in report.suspects:
        main = suspect.main
        synonym = suspect.synonym
        evidence = (
            suspect.kind,
            suspect.gap,
            suspect.n_other_candidates,
            suspect.shared,
            suspect.sure,
        )
        main_career = (main.games, main.first, main.last)
        synonym_career = (synonym.games, synonym.first, synonym.last)
        yield synonym.name, main.name, *evidence, *main_career, *synonym_career


_HIDDEN: Final = {
    "years": frozenset({"draws"}),
    "duplicates": frozenset({"used"}),
    "suspects": frozenset(column_names(CAREER_COLUMNS)),
}


class Section(NamedTuple):
    """A section of the report: its heading, its columns, and the function of its rows."""

    heading: str
    columns: tuple[Described, ...]
    rows: Callable[[IngestReport], Iterable[Row]]


SECTIONS: Final = {
    "total": Section("All files", TOTAL_COLUMNS, _total),
    "files": Section("Files", FILES_COLUMNS, _files),
    "dropped": Section("Rows that are not used", DROPPED_COLUMNS, _dropped),
    "excluded": Section("Events that are left out", EXCLUDED_COLUMNS, _excluded),
    "odd": Section("What else was odd", ODD_COLUMNS, _odd),
    "years": Section("Games by year", YEARS_COLUMNS, _over_time),
    "players": Section("Players with the most games", PLAYERS_COLUMNS, _players),
    "groups": Section("Groups of players without games between them", GROUPS_COLUMNS, _groups),
    "duplicates": Section("Rows that repeat another", DUPLICATES_COLUMNS, _duplicates),
    "not_persons": Section("Names that may not be one person's", NOT_PERSONS_COLUMNS, _not_persons),
    "suspects": Section("Names that may be one person's", SUSPECTS_COLUMNS, _suspects),
}


def record_rows(records: Records, *, everything: bool = False) -> Rows:
    """The records that are used, or all of them, in the order in which they were read.

    `white` and `black` are the players identified by the names, else the names as written; so are `date`, `result` and
    the other texts. `problem`: why a record is not used, or what was repaired (`bad date (repaired)`). Rows are lazy.
    """
    listed = np.arange(len(records)) if everything else np.flatnonzero(records.used)
    paths = tuple(file.path for file in records.files)
    files = records.file
    names = (*records.players, *records.white_written.values)
    oddities = _oddities(records)
    columns_in_order = column_names(RECORD_COLUMNS)

    def named(players: NDArray[Any], written: NDArray[Any]) -> list[str]:
        """Names of players by their numbers, of others by the codes of the names as written."""
        codes = np.where(players >= 0, players, written.astype(np.int64) + len(records.players))
        return _picked(names, codes)

    def problems(rows: NDArray[np.int64]) -> list[str | None]:
        drop_reasons: list[str | None] = _picked(
            (None, *reasons.DROP_REASONS), records.reject_code[rows]
        )
        return [
            reason or oddities.get(row)
            for row, reason in zip(rows.tolist(), drop_reasons, strict=True)
        ]

    def pieces(size: int) -> Iterator[list[list[Any]]]:
        texts = (records.result, records.event, records.site, records.round)
        for start in range(0, len(listed), size):
            rows = listed[start : start + size]
            yield [
                _picked(paths, files[rows]),
                (records.line[rows].astype(np.int64) % reasons.LINES).tolist(),
                _picked(records.date.values, records.date.codes[rows]),
                named(records.white[rows], records.white_written.codes[rows]),
                named(records.black[rows], records.black_written.codes[rows]),
                *(_picked(column.values, column.codes[rows]) for column in texts),
                problems(rows),
            ]

    def write_parquet(path: Path) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        schema = pa.schema(
            [(name, pa.int64() if name == "line" else pa.string()) for name in columns_in_order]
        )
        with ParquetWriter(path, schema) as writer:
            for columns in pieces(16 * _PIECE):
                table = dict(zip(columns_in_order, columns, strict=True))
                writer.write(pa.table(table, schema))

    rows = (row for columns in pieces(_PIECE) for row in zip(*columns, strict=True))
    return Rows(columns_in_order, rows, parquet=write_parquet)


def _picked(values: Sequence[Any], codes: NDArray[Any]) -> list[Any]:
    return [values[code] for code in codes.tolist()]


def _oddities(records: Records) -> dict[int, str]:
    """What is odd about single records that may be used, and what they repeat, by row."""
    odd: dict[int, dict[str, None]] = defaultdict(dict)
    number_of_file: dict[str, int] = {}  # the first one of each path
    for file_number, file in enumerate(records.files):
        number_of_file.setdefault(file.path, file_number)
    for problem in records.problems:
        number = number_of_file.get(problem.file)
        if problem.action != reasons.DROPPED and number is not None:
            first, after = records.starts[number : number + 2].tolist()
            # the last record of the file that begins at the line of the problem or before
            row = (
                first
                + int(np.searchsorted(records.line[first:after], problem.line, side="right"))
                - 1
            )
            if row >= first:
                odd[row][f"{problem.reason} ({problem.action})"] = None
    for row, original in find_duplicates(records).tolist():
        odd[row][f"duplicate of {records.place(original)} (kept)"] = None
    return {row: "; ".join(words) for row, words in odd.items()}
