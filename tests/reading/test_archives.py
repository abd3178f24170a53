"""Archives read member by member: each a file of its own in the report, damage told by name, all within bounds."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import zstandard

from tests.support.cases import each
from tests.support.recorder import Recorder
from ttt_cli.games.read import read_games
from ttt_cli.reading import sources, unpacking
from ttt_cli.support.errors import DataError

PGN = b'[Event "x"]\n[Date "1858.06.17"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'
CSV = b"date,white,black,result\n1857,C,D,0-1\n"
MEMBERS = {
    "one.pgn": PGN,
    "README.txt": b"read me",
    "sub/two.csv.gz": gzip.compress(CSV),
    "sub/inner.zip": b"PK\x03\x04",
    "base.cbh": b"\0",
    "__MACOSX/._one.pgn": b"\0",
    "empty.pgn": b"",
    "unplayed.pgn": PGN.replace(b"1-0", b"*"),
}


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.mkdir("sub")
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(members: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        folder = tarfile.TarInfo("sub")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": gzip.compress,
    "tar.bz2": bz2.compress,
    "tar.xz": lzma.compress,
    "tar.zst": zstandard.ZstdCompressor().compress,
}
ARCHIVES = ["zip", *PACKERS]
NOISE = {
    f"{k}.pgn": hashlib.shake_128(bytes([k])).hexdigest(40_000).encode() + b"\n" + PGN
    for k in range(4)
}


def packed(suffix: str, members: Mapping[str, bytes]) -> bytes:
    return zipped(members) if suffix == "zip" else PACKERS[suffix](tarred(members))


@pytest.mark.parametrize("suffix", ARCHIVES)
def test_members_are_files_of_their_own(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"games.{suffix}"
    path.write_bytes(packed(suffix, MEMBERS))
    games = read_games([path])
    assert games.players == ("A", "B", "C", "D")
    assert [games.white.tolist(), games.black.tolist()] == [[2, 0], [3, 1]]
    files = games.report.files
    assert [(file.path, file.kind, file.rows, file.used) for file in files] == [
        (f"{path}/one.pgn", "pgn", 1, 1),
        (f"{path}/sub/two.csv.gz", "csv", 1, 1),
        (f"{path}/unplayed.pgn", "pgn", 1, 0),
    ]
    assert (files[0].digest, files[0].size) == (hashlib.sha256(PGN).hexdigest(), len(PGN))
    assert files[1].size == len(MEMBERS["sub/two.csv.gz"])
    skipped = {problem.file.removeprefix(f"{path}/"): problem for problem in games.report.problems}
    assert {(name, p.reason) for name, p in skipped.items() if p.action == "skipped"} == {
        ("README.txt", "not named as games"),
        ("base.cbh", "not named as games"),
        ("__MACOSX/._one.pgn", "not named as games"),
        ("sub/inner.zip", "archive in an archive"),
        ("empty.pgn", "holds no games"),
    }


@each("suffix", ARCHIVES)
def test_archives_from_streams_and_pipes(suffix: str) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    content = packed(suffix, {"one.pgn": PGN})
    assert read_games([io.BytesIO(content)]).report.files[0].path == "<stream>/one.pgn"
    if suffix == "zip":
        with pytest.raises(DataError, match="cannot be read from a pipe"):
            read_games([Pipe(content)])
    else:
        assert len(read_games([Pipe(content)])) == 1


@pytest.mark.parametrize("suffix", ARCHIVES)
@each("members", [{}, {"README.txt": b"x"}, {"empty.pgn": b""}])
def test_an_archive_without_games(tmp_path: Path, suffix: str, members: dict[str, bytes]) -> None:
    path = tmp_path / f"games.{suffix}"
    path.write_bytes(packed(suffix, members))
    with pytest.raises(DataError, match=r"contains no file of games|is empty") as caught:
        read_games([path])
    assert caught.value.where == str(path)


@pytest.mark.parametrize("suffix", ARCHIVES)
@each("left", [0.4, 0.6])
def test_cut_short(tmp_path: Path, suffix: str, left: float) -> None:
    content = packed(suffix, NOISE)
    path = tmp_path / f"games.{suffix}"
    path.write_bytes(content[: int(len(content) * left)])
    with pytest.raises(DataError, match=r"damaged|too early") as caught:
        read_games([path])
    assert str(caught.value.where).startswith(str(path))


def damaged_member(content: bytearray) -> None:
    place = content.index(b"two.pgn") + 12
    content[place : place + 8] = bytes(8)


def list_before_the_file(content: bytearray) -> None:
    content[content.index(b"PK\x05\x06") + 17] += 1


def locked(content: bytearray) -> None:
    content[content.index(b"one.pgn") - 30 + 6] |= 1
    content[content.rindex(b"one.pgn") - 46 + 8] |= 1


@each(
    "damage, message, member",
    [
        (damaged_member, "damaged", "/two.pgn"),
        (list_before_the_file, "damaged", ""),
        (locked, r"cannot be unpacked.*encrypted.*\n.*unpack it first", ""),
    ],
)
def test_damaged_zip_archives(
    tmp_path: Path, damage: Callable[[bytearray], None], message: str, member: str
) -> None:
    content = bytearray(zipped({"one.pgn": PGN, "two.pgn": PGN * 50}))
    damage(content)
    path = tmp_path / "games.zip"
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=message) as caught:
        read_games([path])
    assert caught.value.where == f"{path}{member}"
    open_files = {
        place.resolve() for place in Path("/proc/self/fd").glob("*")
    }  # where the system tells
    assert path not in open_files  # though the error still holds its frames


@each("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods_in_zip_archives_are_refused(method: int) -> None:
    """The standard library unpacks them without bounds."""
    with pytest.raises(DataError, match="cannot be unpacked: it is not packed by the usual method"):
        read_games([io.BytesIO(zipped({"a.pgn": PGN}, method))])


def test_growth_and_number_of_members_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "_SMALL", 1 << 17)
    stored, deflated = (zipped({"a.pgn": PGN + b"\n" * 1_000_000}, method) for method in (0, 8))
    assert len(read_games([io.BytesIO(stored)])) == 1
    with pytest.raises(DataError, match="more than 250 times its size"):
        read_games([io.BytesIO(deflated)])
    monkeypatch.setattr(sources, "_MOST_MEMBERS", 5)
    with pytest.raises(DataError, match="more than 5 files"):
        read_games([io.BytesIO(tarred({f"{number}.pgn": PGN for number in range(6)}))])
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, 1 << 20
    with pytest.raises(DataError, match="is damaged"):
        read_games([io.BytesIO(entry.tobuf() + b"a" * (1 << 20))])


@pytest.mark.parametrize("suffix", ARCHIVES)
def test_progress_counts_stored_bytes(tmp_path: Path, suffix: str) -> None:
    content, recorder = packed(suffix, NOISE), Recorder()
    (tmp_path / f"games.{suffix}").write_bytes(content)
    read_games([tmp_path / f"games.{suffix}"], progress=recorder)
    (_, total), *amounts = recorder.told
    assert total == len(content) == pytest.approx(sum(amounts))
    assert min(amounts) > 0
    assert {*recorder.notes} == {f"games.{suffix}"}


def test_a_folder_with_archives_and_files(tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_bytes(zipped({"one.pgn": PGN}))
    (tmp_path / "a.csv").write_bytes(CSV)
    (tmp_path / "page.pgn").write_bytes(b"<html>")
    report = read_games([tmp_path]).report
    assert [file.path for file in report.files] == [
        f"{tmp_path}/a.csv",
        f"{tmp_path}/b.zip/one.pgn",
    ]
    assert [(p.file, p.reason) for p in report.problems] == [
        (f"{tmp_path}/page.pgn", "holds no games")
    ]
