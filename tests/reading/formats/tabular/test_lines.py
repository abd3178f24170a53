"""Whole lines of a table from blocks cut anywhere, in bounded memory, without those that are too long."""

from __future__ import annotations

import pytest

from ttt_cli.reading.formats.tabular import lines
from ttt_cli.reading.formats.tabular.lines import whole_lines

CONTENT = (
    b"a\n" + b"b" * 20 + b"\n\n" + b"c" * 21 + b"\nd\n" + b"e" * 40 + b"\n" + b"f" * 20 + b"\n" + b"g" * 21
)


@pytest.mark.parametrize("size", [1, 7, 20, 25, 45, 1000])
def test_where_blocks_are_cut_makes_no_line_too_long(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 20)
    monkeypatch.setattr(lines, "BLOCK", 10)
    found = list(whole_lines(CONTENT[start : start + size] for start in range(0, len(CONTENT), size)))
    assert max(len(one.data) for one in found) <= 20 + 10
    told = b"".join(b"<long>" * one.long + one.data for one in found)
    assert told == b"a\n" + b"b" * 20 + b"\n\n<long>\nd\n<long>\n" + b"f" * 20 + b"\n<long>\n"
    assert [one.final for one in found][-2:] == [False, True]
