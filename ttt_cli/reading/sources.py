"""Sources of games: files, folders, patterns and archives, read one after another or in several processes.

Names and first bytes determine the format of each.
"""

import glob
import io
import os
import re
import sys
import tarfile
import zipfile
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from importlib import import_module
from itertools import chain
from operator import attrgetter
from pathlib import Path, PurePath
from typing import IO, Any, BinaryIO, Final, NamedTuple, cast

from ttt_cli.config.schema import DataConfig
from ttt_cli.formats import FORMATS, Format
from ttt_cli.parallel.processes import Reporting, StepReport, available_cores, report, work_in_processes
from ttt_cli.reading.batches import FileRecords
from ttt_cli.reading.input import (
    HEAD,
    STEP,
    BlockReader,
    Expansion,
    Input,
    is_rating_list,
    marked_encoding,
    named_damage,
    peek,
    plain_blocks,
    rating_list,
    shown,
    strip_mark,
)
from ttt_cli.reading.reports import Problem
from ttt_cli.support.errors import DataError
from ttt_cli.support.progress import SILENT, Bar

Named = str | os.PathLike[str] | BinaryIO

SKIPPED: Final = "skipped"  # the action for a file that does not contain games
OTHER_FILE: Final = "not named as games"
NO_GAMES: Final = "holds no games"
INNER_ARCHIVE: Final = "archive in an archive"
_HINT: Final = (
    "games are read from PGN, CSV or TSV, JSONL and Parquet, also packed with gzip, bzip2, xz or zstd"
)
_OFFICE: Final = rb".{0,100}?(?:\[Content_Types\]\.xml|mimetypeapplication/vnd\.oasis)"  # within zip archives
_FOREIGN: Final = (  # by the first bytes
    (_OFFICE, "a spreadsheet or another office file", "save the table as CSV first"),
    (rb"PK\x03\x04", "a zip archive", f"unpack or convert it first; {_HINT}"),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", f"unpack or convert it first; {_HINT}"),
    (rb"Rar!", "a rar archive", f"unpack or convert it first; {_HINT}"),
    (rb".{257}ustar", "a tar archive", f"unpack it first (tar xf); {_HINT}"),
    (rb"%PDF", "a PDF document", _HINT),
    (rb"SQLite format 3", "an SQLite database", _HINT),
    (rb".{8}DUCK", "a database, perhaps a run that was written before", _HINT),
    (rb"\x89PNG|\xff\xd8\xff", "an image", _HINT),
    (
        rb"(?:\xef\xbb\xbf)?\s*<(?i:!doctype|html|head|body|\?xml|!--|script|svg)",
        "a web page",
        "download the file itself instead of the page that shows it",
    ),
)
_CONTROL: Final = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_PACKED: Final = frozenset({".gz", ".bz2", ".xz", ".zst"})
# readable or not
_ARCHIVES: Final = frozenset({".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst", ".7z", ".rar"})
GAMES_SUFFIXES: Final = tuple(chain(*map(attrgetter("suffixes"), FORMATS)))
APART: Final = 1 << 28  # bytes of plain PGN besides the largest source from which other processes read, too
_SLOW: Final = {  # time per byte of packed files, relative to plain ones
    **dict.fromkeys((".gz", ".tgz", ".zst", ".tzst", ".zip"), 5),
    **dict.fromkeys((".xz", ".txz"), 20),
    **dict.fromkeys((".bz2", ".tbz", ".tbz2"), 50),
}
_MOST_MEMBERS: Final = 500_000
_LONG_NAME: Final = 1 << 16  # bytes of the extra information on one member of a tar archive
Member = Input | Problem  # a file to be read before the next is requested, or a skipped one


class Source(NamedTuple):
    """One file or stream to read. `origin`: index of the user's argument; `found`: in a folder or by a pattern."""

    what: Named
    origin: int
    found: bool = False


