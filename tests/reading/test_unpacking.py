"""Unpacking by first bytes, in bounded steps: content comes whole, with its digest; bombs and damage are refused."""

from __future__ import annotations

import bz2
import hashlib
import io
import lzma
import random
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from tests.support.cases import each
from ttt_cli.games.read import read_games
from ttt_cli.reading import input as unpacking
from ttt_cli.reading import sources as archives
from ttt_cli.reading.input import UNPACKERS, DamagedInputError, Expansion, Input
from ttt_cli.support.errors import DataError
from ttt_cli.support.progress import SILENT

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


CONTENT = random.Random(1).randbytes(300_000) + b"1. e4 e5 " * 60_000


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
@pytest.mark.parametrize("left", [0.5, 0.999])
def test_cut_short(pack: Callable[[bytes], bytes], left: float) -> None:
    stored = pack(CONTENT)
    seen: list[bytes] = []
    with pytest.raises(DamagedInputError, match="end too early") as caught:
        seen.extend(Input(io.BytesIO(stored[: int(len(stored) * left)])).blocks(SILENT))
    assert caught.value.exit_code == 3
    assert caught.value.hint
    assert CONTENT.startswith(b"".join(seen))


@each("packer", ["gzip", "bzip2", "xz"])
def test_damaged_inside(packer: str) -> None:
    stored = bytearray(PACKERS[packer](CONTENT))
    middle = len(stored) // 2
    stored[middle : middle + 64] = bytes(64)
    with pytest.raises(DamagedInputError, match=r"damaged|too early"):
        list(Input(io.BytesIO(bytes(stored))).blocks(SILENT))


@each(
    "name, message, hint",
    [
        ("mophy.pgn", r"mophy\.pgn: there is no such file", "did you mean '{}/morphy.pgn'?"),
        (
            "nofile.csv",
            "there is no such file",
            None,
        ),  # the lock of the run that would have been made is there
        ("nowhere/games.pgn", "there is no such file", None),
        (".", "is a directory", "name the files in it: {}/*.pgn"),
        (
            "https://example.org/a/b.pgn",
            "is an address",
            "download it first: curl -LO https://example.org/a/b.pgn",
        ),
        ("ftp://example.org/b.zip", "is an address", "download it first: curl -LO ftp://example.org/b.zip"),
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
