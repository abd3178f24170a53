"""Which files an output may replace: empty ones, and those that the program wrote before for the same purpose.

Every kind of output has a mark by which it is recognised: a table its columns, a page, a picture and a tuned config a
line or field that says who made it, an alias file a digest of its lines.
"""

import csv
import hashlib
import re
import stat
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ttt_cli.support.errors import OutputError
from ttt_cli.support.opening import check_special, in_system_folder, remember_output

_HEAD: Final = 1 << 14  # bytes of a file that show what it holds
_TAIL: Final = 64  # bytes at its end that may hold a mark
_BINARY: Final = (
    (b"PAR1", "table"), (b"\x89PNG", "picture"), (b"%PDF", "picture"), (b"GIF8", "picture"), (b"\xff\xd8", "picture"),
    (b"PK", "other"), (b"\x1f\x8b", "other"), (b"BZh", "other"), (b"\xfd7zXZ", "other"), (b"\x28\xb5\x2f\xfd", "other"),
)  # fmt: skip
_TEXT: Final = (  # the first that matches names the kind
    (r'^\[[A-Za-z]\w* +"', "games"),
    (r"\A\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*|<!doctype svg[^>]*>\s*)*<svg\b", "picture"),
    (r"\A\s*(<!--.*?-->\s*)*<(!doctype )?html\b", "page"),
    (r"\A\s*(\{|\[\s*[\]{])", "objects"),
    (r"^(model|data|solver|scale):", "config"),
    (r"\A# (yes|no|years),", "aliases"),
)
_SIDES: Final = ({"white", "black"}, {"winner", "loser"}, {"home", "away"}, {"player1", "player2"})
_NUMBER: Final = re.compile(r"[-+]?\d[\d./:-]*|1/2-1/2|½.*")
_HEADER: Final = re.compile(r"[a-z_][a-z0-9_]*")
_JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:]')
_KINDS: Final = {
    "run": "a run", "table": "a table", "games": "games", "aliases": "aliases of players", "config": "a config",
    "picture": "a picture", "page": "a web page", "text": "text", "other": "something else",
}  # fmt: skip


def content_kind(path: Path) -> str:
    """Kind of a regular file by its content, not its name: a key of `_KINDS`, or "" if it is empty."""
    head = _head(path)
    if not head:
        return ""
    if head[8:12] == b"DUCK":
        return "run"
    for start, kind in _BINARY:
        if head.startswith(start):
            return kind
    return "other" if b"\0" in head else _text_kind(head.decode("utf-8-sig", "replace"))


def _text_kind(text: str) -> str:
    for pattern, kind in _TEXT:
        if re.search(pattern, text, re.MULTILINE | re.IGNORECASE | re.DOTALL):
            return _kind_of_columns(_json_keys(text)[0]) if kind == "objects" else kind
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    rows = [[cell.strip() for cell in re.split(r"[,;\t|]", line)] for line in lines]
    if not rows or min(len(row) for row in rows[:-1] or rows) < 2:
        return "text"
    has_values = any(_NUMBER.fullmatch(cell) for row in rows for cell in row)
    is_header = len(rows) == 1 and all(_HEADER.fullmatch(cell) for cell in rows[0])
    if not (has_values or is_header):
        named_as_games = _kind_of_columns([cell.strip('"') for cell in rows[0]]) == "games"
        return "games" if named_as_games else "aliases"
    return _kind_of_columns([cell.strip('"') for cell in rows[0]])


def _kind_of_columns(columns: Collection[str]) -> str:
    names = {column.casefold() for column in columns}
    return "games" if any(sides <= names for sides in _SIDES) else "table"


def _json_keys(text: str) -> tuple[list[str], bool]:
    """Keys of the first object in the head of a JSON text, and whether the text has all of them."""
    keys: list[str] = []
    depth = 0
    word = ""
    for token in _JSON_TOKEN.findall(text, text.find("{")):
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if not depth:
                return keys, True
        elif token == ":" and depth == 1:
            keys.append(word)
        word = token[1:-1]
    return keys, False


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _TAIL, 0))
        return file.read()


@dataclass(frozen=True)
class Purpose:
    """What an output is for, and how earlier outputs of the same purpose are recognised.

    `content`: its kind, a key of `_KINDS`. `continues`: the kind of input whose lines the output keeps; such an input
    may be the output. `more`: what its mark is, for messages.
    """

    content: str
    is_earlier: Callable[[Path], bool]
    more: str = ""
    continues: str = ""


def check_output(out: str, purpose: Purpose) -> bool:
    """Whether an output would replace a file.

    Raises OutputError for folders, devices, files that the command reads, and files that are neither empty nor earlier
    outputs of the same purpose.
    """
    path = Path(out)
    try:
        if path.is_dir():
            raise OutputError(f"{out} cannot be written: is a folder", hint="name a file in it")
        if not path.parent.is_dir():
            raise OutputError(
                f"{out} cannot be written: no such folder", hint=f"mkdir -p {path.parent}"
            )
        if not path.exists():
            if in_system_folder(path):
                raise OutputError(
                    f"{out} cannot be written: no such file", hint="name a regular file"
                )
            return False
        if not stat.S_ISREG(check_special(path).st_mode):
            return False
        remember_output(out, purpose.continues)
        kind = content_kind(path)
        if not kind:
            return False
        if purpose.is_earlier(path):
            return True
    except OSError as error:
        message = f"{out} cannot be written: {error.strerror or error}"
        raise OutputError(message, hint="name another file for the output") from error
    holds = f"it holds {_KINDS[kind]}, and {_KINDS[purpose.content]} would replace it"
    if kind == purpose.content:
        holds = f"it holds {_KINDS[kind]} {purpose.more}"
    raise OutputError(
        f"{out} stays as it is: {holds}",
        hint=f"delete {out} first if it is not needed, or name another file",
    )


