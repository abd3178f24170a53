"""Parquet files of games as records: typed columns as the texts of a CSV."""

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryFile, gettempdir
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Batch, Table
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.covariates import sided_names, single_columns
from ttt_cli.reading.layout import column_of, find_layout, word_of
from ttt_cli.reading.races import find_race_columns, table_of_races
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
            size = sum(file.write(block) for block in blocks)
        except OSError as error:
            hint = f"it is copied to {gettempdir()} while it is read; TMPDIR names another folder"
            raise DataError(f"cannot be copied: {error.strerror}", where=name, hint=hint) from error
        with _errors(name):
            schema = pq.ParquetFile(file).schema_arrow
            texts = [str(field.name) for field in schema if _is_text(field.type)]
            opened = pq.ParquetFile(file, read_dictionary=texts)
            names = [str(column) for column in schema.names]
            races = find_race_columns(names, data, name)
            wanted = _wanted_columns(names, data) if races is None else names
            # values take at least a byte each
            Expansion(name, size).add(opened.metadata.num_rows * len(wanted))
            _check_memory(opened.metadata, wanted, name)
            if races is not None:
                return table_of_races(_rows(opened), [], races, data, name)
            rows = _sample_rows(opened, names, wanted)
        layout = find_layout([names, *rows], data, name, named=True)
        strings = Strings()
        used = [names[index] for index in layout.used]
        return Table(layout, strings, _batches(opened, used, strings, name, stack.pop_all()))


def _wanted_columns(names: Sequence[str], data: DataConfig) -> list[str]:
    """The columns of a file that may be used: those with a name that is known, or named in the config."""
    words = data.columns if isinstance(data.columns, list) else names
    configured = data.columns.values() if isinstance(data.columns, dict) else ()
    of_games = single_columns(data).values()
    configured_names = {
        column.casefold() for column in (*configured, *data.covariates.values(), *of_games)
    }
    of_covariates = _covariate_words(data)
    return [
        column
        for column, word in zip(names, words, strict=False)
        if column_of(word) is not None
        or column.casefold() in configured_names
        or word_of(word) in of_covariates
    ]


def _check_memory(metadata: pq.FileMetaData, wanted: Sequence[str], name: str) -> None:
    """Raise DataError where a wanted column of one row group takes too much memory."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for index in range(group.num_columns):
            chunk = group.column(index)
            path = chunk.path_in_schema
            if path.split(".")[0] in wanted and chunk.total_uncompressed_size > _MOST_MEMORY:
                message = f"the column {path} takes more than {_MOST_MEMORY >> 20} MB of memory"
                hint = "write the file again, in row groups of a million rows or less"
                raise DataError(message, where=name, hint=hint)


def _sample_rows(opened: Any, names: Sequence[str], wanted: Sequence[str]) -> list[tuple[str, ...]]:
    """The first rows as texts; cells of columns that are not wanted are empty."""
    sample: Any = next(opened.iter_batches(_SAMPLE, columns=wanted, use_threads=False), None)
    if sample is None or not sample.num_rows:
        return []
    cells = dict.fromkeys(names, [""] * sample.num_rows)
    for column in wanted:
        values, numbers = _texts(sample.column(column))
        texts = [value.decode("utf-8", "replace") for value in values]
        cells[column] = [texts[number] for number in numbers.tolist()]
    return list(zip(*(cells[column] for column in names), strict=True))


def _rows(opened: Any) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The rows of a file as texts, numbered from 1."""
    start = 1
    for batch in opened.iter_batches(_ROWS, use_threads=False):
        cells = []
        for column in batch.columns:
            values, numbers = _texts(column)
            texts = [value.decode("utf-8", "surrogateescape") for value in values]
            cells.append([texts[number] for number in numbers.tolist()])
        yield from enumerate(zip(*cells, strict=True), start)
        start += batch.num_rows


def _covariate_words(data: DataConfig) -> set[str]:
    """Words of the columns that may hold covariates."""
    words = {word_of(column) for column in data.covariates.values()}
    return words | {name for word in words for names in sided_names(word) for name in names}


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
            texts = [_texts(batch.column(column)) for column in columns]
            codes = [strings.numbers_of(values)[numbers] for values, numbers in texts]
            yield Batch(np.arange(start, start + batch.num_rows), np.array(codes))
            start += batch.num_rows


def _is_text(kind: Any) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind)
    )


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
        distinct = [
            (value or b"").replace(b"\0", b"") for value in values.cast(pa.binary()).to_pylist()
        ]
    indices = column.indices.cast(pa.int32()).fill_null(len(distinct))
    numbers = np.frombuffer(indices.buffers()[1], np.int32)[indices.offset :][: len(indices)]
    return [*distinct, b""], numbers


def _number(value: float | None) -> str:
    """A number as text, a whole one without fraction, NaN and None empty."""
    if value is None or math.isnan(value):
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < _WHOLE else str(value)
