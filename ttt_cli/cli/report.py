"""`ttt report`: one self-contained page of everything in a run."""

from __future__ import annotations

import click

from ttt_cli.cli.figures import write_bytes
from ttt_cli.cli.options import run_option, scale_option, verbosity_options


@click.command("report")
@click.option(
    "-o", "--output", "out", metavar="FILE", default="report.html", show_default=True, help="- is stdout."
)
@run_option
@scale_option
@verbosity_options
def command(out: str, run: str | None, scale: tuple[str, ...]) -> None:
    """Write one HTML page that works offline: curves of any player, rankings by year, leaders, peaks, evidence.

    Nothing else is needed to read it, on a screen or a phone. Of a large run the page carries those who played
    most, and says so.
    """
    from ttt_cli.runs.run import open_run
    from ttt_cli.views.report.page import report_page

    write_bytes(report_page(open_run(run, scale)).encode(), out)
