"""JSON objects from blocks of text: one on each line, or one behind the other in an array or without."""

import codecs
import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ttt_cli.errors import DataError
from ttt_cli.reading.batches import Note
from ttt_cli.reading.reasons import BAD_ROW, DROPPED
from ttt_cli.reading.reports import Places, place_text

VALUE_LIMIT: Final = 1 << 20  # characters that one object may take
_COMMA_TOO_MANY: Final = re.compile(r",(\s*[}\]])")
_BETWEEN: Final = re.compile(r"[\s,\[\]]*")
_LONE: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # halves of characters; others stand for bytes

Object = dict[str, Any]


class Objects(NamedTuple):
    """Objects with the place of each, and what was none."""

    found: list[tuple[int, Object]]
    rejects: list[Note]


def one_per_line(lines: Iterable[bytes], number: int) -> Objects:
    """The objects in lines, the first of which is line `number`; blank lines are none."""
    objects = Objects([], [])
    for line, raw in enumerate(lines, number):
        if raw.strip():
            read = object_in(raw.decode("utf-8", "surrogateescape"))
            if isinstance(read, str):
                objects.rejects.append(Note(line, BAD_ROW, read, DROPPED))
            else:
                objects.found.append((line, read))
    return objects


def object_in(text: str) -> Object | str:
    """The object that a text is, or why it is none. A comma too many at its end is overlooked."""
    for attempt in (text, _COMMA_TOO_MANY.sub(r"\1", text)):
        try:
            value = _DECODER.decode(attempt.strip())
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else f"not an object: {text.strip()[:80]}"
    return f"not JSON: {text.strip()[:80]}"


def one_after_the_other(blocks: Iterable[bytes], name: str) -> Iterator[Objects]:
    """The objects in blocks, which may take any number of lines, behind each other or in an array.

    Raises DataError where a value is no JSON, and when the array does not end.
    """
    stream = _Stream(name)
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    for block in blocks:
        yield stream.feed(decoder.decode(block), final=False)
    yield stream.feed(decoder.decode(b"", final=True), final=True)


class _Stream:
    def __init__(self, name: str) -> None:
        self._name = name
        self._text = ""
        self._line = 1  # of the first character
        self._places = Places()
        self._depth = 0  # arrays open
        self._enough = 0  # characters that make another attempt worth while

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
        """Where the next value begins; counts lines and arrays on the way."""
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
    """A value as the text that a CSV would hold."""
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


def scalar_in(text: str) -> str | None:
    """The text of a value that is neither string nor object, None when there is no such value."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return as_text(value)


def _first_wins(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    return found if len(found) == len(pairs) else dict(reversed(pairs))


def _float_text(written: str) -> str:
    number = float(written)
    return str(number) if math.isfinite(number) else written


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_first_wins, parse_float=_float_text, parse_constant=str, strict=False
)
