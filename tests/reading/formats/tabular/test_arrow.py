"""Blocks of lines for pyarrow: bounded in bytes and lines, and read where signals do not reach it."""

from __future__ import annotations

from threading import Thread, current_thread, main_thread
from typing import Any

import pytest
from pyarrow import csv

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.formats.tabular import arrow
from ttt_cli.reading.formats.tabular.arrow import lines_in
from ttt_cli.reading.formats.tabular.delimited import read_delimited
from ttt_cli.reading.text import BLOCK, text_of


def test_blocks_are_bounded_however_short_lines_are() -> None:
    for line in (b"x\n", b"x" * 999 + b"\n"):
        content = line * (3 * arrow.BLOCK // len(line))
        found = [lines.data for lines in lines_in([content])]
        assert b"".join(found) == content
        assert max(data.count(b"\n") for data in found) <= arrow.LINES + BLOCK // 2
        assert max(map(len, found)) <= arrow.BLOCK + BLOCK


def test_pyarrow_takes_no_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does in the main thread only, and one that comes as it ends is lost then."""
    cut_in: list[Thread] = []
    read_csv = csv.read_csv

    def seen(*args: Any) -> Any:
        cut_in.append(current_thread())
        return read_csv(*args)

    monkeypatch.setattr(csv, "read_csv", seen)
    (batch,) = read_delimited(iter([b"date,white,black,result\n1858,A,B,1-0\n"]), DataConfig(), "x").batches
    assert [text_of(white) for white in batch.whites] == ["A"]
    assert cut_in
    assert main_thread() not in cut_in
