"""What is wrong or odd with the records of a file: why some are rejected, and notes on values of columns."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.reading import reports as reasons
from ttt_cli.reading.batches import Note
from ttt_cli.reading.columns import Codes, spread
from ttt_cli.support.arrays import Mask
from ttt_cli.support.folding import fold

_LISTED: Final = 10  # words of a column
_NO_REASON: Final = np.uint8(255)


class _OddValues(NamedTuple):
    """Values of a column that are odd."""

    reason: str
    rows: Mask  # records with such a value
    values: Sequence[str]  # distinct ones, empty for a note on all records
    codes: Codes  # of the records
    meaning: str
    action: str


class Findings:
    """What is wrong or odd with the records of a file, as the columns are read."""

    def __init__(self, n_records: int) -> None:
        self._n_records = n_records
        # (records,), indices in DROP_REASONS: the reject codes - 1
        self._reason = np.full(n_records, _NO_REASON)
        self._odd_values: list[_OddValues] = []

    @property
    def reject_code(self) -> NDArray[np.int8]:
        """The reject codes of records (records,), 0 where nothing is wrong."""
        # _NO_REASON, the largest of its type, becomes 0
        return (self._reason + np.uint8(1)).view(np.int8)

    def reject(self, reject_code: Sequence[int] | Codes, codes: Codes | None = None) -> None:
        """Reject records with reject codes, 0 is none, of the values that have `codes`, or of each record.

        Of several reasons the first of DROP_REASONS counts.
        """
        # 0 becomes _NO_REASON, the largest of its type
        reason = np.asarray(reject_code, np.uint8) - np.uint8(1)
        if np.any(reason != _NO_REASON):
            np.minimum(
                self._reason, reason if codes is None else spread(reason, codes), out=self._reason
            )

    def reject_where(self, is_bad: Mask, reason: str, codes: Codes | None = None) -> None:
        """Reject the values that have `codes`, or records, of a mask."""
        self.reject(is_bad * np.uint8(reasons.REJECT_CODE[reason]), codes)

    def note(
        self,
        reason: str,
        is_odd: Sequence[bool] | Mask,
        values: Sequence[str],
        codes: Codes,
        meaning: str,
        action: str,
    ) -> None:
        """Note that some of the values of a column are odd."""
        if np.any(is_odd):
            rows = spread(np.asarray(is_odd), codes)
            self._odd_values.append(_OddValues(reason, rows, values, codes, meaning, action))

    def note_file(self, reason: str, meaning: str) -> None:
        """Note what holds for all records."""
        codes = np.broadcast_to(np.uint8(0), self._n_records)
        self.note(reason, [True], (), codes, meaning, reasons.KEPT)

    def note_records(self, reason: str, is_odd: Mask, meaning: str) -> None:
        """Note what holds for some records, (records,), without listing values."""
        self.note(reason, [False, True], (), is_odd.astype(np.uint8), meaning, reasons.KEPT)

    def notes_on_columns(self, lines: Codes, is_used: Mask) -> Iterator[Note]:
        """Yield a note for each way in which values of a column are odd, of used records unless they are dropped."""
        for odd in self._odd_values:
            rows = np.flatnonzero(odd.rows & is_used if odd.action == reasons.KEPT else odd.rows)
            if len(rows):
                listing = f": {_listing(odd.values, odd.codes[rows])}" if odd.values else ""
                yield Note(int(lines[rows[0]]), odd.reason, f"{odd.meaning}{listing}", odd.action)


def _listing(values: Sequence[str], codes: Codes) -> str:
    """The values that occur with their counts, the most frequent first; spellings of a word are counted together."""
    spelling: dict[str, str] = {}
    total: Counter[str] = Counter()
    for code, count in Counter(codes.tolist()).items():
        text = " ".join(values[code].split())
        total[fold(text)] += count
        spelling.setdefault(fold(text), text)
    listed = total.most_common(_LISTED)
    n_more = total.total() - sum(count for _, count in listed)
    words = ", ".join(f"{spelling[word]} {count:,}" for word, count in listed)
    return f"{words}, and {n_more:,} more" if n_more else words