def find_sources(named: Sequence[Named]) -> tuple[list[Source], list[Problem]]:
    """The files for the given names, in order, and the skipped files.

    A folder is replaced by its files of games and archives, recursively. A pattern (`games/*.pgn`) is replaced by the
    matching files, or by the matching folders if no file matches. Both are sorted. Raises DataError when a folder or
    pattern has no file.
    """
    sources: list[Source] = []
    skipped: list[Problem] = []
    for origin, one in enumerate(named):
        path = Path(one) if isinstance(one, str | os.PathLike) else None
        if path is None or not (path.is_dir() or (glob.has_magic(str(path)) and not path.exists())):
            sources.append(Source(one, origin))
            continue
        matches = [path]
        if not path.is_dir():
            matches = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207
            matches = [match for match in matches if match.is_file()] or matches
            if not matches:
                hint = "patterns may have *, ? and [...]; ** matches folders"
                raise DataError("no file matches", where=str(path), hint=hint)
        for match in matches:
            before = len(sources)
            files = [match]
            if match.is_dir():
                files = sorted(filter(Path.is_file, match.rglob("*")))
            for file in files:
                archive = file == match or _suffix(file.name) in _ARCHIVES
                if why := None if archive else _why_not_games(str(file.relative_to(match))):
                    skipped.append(_skipped(str(file), OTHER_FILE, why))
                else:
                    sources.append(Source(str(file), origin, found=True))
            if len(sources) == before:
                hint = f"in folders these are read: {', '.join(GAMES_SUFFIXES)}, archives"
                raise DataError("contains no file of games", where=str(match), hint=hint)
    return sources, skipped


def _skipped(name: str, reason: str, why: str) -> Problem:
    return Problem(shown(name), 1, reason, why, SKIPPED)


def _why_not_games(name: str) -> str | None:
    """Why a file in a folder or an archive is skipped because of its name; None if it is read."""
    if any(part.startswith(".") or part == "__MACOSX" for part in PurePath(name).parts):
        return "hidden"
    *suffixes, last = GAMES_SUFFIXES
    return None if named_as_games(name) else f"named neither {', '.join(suffixes)} nor {last}"


def named_as_games(name: str) -> bool:
    """Whether a file in a folder or an archive has the suffix of a file of games."""
    return _suffix(name) in GAMES_SUFFIXES


def _suffix(name: str) -> str:
    """The suffix of a file once it is unpacked."""
    path = PurePath(name.lower())
    return (path.with_suffix("") if path.suffix in _PACKED else path).suffix


def refuse_foreign(head: bytes, name: str, *, encoding: str | None) -> None:
    """Raise DataError for a web page, an archive or another binary file.

    With a given `encoding` control characters are allowed, since it may use two bytes a character.
    """
    if format_by_start(head, binary=True):
        return
    if not strip_mark(head).strip():
        raise DataError("is empty", where=name)
    if b"<playerslist" in head[:1000]:
        raise rating_list(name)
    sample = head[:4096]
    kinds = (kind for begins, *kind in _FOREIGN if re.match(begins, head, re.DOTALL))
    what, hint = next(kinds, ("", ""))
    if not (what or encoding) and len(sample) - len(sample.translate(None, _CONTROL)) > len(sample) // 20:
        what = "a binary file"
        hint = f"{_HINT}; for text in UTF-16 without a byte order mark set data.encoding=utf-16-le"
    if what:
        raise DataError(f"is {what}, not a file of games", where=name, hint=hint)


def format_by_start(head: bytes, *, binary: bool) -> Format | None:
    """The format of binary (unpacked) files, such as Parquet, or of text that these first bytes identify, else None."""
    found = (form for form in FORMATS if form.binary == binary and form.begins and form.begins.match(head))
    return next(found, None)


def recognise(head: bytes, name: str) -> Format:
    """The format of text by its first bytes, else by its name. Raises DataError when neither decides."""
    if found := format_by_start(head, binary=False):
        return found
    texts = [form for form in FORMATS if not form.binary]
    named = (form for form in texts if _suffix(name) in form.suffixes)
    holding = (form for form in texts if form.holds and form.holds.search(head))
    if found := next(chain(named, holding), None):
        return found
    if is_rating_list(head.lstrip().partition(b"\n")[0].decode("utf-8", "replace")):
        raise rating_list(name)
    raise DataError("holds neither PGN tags nor columns of a table", where=name, hint=_HINT)


