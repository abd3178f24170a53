"""The console: streams and signals, messages, tables, progress bars, and files that commands write."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import signal
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO, TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, TextIO

import click

from ttt_cli.support.errors import OutputError, RunError
from ttt_cli.support.files import replacing
from ttt_cli.support.opening import open_stream
from ttt_cli.support.outputs import PAGE, PICTURE, TABLE, Purpose, check_output, marked_picture, table_of
from ttt_cli.support.progress import SILENT, Bar, Progress, Wait
from ttt_cli.views.figures import FIGURE_FORMATS
from ttt_cli.views.rows import Rows, write_parquet, write_text

if TYPE_CHECKING:
    from tqdm import tqdm

    from ttt_cli.views.figures.figure import Figure


UNWRITABLE: Final = (errno.EBADF, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_STREAMS: Final = (("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))
_DEFAULTS: Final = (signal.SIG_DFL, signal.default_int_handler)


def prepare_streams() -> None:
    """Prepare stdin, stdout and stderr: escape characters that the output's encoding lacks.

    Closed streams are replaced, since otherwise the next opened file would get their number. Reading or writing a
    replaced stream fails; messages to a closed stderr are lost.
    """
    for number, (name, flags) in enumerate(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, flags), True)  # the lowest number that is free
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, TextIOWrapper):
            output.reconfigure(errors="backslashreplace")
            if sys.platform == "win32" and not output.isatty():  # as files and pipes are everywhere else
                output.reconfigure(encoding="utf-8", newline="\n")


def flush_output() -> None:
    """Flush standard output. Raises BrokenPipeError, OutputError."""
    try:
        sys.stdout.flush()
    except OSError as error:
        give_up(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise OutputError(f"output cannot be written: {error.strerror}") from error


def give_up(stream: TextIO) -> None:
    """Discard the stream's pending and further output."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def printable(text: str) -> str:
    """The text without control characters, which a terminal would obey; line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


@contextmanager
def unwinding(received: list[int]) -> Iterator[None]:
    """Inside the block, SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt; `received` lists them, however it ends."""

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        received.append(number)
        raise KeyboardInterrupt

    taken: dict[int, Any] = {}
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) in _DEFAULTS:
            taken[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in taken.items():
            signal.signal(number, handler)


FORMATS: Final = ("table", "csv", "tsv", "json", "jsonl", "parquet")
_OTHERS: Final = (  # endings of formats that tables are not written in
    "xlsx xls ods arrow feather sql sqlite db duckdb ttt pgn html htm xml yaml yml md "
    "pdf svg png gz bz2 xz zst zip"
)
SHOWN_ROWS: Final = 1000
_FOLDED_WIDTH: Final = 12  # a text column may be folded to this before a column is left out
_GAP: Final = 2
QUIET = -1
NORMAL = 0
VERBOSE = 1


@dataclass
class _Voice:
    """Verbosity on standard error; a line on the run until it is reported; its name, for errors; files written."""

    level: int = NORMAL
    run: str = ""
    run_name: str = ""
    safe_csv: bool = False
    written: set[str] = field(default_factory=set)

    def reset(self) -> None:
        """Return to the defaults, before a command."""
        vars(self).update(vars(_Voice()))


voice = _Voice()


def say(*lines: str, level: int = NORMAL) -> None:
    """Print lines on standard error at this level of verbosity; on a terminal they break between words."""
    if voice.level < level:
        return
    fill = textwrap.TextWrapper(
        width(), break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )
    try:
        for line in "\n".join(map(printable, lines)).split("\n") if lines else ():
            text = line
            if sys.stderr.isatty() and len(line) > fill.width:
                fill.subsequent_indent = line[: len(line) - len(line.lstrip())] + "  "
                text = fill.fill(line)
            print(text, file=sys.stderr)  # noqa: T201
    except OSError:
        give_up(sys.stderr)


def report_run() -> None:
    """Report which run is used, once."""
    if voice.run:
        say(voice.run)
    voice.run = ""


def on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def width() -> int:
    """Columns of the terminal, 80 when there is none."""
    return shutil.get_terminal_size().columns


def check_place(out: str, purpose: Purpose = TABLE) -> None:
    """Raise OutputError, before any work, if a command may not write `out`, or reads it later on."""
    if out != "-":
        check_output(out, purpose)


def emit(rows: Rows, fmt: str | None = None, *, out: str = "-") -> None:
    """Print or write rows as the format or the file's name says. Raises UsageError, RunError, OutputError."""
    fmt = fmt or default_format(out)
    if out != "-":
        shown = [column for column in rows.columns if column not in rows.hidden]
        purpose = table_of(rows.columns, shown, listed=rows.single)
        if fmt == "parquet":
            with _output_path(out, purpose) as path:
                write_parquet(rows, path)
        else:
            with (
                _output_file(out, purpose) as file,
                TextIOWrapper(file, encoding="utf-8", newline="") as stream,
            ):
                _write(rows, fmt, stream)
    elif fmt != "parquet":
        _write(rows, fmt, sys.stdout)
    elif on_terminal():
        raise click.UsageError("parquet is binary: name a file with -o FILE, or pipe it")
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write_parquet(rows, path)
            _print_bytes(path.read_bytes())


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
    if replaced and out not in voice.written:
        say(f"{out} replaced")
    voice.written.add(out)


