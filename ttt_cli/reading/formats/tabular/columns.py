"""Columns of a table put together as a batch of records, by its layout."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import reduce

import numpy as np

from ttt_cli.arrays import Places
from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.column import Column
from ttt_cli.reading.formats.tabular.layout import Layout
from ttt_cli.reading.values.results import match_result, match_scores

Values = Sequence[Hashable]
Parts = tuple[Hashable, ...]
Pairs = Places


def make_batch(
    layout: Layout,
    lines: Sequence[int] | Places,
    columns: Mapping[int, Values],
    rejects: Sequence[Note] = (),
) -> Batch:
    """The records whose columns are given by their index in the layout."""
    same = {
        -1 - k: Column(np.zeros(len(lines), np.int32), (text,)) for k, text in enumerate(layout.constants)
    }
    columns = {**columns, **same}
    dates = [columns[index] for index in layout.date]
    if layout.utc_date is not None:
        dates = [joined(_known_date, [*dates, columns[layout.utc_date]])]
    outcome = [columns[index] for index in layout.outcome]
    return Batch(
        lines=lines,
        dates=dates[0] if len(dates) == 1 else joined(tuple, dates),
        whites=columns[layout.white],
        blacks=columns[layout.black],
        results=outcome[0] if len(outcome) == 1 else joined(result_maker(layout), outcome),
        weights=None if layout.weight is None else columns[layout.weight],
        rejects=rejects,
        further={name: columns[index] for name, index in layout.further.items()},
    )


def result_maker(layout: Layout) -> Callable[[Parts], Hashable]:
    """What makes a result of a row's values in the columns `layout.outcome`."""
    if layout.score is None:
        return tuple
    read = match_result if layout.result else match_scores
    return lambda parts: read(*parts)


def joined(make: Callable[[Parts], Hashable], columns: Sequence[Values]) -> Values:
    """One column of several: `make` of each row's values, once for each combination of dictionary-encoded ones."""
    codes = [column.codes.astype(np.int64) for column in columns if isinstance(column, Column)]
    if len(codes) < len(columns):
        rows = zip(*columns, strict=True)
        return list(rows) if make is tuple else list(map(make, rows))
    _, first, inverse = np.unique(reduce(_paired, codes), return_index=True, return_inverse=True)
    return Column(inverse, [make(tuple(column[row] for column in columns)) for row in first.tolist()])


def _paired(left: Pairs, right: Pairs) -> Pairs:
    """Numbers of the pairs of numbers below 2**31."""
    _, inverse = np.unique(left << 32 | right, return_inverse=True)
    return np.asarray(inverse, np.int64)


def _known_date(parts: Parts) -> Hashable:
    date, utc_date = parts
    beginning = date.strip()[:1] if isinstance(date, (str, bytes)) else date
    return utc_date if beginning in (None, "", b"", "?", b"?") else date
