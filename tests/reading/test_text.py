"""Blocks made plain: line ends, marks, encodings; where blocks are cut makes no difference."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.reading.input import DamagedInputError
from ttt_cli.reading.text import HEAD, peek, plain_blocks
from ttt_cli.support.errors import ConfigError, DataError


def plain(content: bytes, cuts: list[int] | None = None, encoding: str | None = None) -> bytes:
    ends = [0, *sorted(min(cut, len(content)) for cut in cuts or []), len(content)]
    blocks = [content[a:b] for a, b in pairwise(ends) if a < b]
    return b"".join(plain_blocks(blocks, encoding, "games"))


@given(st.text(alphabet="ab\n\r\0é", max_size=30), st.lists(st.integers(0, 40), max_size=5))
def test_line_ends_and_nuls(text: str, cuts: list[int]) -> None:
    expected = text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    assert plain(text.encode(), cuts) == expected.encode()


@each("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_byte_order_marks(encoding: str) -> None:
    assert plain("Löwenthal\r\n½".encode(encoding), [3, 7, 8]) == "Löwenthal\n½".encode()


def test_configured_encoding() -> None:
    assert plain("Чигорин".encode("koi8-r"), [2], "koi8-r") == "Чигорин".encode()
    assert plain("Löwenthal\n".encode("utf-16-le"), [3], "utf-16-le") == "Löwenthal\n".encode()


def test_unknown_encoding_is_a_config_error_with_a_hint() -> None:
    with pytest.raises(ConfigError, match="unknown encoding 'cp1525'") as caught:
        plain(b"x", encoding="cp1525")
    assert "cp125" in str(caught.value.hint)


def test_bytes_that_are_not_of_the_encoding_are_told_with_their_line() -> None:
    with pytest.raises(DataError, match="not utf-8") as caught:
        plain(b"a\nb\n\xff\n", [4], "utf-8")
    assert caught.value.where == "games:3"


def test_peek_hands_out_everything() -> None:
    head, blocks = peek(iter([b"ab", b"cd", b"ef"]), 3)
    assert head == b"abcd"
    assert list(blocks) == [b"abcd", b"ef"]


def test_what_came_before_damage_is_handed_over() -> None:
    def damaged() -> Iterator[bytes]:
        yield b"abc"
        raise DamagedInputError("cut")

    seen: list[bytes] = []
    with pytest.raises(DamagedInputError):
        seen.extend(plain_blocks(damaged(), None, "games"))
    head, blocks = peek(damaged(), HEAD)
    assert head == b"abc"
    with pytest.raises(DamagedInputError):
        list(blocks)


@each("encoding", ["rot13", "base64", "zlib", "hex", "uu", "bz2"])
def test_codecs_that_are_not_of_text(encoding: str) -> None:
    with pytest.raises(ConfigError, match=f"data.encoding: '{encoding}' is no encoding of text"):
        list(plain_blocks([b"abc"], encoding, "games"))


def test_an_encoding_with_a_nul_is_unknown() -> None:
    with pytest.raises(ConfigError, match="unknown encoding"):
        list(plain_blocks([b"abc"], "utf\0", "games"))
