"""Results of commands on standard output or in files: tables, texts and figures."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

import click

from ttt_cli.cli import streams
from ttt_cli.cli.messages import say, session
from ttt_cli.cli.tables import print_table
from ttt_cli.support.errors import RunError
from ttt_cli.support.opening import open_stream
from ttt_cli.support.outputs import (
    PAGE,
    PICTURE,
    TABLE,
    Purpose,
    check_output,
    purpose_of_table,
    with_picture_mark,
)
from ttt_cli.support.replacing import replacing
from ttt_cli.views.figures import FIGURE_FORMATS
from ttt_cli.views.rows import Rows, with_years, write_parquet, write_text

if TYPE_CHECKING:
    from ttt_cli.views.figures.figure import Figure

# Formats with numbers, which have a column of years beside that of periods.
_TYPED: Final = frozenset({"json", "jsonl", "parquet"})
OUTPUT_FORMATS: Final = ("table", "csv", "tsv", "json", "jsonl", "parquet")
# Endings of formats that tables are not written in
_FOREIGN_ENDINGS: Final = (
    *(
        "xlsx",
        "xls",
        "ods",
        "arrow",
        "feather",
        "sql",
        "sqlite",
        "db",
        "duckdb",
        "ttt",
        "pgn",
        "html",
        "htm",
    ),
    *("xml", "yaml", "yml", "md", "pdf", "svg", "png", "gz", "bz2", "xz", "zst", "zip"),
)


def check_output_path(out: str, purpose: Purpose = TABLE) -> None:
    """Raise OutputError, before any work, if a command may not write `out`, or reads it later on."""
    if out != "-":
        check_output(out, purpose)


def emit(rows: Rows, fmt: str | None = None, *, out: str = "-") -> None:
    """Print or write rows as the format or the file's name says. Raises UsageError, RunError, OutputError."""
    fmt = fmt or default_format(out)
    if fmt in _TYPED:
        rows = with_years(rows)
    if out != "-":
        _write_file(rows, fmt, out)
    elif fmt != "parquet":
        _write_rows(rows, fmt, sys.stdout)
    elif streams.on_terminal():
        raise click.UsageError("parquet is binary: name a file with -o FILE, or pipe it")
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write_parquet(rows, path)
            _print_bytes(path.read_bytes())


def _write_file(rows: Rows, fmt: str, out: str) -> None:
    visible = [column for column in rows.columns if column not in rows.hidden]
    purpose = purpose_of_table(rows.columns, visible, one_below_other=rows.single)
    if fmt == "parquet":
        with _output_path(out, purpose) as path:
            write_parquet(rows, path)
        return
    with (
        _output_file(out, purpose) as file,
        TextIOWrapper(file, encoding="utf-8", newline="") as stream,
    ):
        _write_rows(rows, fmt, stream)


def write(content: str | bytes, out: str, purpose: Purpose) -> bool:
    """Write to a file, whole or not at all, or to stdout for `-`; whether a file. Raises RunError, OutputError."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if out != "-":
        with _output_file(out, purpose) as file:
            file.write(data)
    elif isinstance(content, str):
        click.echo(content, nl=False)
    else:
        _print_bytes(data)
    return out != "-"


def _print_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


@contextmanager
def _output_file(out: str, purpose: Purpose) -> Iterator[BinaryIO]:
    """Yield a file to write to: a pipe, or one that replaces `out`. Raises RunError, OutputError."""
    with _reported(out, purpose):
        if _is_stream(out):
            with open_stream(out) as pipe:
                yield pipe
        else:
            with replacing(Path(out)) as temporary, temporary.open("wb") as file:
                yield file


@contextmanager
def _output_path(out: str, purpose: Purpose) -> Iterator[Path]:
    """As `_output_file`, but yield a path; a pipe receives the content at the end."""
    with _reported(out, purpose):
        if _is_stream(out):
            with tempfile.TemporaryDirectory() as folder:
                temporary = Path(folder) / "rows"
                yield temporary
                with open_stream(out) as pipe, temporary.open("rb") as content:
                    shutil.copyfileobj(content, pipe)
        else:
            with replacing(Path(out)) as temporary:
                yield temporary


def _is_stream(out: str) -> bool:
    """Whether an output is no regular file: a pipe, a standard stream or the null device."""
    path = Path(out)
    return path.exists() and not path.is_file()


@contextmanager
def _reported(out: str, purpose: Purpose) -> Iterator[None]:
    """Check an output before the block, which writes it, and report a file that it replaced."""
    try:
        replaced = check_output(out, purpose)
        yield
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror or error}", where=out) from error
    if replaced and out not in session.files_written:
        say(f"{out} replaced")
    session.files_written.add(out)


def default_format(out: str) -> str:
    """Format of standard output, or of a file by its name. Raises UsageError for a name of another format."""
    if out == "-":
        return "table" if streams.on_terminal() else "tsv"
    suffix = Path(out).suffix.removeprefix(".").lower()
    if suffix in _FOREIGN_ENDINGS:
        figures = "; `ttt plot` draws figures" if suffix in FIGURE_FORMATS else ""
        raise click.UsageError(
            f"{out!r}: tables are {', '.join(OUTPUT_FORMATS[1:])}, by the file's name or -f{figures}"
        )
    return suffix if suffix in OUTPUT_FORMATS else "tsv"


def _write_rows(rows: Rows, fmt: str, stream: TextIO) -> None:
    if fmt == "table":
        say(*print_table(rows, stream))
    elif stream.isatty():
        _write_escaped(rows, fmt, stream)
    else:
        write_text(rows, fmt, stream, safe=session.safe_csv)


def _write_escaped(rows: Rows, fmt: str, terminal: TextIO) -> None:
    """Write rows with control characters escaped, which the terminal would obey."""
    text = TextIOWrapper(BytesIO(), terminal.encoding, "backslashreplace", "\n")
    write_text(rows, fmt, text, safe=session.safe_csv)
    text.seek(0)
    terminal.writelines(
        c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text.read()
    )


def figure_format(out: str | None, fmt: str | None = None) -> str:
    """Format of a figure: as given, else by the file's name. Raises UsageError for others, and binary on a terminal."""
    if out == "-":
        if fmt in ("png", "pdf") and streams.on_terminal():
            raise click.UsageError(f"{fmt} is binary: name a file with -o FILE, or pipe it")
        return fmt or "svg"
    if out is None:
        return fmt or "png"
    fmt = fmt or Path(out).suffix.removeprefix(".").lower()
    if fmt not in FIGURE_FORMATS:
        raise click.UsageError(
            f"{out!r}: figures are {', '.join(FIGURE_FORMATS)}, by the file's name or -f"
        )
    check_output_path(out, PAGE if fmt == "html" else PICTURE)
    return fmt


def save_figure(figure: Figure, out: str | None, fmt: str) -> None:
    """Write a figure to a file or, for `-`, standard output, and report the file. Raises RunError, OutputError."""
    from ttt_cli.views.figures.render import render

    path = out or f"{figure.stem}.{fmt}"
    purpose = PAGE if fmt == "html" else PICTURE
    if write(with_picture_mark(render(figure.spec, fmt), fmt), path, purpose):
        say(f"{path} written")