def _is_any_table(path: Path) -> bool:
    return content_kind(path) in {"table", "games", "text"}


TABLE: Final = Purpose("table", _is_any_table)  # before the columns are known


def purpose_of_table(
    columns: Sequence[str], visible: Sequence[str] = (), *, one_below_other: bool = False
) -> Purpose:
    """The purpose of a table with these columns, which earlier tables with the same ones have.

    `visible`: the columns of a table for reading, or its rows if they are `one_below_other`.
    """
    names = tuple(columns)

    def is_earlier(path: Path) -> bool:
        return _has_columns(path, names) or _shows_columns(
            path, tuple(visible), listed=one_below_other
        )

    kind = _kind_of_columns(names)
    return Purpose(kind, is_earlier, f"with other columns than these: {', '.join(names)}")


def _has_columns(path: Path, columns: tuple[str, ...]) -> bool:
    """Whether a file is a table of these columns, as CSV, TSV, JSON or Parquet."""
    head = _head(path)
    if head.startswith(b"PAR1"):
        return _parquet_columns(path) == columns
    text = head.decode("utf-8", "replace")
    if text.strip() == "[]":
        return True
    if text.lstrip().startswith(("[", "{")):
        keys, complete = _json_keys(text)
        expected = columns if complete else columns[: len(keys)]
        return bool(keys) and tuple(keys) == expected
    first = text.partition("\n")[0].rstrip("\r")
    return tuple(next(csv.reader([first]), [])) == columns or tuple(first.split("\t")) == columns


def _parquet_columns(path: Path) -> tuple[str, ...]:
    import pyarrow as pa
    from pyarrow.parquet import read_schema

    try:
        return tuple(read_schema(path).names)
    except pa.ArrowException:
        return ()


def _shows_columns(path: Path, columns: tuple[str, ...], *, listed: bool) -> bool:
    """Whether a file is a table for reading: columns side by side, or `listed` one below the other."""
    lines = [line.split() for line in _head(path).decode("utf-8", "replace").splitlines()]
    if listed:
        return bool(columns) and set(columns) <= {words[0] for words in lines if words}
    return bool(columns) and list(columns) in lines


_GENERATOR: Final = b'<meta name="generator" content="ttt">'
_PICTURE_MARK: Final = b"made by ttt"
_PNG_MARK: Final = b"tEXtSoftware\0ttt"
_PNG_HEADER: Final = 33  # bytes of the signature and the first chunk


def _is_own_page(path: Path) -> bool:
    return _GENERATOR in _head(path)


def _is_own_picture(path: Path) -> bool:
    return _PNG_MARK in _head(path) or _PICTURE_MARK in _tail(path)


def with_picture_mark(content: bytes, fmt: str) -> bytes:
    """A picture with the mark by which `PICTURE` recognises it; pages have theirs in the template."""
    match fmt:
        case "svg":
            return content + b"<!-- " + _PICTURE_MARK + b" -->\n"
        case "pdf":
            return content + b"\n% " + _PICTURE_MARK + b"\n"
        case "png":
            size = len(_PNG_MARK) - len(b"tEXt")
            chunk = size.to_bytes(4, "big") + _PNG_MARK + zlib.crc32(_PNG_MARK).to_bytes(4, "big")
            return content[:_PNG_HEADER] + chunk + content[_PNG_HEADER:]
    return content


def _is_tuned_config(path: Path) -> bool:
    return _head(path).startswith(b"# Tuned by `ttt ")


_NOT_OURS: Final = "that this command did not write"
PAGE: Final = Purpose("page", _is_own_page, _NOT_OURS)
PICTURE: Final = Purpose("picture", _is_own_picture, _NOT_OURS)
CONFIG: Final = Purpose("config", _is_tuned_config, _NOT_OURS)

_LARGEST_ALIASES: Final = 1 << 26  # bytes
_SEAL: Final = "# Suggestions of `ttt games`, which replaces this file unless it was edited ({})\n"


def sealed(lines: str) -> str:
    """Lines of an alias file below a comment with their digest, by which `SUGGESTIONS` sees that nobody edited it."""
    digest = hashlib.sha256(lines.encode("utf-8", "replace")).hexdigest()[:16]
    return _SEAL.format(digest) + lines if lines else ""


def _is_sealed(path: Path) -> bool:
    if path.stat().st_size > _LARGEST_ALIASES:
        return False
    text = path.read_bytes().decode("utf-8", "replace")
    seal, line_end, lines = text.partition("\n")
    return sealed(lines) == seal + line_end + lines


def _holds_aliases(path: Path) -> bool:
    return content_kind(path) == "aliases"


SUGGESTIONS: Final = Purpose(
    "aliases", _is_sealed, "that `ttt games --suggest` did not write, or edited ones"
)
# The answers of `ttt names`, which keeps the other lines of the file.
ANSWERS: Final = Purpose("aliases", _holds_aliases, continues="aliases")
