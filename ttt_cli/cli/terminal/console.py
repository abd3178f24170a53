"""What commands say and show: data to standard output or a file, everything else to standard error."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO, cast

import click

from ttt_cli.cli.terminal.streams import give_up, printable
from ttt_cli.errors import RunError
from ttt_cli.views.charts import FIGURE_FORMATS
from ttt_cli.views.rows import Rows, write_parquet, write_text

if TYPE_CHECKING:
    from ttt_cli.views.charts.figure import Figure

FORMATS: Final = ("table", "csv", "tsv", "json", "jsonl", "parquet")
_OTHERS: Final = (  # formats that a file's name may say, and that are not written here
    "xlsx xls ods arrow feather sql sqlite db duckdb ttt pgn html htm xml yaml yml md "
    "pdf svg png gz bz2 xz zst zip"
)
QUIET, NORMAL, VERBOSE = -1, 0, 1


class _Voice:
    """How much is said, set once per command by -q and -v.

    `run`: what answers, if neither named nor reported yet; `asked`: its name, for errors.
    """

    level = NORMAL
    run = asked = ""
    safe_csv = False  # texts that look like formulas are marked


voice = _Voice()


def say(*lines: str, level: int = NORMAL) -> None:
    """Lines on standard error, unless fewer were asked for."""
    if voice.level >= level:
        try:
            for line in lines:
                print(printable(line), file=sys.stderr)  # noqa: T201
        except OSError:
            give_up(sys.stderr)


class _Terminal:
    """A terminal that gets control characters escaped; pipes and files get what is there."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        shown = (c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)
        return self._stream.write("".join(shown))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)


def on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def width() -> int:
    """Columns of the terminal, 80 when there is none."""
    return shutil.get_terminal_size().columns


def emit(rows: Rows, fmt: str | None = None, *, out: str = "-") -> None:
    """Show or write rows; by default a table on a terminal, else TSV, or what the file's name says.

    A file appears whole or not at all. Raises click.UsageError for Parquet on a terminal and for a file whose name says
    another format, RunError when the file cannot be written.
    """
    fmt = fmt or default_format(out)
    if out == "-":
        _emit_to_stdout(rows, fmt)
        return
    with _destination(Path(out)) as path:
        if fmt == "parquet":
            write_parquet(rows, path)
        else:
            with path.open("w", encoding="utf-8", newline="") as stream:
                _write(rows, fmt, stream)


def write(content: str | bytes, out: str) -> bool:
    """Text or bytes to standard output for `-`, else to a file, whole or not at all; whether it was a file.

    Raises RunError when the file cannot be written.
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if out != "-":
        with _destination(Path(out)) as path:
            path.write_bytes(data)
    elif isinstance(content, str):
        click.echo(content, nl=False)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
    return out != "-"


def check_place(out: str) -> None:
    """Refuse a place that will not do, before the work begins; - is any. Raises RunError."""
    place = Path(out)
    if out != "-" and place.is_dir():
        raise RunError(f"{out} cannot be written: is a folder", hint="name a file in it")
    if out != "-" and not place.parent.is_dir():
        raise RunError(f"{out} cannot be written: no such folder", hint=f"mkdir -p {place.parent}")


def report_run() -> None:
    """Say which run was asked, once."""
    if voice.run:
        say(voice.run)
    voice.run = ""


def is_titled(fmt: str | None, out: str = "-") -> bool:
    """Whether rows are shown as a table for the eye, with a title above."""
    return out == "-" and (fmt == "table" or (fmt is None and on_terminal()))


def default_format(out: str) -> str:
    """The form of what goes to standard output or to a file of that name."""
    if out == "-":
        return "table" if on_terminal() else "tsv"
    suffix = Path(out).suffix.removeprefix(".").lower()
    if suffix in _OTHERS.split():
        raise click.UsageError(f"{out!r}: tables are {', '.join(FORMATS[1:])}, by the file's name or -f")
    return suffix if suffix in FORMATS else "tsv"


def _emit_to_stdout(rows: Rows, fmt: str) -> None:
    if fmt != "parquet":
        _write(rows, fmt, sys.stdout)
        return
    if on_terminal():
        raise click.UsageError("parquet is binary: name a file with -o FILE, or pipe it")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_parquet(rows, path)
        sys.stdout.flush()
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)


def _write(rows: Rows, fmt: str, stream: TextIO) -> None:
    if fmt == "table":
        from ttt_cli.cli.terminal.tables import print_table

        say(*print_table(rows, stream))
    else:
        target = _Terminal(stream) if stream.isatty() else stream
        write_text(rows, fmt, cast(TextIO, target), safe=voice.safe_csv)


@contextmanager
def _destination(path: Path) -> Iterator[Path]:
    from ttt_cli.files import replacing

    try:
        if path.exists() and not path.is_file():
            yield path  # a pipe or a device
        else:
            with replacing(path) as temporary:
                yield temporary
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror or error}", where=str(path)) from error


def figure_format(out: str | None, fmt: str | None = None) -> str:
    """The form asked for, else the one that the file's name says; SVG for -, PNG when no file is named.

    Raises click.UsageError for a name of another kind, and for a binary form on a terminal.
    """
    if out == "-":
        if fmt in ("png", "pdf") and on_terminal():
            raise click.UsageError(f"{fmt} is binary: name a file with -o FILE, or pipe it")
        return fmt or "svg"
    if fmt or out is None:
        return fmt or "png"
    suffix = Path(out).suffix.removeprefix(".").lower()
    if suffix not in FIGURE_FORMATS:
        raise click.UsageError(f"{out!r}: figures are {', '.join(FIGURE_FORMATS)}, by the file's name or -f")
    return suffix


def save_figure(figure: Figure, out: str | None, fmt: str) -> None:
    """Write a figure to a file, whole or not at all, or to standard output for `-`; say where it is.

    Raises RunError when the file cannot be written.
    """
    from ttt_cli.views.charts.figure import render

    place = out or f"{figure.stem}.{fmt}"
    if write(render(figure.spec, fmt), place):
        say(f"{place} written")
