"""By how much games were won, from the scores of both sides or from a column of its own."""

import math

import numpy as np

from ttt_cli.config.schema import SCORE_MARGIN, DataConfig
from ttt_cli.games.table import DRAW
from ttt_cli.reading.batches import FileRecords
from ttt_cli.reading.covariates import VICTORY_MARGIN
from ttt_cli.reading.results import Written, score_pair
from ttt_cli.support.arrays import Array, Mask


def read_margins(records: FileRecords, data: DataConfig) -> Array | None:
    """The difference in each record, whoever won, (records,); 0 where it is not known, None where none is.

    Scores of matches and of single games of chess are no margins: only those of sports count.
    """
    if data.margin == SCORE_MARGIN and records.layout.kind in ("goals", "sport"):
        column = "results"
    elif data.margin_column is not None and VICTORY_MARGIN in records.further:
        column = VICTORY_MARGIN
    else:
        return None
    differences = np.array([_difference(value) for value in records.distinct(column)], np.float64)
    return differences[records.codes(column)] if differences.any() else None


def is_single_win(tallies: Array) -> Mask:
    """Which of these numbers of games lost, drawn and won, (results, 3), are of one game that somebody won."""
    mask: Mask = (tallies[:, DRAW] == 0.0) & (tallies.sum(axis=1) == 1.0)
    return mask


def _difference(value: Written) -> float:
    """The size of a difference: of both scores in a pair, or of a single number; 0 where there is none."""
    pair = score_pair(value)
    if pair is not None:
        return abs(pair[0] - pair[1])
    if not isinstance(value, str):
        return 0.0
    try:
        difference = abs(float(value))
    except ValueError:
        return 0.0
    return difference if math.isfinite(difference) else 0.0