def _of_tar(archive: Input, blocks: Iterator[bytes]) -> Generator[Member, None, None]:
    """Members in order, named `archive/member`; raises DamagedInputError when the archive is damaged."""
    handle = cast(IO[bytes], BlockReader(blocks))
    with (
        named_damage(archive.name, tarfile.TarError),
        tarfile.open(fileobj=handle, mode="r|", tarinfo=_BoundedTarInfo) as tar,
    ):
        while (entry := tar.next()) is not None:
            cast(Any, tar).members.clear()  # which would grow with the archive
            if entry.isdir():
                continue
            content = tar.extractfile(entry) if entry.isfile() and not entry.issparse() else None
            steps = _steps(content, f"{archive.name}/{entry.name}") if content else None
            yield _member(archive.name, entry.name, steps)
        deque(blocks, maxlen=0)  # read to the end, to find damage there and to count all bytes


class _BoundedTarInfo(tarfile.TarInfo):
    """A tar header with bounded names and extra fields."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        plain = (*tarfile.REGULAR_TYPES, tarfile.DIRTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE)
        if self.size > _LONG_NAME and self.type in tarfile.SUPPORTED_TYPES and self.type not in plain:
            raise tarfile.ReadError(f"a name of {self.size:,} bytes")
        return cast(tarfile.TarInfo, super()._proc_member(tar))  # type: ignore[misc]


def _of_zip(archive: Input, bar: Bar) -> Generator[Member, None, None]:
    """As `_of_tar`; raises DataError for an archive from a pipe."""
    whole = archive.seekable
    note = Path(archive.name).name
    if whole is None:
        hint = "name the file itself"
        raise DataError("a zip archive cannot be read from a pipe", where=archive.name, hint=hint)
    size = archive.size if isinstance(whole, Path) else whole.seek(0, io.SEEK_END)
    expansion = Expansion(archive.name, size or 0)
    position = archive.count

    def unpacked(handle: IO[bytes]) -> Iterator[bytes]:
        nonlocal position
        for piece in _steps(handle, f"{archive.name}/{handle.name}"):
            expansion.add(len(piece))
            if (before := position) < (position := max(position, cast(IO[bytes], packed.fp).tell())):
                bar.advance(position - before, note)
            yield piece

    try:
        with named_damage(archive.name, zipfile.BadZipFile), zipfile.ZipFile(whole) as packed:
            for entry in packed.infolist():
                if entry.is_dir():
                    continue
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise NotImplementedError("it is not packed by the usual method, deflate")
                with packed.open(entry) as handle:
                    yield _member(archive.name, entry.filename, unpacked(handle))
    except RuntimeError as error:  # a password is needed, an unknown method
        raise DataError(f"cannot be unpacked: {error}", where=archive.name, hint="unpack it first") from error
    if archive.size and (rest := archive.size - position) > 0:
        bar.advance(rest, note)


def _steps(handle: IO[bytes], name: str) -> Iterator[bytes]:
    with named_damage(name, tarfile.TarError, zipfile.BadZipFile):
        while piece := handle.read(STEP):
            yield piece


def _member(archive: str, name: str, content: Iterator[bytes] | None) -> Member:
    full = f"{archive}/{name}"
    if _suffix(name) in _ARCHIVES:
        return _skipped(full, INNER_ARCHIVE, "unpack it and name it by itself")
    if content is None:
        return _skipped(full, OTHER_FILE, "a link, or with holes")
    if why := _why_not_games(name):
        return _skipped(full, OTHER_FILE, why)
    return Input(cast(BinaryIO, BlockReader(content)), full)


class FileRead(NamedTuple):
    """The records of one file; `digest` and `size` are of its bytes as stored."""

    records: FileRecords
    kind: str
    digest: str
    size: int


SourcePart = tuple[Source, FileRead | Problem]


def read_source(source: Source, data: DataConfig, bar: Bar) -> Generator[FileRead | Problem, None, None]:
    """The files of a source, and the skipped ones.

    Raises DataError when a file cannot be read, is damaged or, unless it was found in a folder or an archive, is not a
    file of games by its content; ConfigError when configured columns or an encoding do not exist.
    """
    one = Input(source.what)
    with closing(one.blocks(bar)) as content:
        head, blocks = peek(content, HEAD)
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")) and not re.match(_OFFICE, head, re.DOTALL):
            members = _of_zip(one, bar)
        elif head[257:262] == b"ustar":
            members = _of_tar(one, blocks)
        else:
            yield _read_file(one, head, blocks, data, found=source.found)
            return
        count = 0
        with closing(members):
            for member in members:
                count += 1
                if count > _MOST_MEMBERS:
                    message = f"holds more than {_MOST_MEMBERS:,} files"
                    raise DataError(message, where=one.name, hint="unpack it first")
                if isinstance(member, Problem):
                    yield member
                    continue
                with closing(member.blocks(SILENT)) as unpacked:
                    yield _read_file(member, *peek(unpacked, HEAD), data, found=True)
        if not count:
            yield _skipped(one.name, NO_GAMES, "is empty")


def _read_file(
    one: Input, head: bytes, blocks: Iterator[bytes], data: DataConfig, *, found: bool
) -> FileRead | Problem:
    try:
        refuse_foreign(head, one.name, encoding=data.encoding or marked_encoding(head))
    except DataError as error:
        if found:
            return _skipped(one.name, NO_GAMES, error.message)
        raise
    named = dict(zip(map(attrgetter("name"), FORMATS), FORMATS, strict=True))
    form = named.get(data.format or "") or format_by_start(head, binary=True)
    if form is None or not form.binary:
        head, blocks = peek(plain_blocks(blocks, data.encoding, one.name), HEAD)
        form = form or recognise(head[:HEAD], one.name)
    module, _, function = form.read.partition(":")
    records = FileRecords(one.name, getattr(import_module(module), function)(blocks, data, one.name))
    return FileRead(records, form.kind or form.name, one.digest, one.count)


def read_sources(
    sources: Sequence[Source], data: DataConfig, bar: Bar, *, jobs: int | None = None
) -> Generator[SourcePart, None, None]:
    """The files of every source, in order, by `jobs` processes (None: `jobs_for`); raises as `read_source`."""
    inputs = list(map(Input, map(attrgetter("what"), sources)))
    jobs = min(jobs_for(inputs) if jobs is None else jobs, len(sources))
    if jobs < 2:
        for source in sources:
            with closing(read_source(source, data, bar)) as parts:
                for part in parts:
                    yield source, part
        return
    waiting: list[deque[FileRead | Problem | Exception | None]] = [deque() for _ in sources]  # None: the end
    current = 0
    with closing(
        work_in_processes(_SourceWorker(data), [[one] for one in enumerate(sources)], jobs)
    ) as events:
        for (number, _), outcome in events:
            what = outcome.message if isinstance(outcome, StepReport) else outcome
            if type(what) is tuple:  # bytes read
                bar.advance(*what)
            else:
                waiting[number].append(what)
            while current < len(sources) and waiting[current]:
                found = waiting[current].popleft()
                if isinstance(found, Exception):
                    raise found
                if found is None:
                    current += 1
                else:
                    yield sources[current], found


def jobs_for(inputs: Sequence[Input]) -> int:
    """The number of processes that reads these fastest, limited by the time for the largest."""
    work = []
    for one in inputs:
        if one.size is None:
            return 1
        work.append(one.size * _SLOW.get(PurePath(one.name).suffix.lower(), 1))
    if not sys.executable or sum(work) - max(work, default=0) < APART:
        return 1
    return min(available_cores(), len(work))


class _SourceWorker:
    """Reads sources in another process and reports their files and the number of bytes read."""

    def __init__(self, data: DataConfig) -> None:
        self._data = data

    def step(self, item: tuple[int, Source], *, fresh: bool) -> None:  # noqa: ARG002
        with closing(read_source(item[1], self._data, Reporting())) as parts:
            for part in parts:
                report(part)
