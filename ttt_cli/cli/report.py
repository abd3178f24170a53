"""`ttt report`: one self-contained page of everything in a run, or a folder of pages."""

from pathlib import Path
from typing import Any

import click

from ttt_cli.cli.line import options
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import say, write
from ttt_cli.errors import RunError

_PAGE, _FIGURES = (".html", ".htm"), (".pdf", ".png", ".svg")


@click.command("report")
@click.argument("place", metavar="[PAGE.html|SITE/]", required=False)
@click.option(
    "-o", "--output", "out", metavar="PLACE", default="report.html", show_default=True,
    help="The same as the argument; - is stdout.",
)  # fmt: skip
@click.option("--title", metavar="TEXT", help="What a site is called, on every page of it.")
@click.option(
    "--language",
    "language",
    metavar="FILE",
    help="What a site says instead of English texts: a JSON table (docs/site.md).",
)
@click.option(
    "--pages", "most", metavar="N", type=click.IntRange(min=0), default=30_000, show_default=True,
    help="Pages for at most so many players of a site, those of the most games, and as many events.",
)  # fmt: skip
@options.beside_option
@options.eligible_options
@options.run_option
@options.scale_option
@options.verbosity_options
@click.pass_context
def command(
    context: click.Context, place: str | None, out: str, title: str | None, most: int, published: str | None,
    language: str | None, limits: dict[str, Any], run: str | None, scale: tuple[str, ...],
) -> None:  # fmt: skip
    """Write one HTML page that works offline, or a site: a folder of pages of players, years and events.

    PAGE.html (default report.html) holds curves of any player, rankings by year, leaders, peaks and evidence; nothing
    else is needed to read it, on a screen or a phone. Of a large run the page carries those who played most, and
    says so. Who is eligible may be changed on the page, too.

    SITE/, any name without .html, becomes a folder of plain pages that link to each other, also from a disk. An
    older site that stands there is replaced once the new one is complete, anything else is left alone. Open its
    index.html.
    """
    if place is not None and context.get_parameter_source("out") is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError("name the page or folder once: as the argument or with -o")
    out = place or out
    if out.lower().endswith(_FIGURES):
        hint = f"`ttt plot --kind top -o {out}` draws one, and a browser prints the page as PDF"
        raise click.UsageError(f"{out!r}: a report is an HTML page, no figure; {hint}")
    from ttt_cli.views.rankings.eligible import eligible
    from ttt_cli.views.report.page import report_page

    opened = options.asked_run(run, scale)
    chosen, beside = eligible(opened, **limits), options.asked_beside(published, opened)
    if beside:
        say(*beside.words())
    if _is_folder(out):
        _write_site(opened, out, chosen, title, most, beside, language)
    elif write(report_page(opened, chosen, beside=beside, progress=progress()).encode(), out):
        say(f"{out} written")


def _is_folder(out: str) -> bool:
    """Whether a site is meant: a folder, or what is neither a page by its name nor a pipe or device."""
    place = Path(out)
    if out == "-" or (place.exists() and not (place.is_file() or place.is_dir())):
        return False
    return out.endswith("/") or place.is_dir() or place.suffix.lower() not in _PAGE


def _write_site(
    opened: Any, out: str, limits: Any, title: str | None, most: int, beside: Any, language: str | None
) -> None:
    from ttt_cli.views.report.site.build import write_site
    from ttt_cli.views.report.words import read_words

    if Path(out).is_file():
        hint = "name a page PAGE.html, or a folder that is not there yet"
        raise RunError("is a file, not a folder", where=out, hint=hint)
    words = read_words(language) if language else None
    done = write_site(
        opened, Path(out), limits, title=title, most=most, beside=beside, words=words, progress=progress()
    )
    say(f"{Path(out) / 'index.html'} written: {done.files:,} files, {done.size / 1e6:,.1f} MB")
    for count, what in ((done.players_left_out, "players"), (done.events_left_out, "events")):
        if count:
            say(f"{count:,} {what} of fewer games have no page of their own (--pages sets how many do)")
