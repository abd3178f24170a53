"""`ttt report`: one self-contained page of everything in a run."""

from typing import Any

import click

from ttt_cli.cli.options import asked_run, eligible_options, run_option, scale_option, verbosity_options
from ttt_cli.cli.terminal.console import say, write


@click.command("report")
@click.option(
    "-o", "--output", "out", metavar="FILE", default="report.html", show_default=True, help="- is stdout."
)
@eligible_options
@run_option
@scale_option
@verbosity_options
def command(out: str, limits: dict[str, Any], run: str | None, scale: tuple[str, ...]) -> None:
    """Write one HTML page that works offline: curves of any player, rankings by year, leaders, peaks, evidence.

    Nothing else is needed to read it, on a screen or a phone. Of a large run the page carries those who played
    most, and says so. Who is eligible may be changed on the page, too.
    """
    if out.lower().endswith((".pdf", ".png", ".svg")):
        hint = f"`ttt plot --kind top -o {out}` draws one, and a browser prints the page as PDF"
        raise click.UsageError(f"{out!r}: a report is an HTML page, no figure; {hint}")
    from ttt_cli.views.rankings.eligible import eligible
    from ttt_cli.views.report.page import report_page

    opened = asked_run(run, scale)
    if write(report_page(opened, eligible(opened, **limits)).encode(), out):
        say(f"{out} written")
