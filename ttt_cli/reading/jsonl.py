"""Games as JSON objects, one per line or in an array; keys are the names of columns."""

import codecs
import json
import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.json

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Batch, Note, Table
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.delimited import LONGEST, LineBlock, Lines, long_line, one_ahead, whole_lines
from ttt_cli.reading.input import peek
from ttt_cli.reading.layout import Layout, Row, find_layout
from ttt_cli.reading.reports import BAD_ROW, DROPPED, RecordPlaces, place_text
from ttt_cli.reading.text import HEAD, pieces
from ttt_cli.support.arrays import Mask, Places
from ttt_cli.support.errors import DataError

VALUE_LIMIT: Final = 1 << 20  # characters that one object may take
_COMMA_TOO_MANY: Final = re.compile(r",(\s*[}\]])")
_BETWEEN: Final = re.compile(r"[\s,\[\]]*")
_LONE: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # halves of characters; others stand for bytes

Object = dict[str, Any]


class Objects(NamedTuple):
    """Objects with their places, and values that are not objects."""

    found: list[tuple[int, Object]]
    rejects: list[Note]


def one_per_line(numbers: Iterable[int], lines: Iterable[str]) -> Objects:
    """The objects in lines with these numbers; blank lines are skipped, equal lines parsed once."""
    objects, known = Objects([], []), dict[str, Object | str]()
    for number, line in zip(numbers, lines, strict=False):
        if line.strip():
            read = known.get(line)
            if read is None:
                read = known[line] = object_in(line)
            if isinstance(read, str):
                objects.rejects.append(Note(number, BAD_ROW, read, DROPPED))
            else:
                objects.found.append((number, read))
    return objects


def object_in(text: str) -> Object | str:
    """The object, or the reason why the text is none. A comma too many at its end is ignored."""
    for attempt in (text, _COMMA_TOO_MANY.sub(r"\1", text)):
        try:
            value = _DECODER.decode(attempt.strip())
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else f"not an object: {text.strip()[:80]}"
    return f"not JSON: {text.strip()[:80]}"


def one_after_the_other(blocks: Iterable[bytes], name: str) -> Iterator[Objects]:
    """The objects in blocks, which take any number of lines, one after another or in an array.

    Raises DataError for a value that is not JSON, and for an array that does not end.
    """
    stream = _ObjectStream(name)
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    for block in blocks:
        yield stream.feed(decoder.decode(block), final=False)
    yield stream.feed(decoder.decode(b"", final=True), final=True)