def default_format(out: str) -> str:
    """Format of standard output, or of a file by its name. Raises UsageError for a name of another format."""
    if out == "-":
        return "table" if on_terminal() else "tsv"
    suffix = Path(out).suffix.removeprefix(".").lower()
    if suffix in _OTHERS.split():
        figures = "; `ttt plot` draws figures" if suffix in FIGURE_FORMATS else ""
        raise click.UsageError(
            f"{out!r}: tables are {', '.join(FORMATS[1:])}, by the file's name or -f{figures}"
        )
    return suffix if suffix in FORMATS else "tsv"


def _write(rows: Rows, fmt: str, stream: TextIO) -> None:
    if fmt == "table":
        say(*print_table(rows, stream))
    elif stream.isatty():  # control characters are escaped
        text = TextIOWrapper(BytesIO(), stream.encoding, "backslashreplace", "\n")
        write_text(rows, fmt, text, safe=voice.safe_csv)
        text.seek(0)
        stream.writelines(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text.read())
    else:
        write_text(rows, fmt, stream, safe=voice.safe_csv)


def figure_format(out: str | None, fmt: str | None = None) -> str:
    """Format of a figure: as given, else by the file's name. Raises UsageError for others, and binary on a terminal."""
    if out == "-":
        if fmt in ("png", "pdf") and on_terminal():
            raise click.UsageError(f"{fmt} is binary: name a file with -o FILE, or pipe it")
        return fmt or "svg"
    if out is None:
        return fmt or "png"
    fmt = fmt or Path(out).suffix.removeprefix(".").lower()
    if fmt not in FIGURE_FORMATS:
        raise click.UsageError(f"{out!r}: figures are {', '.join(FIGURE_FORMATS)}, by the file's name or -f")
    check_place(out, PAGE if fmt == "html" else PICTURE)
    return fmt


def save_figure(figure: Figure, out: str | None, fmt: str) -> None:
    """Write a figure to a file or, for `-`, standard output, and report the file. Raises RunError, OutputError."""
    from ttt_cli.views.figures.figure import render

    place = out or f"{figure.stem}.{fmt}"
    purpose = PAGE if fmt == "html" else PICTURE
    if write(marked_picture(render(figure.spec, fmt), fmt), place, purpose):
        say(f"{place} written")


