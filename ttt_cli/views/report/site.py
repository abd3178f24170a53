"""A site: a folder of linked pages of players, years and events."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from ttt_cli.runs.run import Run
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.views.figures.spec import embedded
from ttt_cli.views.published_ratings import PublishedRatings
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.report import links, markup
from ttt_cli.views.report.book import Book, BookSettings, make_book
from ttt_cli.views.report.comparison import compare_page
from ttt_cli.views.report.folder import SiteFile, new_folder
from ttt_cli.views.report.front_page import front_page
from ttt_cli.views.report.lists import event_lists, player_lists, year_list
from ttt_cli.views.report.record_page import find_records, record_page
from ttt_cli.views.report.shared_work import player_files, shared_work, simple_files
from ttt_cli.views.report.year_pages import year_page

MOST_PAGES: Final = 30_000  # of players, and as many of events
_SCRIPTS: Final = (
    "base.js",
    "element.js",
    "fold.js",
    "combobox.js",
    "lines.js",
    "figure.js",
    "site.js",
)
_COMPARE: Final = ("periods.js", "dom.js", "table.js", "curves.js", "hover.js", "compare.js")


class WrittenSite(NamedTuple):
    """Files and bytes of a site, and the numbers of players and events without a page."""

    files: int
    size: int
    players_left_out: int
    events_left_out: int


def write_site(
    run: Run,
    folder: Path,
    limits: Eligible | None = None,
    *,
    title: str | None = None,
    most: int = MOST_PAGES,
    published: PublishedRatings | None = None,
    progress: Progress = SILENT,
) -> WrittenSite:
    """Write a folder of pages about a run, complete or not at all; equal runs give equal bytes.

    `limits`: who is eligible for rankings (None: by default). `most`: players with a page, of their own or shared,
    those of the most games, and events likewise. `published`: published ratings to show, too. Raises RunError when it
    cannot be written.
    """
    files = 0
    size = 0
    settings = BookSettings(
        run, limits or eligible(run), title or markup.readable(run.name), most, published
    )
    with run, new_folder(folder) as write, shared_work(settings) as shared:
        book = make_book(settings)
        book = replace(book, influences=shared.influences(book))
        with progress.task("writing pages", None, "pages") as bar:
            for path, text in site_files(book, shared.files):
                files += 1
                size += write(path, text)
                bar.advance(1)
    return WrittenSite(files, size, book.player_pages.without_page, book.event_pages.without_page)


def site_files(
    book: Book, simple: Callable[[Book], Iterator[SiteFile]] = simple_files
) -> Iterator[tuple[str, str]]:
    """Path and text of every file; `simple`: returns `simple_files`, perhaps of another process."""
    yield "site.css", markup.assets("style.css") + markup.assets("site.css")
    words = book.words
    constants = {
        "CURVES": markup.curves_frame(book.run),
        "SHARED_PAGES": links.SHARED_PAGES,
        "SIDES": {"first": words.first, "second": words.second, "column": words.column},
        "YEARS": [book.years[0], book.years[-1]],
    }
    assignments = [f"globalThis.{name} = {embedded(value)};\n" for name, value in constants.items()]
    yield "site.js", "".join(assignments) + markup.assets(*_SCRIPTS)
    yield _player_names(book)
    yield _event_names(book)
    yield "compare.js", markup.assets(*_COMPARE)
    yield "compare.html", compare_page(book)
    records = find_records(book)
    yield "index.html", front_page(book, records)
    yield "years.html", year_list(book)
    yield "records.html", record_page(book, records)
    yield from player_lists(book)
    yield from event_lists(book)
    for year in book.years:
        yield f"years/{year}.html", year_page(book, year)
    yield from player_files(book, shared=False)
    yield from simple(book)


def _player_names(book: Book) -> SiteFile:
    """Names, years, games and addresses of all players, for the search."""
    players = [
        [
            person.name,
            person.first,
            person.last,
            markup.short(person.games),
            *book.player_pages.code(player),
        ]
        for player, person in enumerate(book.people.rows)
    ]
    return SiteFile("data/names.js", markup.handed_over("names", players))


def _event_names(book: Book) -> SiteFile:
    """Names, years, games and addresses of the events that have a page, for the search."""
    events = [
        [event.name, event.year, event.games, *book.event_pages.code(index)]
        for index, event in enumerate(book.events.rows)
        if book.event_pages.addresses[index]
    ]
    return SiteFile("data/events.js", markup.handed_over("events", events))
