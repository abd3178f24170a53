"""Inputs: packed ones recognised by their bytes, damage told, bytes counted and digested."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zstandard

from tests.support.cases import each
from ttt_cli.reading.input import DamagedInputError, Input
from ttt_cli.support.errors import DataError
from ttt_cli.support.progress import SILENT, Bar

CONTENT = random.Random(1).randbytes(300_000) + b"1. e4 e5 " * 60_000
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}
PACKED = [name for name in PACKERS if name != "plain"]


@contextmanager
def _bar() -> Iterator[Bar]:
    with SILENT.task("reading") as bar:
        yield bar


def _read(source: str | Path | io.BytesIO) -> tuple[bytes, Input]:
    one = Input(source)
    with _bar() as bar:
        blocks = list(one.blocks(bar))
    assert all(blocks)
    return b"".join(blocks), one


class _Trickle(io.BytesIO):
    """Hands out a few bytes at a time, as a pipe may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(3, size) if size and size > 0 else 3)


@pytest.mark.parametrize("packer", PACKERS)
def test_content_digest_and_size(tmp_path: Path, packer: str) -> None:
    stored = PACKERS[packer](CONTENT)
    path = tmp_path / "games"  # no suffix tells
    path.write_bytes(stored)
    content, one = _read(path)
    assert content == CONTENT
    assert (one.name, one.size, one.count) == (str(path), len(stored), len(stored))
    assert one.digest == hashlib.sha256(stored).hexdigest()


@each("packer", PACKERS)
def test_a_stream_that_trickles(packer: str) -> None:
    content, one = _read(_Trickle(PACKERS[packer](b'[Event "x"]\n' * 100)))
    assert content == b'[Event "x"]\n' * 100
    assert (one.name, one.size) == ("<stream>", None)


@pytest.mark.parametrize("packer", PACKED)
@pytest.mark.parametrize("left", [0.5, 0.999])
def test_cut_short(packer: str, left: float) -> None:
    stored = PACKERS[packer](CONTENT)
    seen: list[bytes] = []
    with _bar() as bar, pytest.raises(DamagedInputError, match="end too early") as caught:
        seen.extend(Input(io.BytesIO(stored[: int(len(stored) * left)])).blocks(bar))
    assert caught.value.exit_code == 3
    assert caught.value.hint
    assert CONTENT.startswith(b"".join(seen))


@each("packer", ["gz", "bz2", "xz"])
def test_damaged_inside(packer: str) -> None:
    stored = bytearray(PACKERS[packer](CONTENT))
    middle = len(stored) // 2
    stored[middle : middle + 64] = bytes(64)
    with _bar() as bar, pytest.raises(DamagedInputError, match=r"damaged|too early"):
        list(Input(io.BytesIO(bytes(stored))).blocks(bar))


def test_progress_counts_stored_bytes(tmp_path: Path) -> None:
    stored = gzip.compress(CONTENT)
    (tmp_path / "games.gz").write_bytes(stored)
    seen: list[float] = []

    class Counter:
        def advance(self, amount: float = 1, note: str = "") -> None:
            assert note == "games.gz"
            seen.append(amount)

    list(Input(tmp_path / "games.gz").blocks(Counter()))
    assert sum(seen) == len(stored)


def test_missing_file_suggests_a_near_name(tmp_path: Path) -> None:
    (tmp_path / "morphy.pgn").touch()
    with pytest.raises(DataError, match=r"mophy\.pgn: there is no such file") as caught:
        Input(tmp_path / "mophy.pgn")
    assert "morphy.pgn" in str(caught.value.hint)


def test_missing_file_suggests_no_hidden_one(tmp_path: Path) -> None:
    """The lock of the run that would have been made stands there already."""
    (tmp_path / ".nofile.ttt.lock").touch()
    with pytest.raises(DataError) as caught:
        Input(tmp_path / "nofile.csv")
    assert caught.value.hint is None


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        Input(tmp_path / "nowhere" / "games.pgn")


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a directory") as caught:
        Input(tmp_path)
    assert "*.pgn" in str(caught.value.hint)


def test_reading_that_fails_names_the_file() -> None:
    class Broken(io.BytesIO):
        name = "tape.pgn"

        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    with _bar() as bar, pytest.raises(DataError, match=r"tape\.pgn: cannot be read: Input/output error"):
        list(Input(Broken()).blocks(bar))


@pytest.mark.parametrize("address", ["https://example.org/a/b.pgn", "ftp://example.org/b.zip"])
def test_an_address_is_to_be_downloaded_first(address: str) -> None:
    with pytest.raises(DataError, match="is an address") as caught:
        Input(address)
    assert caught.value.hint == f"download it first: curl -LO {address}"
