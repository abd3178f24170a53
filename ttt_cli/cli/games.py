"""`ttt games`: what files of games contain, and which games are used."""

from typing import Final

import click

from ttt_cli.cli import options
from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import say
from ttt_cli.cli.output import check_output_path, default_format, emit, write
from ttt_cli.support.outputs import SUGGESTIONS, sealed

SECTIONS: Final = (  # those of views.ingest, which is not loaded for --help
    *("total", "files", "dropped", "excluded", "odd", "years", "players", "groups", "duplicates"),
    *("not_persons", "suspects"),
)
SHOWN_ROWS: Final = 10  # rows of a section
LISTED: Final = "hint: --list --all lists them"


@click.command("games")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--list", "listed", is_flag=True, help="Show the used records instead, one row each.")
@click.option("--all", "everything", is_flag=True, help="With --list: also the dropped records.")
@click.option("--only", type=click.Choice(SECTIONS), help="Show one section instead, complete.")
@click.option(
    "--by", type=click.Choice(["source"]), help="Show the records by data.source instead."
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    help=f"Rows of a section; default {SHOWN_ROWS}, of a single one all.",
)
@click.option(
    "--suggest",
    metavar="FILE",
    help="Write similar names as an alias file; - prints it. In a pipe nothing else is printed.",
)
@options.suspects_option
@options.reading_options
@options.format_option
@options.output_option
def command(
    files: tuple[str, ...],
    listed: bool,
    everything: bool,
    only: str | None,
    by: str | None,
    top: int | None,
    suggest: str | None,
    no_suspects: bool,
    config: str | None,
    overrides: tuple[str, ...],
    fmt: str | None,
    out: str,
) -> None:
    """Read each FILE as `ttt fit` would, and report records, dates, players, groups and duplicates.

    The output is a row of small tables on a terminal, one object with -f json, else rows of
    section,row,key,value. --only SECTION gives one section as a table. A file without usable records gives a
    warning. --list gives the records themselves:

        ttt games *.pgn --list --all -f csv -o records.csv

    --suggest writes similar names as an alias file: review it, then use it with --aliases.
    """
    options.refuse(
        ("--all goes with --list", everything and not listed),
        ("--list goes without --only and --suggest", listed and (only or suggest)),
        ("--by goes without --list, --only and --suggest", by and (listed or only or suggest)),
        ("--no-suspects leaves --suggest nothing to write", suggest and no_suspects),
        (
            "--suggest - prints an alias file, and nothing else",
            suggest == "-" and (only or fmt or out != "-"),
        ),
        (
            "tables of all sections go to standard output: > FILE",
            fmt == "table" and out != "-" and not (listed or only or by),
        ),
    )
    check_output_path(out)
    check_output_path(suggest or "-", SUGGESTIONS)
    from ttt_cli.api import configure
    from ttt_cli.games.read import read_records
    from ttt_cli.views.ingest import IngestReport, record_rows

    data = configure(config, overrides).config.data
    on_unusable = None if data.strict else lambda error: say(f"warning: {error}", LISTED)
    records = read_records(files, data, progress=progress(), on_unusable=on_unusable)
    if data.corrections is not None:
        from ttt_cli.views.corrections import correction_lines

        say(*correction_lines(records, data.corrections))
    if listed:
        emit(record_rows(records, everything=everything), fmt, out=out)
        return
    if by:
        from ttt_cli.views.sources import source_rows

        emit(source_rows(records, data.sources), fmt, out=out)
        return
    form = fmt or default_format(out)
    asked_for = not suggest or form == "table" or fmt or only or out != "-"
    report = IngestReport(
        records, top if top or only else SHOWN_ROWS, short=form == "table", suspects=not no_suspects
    )
    if suggest != "-" and asked_for:
        for number, rows in enumerate(report.tables(form, only)):
            if number:
                click.echo()
            emit(rows, form, out=out)
    if suggest:
        text, words = report.suggestions()
        if write(sealed(text), suggest, SUGGESTIONS):
            say(f"{words.format(suggest)}: check it, then use it with --aliases {suggest}")
