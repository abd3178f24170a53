"""Games as JSON objects, one per line or in an array; keys are the names of columns."""

import codecs
import json
import math
import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import count, islice
from typing import Any, Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Note, Table
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.delimited import long_line, whole_lines
from ttt_cli.reading.input import peek
from ttt_cli.reading.layout import find_layout
from ttt_cli.reading.reports import BAD_ROW, DROPPED, RecordPlaces, place_text
from ttt_cli.reading.text import HEAD, pieces
from ttt_cli.support.errors import DataError

VALUE_LIMIT: Final = 1 << 20  # characters that one object may take
KEYS_SAMPLE: Final = 1 << 22  # bytes whose keys are the columns
KEYS_OBJECTS: Final = 50_000  # the same in objects
_MOST_KEYS: Final = 2000
_SAMPLE: Final = 1000  # objects
_PROBED: Final = 100  # lines
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
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        try:
            value = _DECODER.decode(_COMMA_TOO_MANY.sub(r"\1", text.strip()))
        except (ValueError, RecursionError):
            return f"not JSON: {text.strip()[:80]}"
    return value if isinstance(value, dict) else f"not an object: {text.strip()[:80]}"


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
        return (value if value.isascii() else _LONE.sub("\ufffd", value)).replace("\0", "")
    if type(value) is int:
        return str(value)
    return "" if value is None else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _first_wins(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    return found if len(found) == len(pairs) else dict(reversed(pairs))


def _float_text(written: str) -> str:
    number = float(written)
    return str(number) if math.isfinite(number) else written


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_first_wins, parse_float=_float_text, parse_constant=str, strict=False
)


def read_jsonl(blocks: Iterator[bytes], data: DataConfig, name: str) -> Table:
    """Open a file of JSON objects given as blocks with LF line ends.

    Columns are the keys in the first KEYS_SAMPLE bytes or KEYS_OBJECTS objects.
    Raises ConfigError and DataError when the columns are not recognised (see `find_layout`).
    """
    head, blocks = peek(blocks, KEYS_SAMPLE)
    sample = head[:KEYS_SAMPLE].decode("utf-8", "surrogateescape")
    lined = is_lined(head[:HEAD])
    if lined:
        objects = one_per_line(count(1), sample.split("\n")[:KEYS_OBJECTS])
    else:
        objects = _ObjectStream(name).feed(sample, final=False)
        if not objects.found:  # raise the error for the first, if any
            deque(one_after_the_other(blocks, name), maxlen=0)
    found = [one for _, one in objects.found[:KEYS_OBJECTS]]
    if not found:
        hint = 'a game is {"date": ..., "white": ..., ...}'
        raise DataError("holds no JSON objects", where=name, hint=hint)
    keys = list(dict.fromkeys(key for one in found for key in one))
    if len(keys) > _MOST_KEYS:
        hint = "a game has a few, such as date, white, black and result"
        raise DataError(f"its objects have more than {_MOST_KEYS:,} different keys", where=name, hint=hint)
    rows = [[as_text(one.get(key)) for key in keys] for one in found[:_SAMPLE]]
    layout = find_layout([keys, *rows], data, name, named=True)
    used, strings = [keys[index] for index in layout.used], Strings()
    batches = (
        layout.batch(
            strings,
            rows=[(line, [as_text(one.get(key)) for key in used]) for line, one in some.found],
            rejects=some.rejects,
        )
        for some in (_in_lines(blocks) if lined else one_after_the_other(pieces(blocks), name))
    )
    return layout.table(strings, batches)


def _in_lines(blocks: Iterable[bytes]) -> Iterator[Objects]:
    """The objects on lines of their own in blocks, wherever these are cut."""
    number = 1
    for given in whole_lines(blocks):
        lines = given.data.decode("utf-8", "surrogateescape").split("\n")
        objects = one_per_line(count(number), lines)
        objects.rejects.extend([long_line(number)] * given.long)
        yield objects
        number += len(lines) - 1


def is_lined(head: bytes) -> bool:
    """Whether one of the first lines is an object, and there is no array around them."""
    lines = islice((line for line in head.split(b"\n") if line.strip()), _PROBED)
    return not head.lstrip().startswith(b"[") and any(
        isinstance(object_in(line.decode("utf-8", "surrogateescape")), dict) for line in lines
    )
