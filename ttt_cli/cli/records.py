"""`ttt records`: the record book."""

from typing import Any

import click

from ttt_cli.cli.options import (
    RunQuery,
    columns_option,
    eligible_options,
    number_option,
    query_options,
    years_options,
)
from ttt_cli.views.records import DEFAULT, KINDS


@click.command("records")
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default=DEFAULT,
    show_default=True,
    help="; ".join([f"{name}: {text}" for name, text in KINDS.items()]) + ".",
)
@years_options("games and periods")
@number_option("records")
@eligible_options
@columns_option
@query_options
def command(
    query: RunQuery,
    kind: str,
    since: int | None,
    until: int | None,
    number: int | None,
    limits: dict[str, Any],
    columns: list[str],
) -> None:  # fmt: skip
    """List the records of a run: who, what, when and where.

    Limits on games and opponents apply to the whole run; for gains, reigns, peaks and uncrowned they are those of
    `ttt top`, in the period. docs/records.md describes every kind.
    """
    from ttt_cli.views.people import with_fields
    from ttt_cli.views.rankings.eligible import eligible
    from ttt_cli.views.records.table import record_rows

    with query.open() as run:
        chosen = eligible(run, **limits)
        rows = record_rows(run, kind, chosen, since=since, until=until, number=number)
    query.show(with_fields(run, rows, columns))
