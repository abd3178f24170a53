"""Records without the value of a covariate."""

from collections.abc import Mapping

import numpy as np

from ttt_cli.games.dictionaries import Dictionaries
from ttt_cli.reading.batches import FileRecords
from ttt_cli.reading.columns import Codes
from ttt_cli.reading.covariates import CovariateFields, covariate_fields
from ttt_cli.reading.values import is_missing
from ttt_cli.support.arrays import Mask
from ttt_cli.support.errors import ConfigError


def find_missing(
    records: FileRecords, dictionaries: Dictionaries, texts: Mapping[str, Codes], name: str
) -> Mask:
    """Mask of records that have neither a value of the game nor one of each side; `texts` are codes of these columns.

    Raises ConfigError where the file has no column of the covariate.
    """
    fields = covariate_fields(name)
    if not any(field in records.layout.columns for field in fields):
        raise ConfigError(
            f"data.covariates: this kind of file has no column of {name}",
            where=records.path,
            hint="covariates are read from CSV, JSONL, Parquet and the tags of PGN",
        )
    empty = np.broadcast_to(np.uint8(0), len(records))
    codes = CovariateFields(*(texts.get(field, empty) for field in fields))
    has_value = CovariateFields(*(_has_value(dictionaries, field) for field in fields))
    has_single = has_value.single[codes.single]
    has_white = has_value.white[codes.white]
    has_black = has_value.black[codes.black]
    missing: Mask = ~(has_single | (has_white & has_black))
    return missing


def _has_value(dictionaries: Dictionaries, field: str) -> Mask:
    """Whether each text of a column is a value."""
    return np.array([not is_missing(text) for text in dictionaries.columns[field].values], np.bool_)


def missing_words(name: str, count: int) -> str:
    """What becomes of so many records."""
    have = "record has" if count == 1 else "records have"
    return f"{count:,} {have} no {name}, which counts as its reference; data.missing: drop leaves them out"
