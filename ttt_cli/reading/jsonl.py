"""Games as JSON objects, one per line or in an array; keys are the names of columns."""

import codecs
import json
import math
import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, count, islice
from typing import Any, Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Note, Table
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.delimited import long_line, whole_lines
from ttt_cli.reading.input import peek
from ttt_cli.reading.layout import find_layout
from ttt_cli.reading.reports import BAD_ROW, DROPPED, RecordPlaces, place_text
from ttt_cli.reading.text import HEAD
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
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    places, line, depth = RecordPlaces(), 1, 0
    text, enough = "", 0  # characters before the next attempt
    for block in chain(blocks, [None]):
        final = block is None
        text += decoder.decode(block or b"", final=final)
        if len(text) < enough and not final:
            continue
        objects, at = Objects([], []), 0
        while (between := _BETWEEN.match(text, at)) is not None:
            line += between[0].count("\n")
            depth += between[0].count("[") - between[0].count("]")
            at = between.end()
            if at == len(text):
                break
            try:
                value, end = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                if final or len(text) - at > VALUE_LIMIT:
                    near = text[at : at + 80].partition("\n")[0]
                    hint = "one object per line lets the others be read when one is damaged"
                    where = place_text(name, places.next(line))
                    raise DataError(f"not JSON: {near}", where=where, hint=hint) from error
                break
            if isinstance(value, dict):
                objects.found.append((places.next(line), value))
            elif end < len(text) or final:
                why = f"not an object: {text[at:end][:80]}"
                objects.rejects.append(Note(places.next(line), BAD_ROW, why, DROPPED))
            else:
                break  # a number may go on
            line += text.count("\n", at, end)
            at = end
        text = text[at:]
        enough = 2 * len(text)
        yield objects
    if depth:
        hint = "the file was cut short: fetch or write it anew"
        raise DataError("the array does not end", where=f"{name}:{line}", hint=hint)


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
    if is_lined(head[:HEAD]):
        sample = head[:KEYS_SAMPLE].decode("utf-8", "surrogateescape").split("\n")[:KEYS_OBJECTS]
        first, stream = one_per_line(count(1), sample), _in_lines(blocks)
    else:
        stream = one_after_the_other(blocks, name)
        first = next(stream)
        if not first.found:  # raise the error for the first, if any
            deque(stream, maxlen=0)
        stream = chain([first], stream)
    found = [one for _, one in first.found[:KEYS_OBJECTS]]
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
        for some in stream
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
