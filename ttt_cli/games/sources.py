"""Where records are from: a column of the file, or the file itself; and weights by source."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from ttt_cli.config.schema import FILE_SOURCE
from ttt_cli.reading.columns import CodedColumn, spread
from ttt_cli.reading.covariates import SOURCE
from ttt_cli.reading.recognition import PACKED_SUFFIXES
from ttt_cli.support.folding import fold

if TYPE_CHECKING:
    from ttt_cli.config.schema import DataConfig
    from ttt_cli.reading.batches import FileRecords
    from ttt_cli.support.arrays import Array


def file_label(path: str) -> str:
    """The name of a file without folders and endings: `edo` of `lists/edo.csv.gz`."""
    name = PurePath(path)
    if name.suffix.lower() in PACKED_SUFFIXES:
        name = name.with_suffix("")
    return name.stem


def with_one_spelling(column: CodedColumn[str]) -> CodedColumn[str]:
    """The sources of records, those that differ in case or accents as the first of them is written."""
    first: dict[str, int] = {}
    number = [first.setdefault(fold(text), code) for code, text in enumerate(column.values)]
    return CodedColumn(spread(np.array(number, column.codes.dtype), column.codes), column.values)


def source_weights(records: FileRecords, data: DataConfig) -> Array | None:
    """Weights of the records of a file by their source, in any case; None where all are 1."""
    weights = {fold(source): weight for source, weight in data.sources.items()}
    if data.source == FILE_SOURCE:
        weight = weights.get(fold(file_label(records.path)), 1.0)
        return None if weight == 1.0 else np.full(len(records), weight)
    if SOURCE not in records.further:
        return None
    weight_of_text = np.array([weights.get(fold(text), 1.0) for text in records.distinct(SOURCE)])
    if np.all(weight_of_text == 1.0):
        return None
    weight_of_record: Array = weight_of_text[records.codes(SOURCE)]
    return weight_of_record
