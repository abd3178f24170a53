"""Blocks of lines for pyarrow: bounded in bytes and lines, and read without it where it gives up."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import csv

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.decode import text_of
from ttt_cli.reading.formats.tabular import arrow
from ttt_cli.reading.formats.tabular.arrow import lines_in
from ttt_cli.reading.formats.tabular.delimited import read_delimited
from ttt_cli.reading.text import BLOCK


def test_blocks_are_bounded_however_short_lines_are() -> None:
    for line in (b"x\n", b"x" * 999 + b"\n"):
        content = line * (3 * arrow.BLOCK // len(line))
        found = [lines.data for lines in lines_in([content])]
        assert b"".join(found) == content
        assert max(data.count(b"\n") for data in found) <= arrow.LINES + BLOCK // 2
        assert max(map(len, found)) <= arrow.BLOCK + BLOCK


def test_a_signal_that_ends_nothing_costs_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def cancelled(*_: object) -> None:
        raise pa.ArrowCancelled("Operation cancelled")

    monkeypatch.setattr(csv, "read_csv", cancelled)
    content = b"date,white,black,result\n1858,A,B,1-0\n1859,C\n1860,D,E,0-1\n"
    (batch,) = read_delimited(iter([content]), DataConfig(), "games.csv").batches
    assert [(int(line), text_of(white)) for line, white in zip(batch.lines, batch.whites, strict=True)] == [
        (2, "A"),
        (4, "D"),
    ]
    assert [note.line for note in batch.rejects] == [3]
