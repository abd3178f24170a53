"""Files that unpack to far more than they are: peak memory and outcome of reading each, in a process of its own.

Every kind of content (tags, moves, rows, objects, arrays, blanks, zeros; in one endless line or many) in every packing:
plain, gzip, bzip2, xz, zstd with the largest windows, zip by every method, tar in each, and packed twice. `--size` is
what each unpacks to. Exit code 1 when one takes more than `--most` MB, or ends otherwise than by reading or an error
that is meant for users.
"""

from __future__ import annotations

import argparse
import bz2
import io
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import zstandard

PIECE = 1 << 20
TAGS = b'[Event "x"]\n[Date "1900"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n'
OBJECT = b'{"date": "1900", "white": "A", "black": "B", "result": "1-0"}'
HEADER = b"date,white,black,result\n"
CONTENTS: dict[str, tuple[bytes, bytes]] = {  # how it begins, and what is repeated
    "games.pgn": (b"", TAGS + b"\n1. e4 e5 1-0\n\n"),
    "tags.pgn": (b"", TAGS + b"\n"),
    "dense.pgn": (b"", TAGS),
    "other.pgn": (TAGS, b'[A "x"]\n'),
    "blank.pgn": (b"", b'[White "A"]\n\n'),
    "moves.pgn": (TAGS + b"\n1. e4 ", b"e5 "),
    "comment.pgn": (TAGS + b"\n1. e4 {", b"x"),
    "tag.pgn": (TAGS + b'[Site "', b"x"),
    "zeros.pgn": (TAGS, b"\0"),
    "lines.pgn": (TAGS, b"\n"),
    "rows.csv": (HEADER, b"1900,A,B,1-0\n"),
    "bad.csv": (HEADER, b"x\n"),
    "empty.csv": (HEADER, b",,,\n"),
    "line.csv": (HEADER, b"x"),
    "quote.csv": (HEADER + b'1900,"', b"x\n"),
    "fields.csv": (HEADER, b","),
    "objects.jsonl": (b"", OBJECT + b"\n"),
    "bad.jsonl": (OBJECT + b"\n", b"x\n"),
    "small.jsonl": (OBJECT + b"\n", b"{}\n"),
    "line.jsonl": (OBJECT + b'\n{"white": "', b"x"),
    "array.json": (b"[" + OBJECT, b",\n" + OBJECT),
    "small.json": (b"[" + OBJECT, b",{}"),
    "nested.json": (b"[" + OBJECT + b',{"a":[', b"{},"),
    "text.json": (b"[" + OBJECT + b',{"a":"', b"x"),
    "deep.json": (b"[" + OBJECT, b",["),
}


