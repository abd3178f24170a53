"""What the scripts of a site work on: files that hand over values, read as they are asked for."""

from collections.abc import Iterator
from typing import Any

from ttt_cli.views.report.players import short
from ttt_cli.views.report.site.book import Book
from ttt_cli.views.report.site.events import Event
from ttt_cli.views.report.site.people import Person
from ttt_cli.views.report.site.shared import number_of
from ttt_cli.views.report.site.slugs import follows
from ttt_cli.views.templates import embedded


def names_script(book: Book) -> str:
    """Every player by number: name, first and last year, games, slug (null without a page; 0: as the name says).

    Then a 1 for those who are on a shared page.
    """
    return handed_over(
        "names",
        [[one.name, one.first, one.last, short(one.games), *_place(one, one.folded)] for one in book.people],
    )


def events_script(book: Book) -> str:
    """The events that have a page: name, year, games, slug as above."""
    return handed_over(
        "events",
        [
            [event.name, event.year, event.games, *_place(event, folded)]
            for event, folded in zip(book.events.all, book.folded_events, strict=True)
            if event.slug
        ],
    )


def _place(one: Person | Event, folded: str) -> Iterator[str | int | None]:
    yield 0 if one.slug and follows(one.slug, folded) else one.slug
    if number_of(one.page) is not None:
        yield 1


def handed_over(name: str, data: Any) -> str:
    """A script that gives a value to the page that asked for it."""
    return f'take["{name}"]({embedded(data)});\n'
