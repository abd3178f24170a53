"""Files and streams by blocks: unpacked whole in bounded steps, with their digest, then made plain text."""

from __future__ import annotations

import bz2
import hashlib
import io
import lzma
import random
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.games.read import read_games
from ttt_cli.reading import unpacking
from ttt_cli.reading.input import Input
from ttt_cli.reading.text import HEAD, plain_blocks
from ttt_cli.reading.unpacking import UNPACKERS, DamagedInputError, Expansion, peek
from ttt_cli.support.errors import ConfigError, DataError
from ttt_cli.support.progress import SILENT

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: zlib.compress(content, wbits=31),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.compress,
    "zstd with checksum": lambda content: zstandard.ZstdCompressor(write_checksum=True).compress(
        content
    ),
    "zstd streamed": lambda content: zstandard.ZstdCompressor(
        write_content_size=False, write_dict_id=False
    ).compress(content),
    "zstd skippable": lambda content: (
        zstandard.compress(content[:9])
        + b"\x5a\x2a\x4d\x18\3\0\0\0abc"
        + zstandard.compress(content[9:])
    ),
}
ZSTD = b"\x28\xb5\x2f\xfd"
EVERY = pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
GAME = b'[White "A"]\n[Black "B"]\n[Date "1900"]\n[Result "1-0"]\n\n1-0\n\n'
CONTENT = random.Random(1).randbytes(300_000) + b"1. e4 e5 " * 60_000


def pieces_of(packed: bytes, step: int, expansion: Expansion | None = None) -> list[bytes]:
    unpack = next(unpack for magic, unpack in UNPACKERS.items() if packed.startswith(magic))
    cut = (packed[start : start + step] for start in range(0, len(packed), step))
    return list((expansion or Expansion("x", 1 << 40)).unpacked(cut, unpack))


