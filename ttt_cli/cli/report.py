"""`ttt report`: one self-contained page of everything in a run, or a folder of pages."""

from pathlib import Path
from typing import Any

import click

from ttt_cli.cli import options
from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import say
from ttt_cli.cli.output import check_output_path, write
from ttt_cli.support.errors import RunError
from ttt_cli.support.outputs import PAGE

_PAGE_ENDINGS = (".html", ".htm")
_FIGURE_ENDINGS = (".pdf", ".png", ".svg")


@click.command("report")
@click.argument("destination", metavar="[PAGE.html|SITE/]", required=False)
@click.option(
    "-o", "--output", "out", metavar="PLACE", default="report.html", show_default=True,
    help="The same as the argument; - is stdout.",
)  # fmt: skip
@click.option("--title", metavar="TEXT", help="Title of a site, on every page.")
@click.option(
    "--pages", "most", metavar="N", type=click.IntRange(min=0), default=30_000, show_default=True,
    help="Most players with a page of a site (by number of games), and most events.",
)  # fmt: skip
@options.beside_option
@options.eligible_options
@options.run_option
@options.scale_option
@click.pass_context
def command(
    context: click.Context, destination: str | None, out: str, title: str | None, most: int, published: str | None,
    limits: dict[str, Any], run: str | None, scale: tuple[str, ...],
) -> None:  # fmt: skip
    """Write one HTML page that works offline, or a site: a folder of pages of players, years and events.

    PAGE.html (default report.html) has curves of any player, rankings by year, leaders, peaks and evidence, in
    one file for screens and phones. For large runs it contains only the players with most games, with a note.

    SITE/, any name without .html, becomes a folder of linked pages: open its index.html. An older site there is
    replaced once the new one is complete; other files are never touched.
    """
    named_by_option = context.get_parameter_source("out") is not click.core.ParameterSource.DEFAULT
    if destination is not None and named_by_option:
        raise click.UsageError("name the page or folder once: as the argument or with -o")
    out = destination or out
    if out.lower().endswith(_FIGURE_ENDINGS):
        hint = f"`ttt plot --kind top -o {out}` draws one, and a browser prints the page as PDF"
        raise click.UsageError(f"{out!r}: a report is an HTML page, not a figure; {hint}")
    if not _is_folder(out):
        check_output_path(out, PAGE)
    from ttt_cli.views.published_ratings import read_published_ratings
    from ttt_cli.views.rankings.eligible import eligible
    from ttt_cli.views.report.page import report_page

    opened = options.opened_run(run, scale)
    chosen = eligible(opened, **limits)
    published_ratings = read_published_ratings(published, opened) if published else None
    if published_ratings:
        say(*published_ratings.words())
    if not _is_folder(out):
        page = report_page(opened, chosen, published=published_ratings, progress=progress())
        if write(page.encode(), out, PAGE):
            say(f"{out} written")
        return
    from ttt_cli.views.report.site import write_site

    if Path(out).is_file():
        hint = "name a page PAGE.html, or a folder that is not there yet"
        raise RunError("is a file, not a folder", where=out, hint=hint)
    site = write_site(
        opened,
        Path(out),
        chosen,
        title=title,
        most=most,
        published=published_ratings,
        progress=progress(),
    )
    say(f"{Path(out) / 'index.html'} written: {site.files:,} files, {site.size / 1e6:,.1f} MB")
    for count, what in ((site.players_left_out, "players"), (site.events_left_out, "events")):
        if count:
            say(
                f"{count:,} {what} of fewer games have no page of their own (--pages sets how many do)"
            )


def _is_folder(out: str) -> bool:
    """Whether to write a site: a folder, or what is neither a page by its name nor a pipe or device."""
    path = Path(out)
    if out == "-" or (path.exists() and not (path.is_file() or path.is_dir())):
        return False
    return out.endswith("/") or path.is_dir() or path.suffix.lower() not in _PAGE_ENDINGS
