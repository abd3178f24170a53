"""CSV, TSV and the like: pyarrow parses plain rows, the csv module all others, with exact line numbers."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Batch, Layout, Note, Table
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.layout import find_layout
from ttt_cli.reading.races import find_race_columns, read_races
from ttt_cli.reading.reports import BAD_ROW, DROPPED, TOO_LONG
from ttt_cli.reading.text import HEAD, pieces
from ttt_cli.reading.unpacking import DamagedInputError, peek
from ttt_cli.support.arrays import Mask, Places
from ttt_cli.support.errors import DataError

MAX_LINE: Final = 1 << 20  # bytes: longer lines are rejected
BYTES_AT_ONCE: Final = 1 << 21  # parsed
LINES_AT_ONCE: Final = 1 << 16  # parsed: each may be rejected, with a note
DELIMITERS: Final = (",", "\t", ";", "|")
MAX_ROW_LINES: Final = 50  # of one row; more means a quote that is never closed
MAX_ARROW_LINE: Final = 1 << 16  # bytes of a line read by pyarrow; the csv module limits fields
_LF, _QUOTE = b'\n"'
_MARK: Final = 0xEF  # the first byte of the byte order mark, which pyarrow skips
Row = tuple[int, Sequence[str]]  # line and used fields


class Parsed(NamedTuple):
    """Rows of a block of lines.

    | name | content |
    |---|---|
    | lines | the line of each row that pyarrow parsed, (rows,) |
    | columns | their used columns as Arrow arrays |
    | slow_rows | rows that the csv module parsed |
    | rejects | notes on rows that are none |
    """

    lines: Places
    columns: list[Any]
    slow_rows: list[Row]
    rejects: list[Note]


def read_delimited(blocks: Iterator[bytes], data: DataConfig, name: str) -> Table:
    """Open a table given as blocks with LF line ends; its layout is determined from the first block.

    Raises ConfigError and DataError when its columns are not recognised (see `find_layout`).
    """
    first, blocks = peek(blocks, HEAD)
    lines = first[:HEAD].decode("utf-8", "surrogateescape").split("\n")
    sample = [line for line in lines if line.strip()]
    if (
        not sample
    ):  # of blanks of Unicode only, such as no-break spaces; other empty files do not come here
        raise DataError("is empty", where=name)
    delimiter = data.delimiter or ("\t" if data.format == "tsv" else find_delimiter(sample))
    is_cut = len(first) > HEAD and len(sample) > 1
    complete = sample[:-1] if is_cut else sample
    rows = [row for row in csv.reader(complete, delimiter=delimiter) if any(row)]
    races = find_race_columns(rows[0], data, name) if rows else None
    if races is not None:
        return read_races(blocks, races, data, delimiter, name)
    # the line where all fields are empty is the first
    layout = find_layout(rows or [sample[:1]], data, name)
    reader = TableReader(delimiter, layout)
    return Table(layout, reader.strings, reader.read(blocks))


def find_delimiter(lines: Sequence[str]) -> str:
    """The delimiter that splits the first line, and most lines into equally many fields; of equals, the most fields."""
    merits = []
    for delimiter in DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        share = widths.count(widths[0]) / len(widths)
        merits.append((widths[0] > 1, round(share, 1), widths[0]))
    return DELIMITERS[merits.index(max(merits))]


def whole_lines(blocks: Iterable[bytes], target: int) -> Iterator[bytes]:
    """The same bytes in complete lines, about `target` bytes or LINES_AT_ONCE at a time.

    A line beyond MAX_LINE is replaced by a NUL, which is in no other line.
    """
    incomplete = b""  # the beginning of a line
    is_skipping = False  # up to the end of a line that is too long
    waiting: list[bytes] = []
    size = 0
    count = 0
    try:
        # A piece is shorter than MAX_LINE, so that only the line that it continues can be too long.
        for block in pieces(blocks):
            end = block.find(b"\n")
            # bytes of the block that continue the line
            continuation = end if end >= 0 else len(block)
            if is_skipping or len(incomplete) + continuation > MAX_LINE:
                incomplete = b""
                is_skipping = end < 0
                if is_skipping:
                    continue
                block = b"\0" + block[end:]  # noqa: PLW2901
            data = incomplete + block
            cut = data.rfind(b"\n") + 1
            incomplete = data[cut:]
            waiting.append(data[:cut])
            size += cut
            count += int(np.count_nonzero(np.frombuffer(data, np.uint8) == _LF))
            if size >= target or count >= LINES_AT_ONCE:
                yield b"".join(waiting)
                waiting = []
                size = 0
                count = 0
    except DamagedInputError:
        yield b"".join(waiting)
        raise
    if is_skipping:
        incomplete = b"\0"
    if incomplete:
        waiting.append(incomplete + b"\n")
    yield b"".join(waiting)


def long_line(number: int) -> Note:
    """The note on a line that is too long."""
    return Note(number, TOO_LONG, f"a line of more than {MAX_LINE >> 10:,} KB", DROPPED)


class LineBlock:
    """Lines of a file, each with its LF: `data` and its `bytes`; line k is from `starts[k]` to its LF at `ends[k]`."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.bytes = np.frombuffer(data, np.uint8)
        self.ends = self.places(_LF)
        self.starts = np.concatenate([np.zeros(1, np.int64), self.ends + 1])[:-1]
        self.lengths = self.ends - self.starts

    def __len__(self) -> int:
        return len(self.ends)

    def places(self, byte: int) -> Places:
        """Offsets of a byte."""
        return np.flatnonzero(self.bytes == byte) if byte in self.data else np.zeros(0, np.int64)

    def texts(self, lines: Sequence[int]) -> Iterator[str]:
        """Lines as text, without their ends."""
        bounds = zip(self.starts[lines].tolist(), self.ends[lines].tolist(), strict=True)
        return (self.data[start:end].decode("utf-8", "surrogateescape") for start, end in bounds)