@EVERY
@each(
    "step, size",
    [(1, 0), (1, 1), (1, 100), (7, 100), (7, 700_000), (1 << 18, 0), (1 << 18, 700_000)],
)
def test_streams_behind_each_other_come_back(
    pack: Callable[[bytes], bytes], size: int, step: int
) -> None:
    content = random.Random(size).randbytes(size // 2) + b"e4 " * (size // 6)
    packed = pack(content)
    packed += b"" if packed[:4] == ZSTD else b"\0\0"
    assert b"".join(pieces_of(packed + pack(b"more"), step)) == content + b"more"


@EVERY
def test_pieces_and_growth_are_bounded(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = pieces_of(pack(bytes(12_000_000)), 1 << 18)
    assert sum(map(len, pieces)) == 12_000_000
    assert max(map(len, pieces)) <= unpacking.STEP
    monkeypatch.setattr(unpacking, "_SMALL", 1 << 20)
    with pytest.raises(DataError, match="more than 250 times its size"):
        pieces_of(pack(GAME * 30_000), 1 << 18, Expansion("x"))
    assert len(pieces_of(pack(GAME * 100), 1 << 18, Expansion("x"))) >= 1


def test_memory_that_a_header_asks_for_is_bounded() -> None:
    packed = bytearray(lzma.compress(GAME))
    assert packed[12:16] == b"\2\0\x21\1", "a block with one filter, LZMA2"
    packed[16] = 36  # a dictionary of 1 GB
    packed[20:24] = zlib.crc32(packed[12:20]).to_bytes(4, "little")
    wide = zstandard.ZstdCompressionParameters(window_log=30)
    packer = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    for content in (bytes(packed), packer.compress(GAME) + packer.flush()):
        with pytest.raises(DataError, match="needs more than 128 MB of memory"):
            read_games([io.BytesIO(content)])


class _Trickle(io.BytesIO):
    """Hands out a few bytes at a time, as a pipe may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(3, size) if size and size > 0 else 3)


@pytest.mark.parametrize("pack", [bytes, *PACKERS.values()], ids=["plain", *PACKERS])
def test_content_digest_and_size(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "games"  # no suffix tells
    for content, stream in ((CONTENT, None), (b'[Event "x"]\n' * 100, _Trickle)):
        stored = pack(content)
        path.write_bytes(stored)
        one = Input(stream(stored) if stream else path)
        blocks = list(one.blocks(SILENT))
        assert all(blocks)
        assert b"".join(blocks) == content
        name, size = ("<stream>", None) if stream else (str(path), len(stored))
        assert (one.name, one.size, one.count) == (name, size, len(stored))
        assert one.digest == hashlib.sha256(stored).hexdigest()


@EVERY
@each("left", [0.5, 0.999, -3, -1])
def test_cut_short(pack: Callable[[bytes], bytes], left: float) -> None:
    stored = pack(CONTENT)
    seen: list[bytes] = []
    cut = stored[: int(len(stored) * left) if left > 0 else int(left)]
    with pytest.raises(DamagedInputError, match="end too early") as caught:
        seen.extend(Input(io.BytesIO(cut)).blocks(SILENT))
    assert (caught.value.exit_code, caught.value.where) == (3, "<stream>")
    assert CONTENT.startswith(b"".join(seen))


@each("packer", ["gzip", "bzip2", "xz"])
def test_damaged_inside(packer: str) -> None:
    stored = bytearray(PACKERS[packer](CONTENT))
    middle = len(stored) // 2
    stored[middle : middle + 64] = bytes(64)
    with pytest.raises(DamagedInputError, match=r"damaged|too early"):
        list(Input(io.BytesIO(bytes(stored))).blocks(SILENT))


ADDRESS = "https://example.org/a/b.pgn"


@each(
    "name, message, hint",
    [
        ("mophy.pgn", r"mophy\.pgn: there is no such file", "did you mean '{}/morphy.pgn'?"),
        ("nofile.csv", "there is no such file", None),  # hidden files are not suggested
        ("nowhere/games.pgn", "there is no such file", None),
        (".", "is a directory", "name the files in it: {}/*.pgn"),
        (ADDRESS, "is an address", f"download it first: curl -LO {ADDRESS}"),
        (
            "ftp://example.org/b.zip",
            "is an address",
            "download it first: curl -LO ftp://example.org/b.zip",
        ),
    ],
)
def test_no_file(tmp_path: Path, name: str, message: str, hint: str | None) -> None:
    (tmp_path / "morphy.pgn").touch()
    (tmp_path / ".nofile.ttt.lock").touch()
    with pytest.raises(DataError, match=message) as caught:
        Input(name if "//" in name else tmp_path / name)
    assert caught.value.hint == (hint and hint.format(tmp_path))


def test_reading_that_fails_names_the_file() -> None:
    class Broken(io.BytesIO):
        name = "tape.pgn"

        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(DataError, match=r"tape\.pgn: cannot be read: Input/output error"):
        list(Input(Broken()).blocks(SILENT))


def plain(content: bytes, cuts: list[int] | None = None, encoding: str | None = None) -> bytes:
    ends = [0, *sorted(min(cut, len(content)) for cut in cuts or []), len(content)]
    blocks = [content[a:b] for a, b in pairwise(ends) if a < b]
    return b"".join(plain_blocks(blocks, encoding, "games"))


def test_a_file_with_large_holes_is_refused_at_once() -> None:
    taken = 0

    def holes() -> Iterator[bytes]:
        nonlocal taken
        yield b"date,white,black,result\n"
        for _ in range(10_000):
            taken += 1
            yield bytes(1 << 20)

    with pytest.raises(DataError, match="more than 32 MB of zero bytes"):
        list(plain_blocks(holes(), None, "games"))
    assert taken <= 34


@given(st.text(alphabet="ab\n\r\0é", max_size=30), st.lists(st.integers(0, 40), max_size=5))
def test_line_ends_and_nuls(text: str, cuts: list[int]) -> None:
    expected = text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    assert plain(text.encode(), cuts) == expected.encode()


@each(
    "text, written, encoding",
    [
        *[("Löwenthal\n½", marked, None) for marked in ("utf-16", "utf-32", "utf-8-sig")],
        *[("Чигорин", "koi8-r", "koi8-r"), ("Löwenthal\n", "utf-16-le", "utf-16-le")],
    ],
)
def test_encodings(text: str, written: str, encoding: str | None) -> None:
    assert plain(text.replace("\n", "\r\n").encode(written), [3, 7, 8], encoding) == text.encode()


@each("encoding", ["cp1525", "rot13", "base64", "utf\0"])
def test_what_is_no_encoding_of_text_is_a_config_error_with_a_hint(encoding: str) -> None:
    with pytest.raises(ConfigError, match="unknown encoding") as caught:
        plain(b"abc", encoding=encoding)
    assert ("utf-8" if "utf" in encoding else "cp125") in str(caught.value.hint)


def test_bytes_that_are_not_of_the_encoding_are_told_with_their_line() -> None:
    with pytest.raises(DataError, match="not utf-8") as caught:
        plain(b"a\nb\n\xff\n", [4], "utf-8")
    assert caught.value.where == "games:3"


def test_peek_hands_out_everything_before_damage() -> None:
    head, blocks = peek(iter([b"ab", b"cd", b"ef"]), 3)
    assert head == b"abcd"
    assert list(blocks) == [b"abcd", b"ef"]

    def damaged() -> Iterator[bytes]:
        yield b"abc"
        raise DamagedInputError("cut")

    head, blocks = peek(plain_blocks(damaged(), None, "games"), HEAD)
    assert head == next(blocks) == b"abc"
    with pytest.raises(DamagedInputError):
        next(blocks)
