"""Where figures go, and in which form: what `ttt plot` and `ttt player --plot` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ttt_cli.cli.terminal.console import on_terminal, say, write
from ttt_cli.views.charts import FORMATS

if TYPE_CHECKING:
    from ttt_cli.views.charts.figure import Figure


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
    if suffix not in FORMATS:
        raise click.UsageError(f"{out!r}: figures are {', '.join(FORMATS)}, by the file's name or -f")
    return suffix


def save_figure(figure: Figure, out: str | None, fmt: str) -> None:
    """Write a figure to a file, whole or not at all, or to standard output for `-`; say where it is.

    Raises RunError when the file cannot be written.
    """
    from ttt_cli.views.charts.save import render

    place = out or f"{figure.stem}.{fmt}"
    if write(render(figure.spec, fmt), place):
        say(f"{place} written")