def content_of(name: str, size: int) -> Iterator[bytes]:
    """So many bytes, in pieces."""
    first, repeated = CONTENTS[name]
    yield first
    piece = repeated * (PIECE // len(repeated))
    for _ in range(size // PIECE):
        yield piece


def gzip(pieces: Iterator[bytes]) -> bytes:
    return through(zlib.compressobj(9, wbits=31), pieces)


def bzip2(pieces: Iterator[bytes]) -> bytes:
    return through(bz2.BZ2Compressor(9), pieces)


def xz(pieces: Iterator[bytes]) -> bytes:
    return through(lzma.LZMACompressor(preset=0), pieces)


def xz_wide(pieces: Iterator[bytes]) -> bytes:
    """A dictionary of 1 GB, of which only the header tells."""
    packed = bytearray(xz(pieces))
    assert packed[12:16] == b"\2\0\x21\1", "a block with one filter, LZMA2"
    packed[16] = 36  # a dictionary of 1 GB
    packed[20:24] = zlib.crc32(bytes(packed[12:20])).to_bytes(4, "little")
    return bytes(packed)


def zstd(pieces: Iterator[bytes], window_log: int = 20) -> bytes:
    parameters = zstandard.ZstdCompressionParameters(window_log=window_log, compression_level=1)
    return through(zstandard.ZstdCompressor(compression_params=parameters).compressobj(), pieces)


def zstd_wide(pieces: Iterator[bytes]) -> bytes:
    return zstd(pieces, 27)


def zstd_huge(pieces: Iterator[bytes]) -> bytes:
    return zstd(pieces, 31)


def through(packer: object, pieces: Iterator[bytes]) -> bytes:
    return b"".join([*map(packer.compress, pieces), packer.flush()])  # type: ignore[attr-defined]


def zipped(method: int) -> Callable[[str, Iterator[bytes]], bytes]:
    def pack(name: str, pieces: Iterator[bytes]) -> bytes:
        file = io.BytesIO()
        with (
            zipfile.ZipFile(file, "w", method) as archive,
            archive.open(name, "w", force_zip64=True) as member,
        ):
            for piece in pieces:
                member.write(piece)
        return file.getvalue()

    return pack


def tarred(packer: Callable[[Iterator[bytes]], bytes]) -> Callable[[str, Iterator[bytes]], bytes]:
    def pack(name: str, pieces: Iterator[bytes]) -> bytes:
        return packer(tar_of(name, list(pieces)))

    return pack


def tar_of(name: str, pieces: Sequence[bytes]) -> Iterator[bytes]:
    entry = tarfile.TarInfo(name)
    entry.size = sum(map(len, pieces))
    yield entry.tobuf()
    yield from pieces
    yield bytes(-entry.size % 512 + 1024)


def plainly(packer: Callable[[Iterator[bytes]], bytes]) -> Callable[[str, Iterator[bytes]], bytes]:
    return lambda _, pieces: packer(pieces)


PACKINGS: dict[str, Callable[[str, Iterator[bytes]], bytes]] = {
    **{packer.__name__: plainly(packer) for packer in (gzip, bzip2, xz, xz_wide, zstd, zstd_wide, zstd_huge)},
    **{f"zip-{method}": zipped(method) for method in (8, 12, 14)},
    **{f"tar-{packer.__name__}": tarred(packer) for packer in (gzip, bzip2, xz, zstd)},
    "bzip2-twice-in-tar": lambda name, pieces: bzip2(tar_of(f"{name}.bz2", [bzip2(pieces)])),
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=1024, help="MB that each unpacks to")
    parser.add_argument("--most", type=int, default=400, help="MB of memory that each may take")
    parser.add_argument("--content", choices=CONTENTS, action="append")
    parser.add_argument("--packing", choices=[*PACKINGS, "plain"], action="append")
    options = parser.parse_args(arguments)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for packing in options.packing or [*PACKINGS, "plain"]:
            for name in options.content or CONTENTS:
                failed += not defused(Path(folder), packing, name, options.size, options.most)
    return int(failed > 0)


def defused(folder: Path, packing: str, name: str, size: int, most: int) -> bool:
    """Whether a bomb does no harm."""
    path = folder / (
        name + (".zip" if packing.startswith("zip") else "" if packing == "plain" else f".{packing}")
    )
    pieces = content_of(name, size << 20)
    with path.open("wb") as file:
        if packing == "plain":
            file.writelines(pieces)
        else:
            file.write(PACKINGS[packing](name, pieces))
    command = [sys.executable, "-m", "ttt_cli", "games", str(path), "-q"]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        message = (
            said.read().decode(errors="replace").replace(str(folder) + "/", "").strip().split("\n")[0][:110]
        )
    peak = usage.ru_maxrss // 1024
    fine = peak <= most and process.returncode in (0, 2, 3) and "nexpected" not in message
    packed = path.stat().st_size
    path.unlink()
    what = f"{'' if fine else 'HARM '}{packing:<19}{name:<15}{packed:>12,} B"
    cost = f"{peak:>5} MB {usage.ru_utime + usage.ru_stime:>6.1f} s"
    print(f"{what} {cost}  rc {process.returncode}  {message}", flush=True)
    return fine


if __name__ == "__main__":
    sys.exit(main())
