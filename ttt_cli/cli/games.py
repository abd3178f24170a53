"""`ttt games`: what stands in files of games, and what became of it."""

import sys
from pathlib import Path
from typing import Final

import click

from ttt_cli.cli.line import options
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import check_place, default_format, emit, say, width, write
from ttt_cli.files import real_place
from ttt_cli.views.ingest.games import HEADINGS, MOST
from ttt_cli.views.rows import speaks_unicode

LISTED: Final = "hint: --list --all lists them"


@click.command("games")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--list", "listed", is_flag=True, help="Instead, the records that are used, one row each.")
@click.option("--all", "everything", is_flag=True, help="With --list: those that are not used too.")
@click.option("--only", type=click.Choice(list(HEADINGS)), help="Instead, one section, whole.")
@click.option(
    "--top", type=click.IntRange(min=1), help=f"Rows of a section; default {MOST}, of a single one all."
)
@click.option(
    "--suggest",
    metavar="FILE",
    help="Write the names that may be one person's as an alias file; - prints it. In a pipe, that alone.",
)
@options.suspects_option
@options.reading_options
@options.format_option
@options.output_option
@options.verbosity_options
def command(
    files: tuple[str, ...],
    listed: bool,
    everything: bool,
    only: str | None,
    top: int | None,
    suggest: str | None,
    no_suspects: bool,
    config: str | None,
    overrides: tuple[str, ...],
    fmt: str | None,
    out: str,
) -> None:
    """Read each FILE as `ttt fit` would, and report what is there: records, dates, players, groups, duplicates.

    On a terminal the report is a row of small tables, with -f json one object, else rows of section, row, key and
    value; --only SECTION gives one section as a table of its own. A file in which nothing can be used is reported
    like any other, with a warning. --list gives the records as they were taken:

        ttt games *.pgn --list --all -f csv -o records.csv

    Suggested spellings are never applied by themselves: read the file that --suggest writes, then --aliases it.
    """
    options.refuse(
        ("--all goes with --list", everything and not listed),
        ("--list goes without --only and --suggest", listed and (only or suggest)),
        ("--no-suspects leaves --suggest nothing to write", suggest and no_suspects),
        (
            "--suggest - prints an alias file, and nothing else",
            suggest == "-" and (only or fmt or out != "-"),
        ),
        (
            "tables of all sections go to standard output: > FILE",
            fmt == "table" and out != "-" and not (listed or only),
        ),
    )
    for place in (out, suggest or "-"):
        if place != "-" and real_place(Path(place)) in {real_place(Path(file)) for file in files}:
            raise click.UsageError(f"{place} is read: it cannot be written as well")
        check_place(place)
    from ttt_cli import api
    from ttt_cli.games.read import read_records
    from ttt_cli.views.ingest.games import Report

    data = api.configure(config, overrides).config.data
    on_unusable = None if data.strict else lambda error: say(f"warning: {error}", LISTED)
    records = read_records(files, data, progress=progress(), on_unusable=on_unusable)
    if listed:
        from ttt_cli.views.ingest.listing import record_rows

        emit(record_rows(records, everything=everything), fmt, out=out)
        return
    form = fmt or default_format(out)
    asked_for = not suggest or form == "table" or fmt or only or out != "-"
    report = Report(records, top if top or only else MOST, short=form == "table", suspects=not no_suspects)
    if suggest != "-" and asked_for:
        for number, rows in enumerate(report.shown(form, only, _bar)):
            if number:
                click.echo()
            emit(rows, form, out=out)
    if suggest:
        text, words = report.suggestions()
        if write(text, suggest):
            say(f"{words.format(suggest)}: to be read, and then used with --aliases {suggest}")


def _bar(value: float, largest: float) -> str:
    from ttt_cli.views.text_charts import bar

    room = max(min(width() - 40, 60), 10)
    return bar(value, largest, room, ascii_only=not speaks_unicode(sys.stdout))
