"""Files that unpack to far more than they are: peak memory and outcome of reading each, in a process of its own.

Every kind of content (tags, moves, rows, objects, arrays, blanks, zeros; in one endless line or many) in every packing:
plain, gzip, bzip2, xz, zstd with the largest windows, zip by every method, tar in each, and packed twice. `--size` is
what each unpacks to. Exit code 1 when one takes more than `--most` MB, or ends otherwise than by reading or an error
that is meant for users.
"""

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
from typing import Any

import zstandard
from measuring import options_of

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


def zstd(window_log: int) -> Any:
    parameters = zstandard.ZstdCompressionParameters(window_log=window_log, compression_level=1)
    return zstandard.ZstdCompressor(compression_params=parameters).compressobj()


PACKERS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.compressobj(9, wbits=31),
    "bzip2": lambda: bz2.BZ2Compressor(9),
    "xz": lambda: lzma.LZMACompressor(preset=0),
    "zstd": lambda: zstd(20),
    "zstd-wide": lambda: zstd(27),
    "zstd-huge": lambda: zstd(31),
}
TARRED = "gzip", "bzip2", "xz", "zstd"
ZIPPED = "zip-8", "zip-12", "zip-14"
PACKINGS = (
    *PACKERS,
    "xz-wide",
    *ZIPPED,
    *(f"tar-{one}" for one in TARRED),
    "bzip2-twice-in-tar",
    "plain",
)


def packed(packing: str, name: str, pieces: Iterator[bytes]) -> bytes:
    """The content as a file."""
    if packing == "xz-wide":  # a dictionary of 1 GB, of which only the header tells
        found = bytearray(packed("xz", name, pieces))
        assert found[12:16] == b"\2\0\x21\1", "a block with one filter, LZMA2"
        found[16] = 36
        found[20:24] = zlib.crc32(bytes(found[12:20])).to_bytes(4, "little")
        return bytes(found)
    if packing == "bzip2-twice-in-tar":
        return packed("tar-bzip2", f"{name}.bz2", iter([packed("bzip2", name, pieces)]))
    if packing in ZIPPED:
        file, method = io.BytesIO(), int(packing.partition("-")[2])
        with (
            zipfile.ZipFile(file, "w", method) as archive,
            archive.open(name, "w", force_zip64=True) as member,
        ):
            member.writelines(pieces)
        return file.getvalue()
    if packing.startswith("tar-"):
        content = list(pieces)
        entry = tarfile.TarInfo(name)
        entry.size = sum(map(len, content))
        pieces = iter([entry.tobuf(), *content, bytes(-entry.size % 512 + 1024)])
    if packing == "plain":
        return b"".join(pieces)
    packer = PACKERS[packing.removeprefix("tar-")]()
    return b"".join([*map(packer.compress, pieces), packer.flush()])


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(
        __doc__, arguments,
        size=1024, most=400, content={"choices": CONTENTS, "action": "append"},
        packing={"choices": PACKINGS, "action": "append"},
    )  # fmt: skip
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for packing in options.packing or PACKINGS:
            for name in options.content or CONTENTS:
                failed += not defused(Path(folder), packing, name, options.size, options.most)
    return int(failed > 0)


def defused(folder: Path, packing: str, name: str, size: int, most: int) -> bool:
    """Whether a bomb does no harm."""
    path = folder / (
        name
        + (".zip" if packing.startswith("zip") else "" if packing == "plain" else f".{packing}")
    )
    path.write_bytes(packed(packing, name, content_of(name, size << 20)))
    command = [sys.executable, "-m", "ttt_cli", "games", str(path), "-q"]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        message = (
            said.read()
            .decode(errors="replace")
            .replace(str(folder) + "/", "")
            .strip()
            .split("\n")[0][:110]
        )
    peak = usage.ru_maxrss // 1024
    fine = peak <= most and process.returncode in (0, 2, 3) and "nexpected" not in message
    taken = path.stat().st_size
    path.unlink()
    what = f"{'' if fine else 'HARM '}{packing:<19}{name:<15}{taken:>12,} B"
    cost = f"{peak:>5} MB {usage.ru_utime + usage.ru_stime:>6.1f} s"
    print(f"{what} {cost}  rc {process.returncode}  {message}", flush=True)
    return fine


if __name__ == "__main__":
    sys.exit(main())