def print_table(rows: Rows, stream: TextIO) -> list[str]:
    """Print rows as a table; return remarks on rows and columns that a terminal has no room for."""
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = stream.isatty()
    records = list(itertools.islice(rows.rows, SHOWN_ROWS + 1 if terminal else None))
    shown = records[:SHOWN_ROWS] if terminal else records
    columns: list[tuple[str, list[str], bool]] = []  # name, cells, whether they are numbers
    for i, name in enumerate(rows.columns):
        if name not in rows.hidden:
            values = [record[i] for record in shown]
            known = [value for value in values if value is not None]
            numeric = all(isinstance(x, int | float) and not isinstance(x, bool) for x in known)
            cells = format_column(values, rows.decimals.get(name))
            columns.append((name, cells, numeric and bool(known)))
    if rows.single:
        names = [name for name, *_ in columns]
        values = [cells[0] for _, cells, _ in columns]
        columns = [("", names, False), ("", values, False)]
    widths = [max(map(cell_len, [name, *cells])) for name, cells, _ in columns]
    least = [
        width if numeric else min(width, _FOLDED_WIDTH)
        for width, (*_, numeric) in zip(widths, columns, strict=True)
    ]
    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=not terminal)
    remarks = []
    if not terminal:
        console.width = sum(widths) + _GAP * (len(widths) + 1)
    else:
        ends = itertools.accumulate(width + _GAP for width in least)
        kept = max(sum(end - _GAP <= console.width for end in ends), 2)
        if omitted := [name for name, *_ in columns[kept:]]:
            remarks.append(f"too narrow for {', '.join(omitted)}")
        columns = columns[:kept]
        least = least[:kept]
    if len(records) > len(shown):
        remarks.append(f"only the first {SHOWN_ROWS:,} rows are shown; -f csv, -o FILE or a pipe gives all")
    for number, line in enumerate(rows.title):
        console.print(printable(line), style="bold" if number == 0 else None)
    padding = (0, _GAP - 1, 0, 0)  # the box's divider takes one place more
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=padding, show_header=not rows.single
    )
    fits = sum(least) + _GAP * (len(least) - 1) <= console.width
    for name, _, numeric in columns:
        justify: Literal["left", "right"] = "right" if numeric else "left"
        table.add_column(Text(name), justify=justify, no_wrap=numeric and fits, overflow="fold")
    for row in zip(*(cells for _, cells, _ in columns), strict=True):
        table.add_row(*map(Text, row))
    console.print(table)
    return remarks


def format_column(values: Sequence[Any], decimals: int | None = None) -> list[str]:
    """Values as text; floats with the same number of decimals, by their size when none is given."""
    if decimals is None:
        floats = [abs(value) for value in values if isinstance(value, float) and abs(value) < float("inf")]
        largest = max(floats, default=0.0)
        decimals = 1 if largest >= 100 else 2 if largest >= 10 else 4

    def cell(value: Any) -> str:
        match value:
            case None:
                return ""
            case bool():
                return "yes" if value else "no"
            case float():
                return f"{value:.{decimals}f}"
        return printable(str(value)).replace("\n", " ")

    return [cell(value) for value in values]


_SHARE = "{l_bar}{bar}| {elapsed}{postfix}"  # a task whose unit is a share of the whole
_WAIT = "{desc}, {elapsed}"
_COUNTED_WAIT = "{desc}: {n_fmt}, {elapsed}"
_KNOWN = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"


def progress() -> Progress:
    """Progress bars if standard error is a terminal and -q was not given, else none."""
    return Bars() if sys.stderr.isatty() and voice.level > QUIET else SILENT


class WaitBar:
    """Show a message on its own line while the user waits, where bars are shown, but not in child processes."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._bar: tqdm[Any] | None = None

    def __call__(self, wait: Wait) -> None:
        """Show the line, or take it away."""
        if os.getpid() != self._process or progress() is SILENT:
            return
        if self._bar is None:
            from tqdm import tqdm

            looks: dict[str, Any] = {
                "bar_format": _WAIT if wait.done is None else _COUNTED_WAIT,
                "initial": wait.done or 0,
            }
            self._bar = tqdm(desc=wait.sentence, file=sys.stderr, leave=False, dynamic_ncols=True, **looks)
        if wait.done is not None:
            self._bar.update(wait.done - self._bar.n)
        self._bar.refresh()
        if wait.over:
            self._bar.close()
            self._bar = None


class Bars:
    """Progress shown by tqdm. Bytes are counted as kB, MB; a task without a unit shows its share only."""

    @contextmanager
    def task(self, label: str, total: float | None = None, unit: str = "") -> Iterator[Bar]:
        """Show a bar for the task until the block ends."""
        from tqdm import tqdm

        looks: dict[str, Any] = {"unit": unit if unit == "B" else f" {unit}", "unit_scale": unit == "B"}
        if total is not None:
            looks["bar_format"] = _KNOWN if unit else _SHARE
        with tqdm(
            desc=label, total=total, file=sys.stderr, disable=None, leave=False, dynamic_ncols=True, **looks
        ) as bar:
            yield _TqdmBar(bar)


class _TqdmBar:
    def __init__(self, bar: tqdm[Any]) -> None:
        self._bar = bar

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Advance the bar; the note is shown at its end."""
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(amount)
