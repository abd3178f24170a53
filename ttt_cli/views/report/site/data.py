"""What the scripts of a site work on: files that hand over values, read as they are asked for."""

from typing import Any

from ttt_cli.views.embedding import embedded
from ttt_cli.views.report.players import short
from ttt_cli.views.report.site.book import Book
from ttt_cli.views.report.site.slugs import follows


def names_script(book: Book) -> str:
    """Every player by number: name, first and last year, games, slug (null without a page; 0: as the name says)."""
    return handed_over(
        "names",
        [
            [one.name, one.first, one.last, short(one.games), _slug(one.slug, one.folded)]
            for one in book.people
        ],
    )


def events_script(book: Book) -> str:
    """The events that have a page: name, year, games, slug as above."""
    return handed_over(
        "events",
        [
            [event.name, event.year, event.games, _slug(event.slug, folded)]
            for event, folded in zip(book.events.all, book.folded_events, strict=True)
            if event.slug
        ],
    )


def _slug(slug: str | None, folded: str) -> str | int | None:
    return 0 if slug and follows(slug, folded) else slug


def handed_over(name: str, data: Any) -> str:
    """A script that gives a value to the page that asked for it."""
    return f'take["{name}"]({embedded(data)});\n'
