"""Files with a JSON object on each line, read as the standard library reads them.

pyarrow cuts lines at their quotes. Of what is between strings (`: `, `, `, `: 12, `) a file has few distinct texts, and
each is looked at once. Lines with escapes or anything else that is not plain are left to the standard library, as are
those of a form that few have; equal ones are read once.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids, Mask
from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.column import ByteStrings, Column, Dictionary
from ttt_cli.reading.formats.tabular.arrow import CODED, MARK, Assembly, Rows, cut, lines_in, one_ahead
from ttt_cli.reading.formats.tabular.json_objects import as_text, object_in, scalar_in
from ttt_cli.reading.formats.tabular.layout import Layout
from ttt_cli.reading.formats.tabular.lines import LineBlock, Lines, long_line
from ttt_cli.reading.reasons import BAD_ROW, DROPPED

ALIKE: Final = 32  # lines of one form that are worth to be cut together
_MOST_QUOTES: Final = 400  # in a line
_MOST_FORMS: Final = 100  # of lines with so many quotes
_BETWEEN: Final = re.compile(rb"[ \t]*(:?)[ \t]*([^\s,:{}\[\]]*)[ \t]*([,}]?)[ \t]*")
_QUOTE, _BACKSLASH = b'"\\'
_WRONG, _COLON, _COMMA, _CLOSE, _SCALAR, _LAST_SCALAR = range(6)
_KINDS: Final = {  # by whether there is a colon, a value that is no string, and what is behind
    (b":", False, b""): _COLON,
    (b"", False, b","): _COMMA,
    (b"", False, b"}"): _CLOSE,
    (b":", True, b","): _SCALAR,
    (b":", True, b"}"): _LAST_SCALAR,
}


def read_object_lines(
    blocks: Iterable[bytes], keys: Sequence[str], layout: Layout, *, large: bool = False
) -> Iterator[Batch]:
    """The records of a file with an object on each line; `keys` are the names of the columns of `layout`."""
    reader = ObjectReader(keys, layout, large=large)
    return one_ahead(reader.feed, lines_in(blocks))


class _Between(NamedTuple):
    """What stands between two strings: of each row its kind and, of scalars, the text."""

    kinds: NDArray[np.int8]
    scalars: Column[bytes]

    @classmethod
    def of(cls, column: Column[bytes]) -> "_Between":
        found = [_kind(text) for text in column.values]
        kinds = np.array([kind for kind, _ in found], np.int8)[column.codes]
        return cls(kinds, Column(column.codes, ByteStrings.of([text for _, text in found])))


class ObjectReader:
    """Reads lines block by block; `slow` counts those that were left to the standard library."""

    def __init__(self, keys: Sequence[str], layout: Layout, *, large: bool = False) -> None:
        self.slow = 0
        self._keys = [keys[index] for index in layout.used]
        self._assembly = Assembly(layout, large=large)
        self._line = 1  # of the next object
        self._rejects: list[Note] = []

    def feed(self, given: Lines) -> Iterable[Batch]:
        """The objects in whole lines."""
        data = given.data
        if given.long:
            self._rejects.append(long_line(self._line))
        block = LineBlock(data if data.endswith(b"\n") or not data else data + b"\n")
        left = block.lengths > 0
        parts = []
        for alike in self._alike(block):
            lines, codes = self._cut(block, alike)
            left[lines] = False
            parts.append((self._line + lines, codes))
        parts.append(self._read_slowly(block, np.flatnonzero(left)))
        self._line += len(block)
        rejects, self._rejects = self._rejects, []
        return list(self._assembly.batch(parts, rejects))

    def _alike(self, block: LineBlock) -> Iterator[Mask]:
        """Lines with equally many quotes and no escapes."""
        counts = block.counts(block.places(_QUOTE))
        counts[block.lines_of(block.places(_BACKSLASH))] = 0
        counts[block.bytes[block.starts] == MARK] = 0
        numbers, times = np.unique(counts, return_counts=True)
        for number in numbers[(times >= ALIKE) & (numbers % 2 == 0)].tolist():
            if 0 < number <= _MOST_QUOTES:
                yield counts == number

    def _cut(self, block: LineBlock, alike: Mask) -> Rows:
        """The lines among these that hold plain objects, and the codes of their fields."""
        lines = np.flatnonzero(alike)
        width = 1 + next(block.texts(lines[:1])).count('"')
        columns = cut(block, alike, '"', width, range(width), CODED, quotes=False)
        parts = [(lines[:0], np.empty((len(self._keys), 0), np.int32))]
        if columns is not None:
            opened = np.array([text.strip(b" \t") == b"{" for text in columns[0].values], np.bool_)
            between = [_Between.of(column) for column in columns[2::2]]
            kinds = np.array([one.kinds for one in between])
            kinds[0, ~opened[columns[0].codes]] = _WRONG
            _, first, form = np.unique(kinds, axis=1, return_index=True, return_inverse=True)
            for number in np.argsort(-np.bincount(form))[:_MOST_FORMS].tolist():
                keys = _keys_at(kinds[:, first[number]].tolist())
                if keys is None:
                    continue
                rows = np.flatnonzero(form == number)
                for key in keys:
                    rows = rows[columns[key].codes[rows] == columns[key].codes[rows[0]]]
                parts.append((lines[rows], self._fields(columns, between, keys, rows)))
        return np.concatenate([lines for lines, _ in parts]), np.concatenate(
            [codes for _, codes in parts], axis=1
        )

    def _fields(
        self,
        columns: Sequence[Column[bytes]],
        between: Sequence[_Between],
        keys: Sequence[int],
        rows: NDArray[np.intp],
    ) -> Ids:
        """The codes of the used fields of rows that have the same keys in the same columns."""
        names: dict[str, int] = {}
        for key in keys:  # of a key given twice the first value counts
            names.setdefault(columns[key][int(rows[0])].decode("utf-8", "surrogateescape"), key)
        codes = np.zeros((len(self._keys), len(rows)), np.int32)
        for place, name in enumerate(self._keys):
            if name in names:
                behind = between[names[name] // 2]
                string = behind.kinds[rows[0]] == _COLON
                column = columns[names[name] + 2] if string else behind.scalars
                codes[place] = self._assembly.codes(column)[rows]
        return codes

    def _read_slowly(self, block: LineBlock, lines: NDArray[np.intp]) -> Rows:
        """The objects in lines as the standard library reads them, each distinct line once."""
        self.slow += len(lines)
        distinct = Dictionary[str]()
        numbers, numbered = distinct.ids(block.texts(lines)), self._line + lines
        read = [object_in(text) if text.strip() else None for text in distinct.values]
        found, bad = (
            np.array([isinstance(one, kind) for one in read], np.bool_)[numbers] for kind in (dict, str)
        )
        for line, number in zip(numbered[bad].tolist(), numbers[bad].tolist(), strict=True):
            self._rejects.append(Note(line, BAD_ROW, str(read[number]), DROPPED))
        objects = [one if isinstance(one, dict) else {} for one in read]
        codes = self._assembly.fields([[as_text(one.get(key)) for key in self._keys] for one in objects])
        return numbered[found], codes[:, numbers[found]]


def _kind(between: bytes) -> tuple[int, bytes]:
    """What stands between two strings, and the text of the value in it that is no string."""
    if (match := _BETWEEN.fullmatch(between)) is None:
        return _WRONG, b""
    colon, scalar, behind = match.groups()
    text = scalar_in(scalar.decode("utf-8", "surrogateescape")) if scalar else ""
    if text is None:
        return _WRONG, b""
    return _KINDS.get((colon, bool(scalar), behind), _WRONG), text.encode("utf-8", "surrogateescape")


def _keys_at(kinds: Sequence[int]) -> list[int] | None:
    """Which columns hold keys, where these kinds of text stand behind the strings of an object; None if it is none."""
    keys: list[int] = []
    is_key = True
    for place, kind in enumerate(kinds):
        last = place == len(kinds) - 1
        if is_key:
            keys.append(2 * place + 1)
            fits = kind == (_LAST_SCALAR if last else _SCALAR) or (kind == _COLON and not last)
            is_key = kind != _COLON
        else:
            fits = kind == (_CLOSE if last else _COMMA)
            is_key = True
        if not fits:
            return None
    return keys
