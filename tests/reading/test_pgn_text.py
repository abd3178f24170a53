"""The slow path of PGN takes work in proportion to the bytes, whatever these are: bytes examined are counted."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, SupportsIndex

import pytest

from tests.support.batches import scanned
from tests.support.cases import each
from ttt_cli.reading import pgn_text
from ttt_cli.reading.pgn import Scanner

SIZE = 1 << 13  # bytes of a file
EXAMINED = Counter[str]()


class CountedBytes(bytes):
    """Bytes that count how many of them are searched or copied."""

    def find(self, wanted: Any, start: Any = 0, end: Any = None) -> int:
        offset = super().find(wanted, start, end)
        EXAMINED["bytes"] += (len(self) if offset < 0 else offset) - start
        return offset

    def count(self, wanted: Any, start: Any = 0, end: Any = None) -> int:
        EXAMINED["bytes"] += (len(self) if end is None else end) - start
        return super().count(wanted, start, end)

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if isinstance(index, slice):
            EXAMINED["bytes"] += len(range(*index.indices(len(self))))
        return super().__getitem__(index)


class CountedPattern:
    """A pattern that counts the bytes that its searches pass over."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self._pattern = pattern

    def match(self, data: bytes, start: int = 0, stop: int | None = None) -> re.Match[bytes] | None:
        match = self._pattern.match(data, start, len(data) if stop is None else stop)
        EXAMINED["bytes"] += match.end() - start if match else 1
        return match

    def search(
        self, data: bytes, start: int = 0, stop: int | None = None
    ) -> re.Match[bytes] | None:
        stop = len(data) if stop is None else stop
        match = self._pattern.search(data, start, stop)
        EXAMINED["bytes"] += (match.end() if match else stop) - start
        return match


class CountedText(pgn_text.PgnText):
    def __init__(self, data: bytes, *, final: bool) -> None:
        super().__init__(CountedBytes(data), final=final)


BOMBS = [
    *(
        b"[",
        b"[[a",
        b'[a "',
        b'[a "]',
        b'[A "b"]',
        b'[A "b"] x ',
        b'[A "b"] 1-0 ',
        b'x[A "b"]',
        b'[A b "c"] x',
        b"[A b\n",
    ),
    *(
        b"{",
        b"}",
        b"{}",
        b"{\n",
        b'[White "a"]\n{\n',
        b'[White "a"]\n{\n\n{',
        b'{\n[White "a"]\n}{',
        b"{;",
        b"%\n{\n",
    ),
    *(
        b"(",
        b")",
        b"()",
        b"(1-0 ",
        b";",
        b";\n",
        b"%",
        b"%\n",
        b"\n%[",
        b'"',
        b'\\"',
        b"\\",
        b"1-0 ",
        b"1-0\n1. ",
        b"*",
    ),
    *(
        b"\xef\xbb\xbf",
        b'\n\xef\xbb\xbf[A "',
        b'[A "\\"',
        b'[A "b\n',
        b'[A "b" ]c]',
        b'[White "a"]\n',
        b'[Black "b"]\n\n',
    ),
    *(b' [A "b"]\n1-0 [', b"\t", b"\n", b"\f", b"1.", b"e4 "),
]


@each("bomb", BOMBS)
@pytest.mark.parametrize("begin", [b"", b'[White "a"]\n[Black "b"]\n\n1. e4 ', b'[White "a"] x\n'])
def test_bytes_examined_are_in_proportion_to_the_size(
    bomb: bytes, begin: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgn_text, "PgnText", CountedText)
    for name, pattern in vars(pgn_text).copy().items():
        if isinstance(pattern, re.Pattern) and name not in (
            "_AFTER_TAGS",
            "_WITHOUT_TAGS",
            "_PARENTHESIS",
            "_ESCAPE",
        ):
            monkeypatch.setattr(pgn_text, name, CountedPattern(pattern))
    EXAMINED.clear()
    scanned([begin + bomb * (SIZE // len(bomb))], Scanner())
    assert EXAMINED["bytes"] < 80 * SIZE


def test_a_search_is_remembered() -> None:
    text = CountedText(b"a" * 1000 + b"\n" + b"b" * 1000, final=True)
    EXAMINED.clear()
    assert [text.line_end(start) for start in range(1001)] == [1000] * 1001
    assert [text.line_end(start) for start in range(1001, 2001)] == [2001] * 1000
    assert text.line_end(0) == 1000
    assert EXAMINED["bytes"] <= 3001


@each(
    "before, opens",
    [
        *(
            (b"", True),
            (b"   ", True),
            (b"x\n", True),
            (b"\n" + b" " * 5000, True),
            (b"x" + b" " * 5000, True),
        ),
        *(
            (b"1-0", True),
            (b"e4 1-0 ", True),
            (b"1-0\xef\xbb\xbf", True),
            (b"1-0" + b" " * 4000, True),
        ),
        *(
            (b"x", False),
            (b"x1-0", False),
            (b"x" * 100 + b"1-0", False),
            (b"x1-0" + b" " * 61, False),
        ),
        *((b"x" * 61 + b"1-0", False), (b"1-0 x", False), (b"x" + b" " * 4000, False)),
    ],
)
def test_a_tag_opens_at_the_start_of_its_line_or_after_a_result(before: bytes, opens: bool) -> None:
    text = pgn_text.PgnText(before + b'[White "a"]', final=True)
    assert text.opens_tag(len(before)) == opens
