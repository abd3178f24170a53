"""Games as JSON objects, one per line or in an array, as records; keys are the names of columns."""

from collections import deque
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.reading.batches import Batch, Table
from ttt_cli.reading.formats.tabular.columns import make_batch
from ttt_cli.reading.formats.tabular.json_objects import (
    Object,
    Objects,
    as_text,
    object_in,
    one_after_the_other,
    one_per_line,
)
from ttt_cli.reading.formats.tabular.layout import Layout, find_layout
from ttt_cli.reading.formats.tabular.lines import pieces
from ttt_cli.reading.streams import DamagedInputError
from ttt_cli.reading.text import BLOCK, HEAD, LARGE, peek, resumed

KEYS_SAMPLE: Final = 1 << 22  # bytes whose keys are the columns
KEYS_OBJECTS: Final = 50_000  # the same in objects
_MOST_KEYS: Final = 2000
_SAMPLE: Final = 1000  # objects
_PROBED: Final = 100  # lines


def read_jsonl(blocks: Iterator[bytes], data: DataConfig, name: str, large: int = LARGE) -> Table:
    """Open a file of JSON objects given as blocks with LF line ends.

    Columns are the keys in the first KEYS_SAMPLE bytes or about KEYS_OBJECTS objects; those of files of half of `large`
    bytes or more with an object on each line are kept in compiled dictionaries.
    Raises ConfigError and DataError when the columns cannot be told (see `find_layout`).
    """
    least = max(1, large // 2)
    head, blocks = peek(blocks, max(least, KEYS_SAMPLE))
    if is_lined(head[:HEAD]):
        from ttt_cli.reading.formats.tabular.object_lines import read_object_lines

        found = one_per_line(head[:KEYS_SAMPLE].split(b"\n", KEYS_OBJECTS)[:KEYS_OBJECTS], 1).found
        keys, layout = _layout_of([one for _, one in found], data, name)
        return layout.table(read_object_lines(blocks, keys, layout, large=len(head) >= least))
    first, rest = _beginning(one_after_the_other(pieces(blocks), name))
    keys, layout = _layout_of([one for objects in first for _, one in objects.found], data, name)
    return layout.table(as_batch(objects, keys, layout) for objects in chain(first, rest))


def is_lined(head: bytes) -> bool:
    """Whether there is an object on a line of its own among the first ones, and no array around them."""
    lines = islice((line for line in head.split(b"\n") if line.strip()), _PROBED)
    return not head.lstrip().startswith(b"[") and any(
        isinstance(object_in(line.decode("utf-8", "surrogateescape")), dict) for line in lines
    )


def _beginning(pieces: Iterator[Objects]) -> tuple[list[Objects], Iterator[Objects]]:
    """The first pieces and the others; damage is told behind what came before.

    They hold KEYS_SAMPLE bytes, if there are objects in them, about KEYS_OBJECTS objects, or what is none, at most.
    """
    first: list[Objects] = []
    count = 0
    try:
        for objects in pieces:
            first.append(objects)
            count += len(objects.found) + len(objects.rejects)
            if count >= KEYS_OBJECTS or (
                len(first) >= KEYS_SAMPLE // BLOCK and any(some.found for some in first)
            ):
                break
    except DamagedInputError as error:
        if not any(objects.found for objects in first):
            raise
        return first, resumed(deque(), iter(()), error)
    return first, pieces


def _layout_of(objects: list[Object], data: DataConfig, name: str) -> tuple[list[str], Layout]:
    """All keys in the order in which they first come, and which is which column."""
    if not objects:
        hint = 'a game is {"date": ..., "white": ..., ...}'
        raise DataError("holds no JSON objects", where=name, hint=hint)
    keys = list(dict.fromkeys(key for one in objects for key in one))
    if len(keys) > _MOST_KEYS:
        hint = "a game has a few, such as date, white, black and result"
        raise DataError(f"its objects have more than {_MOST_KEYS:,} different keys", where=name, hint=hint)
    rows = [[as_text(one.get(key)) for key in keys] for one in objects[:_SAMPLE]]
    return keys, find_layout([keys, *rows], data, name, named=True)


def as_batch(objects: Objects, keys: list[str], layout: Layout) -> Batch:
    """Objects as records; a key that is missing is an empty text."""
    found = [one for _, one in objects.found]
    columns = {index: [as_text(one.get(keys[index])) for one in found] for index in layout.used}
    return make_batch(layout, [line for line, _ in objects.found], columns, objects.rejects)
