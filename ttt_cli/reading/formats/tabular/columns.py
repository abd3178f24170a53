"""Columns of a table put together as a batch of records, by its layout."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.formats.tabular.layout import Layout
from ttt_cli.reading.values.results import ResultKind, match_result, match_scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Column = Sequence[Hashable]
Parts = tuple[Hashable, ...]
Join = Callable[[Callable[[Parts], Hashable], Sequence[Column]], Column]


class Table(NamedTuple):
    """A table about to be read: how its results are written, and its records."""

    kind: ResultKind
    batches: Iterator[Batch]


def make_batch(
    layout: Layout,
    lines: Sequence[int] | NDArray[np.int64],
    columns: Mapping[int, Column],
    join: Join,
    rejects: Sequence[Note] = (),
) -> Batch:
    """The records whose columns are given by their index in the layout.

    `join(make, parts)` makes one column of several: `make` of the values that each row has in them.
    """
    dates = [columns[index] for index in layout.date]
    outcome = [columns[index] for index in layout.outcome]
    return Batch(
        lines=lines,
        dates=dates[0] if len(dates) == 1 else join(tuple, dates),
        whites=columns[layout.white],
        blacks=columns[layout.black],
        results=outcome[0] if len(outcome) == 1 else join(result_maker(layout), outcome),
        weights=None if layout.weight is None else columns[layout.weight],
        rejects=rejects,
        further={name: columns[index] for name, index in layout.further.items()},
    )


def result_maker(layout: Layout) -> Callable[[Parts], Hashable]:
    """What makes a result of a row's values in the columns `layout.outcome`."""
    if layout.score is None:
        return tuple
    return _whole_match if layout.result else _match


def join_rows(make: Callable[[Parts], Hashable], columns: Sequence[Column]) -> Column:
    """As `make_batch` wants it, row by row."""
    rows = zip(*columns, strict=True)
    return list(rows) if make is tuple else list(map(make, rows))


def _match(parts: Parts) -> Hashable:
    return match_scores(*parts)


def _whole_match(parts: Parts) -> Hashable:
    return match_result(*parts)
