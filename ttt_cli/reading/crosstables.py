"""Crosstables: a row per player with the scores against all players, as in books.

    event: Hastings
    date: 1895

    Pillsbury   *   1½  1   2½
    Chigorin    0½  *   =   1
    Lasker      0   ½   *   ½

Each game is written twice, and totals are printed: all of it has to agree. Colours are unknown, so that the winner is
recorded as the player named first.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Table, TextRecords
from ttt_cli.reading.text import decode
from ttt_cli.support.errors import DataError

_HEADER: Final = re.compile(r"\s*(event|site|date|round)\s*:\s*(.*?)\s*", re.IGNORECASE)
_NAMES: Final = frozenset({"name", "names", "player", "players"})  # heads of the column of names
_TOTALS: Final = frozenset({"points", "pts", "total", "score", "sum", "result"})
_DIAGONAL: Final = frozenset({"", "*", "x", "X", "■", "#", "-", "–", "—", "•", "\\"})
_SIGNS: Final = frozenset("*xX■½=")  # some of which a row of a player has
_DRAW: Final = "½"
_DRAWN_CELLS: Final = frozenset({"0.5", ".5", "0,5", ",5", "1/2"})
# The result of the other player
_ANSWERS: Final = {
    "1": "0",
    "0": "1",
    _DRAW: _DRAW,
    "+": "-",
    "-": "+",
}
_POINTS: Final = {"1": 1.0, "0": 0.0, _DRAW: 0.5, "+": 1.0, "-": 0.0}
_NUMBER: Final = re.compile(r"(\d*)(?:([.,]5)|([.,]0)|(½|\s?1/2))?")
_PLACE: Final = re.compile(r"\d+\.?")
_CELL_OR_TOTAL: Final = re.compile(r"[*xX■#•–—\\]|[-+=½01]+|\d*½|\d+(?:[.,]\d)?|[.,]5|\d*1/2")
_UNPLAYED: Final = "-"  # of both: no game


@dataclass(frozen=True)
class _Row:
    """A row: its line in the file, the name, a cell for each player, and the printed total, empty for none."""

    line: int
    name: str
    cells: tuple[str, ...]
    total: str


@dataclass(frozen=True)
class _CrosstableInFile:
    """A crosstable in the file `name`, with what is said of it: event, site, date and round."""

    name: str
    headers: Mapping[str, str]
    rows: tuple[_Row, ...]

    def error(self, row: _Row, column: int, message: str) -> DataError:
        """An error in a cell, which names both players."""
        where = f"{self.name}:{row.line}"
        return DataError(
            f"{row.name} against {self.rows[column].name} (column {column + 1}): {message}",
            where=where,
        )


def read_crosstables(blocks: Iterator[bytes], data: DataConfig, name: str) -> Table:
    """All games of the crosstables in a file. Raises DataError, with the cell, where they do not agree."""
    constants = {key: str(value) for key, value in data.constant.items()}
    records = TextRecords()
    for table in _tables(decode(b"".join(blocks)), name, constants):
        _check_totals(table)
        _add_games(records, table)
    return records.table(winners=True)


def _tables(text: str, name: str, constants: Mapping[str, str]) -> Iterator[_CrosstableInFile]:
    """The crosstables of a file, each after its headers; an empty line or a header ends one. Raises DataError."""
    headers = dict(constants)
    lines: list[tuple[int, str]] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        header = _HEADER.fullmatch(line)
        if line.strip() and header is None:
            lines.append((number, line))
            continue
        if lines:
            yield _table(lines, name, headers)
            lines = []
        if header is not None:
            headers[header[1].lower()] = header[2]


def _table(
    lines: Sequence[tuple[int, str]], name: str, headers: Mapping[str, str]
) -> _CrosstableInFile:
    """A crosstable from its numbered lines. Raises DataError."""
    first_line = lines[0][0]
    if not headers.get("date"):
        hint = "a line `date: 1895` before the table, or -s 'data.constant={date: 1895}'"
        raise DataError("a crosstable without a date", where=f"{name}:{first_line}", hint=hint)
    fields = _fields([line for _, line in lines])
    if _is_head(fields[0]):
        head = [cell.casefold() for cell in fields[0]]
        rows = _rows_below_head(head, lines[1:], fields[1:], name)
    elif len(lines) > 1:
        rows = _rows_without_head(lines, fields, name)
    else:
        rows = []
    if len(rows) < 2:
        raise DataError("a crosstable of fewer than two players", where=f"{name}:{first_line}")
    lines_by_name: dict[str, int] = {}
    for row in rows:
        if row.name in lines_by_name:
            other = lines_by_name[row.name]
            raise DataError(
                f"{row.name!r} has two rows, the first in line {other}", where=f"{name}:{row.line}"
            )
        lines_by_name[row.name] = row.line
    return _CrosstableInFile(name, dict(headers), tuple(rows))


def _is_head(cells: Sequence[str]) -> bool:
    """Whether a row names the column of names, and has no cell of a player."""
    return any(cell.casefold() in _NAMES for cell in cells) and _SIGNS.isdisjoint(cells)


def _fields(lines: Sequence[str]) -> list[list[str]]:
    """The cells of each line: between bars, tabs, or as many commas or semicolons as rows; else between blanks."""
    if "|" in lines[0]:
        return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    if "\t" in lines[0]:
        return [[cell.strip() for cell in line.split("\t")] for line in lines]
    for delimiter in ",;":
        first = next(csv.reader(lines[:1], delimiter=delimiter))
        n_players = len(lines) - _is_head([cell.strip() for cell in first])
        if len(first) > n_players:
            return [
                [cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)
            ]
    return _fields_between_blanks([line.split() for line in lines])


def _fields_between_blanks(words: Sequence[list[str]]) -> list[list[str]]:
    """Place, name, cells and perhaps a total of rows whose names may have blanks: the last words are cells."""
    count = len(words)
    head: list[list[str]] = []
    if _is_head(words[0]):
        head = [list(words[0])]
        words = words[1:]
        count -= 1
    numbers = [_trailing_cells(row) for row in words]
    n_cells = count + 1 if all(number > count for number in numbers) else count
    rows = []
    for row in words:
        begin = max(len(row) - n_cells, 0)
        has_place = begin > 1 and _PLACE.fullmatch(row[0]) is not None
        place = [row[0]] if has_place else []
        rows.append([*place, " ".join(row[len(place) : begin]), *row[begin:]])
    return [*head, *rows]


def _trailing_cells(words: Sequence[str]) -> int:
    """How many of the last words may be cells or a total; the first is a name or a place."""
    number = 0
    for word in reversed(words[1:]):
        if _CELL_OR_TOTAL.fullmatch(word) is None:
            break
        number += 1
    return number


def _rows_without_head(
    lines: Sequence[tuple[int, str]], fields: Sequence[list[str]], name: str
) -> list[_Row]:
    """Rows of a name and a cell for each row, perhaps after a place and before a total. Raises DataError."""
    count = len(lines)
    skipped = 1 if all(cells and _PLACE.fullmatch(cells[0]) for cells in fields) else 0
    width = len(fields[0]) - skipped
    rows = []
    for (line, _), cells in zip(lines, fields, strict=True):
        n_cells = len(cells) - skipped
        if n_cells != width or width not in (count + 1, count + 2):
            raise DataError(
                f"a row of {n_cells} cells, not of a name, {count} results and perhaps a total",
                where=f"{name}:{line}",
            )
        total = cells[-1] if width == count + 2 else ""
        rows.append(
            _row(line, cells[skipped], cells[skipped + 1 : skipped + 1 + count], total, name)
        )
    return rows


def _rows_below_head(
    head: Sequence[str], lines: Sequence[tuple[int, str]], fields: Sequence[list[str]], name: str
) -> list[_Row]:
    """Rows below a head that names the column of names, perhaps that of totals, and others. Raises DataError."""
    count = len(lines)
    name_column = next(column for column, label in enumerate(head) if label in _NAMES)
    numbers = [str(number) for number in range(1, count + 1)]
    starts = [
        column for column in range(len(head)) if list(head[column : column + count]) == numbers
    ]
    first = starts[0] if starts else name_column + 1
    totals = [column for column in range(first + count, len(head)) if head[column] in _TOTALS]
    rows = []
    for (line, _), cells in zip(lines, fields, strict=True):
        if len(cells) != len(head) or len(cells) < first + count:
            message = f"a row of {len(cells)} cells below {len(head)}, for {count} players"
            raise DataError(message, where=f"{name}:{line}")
        total = cells[totals[0]] if totals else ""
        rows.append(_row(line, cells[name_column], cells[first : first + count], total, name))
    return rows


def _row(line: int, player: str, cells: Sequence[str], total: str, file: str) -> _Row:
    """A row. Raises DataError without a name."""
    if not player or _CELL_OR_TOTAL.fullmatch(player):
        raise DataError(f"a row without a name: {player!r}", where=f"{file}:{line}")
    return _Row(line, player, tuple(cells), total)


def _symbols(table: _CrosstableInFile, row: int, column: int) -> tuple[str, ...]:
    """The results in a cell, one for each game: 1, 0, ½, + or -. Raises DataError."""
    text = table.rows[row].cells[column]
    if row == column:
        if text not in _DIAGONAL:
            raise table.error(table.rows[row], column, f"{text!r} where a player meets himself")
        return ()
    if text in _DRAWN_CELLS:
        return (_DRAW,)
    symbols = (
        text.replace("1/2", _DRAW).replace("=", _DRAW).replace("–", "-").replace("—", "-").split()
    )
    results = tuple("".join(symbols))
    for symbol in results:
        if symbol not in _ANSWERS:
            raise table.error(
                table.rows[row], column, f"{text!r} is no result: 1, 0, ½ or =, one for each game"
            )
    return results


def _check_totals(table: _CrosstableInFile) -> None:
    """Raise DataError where a printed total is not the sum of the results."""
    for index, row in enumerate(table.rows):
        if not row.total:
            if any(other.total for other in table.rows):
                raise DataError(f"{row.name} has no total", where=f"{table.name}:{row.line}")
            continue
        points = sum(
            _POINTS[symbol]
            for column in range(len(row.cells))
            for symbol in _symbols(table, index, column)
        )
        total = _total(row.total)
        if total is None:
            raise DataError(
                f"the total of {row.name} is no number: {row.total!r}",
                where=f"{table.name}:{row.line}",
            )
        if total != points:
            raise DataError(
                f"the results of {row.name} add up to {points:g}, and the total is {row.total}",
                where=f"{table.name}:{row.line}",
            )


def _total(text: str) -> float | None:
    """A total as 14, 14½, 14.5 or 14 1/2; None for others."""
    match = _NUMBER.fullmatch(text)
    if match is None or not text:
        return None
    whole, half_point, _, half = match.groups()
    if not whole and not half_point and not half:
        return None
    return float(whole or 0) + (0.5 if half_point or half else 0.0)


def _add_games(records: TextRecords, table: _CrosstableInFile) -> None:
    """Add the games of all pairs. Raises DataError where the cells of a pair do not agree."""
    headers = {
        key: table.headers[key] for key in ("event", "site", "round") if table.headers.get(key)
    }
    count = len(table.rows)
    for row in range(count):
        _symbols(table, row, row)
        for column in range(row + 1, count):
            results = _symbols(table, row, column)
            answers = _symbols(table, column, row)
            if results == answers == (_UNPLAYED,):
                continue
            if answers != tuple(_ANSWERS[symbol] for symbol in results):
                raise table.error(
                    table.rows[row],
                    column,
                    f"{table.rows[row].cells[column]!r} does not agree with {table.rows[column].cells[row]!r} "
                    f"in line {table.rows[column].line}",
                )
            for symbol in results:
                _add_game(records, table, row, column, symbol, headers)


def _add_game(
    records: TextRecords,
    table: _CrosstableInFile,
    row: int,
    column: int,
    symbol: str,
    headers: Mapping[str, str],
) -> None:
    """Add a game of two rows by the result of the first; the winner is named first."""
    players = [table.rows[row].name, table.rows[column].name]
    if symbol in "0-":
        players.reverse()
    results = {_DRAW: "1/2-1/2", "+": "+--", "-": "+--"}
    records.add(
        table.rows[row].line,
        date=table.headers["date"],
        white=players[0],
        black=players[1],
        result=results.get(symbol, "1-0"),
        **headers,
    )
