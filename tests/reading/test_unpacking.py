"""Unpacking in bounded steps: the content comes whole, bombs come in pieces and are refused."""

from __future__ import annotations

import bz2
import io
import lzma
import random
import tarfile
import zipfile
import zlib
from collections.abc import Callable

import pytest
import zstandard

from ttt_cli.games.read import read_games
from ttt_cli.reading import input as unpacking
from ttt_cli.reading import sources as archives
from ttt_cli.reading.input import UNPACKERS, Expansion
from ttt_cli.support.errors import DataError

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: zlib.compress(content, wbits=31),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.compress,
    "zstd with checksum": lambda content: zstandard.ZstdCompressor(write_checksum=True).compress(content),
    "zstd streamed": lambda content: zstandard.ZstdCompressor(
        write_content_size=False, write_dict_id=False
    ).compress(content),
    "zstd skippable": lambda content: (
        zstandard.compress(content[:9]) + b"\x5a\x2a\x4d\x18\3\0\0\0abc" + zstandard.compress(content[9:])
    ),
}
ZSTD = b"\x28\xb5\x2f\xfd"
EVERY = pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
GAME = b'[White "A"]\n[Black "B"]\n[Date "1900"]\n[Result "1-0"]\n\n1-0\n\n'


def pieces_of(packed: bytes, step: int, expansion: Expansion | None = None) -> list[bytes]:
    unpack = next(unpack for magic, unpack in UNPACKERS.items() if packed.startswith(magic))
    cut = (packed[start : start + step] for start in range(0, len(packed), step))
    return list((expansion or Expansion("x", 1 << 40)).unpacked(cut, unpack))


@EVERY
@pytest.mark.parametrize("size", [0, 1, 100, 700_000])
@pytest.mark.parametrize("step", [1, 7, 1 << 18])
def test_the_content_comes_back(pack: Callable[[bytes], bytes], size: int, step: int) -> None:
    content = random.Random(size).randbytes(size // 2) + b"e4 " * (size // 6)
    packed = pack(content)
    packed += b"" if packed[:4] == ZSTD else b"\0\0"
    packed += pack(b"more")
    if step > 1 or len(packed) < 1000:
        assert b"".join(pieces_of(packed, step)) == content + b"more"


@EVERY
def test_pieces_are_bounded(pack: Callable[[bytes], bytes]) -> None:
    pieces = pieces_of(pack(bytes(12_000_000)), 1 << 18)
    assert sum(map(len, pieces)) == 12_000_000
    assert max(map(len, pieces)) <= unpacking.STEP


@EVERY
def test_an_early_end_is_noticed(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(b"some content" * 1000)
    for stop in (len(packed) - 1, len(packed) - 3):
        with pytest.raises(EOFError):
            pieces_of(packed[:stop], 5)


@EVERY
def test_what_grows_too_much_is_refused(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "_PLENTY", 1 << 20)
    packed = pack(GAME * 30_000)
    with pytest.raises(DataError, match="more than 250 times its size"):
        pieces_of(packed, 1 << 18, Expansion("x"))
    assert len(pieces_of(pack(GAME * 100), 1 << 18, Expansion("x"))) >= 1


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods_in_zip_archives_are_refused(method: int) -> None:
    """The standard library unpacks them without bounds."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("a.pgn", GAME)
    with pytest.raises(DataError, match="cannot be unpacked: it is not packed by the usual method") as caught:
        read_games([io.BytesIO(file.getvalue())])
    assert caught.value.hint == "unpack it first"


@pytest.mark.slow
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zip_by_every_method(method: int, monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("a.pgn", GAME * 3)
        archive.writestr("b.pgn", GAME * 6_000)
    assert len(read_games([io.BytesIO(file.getvalue())])) == 6_003
    damaged = file.getvalue().replace(zlib.crc32(GAME * 3).to_bytes(4, "little"), b"\1\2\3\4")
    with pytest.raises(DataError, match=r"a\.pgn: is damaged \(Bad CRC"):
        read_games([io.BytesIO(damaged)])
    monkeypatch.setattr(unpacking, "_PLENTY", 1 << 17)
    if method == zipfile.ZIP_STORED:
        assert len(read_games([io.BytesIO(file.getvalue())])) == 6_003
    else:
        with pytest.raises(DataError, match="more than 250 times its size"):
            read_games([io.BytesIO(file.getvalue())])


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


def test_long_names_in_tar_archives_are_bounded() -> None:
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, 1 << 20
    content = entry.tobuf() + b"a" * (1 << 20)
    with pytest.raises(DataError, match="is damaged"):
        read_games([io.BytesIO(content)])


def test_archives_of_too_many_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MOST_MEMBERS", 5)
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for number in range(6):
            entry = tarfile.TarInfo(f"{number}.pgn")
            entry.size = len(GAME)
            tar.addfile(entry, io.BytesIO(GAME))
    with pytest.raises(DataError, match="more than 5 files"):
        read_games([io.BytesIO(file.getvalue())])
