"""Games as JSON objects, one per line or in an array; keys are the names of columns."""

import codecs
import json
import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Batch, Note, Table
from ttt_cli.reading.columns import Dictionary, Strings
from ttt_cli.reading.delimited import long_line, whole_lines
from ttt_cli.reading.layout import find_layout
from ttt_cli.reading.races import find_race_columns, table_of_races
from ttt_cli.reading.reports import BAD_ROW, DROPPED, RecordPositions, position_text
from ttt_cli.reading.text import HEAD
from ttt_cli.reading.unpacking import peek
from ttt_cli.support.arrays import Ids
from ttt_cli.support.errors import DataError

VALUE_LIMIT: Final = 1 << 20  # characters that one object may take
KEYS_SAMPLE: Final = 1 << 22  # bytes whose keys are the columns
_MOST_KEYS: Final = 2000
_SAMPLE: Final = 1000  # objects
_PROBED: Final = 100  # lines
_AT_ONCE: Final = 1000  # lines parsed at once
_BETWEEN: Final = re.compile(r"[\s,\[\]]*")
# Halves of characters that stand alone; other ones stand for bytes
_LONE: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")

Object = dict[str, Any]


class Objects(NamedTuple):
    """Objects with their positions in the file (see `RecordPositions`), and values that are not objects."""

    positions: list[int]
    values: list[Object]
    rejects: list[Note]


def one_per_line(first: int, lines: Iterable[str]) -> Objects:
    """The objects in lines, which are numbered from `first`; blank lines are skipped."""
    numbered = [
        (number, text) for number, line in enumerate(lines, first) if (text := line.strip())
    ]
    objects = Objects([], [], [])
    for start in range(0, len(numbered), _AT_ONCE):
        batch = numbered[start : start + _AT_ONCE]
        for (number, text), value in zip(
            batch, objects_in([text for _, text in batch]), strict=True
        ):
            if isinstance(value, dict):
                objects.positions.append(number)
                objects.values.append(value)
            else:
                note = long_line(number) if text == "\0" else Note(number, BAD_ROW, value, DROPPED)
                objects.rejects.append(note)
    return objects


def objects_in(texts: Sequence[str]) -> list[Object | str]:
    """The object in each text, or the reason why there is none."""
    try:
        # each text in an array of its own, so that one with two values or none fails
        values = _DECODER.decode(f"[[{'],['.join(texts)}]]")
        pairs = [(text, value) for text, [value] in zip(texts, values, strict=True)]
    except (ValueError, RecursionError):
        if len(texts) > 1:
            return [value for text in texts for value in objects_in([text])]
        return [f"not JSON: {texts[0][:80]}"]
    return [
        value if isinstance(value, dict) else f"not an object: {text[:80]}" for text, value in pairs
    ]


