"""The files that come with the program."""

from __future__ import annotations

from typing import Final

from ttt_cli.reading.samples import SAMPLES
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.rows import Rows

SAMPLE_COLUMNS: Final = (
    Described("sample", "", "`@NAME`, which stands for the file"),
    Described("holds", "", "what is in it"),
)


def sample_rows() -> Rows:
    """A row for each sample, with `SAMPLE_COLUMNS`."""
    rows = [(f"@{name}", sample.holds) for name, sample in SAMPLES.items()]
    return Rows(column_names(SAMPLE_COLUMNS), rows)
