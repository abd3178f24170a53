"""DataFrames of games: their rows as those of a Parquet file."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.support.errors import DataError

if TYPE_CHECKING:
    from pandas import DataFrame, Series

NAME: Final = "<DataFrame>"  # in reports, in place of the path


class FrameFile(BytesIO):
    """A DataFrame as a Parquet file in memory."""

    name = NAME


def frame_as_file(frame: DataFrame) -> FrameFile:
    """The rows of a DataFrame as a file; an index with a name is a column. Raises DataError for columns of one name."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    named_index = [
        name for name in frame.index.names if name is not None and name not in frame.columns
    ]
    table = frame.reset_index(level=named_index) if named_index else frame
    names = [str(column) for column in table.columns]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise DataError(
            f"two columns are named {repeated[0]}", where=NAME, hint="give each a name of its own"
        )
    columns = [_arrow_array(table.iloc[:, index]) for index in range(len(names))]
    file = FrameFile()
    pq.write_table(pa.Table.from_arrays(columns, names=names), file, use_dictionary=False)
    file.seek(0)
    return file


def _arrow_array(column: Series[Any]) -> Any:
    """A column as an Arrow array; as texts where its values are of several types."""
    import pyarrow as pa
    from pandas import PeriodDtype

    if not isinstance(column.dtype, PeriodDtype):
        try:
            array = pa.array(column, from_pandas=True)
        except pa.ArrowException:
            pass
        else:
            return array.cast(pa.string()) if pa.types.is_null(array.type) else array
    texts = [
        None if is_missing else str(value)
        for value, is_missing in zip(column, column.isna(), strict=True)
    ]
    return pa.array(texts, pa.string())