class _ObjectStream:
    """Parses objects that take any number of lines."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._text = ""
        self._line = 1  # of the first character
        self._places = RecordPlaces()
        self._depth = 0  # arrays open
        self._enough = 0  # characters before the next attempt

    def feed(self, text: str, *, final: bool) -> Objects:
        self._text += text
        objects = Objects([], [])
        if len(self._text) < self._enough and not final:
            return objects
        at = self._skip(0)
        while at < len(self._text):
            try:
                value, end = _DECODER.raw_decode(self._text, at)
            except (ValueError, RecursionError) as error:
                self._check(error, at, final=final)
                break
            if isinstance(value, dict):
                objects.found.append((self._places.next(self._line), value))
            elif end < len(self._text) or final:
                why = f"not an object: {self._text[at:end][:80]}"
                objects.rejects.append(Note(self._places.next(self._line), BAD_ROW, why, DROPPED))
            else:
                break  # a number may go on
            self._line += self._text.count("\n", at, end)
            at = self._skip(end)
        self._text = self._text[at:]
        self._enough = 2 * len(self._text)
        if final and self._depth:
            where, hint = f"{self._name}:{self._line}", "the file was cut short: fetch or write it anew"
            raise DataError("the array does not end", where=where, hint=hint)
        return objects

    def _skip(self, at: int) -> int:
        """Offset of the next value; counts lines and arrays on the way."""
        match = _BETWEEN.match(self._text, at)
        between = match[0] if match else ""
        self._line += between.count("\n")
        self._depth += between.count("[") - between.count("]")
        return at + len(between)

    def _check(self, error: Exception, at: int, *, final: bool) -> None:
        """Raise DataError unless the value may only be incomplete."""
        if final or len(self._text) - at > VALUE_LIMIT:
            near = self._text[at : at + 80].partition("\n")[0]
            hint = "one object per line lets the others be read when one is damaged"
            where = place_text(self._name, self._places.next(self._line))
            raise DataError(f"not JSON: {near}", where=where, hint=hint) from error


def as_text(value: object) -> str:
    """A value as text, as in a CSV."""
    if isinstance(value, str):
        text = value.replace("\0", "")
        return text if text.isascii() else _LONE.sub("\ufffd", text)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return (
        str(value) if isinstance(value, int) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    )


def _first_wins(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    return found if len(found) == len(pairs) else dict(reversed(pairs))


def _float_text(written: str) -> str:
    number = float(written)
    return str(number) if math.isfinite(number) else written


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_first_wins, parse_float=_float_text, parse_constant=str, strict=False
)


KEYS_SAMPLE: Final = 1 << 22  # bytes whose keys are the columns
KEYS_OBJECTS: Final = 50_000  # the same in objects
_MOST_KEYS: Final = 2000
_SAMPLE: Final = 1000  # objects
_PROBED: Final = 100  # lines
_OPEN, _CLOSE = b"{}"
_FEW: Final = 32  # lines; fewer that pyarrow rejects are left to the json module
_DEEPEST: Final = 100  # brackets in a line; the json module has a limit of nesting
_MANY_DIGITS: Final = 4300  # the json module rejects such a number
_DIFFERENT: Final = (
    rb"\\u0000",
    rb"Inf(?!inity)",
    rb"[0-9]{4300}",
)  # accepted by one of pyarrow and json only
_PLAIN_VALUE: Final = (  # their text is as written
    r'":[ \t]*(true|false|0|-?[1-9][0-9]{0,15}|-?(?:0|[1-9][0-9]{0,8})\.(?:0|[0-9]{0,3}[1-9]))[ \t]*([,}])'
)
_OTHER_VALUE: Final = re.compile(rb'(":[ \t]*)(-?[0-9][0-9.eE+-]*|NaN|-?Infinity)(?=[ \t]*[,}])')


def read_jsonl(blocks: Iterator[bytes], data: DataConfig, name: str) -> Table:
    """Open a file of JSON objects given as blocks with LF line ends.

    Columns are the keys in the first KEYS_SAMPLE bytes or KEYS_OBJECTS objects.
    Raises ConfigError and DataError when the columns are not recognised (see `find_layout`).
    """
    head, blocks = peek(blocks, KEYS_SAMPLE)
    strings, lined = Strings(), is_lined(head[:HEAD])
    sample = head[:KEYS_SAMPLE].decode("utf-8", "surrogateescape")
    if lined:
        objects = one_per_line(count(1), sample.split("\n")[:KEYS_OBJECTS])
    else:
        objects = _ObjectStream(name).feed(sample, final=False)
        if not objects.found:  # raise the error for the first, if any
            deque(one_after_the_other(blocks, name), maxlen=0)
    keys, layout = _layout_of([one for _, one in objects.found[:KEYS_OBJECTS]], data, name)
    if lined:
        reader = ObjectReader(keys, layout, strings)
        return layout.table(strings, one_ahead(reader.feed, whole_lines(blocks)))
    stream = one_after_the_other(pieces(blocks), name)
    nothing = _nothing(layout)
    batches = (layout.batch(strings, *nothing, _rows(some, keys, layout), some.rejects) for some in stream)
    return layout.table(strings, batches)


def _nothing(layout: Layout) -> tuple[Places, list[Any]]:
    """No lines and empty columns."""
    return np.zeros(0, np.int64), [pa.nulls(0, pa.binary())] * len(layout.used)


class ObjectReader:
    """Reads objects on lines of their own: pyarrow parses the plain ones, the json module all others."""

    def __init__(self, keys: Sequence[str], layout: Layout, strings: Strings) -> None:
        self._keys, self._layout, self._strings = keys, layout, strings
        self._used = [keys[index] for index in layout.used]
        self._line = 1  # of the next object

    def feed(self, given: Lines) -> list[Batch]:
        """The objects in complete lines."""
        block = LineBlock(given.data if given.data.endswith(b"\n") or not given.data else given.data + b"\n")
        left = block.lengths > 0
        parts = [_nothing(self._layout), *self._cut(block, np.flatnonzero(self._plain(block)))]
        lines = np.concatenate([lines for lines, _ in parts])
        columns = [pa.concat_arrays(chunks) for chunks in zip(*(part for _, part in parts), strict=True)]
        left[lines] = False
        slow = np.flatnonzero(left)
        objects = one_per_line((slow + self._line).tolist(), block.texts(slow))
        rejects = objects.rejects + [long_line(self._line)] * given.long
        rows = _rows(objects, self._keys, self._layout)
        batch = self._layout.batch(self._strings, self._line + lines, columns, rows, rejects)
        self._line += len(block)
        return [batch]

    def _plain(self, block: LineBlock) -> Mask:
        """Mask of lines that pyarrow and the json module parse alike.

        Each has braces at both ends, so that no object takes several lines.
        """
        plain: Mask = (block.lengths > 1) & (block.lengths <= LONGEST)
        plain &= (block.bytes[block.starts] == _OPEN) & (block.bytes[block.ends - 1] == _CLOSE)
        for byte in b"[{":
            plain &= np.diff(np.searchsorted(block.places(byte), block.ends), prepend=0) <= _DEEPEST
        for pattern in _DIFFERENT if plain.any() and block.lengths.max() >= _MANY_DIGITS else _DIFFERENT[:2]:
            places = [match.start() for match in re.finditer(pattern, block.data)]
            plain[np.searchsorted(block.ends, places)] = False
        return plain

    def _cut(self, block: LineBlock, lines: Places) -> Iterator[tuple[Places, list[Any]]]:
        """Lines and their used columns, null for missing keys; lines that pyarrow rejects are left out."""
        if not len(lines):
            return
        chosen = np.zeros(len(block), np.bool_)
        chosen[lines] = True
        data = block.data if chosen.all() else block.bytes[np.repeat(chosen, block.lengths + 1)].tobytes()
        bounds = pa.py_buffer(np.array([0, len(data)], np.int32))
        buffers = [None, bounds, pa.py_buffer(data)]  # pa.array() would import pandas
        texts = pa.Array.from_buffers(pa.binary(), 1, buffers)
        data = pa.compute.replace_substring_regex(texts, _PLAIN_VALUE, r'":"\1"\2')[0].as_py()
        table = self._table(data)
        if table is None and (other := _OTHER_VALUE.sub(_quoted, data)) != data:
            table = self._table(other)
        if table is not None and table.num_rows == len(lines):
            yield lines, [table.column(key).chunk(0) for key in self._used]
        elif len(lines) > _FEW:
            yield from self._cut(block, lines[: len(lines) // 2])
            yield from self._cut(block, lines[len(lines) // 2 :])

    def _table(self, data: bytes) -> Any:
        """The used columns of objects; None unless all their values are texts or null."""
        try:
            return pa.json.read_json(
                pa.py_buffer(data),
                pa.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
                pa.json.ParseOptions(
                    explicit_schema=pa.schema([(key, pa.binary()) for key in self._used]),
                    unexpected_field_behavior="ignore",
                ),
            )
        except (pa.ArrowInvalid, UnicodeEncodeError):
            return None


def _quoted(match: re.Match[bytes]) -> bytes:
    """A value as a JSON string of its text."""
    value = object_in('{"": ' + match[2].decode() + "}")
    return match[1] + (b'"' + as_text(value[""]).encode() + b'"' if isinstance(value, dict) else match[2])


def is_lined(head: bytes) -> bool:
    """Whether one of the first lines is an object, and there is no array around them."""
    lines = islice((line for line in head.split(b"\n") if line.strip()), _PROBED)
    return not head.lstrip().startswith(b"[") and any(
        isinstance(object_in(line.decode("utf-8", "surrogateescape")), dict) for line in lines
    )


def _layout_of(objects: Sequence[Object], data: DataConfig, name: str) -> tuple[list[str], Layout]:
    """All keys in the order of their first occurrence, and the layout for them."""
    if not objects:
        hint = 'a game is {"date": ..., "white": ..., ...}'
        raise DataError("holds no JSON objects", where=name, hint=hint)
    keys = list(dict.fromkeys(key for one in objects for key in one))
    if len(keys) > _MOST_KEYS:
        hint = "a game has a few, such as date, white, black and result"
        raise DataError(f"its objects have more than {_MOST_KEYS:,} different keys", where=name, hint=hint)
    rows = [[as_text(one.get(key)) for key in keys] for one in objects[:_SAMPLE]]
    return keys, find_layout([keys, *rows], data, name, named=True)


def _rows(objects: Objects, keys: Sequence[str], layout: Layout) -> list[Row]:
    """Lines and used values as texts; a missing key is an empty text."""
    used = [keys[index] for index in layout.used]
    return [(line, [as_text(one.get(key)) for key in used]) for line, one in objects.found]