class TableReader:
    """Reads a table block by block; `slow` counts the rows read by the csv module."""

    def __init__(self, delimiter: str, layout: Layout) -> None:
        self.slow = 0
        self.strings = Strings()
        self._delimiter = delimiter
        self._layout = layout
        self._rejects: list[Note] = []
        self._line = 1  # of the next row
        self._open = b""  # a row that is not complete
        self._beside_quotes = np.zeros(256, np.bool_)
        self._beside_quotes[[_LF, _QUOTE, *delimiter.encode()]] = True
        self._one_byte = delimiter.isascii() and delimiter not in '"\n'

    def read(self, blocks: Iterable[bytes]) -> Iterator[Batch]:
        """The records of a table given as blocks, wherever these are cut."""
        header_rows = int(self._layout.header)  # at the beginning of what is to come
        for parsed in self._parsed(blocks):
            rows = parsed.slow_rows
            lines = np.concatenate([parsed.lines, np.array([line for line, _ in rows], np.int64)])
            codes = np.array([self.strings.numbers_of(column) for column in parsed.columns])
            if rows:
                texts = [text.encode("utf-8", "surrogateescape") for _, row in rows for text in row]
                more = self.strings.numbers_of(texts).reshape(len(rows), len(codes)).T
                codes = np.concatenate([codes, more], axis=1)
                order = np.argsort(lines, kind="stable")
                lines = lines[order]
                codes = codes[:, order]
            if len(lines) > header_rows or parsed.rejects:
                yield Batch(lines[header_rows:], codes[:, header_rows:], parsed.rejects)
            if len(lines):
                header_rows = 0

    def _parsed(self, blocks: Iterable[bytes]) -> Iterator[Parsed]:
        """The rows of each block, parsed in a thread while the next is read: pyarrow loses signals in the main one."""
        with ThreadPoolExecutor(1, thread_name_prefix="rows") as thread:
            under_way: Future[Parsed] | None = None
            try:
                for data in whole_lines(blocks, BYTES_AT_ONCE):
                    done = under_way
                    under_way = thread.submit(self._parse, data)
                    if done:
                        yield done.result()
            except DamagedInputError:
                if under_way:
                    yield under_way.result()
                raise
            if under_way:
                yield under_way.result()
            yield thread.submit(self._parse, b"", final=True).result()

    def _parse(self, data: bytes, *, final: bool = False) -> Parsed:
        """The rows in complete lines; an incomplete row is kept until there are more.

        pyarrow parses plain lines, then the csv module all others. Where one of these begins a row of several lines,
        plain lines within that row are taken back from pyarrow, which parses the remaining ones again.
        """
        data = self._open + data
        if b"\0" in data:
            for offset in np.flatnonzero(np.frombuffer(data, np.uint8) == 0).tolist():
                self._rejects.append(long_line(self._line + data.count(b"\n", 0, offset)))
        block = LineBlock(data.replace(b"\0", b""))
        plain = self._plain(block)
        columns = self._cut(block, plain)  # from here on `plain` has lines with all fields only
        by_arrow = plain.copy()
        rows, n_complete = self._read_slowly(block, by_arrow, final=final)
        if not np.array_equal(by_arrow, plain):
            columns = self._cut(block, by_arrow)
        lines = self._line + np.flatnonzero(by_arrow)
        rejects = self._rejects
        self._rejects = []
        self._line += n_complete
        self._open = block.data[block.starts[n_complete] :] if n_complete < len(block) else b""
        return Parsed(lines, columns, rows, rejects)

    def _plain(self, block: LineBlock) -> Mask:
        """Mask of lines with a row that pyarrow and the csv module parse alike.

        Quotes enclose whole fields, and quotes inside them are doubled. In turn they open and close; a doubled one
        closes and opens again, each beside a quote.
        """
        plain: Mask = (
            (block.lengths > 0)
            & (block.lengths <= MAX_ARROW_LINE)
            & (block.bytes[block.starts] != _MARK)
        )
        quotes = block.places(_QUOTE)
        if len(quotes):
            counts = np.diff(np.searchsorted(quotes, block.ends), prepend=0)
            uneven = counts % 2 > 0
            quotes = quotes[np.repeat(~uneven, counts)] if uneven.any() else quotes
            opening = quotes[::2]
            closing = quotes[1::2]
            # at the start of the block this has the index -1, and is the last LF
            before = block.bytes[opening - 1]
            after = block.bytes[closing + 1]
            encloses_field = self._beside_quotes[before] & self._beside_quotes[after]
            plain[uneven] = False
            plain[np.searchsorted(block.ends, opening[~encloses_field])] = False
        plain &= self._one_byte  # else no line is plain
        return plain

    def _cut(self, block: LineBlock, plain: Mask) -> list[Any]:
        """The used columns of plain lines as Arrow arrays; clears `plain` for lines without all fields.

        pyarrow tells a handler of such lines, which it decodes. Where the block is not UTF-8 there can be no handler,
        and with the first such line no line of the block is plain.
        """
        if not plain.any():
            return [pa.nulls(0, pa.binary()) for _ in self._layout.used]
        data = (
            block.data
            if plain.all()
            else block.bytes[np.repeat(plain, block.lengths + 1)].tobytes()
        )
        names = [str(index) for index in range(self._layout.width)]
        used = {names[index]: pa.binary() for index in self._layout.used}
        wrong: list[int] = []

        def skip(row: Any) -> str:
            wrong.append(row.number - 1)
            return "skip"

        handler: Callable[[Any], str] | None = skip if _is_utf8(block.data) else None
        try:
            table = pa.csv.read_csv(
                pa.py_buffer(data),
                pa.csv.ReadOptions(use_threads=False, column_names=names, block_size=len(data) + 1),
                pa.csv.ParseOptions(
                    delimiter=self._delimiter, quote_char='"', invalid_row_handler=handler
                ),
                pa.csv.ConvertOptions(
                    column_types=used, include_columns=list(used), check_utf8=False
                ),
            )
        except pa.ArrowInvalid:
            plain[:] = False
            return self._cut(block, plain)
        plain[np.flatnonzero(plain)[wrong]] = False
        return [column.combine_chunks() for column in table.columns]

    def _read_slowly(
        self, block: LineBlock, by_arrow: Mask, *, final: bool
    ) -> tuple[list[Row], int]:
        """Parse the lines that are not `by_arrow` by the csv module; clears that mask within rows of several lines.

        Returns the lines and used fields of these rows, and the number of lines of complete rows.
        """
        rows: list[Row] = []
        reached = 0
        for line in np.flatnonzero(~by_arrow & (block.lengths > 0)).tolist():
            if line < reached:
                continue
            taken, row = self._read_row(block, line, final=final)
            if not taken:
                by_arrow[line:] = False
                return rows, line
            self.slow += 1
            if row is not None:
                rows.append((self._line + line, [row[index] for index in self._layout.used]))
            reached = line + taken
            by_arrow[line:reached] = False
        return rows, len(block)

    def _read_row(
        self, block: LineBlock, line: int, *, final: bool
    ) -> tuple[int, list[str] | None]:
        """Read the row that begins with a line of the block; returns its number of lines and its fields.

        The number is 0 when further lines may belong to it, unless the block is `final`. The fields are None when the
        row is blank or rejected.
        """
        lines = range(line, min(line + MAX_ROW_LINES, len(block)))
        width = self._layout.width
        texts = (text + "\n" for text in block.texts(lines))
        reader = csv.reader(texts, delimiter=self._delimiter, strict=True)
        try:
            row = next(reader)
        except csv.Error:
            is_at_end = reader.line_num == len(lines) and len(lines) < MAX_ROW_LINES
            if is_at_end and not final:
                return 0, None
            row = []
        taken = reader.line_num
        if not row or (taken > 1 and len(row) != width):
            why = (
                f"a quote is not closed, or closed within a field: {next(block.texts(lines))[:80]}"
            )
            self._rejects.append(Note(self._line + line, BAD_ROW, why, DROPPED))
            return 1, None  # what the quote seemed to enclose may be rows
        if len(row) >= width and not any(row[width:]):
            return taken, row[:width]
        if any(cell.strip() for cell in row):
            why = f"{len(row)} fields instead of {width}: {self._delimiter.join(row)[:80]}"
            self._rejects.append(Note(self._line + line, BAD_ROW, why, DROPPED))
        return taken, None


def _is_utf8(data: bytes) -> bool:
    """Whether bytes can be decoded as UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