def one_after_the_other(blocks: Iterable[bytes], name: str) -> Iterator[Objects]:
    """The objects in blocks, which take any number of lines, one after another or in an array.

    Yields the objects that are complete after each block. A value at the end of the text that cannot be decoded waits
    for the next block, unless it takes more than VALUE_LIMIT.

    Raises DataError for a value that is not JSON, and for an array that does not end.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    stream = _ObjectStream(name)
    for block in blocks:
        stream.text += decoder.decode(block)
        if stream.is_worth_decoding:
            yield stream.objects()
    stream.text += decoder.decode(b"", final=True)
    yield stream.objects(final=True)
    stream.check_end()


class _ObjectStream:
    """Objects in `text`, one after another or in an array; what is decoded leaves it, and more may be added."""

    def __init__(self, name: str) -> None:
        self.text = ""
        self._name = name
        self._positions = RecordPositions()
        self._line = 1  # of the first character of `text`
        self._depth = 0  # of the brackets that are open there
        self._enough = 0  # characters with which the next attempt is worth while

    @property
    def is_worth_decoding(self) -> bool:
        """Whether there is enough text for another attempt."""
        return len(self.text) >= self._enough

    def objects(self, *, final: bool = False) -> Objects:
        """Take the objects that are complete; `final`: no more text is added. Raises DataError."""
        objects = Objects([], [], [])
        text = self.text
        at = self._after_separators(0)
        while at < len(text):
            try:
                value, end = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                if final or len(text) - at > VALUE_LIMIT:
                    raise self._not_json(at) from error
                break  # the value may go on
            if isinstance(value, dict):
                objects.positions.append(self._positions.next(self._line))
                objects.values.append(value)
            elif end < len(text) or final:
                why = f"not an object: {text[at:end][:80]}"
                objects.rejects.append(
                    Note(self._positions.next(self._line), BAD_ROW, why, DROPPED)
                )
            else:
                break  # a number may go on
            self._line += text.count("\n", at, end)
            at = self._after_separators(end)
        self.text = text[at:]
        # so that a long value takes time in proportion to its length
        self._enough = 2 * len(self.text)
        return objects

    def _after_separators(self, at: int) -> int:
        """Where the next value begins after blanks, commas and brackets, whose lines and depth are counted."""
        between = _BETWEEN.match(self.text, at)
        assert between is not None  # it matches nothing, too
        separators = between[0]
        self._line += separators.count("\n")
        self._depth += separators.count("[") - separators.count("]")
        return between.end()

    def _not_json(self, at: int) -> DataError:
        """The error for a value that cannot be decoded."""
        beginning = self.text[at : at + 80].partition("\n")[0]
        where = position_text(self._name, self._positions.next(self._line))
        hint = "one object per line lets the others be read when one is damaged"
        return DataError(f"not JSON: {beginning}", where=where, hint=hint)

    def check_end(self) -> None:
        """Raise DataError for an array that does not end."""
        if self._depth:
            hint = "the file was cut short: fetch or write it again"
            raise DataError("the array does not end", where=f"{self._name}:{self._line}", hint=hint)


def as_text(value: object) -> str:
    """A value as text, as in a CSV."""
    if isinstance(value, str):
        return (value if value.isascii() else _LONE.sub("\ufffd", value)).replace("\0", "")
    return "" if value is None else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _float_text(written: str) -> str:
    """A number with a fraction as Python writes it, `1.50` as `1.5`; one beyond a float as it is written."""
    number = float(written)
    return str(number) if math.isfinite(number) else written


# Fractions, NaN and Infinity are decoded to texts, as `as_text` takes them.
_DECODER: Final = json.JSONDecoder(parse_float=_float_text, parse_constant=str, strict=False)


def read_jsonl(blocks: Iterator[bytes], data: DataConfig, name: str) -> Table:
    """Open a file of JSON objects given as blocks with LF line ends.

    Columns are the keys of the first objects: about KEYS_SAMPLE bytes, or LINES_AT_ONCE lines (`delimited`).
    Raises ConfigError and DataError when the columns are not recognised (see `find_layout`).
    """
    head, blocks = peek(blocks, KEYS_SAMPLE)
    stream = _in_lines(blocks) if is_lined(head[:HEAD]) else one_after_the_other(blocks, name)
    # a block of KEYS_SAMPLE bytes: `peek` joins blocks to that, and lines are taken by so many
    first = next(stream)
    if not first.values:
        deque(stream, maxlen=0)  # raise the error for the first value, if any
        hint = 'a game is {"date": ..., "white": ..., ...}'
        raise DataError("holds no JSON objects", where=name, hint=hint)
    keys = list(dict.fromkeys(key for record in first.values for key in record))
    if len(keys) > _MOST_KEYS:
        hint = "a game has a few, such as date, white, black and result"
        raise DataError(
            f"its objects have more than {_MOST_KEYS:,} different keys", where=name, hint=hint
        )
    races = find_race_columns(keys, data, name)
    if races is not None:
        rejects: list[Note] = []
        all_rows = _rows(chain([first], stream), keys, rejects)
        return table_of_races(all_rows, rejects, races, data, name)
    rows = [[as_text(record.get(key)) for key in keys] for record in first.values[:_SAMPLE]]
    layout = find_layout([keys, *rows], data, name, named=True)
    used = [keys[index] for index in layout.used]
    strings = Strings()

    def codes_of(key: str, objects: Sequence[Object]) -> Ids:
        values = (record.get(key) for record in objects)
        texts = Dictionary[str]()
        numbers = texts.numbers_of(
            value if type(value) is str else as_text(value) for value in values
        )
        # Cleans strings, each distinct one once
        encoded = [as_text(text).encode("utf-8", "surrogateescape") for text in texts.values]
        return strings.numbers_of(encoded)[numbers]

    batches = (
        Batch(
            objects.positions,
            np.array([codes_of(key, objects.values) for key in used]),
            objects.rejects,
        )
        for objects in chain([first], stream)
    )
    return Table(layout, strings, batches)


def _rows(
    parts: Iterable[Objects], keys: Sequence[str], rejects: list[Note]
) -> Iterator[tuple[int, list[str]]]:
    """Positions of objects and the texts of their `keys`; the rejects of all parts are added to `rejects`."""
    for objects in parts:
        rejects += objects.rejects
        for position, record in zip(objects.positions, objects.values, strict=True):
            yield position, [as_text(record.get(key)) for key in keys]


def _in_lines(blocks: Iterable[bytes]) -> Iterator[Objects]:
    """The objects on lines of their own in blocks, wherever these are cut."""
    number = 1
    for data in whole_lines(blocks, KEYS_SAMPLE):
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        yield one_per_line(number, lines)
        number += len(lines) - 1


def is_lined(head: bytes) -> bool:
    """Whether one of the first lines is an object, and there is no array around them."""
    lines = head.decode("utf-8", "surrogateescape").lstrip().split("\n", _PROBED)
    return not lines[0].startswith("[") and bool(one_per_line(1, lines[:_PROBED]).values)
