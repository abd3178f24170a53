"""Parquet files of games as records: typed columns as the texts of a CSV."""

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryFile, gettempdir
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Batch, Table
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.layout import column_of, find_layout
from ttt_cli.reading.unpacking import Expansion
from ttt_cli.support.arrays import Ids
from ttt_cli.support.errors import DataError

_SAMPLE: Final = 1000  # rows
_ROWS: Final = 1 << 17  # read at a time
_WHOLE: Final = 1e15  # whole numbers below are exact as floats
_MOST_MEMORY: Final = 1 << 30  # bytes of a column of one row group, unpacked


def read_parquet(blocks: Iterator[bytes], data: DataConfig, name: str) -> Table:
    """Open a Parquet file given as blocks; it is copied to a temporary file. Lines are row numbers, from 1.

    Only the columns that are used are read. Raises ConfigError and DataError when its columns are not recognised (see
    `find_layout`), when it cannot be read, and when it unpacks to more than games do.
    """
    with ExitStack() as stack:
        file = stack.enter_context(TemporaryFile(prefix="ttt-"))
        try:
            size = sum(map(file.write, blocks))
        except OSError as error:
            hint = f"it is copied to {gettempdir()} while it is read; TMPDIR names another folder"
            raise DataError(f"cannot be copied: {error.strerror}", where=name, hint=hint) from error
        with _errors(name):
            schema = pq.ParquetFile(file).schema_arrow
            texts = [str(field.name) for field in schema if _is_text(field.type)]
            opened = pq.ParquetFile(file, read_dictionary=texts)
            names = [str(column) for column in schema.names]
            words = data.columns if isinstance(data.columns, list) else names
            own = data.columns.values() if isinstance(data.columns, dict) else ()
            known = set(map(str.casefold, own))
            named = zip(names, words, strict=False)
            wanted = [one for one, word in named if column_of(word) is not None or one.casefold() in known]
            metadata = opened.metadata
            Expansion(name, size).add(metadata.num_rows * len(wanted))  # at least a byte each
            for group in map(metadata.row_group, range(metadata.num_row_groups)):
                for chunk in map(group.column, range(group.num_columns)):
                    path = chunk.path_in_schema
                    if path.split(".")[0] in wanted and chunk.total_uncompressed_size > _MOST_MEMORY:
                        message = f"the column {path} takes more than {_MOST_MEMORY >> 20} MB of memory"
                        hint = "write the file again, in row groups of a million rows or less"
                        raise DataError(message, where=name, hint=hint)
            sample: Any = next(opened.iter_batches(_SAMPLE, columns=wanted, use_threads=False), None)
            count = 0 if sample is None else sample.num_rows
            cells = dict.fromkeys(names, [""] * count)
            for column in wanted if count else ():
                values, numbers = _texts(sample.column(column))
                texts = [value.decode("utf-8", "replace") for value in values]
                cells[column] = list(map(texts.__getitem__, numbers.tolist()))
        rows = zip(*map(cells.__getitem__, names), strict=True)
        layout = find_layout([names, *rows], data, name, named=True)
        strings = Strings()
        used = [names[index] for index in layout.used]
        return Table(layout, strings, _batches(opened, used, strings, name, stack.pop_all()))


@contextmanager
def _errors(name: str) -> Iterator[None]:
    """Raise DataError for a file that cannot be read."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        why = str(error).strip().partition("\n")[0].rstrip(".")
        hint = "write the file again"
        raise DataError(f"cannot be read as Parquet: {why}", where=name, hint=hint) from error


def _batches(
    opened: Any, columns: list[str], strings: Strings, name: str, stack: ExitStack
) -> Iterator[Batch]:
    start = 1
    with stack, _errors(name):
        for batch in opened.iter_batches(_ROWS, columns=columns, use_threads=False):
            found = [_texts(batch.column(column)) for column in columns]
            codes = [strings.ids(values)[numbers] for values, numbers in found]
            yield Batch(np.arange(start, start + batch.num_rows), np.array(codes))
            start += batch.num_rows


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind))


def _texts(column: Any) -> tuple[list[bytes], Ids]:
    """Distinct values of a column as text, and the index of each row's value; days are without their time."""
    kind = column.type
    if pa.types.is_nested(kind):
        distinct = [str(value or "").encode() for value in column.to_pylist()]
        return distinct, np.arange(len(column), dtype=np.int32)
    if pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp(kind.unit)).cast(pa.date32(), safe=False)
    if not pa.types.is_dictionary(kind):
        column = column.dictionary_encode()
    values = column.dictionary
    if pa.types.is_floating(values.type):
        distinct = [_number(value).encode() for value in values.to_pylist()]
    else:
        values = values if _is_text(values.type) else values.cast(pa.string())
        distinct = [(value or b"").replace(b"\0", b"") for value in values.cast(pa.binary()).to_pylist()]
    indices = column.indices.cast(pa.int32()).fill_null(len(distinct))
    numbers = np.frombuffer(indices.buffers()[1], np.int32)[indices.offset :][: len(indices)]
    return [*distinct, b""], numbers


def _number(value: float | None) -> str:
    """A number as text, a whole one without fraction, NaN and None empty."""
    if value is None or math.isnan(value):
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < _WHOLE else str(value)
