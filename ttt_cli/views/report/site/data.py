"""What the scripts of a site work on: files that hand over values, read as they are asked for."""

import re
from typing import Any, Final

from ttt_cli.views.embedding import embedded
from ttt_cli.views.report.players import short
from ttt_cli.views.report.site.book import Book
from ttt_cli.views.report.site.people import Person

_OTHER: Final = re.compile("[^a-z0-9]+")


def names_script(book: Book) -> str:
    """Every player by number: name, first and last year, games, slug (null without a page; 0: as the name says)."""
    return handed_over(
        "names", [[one.name, one.first, one.last, short(one.games), _slug(one)] for one in book.people]
    )


def _slug(one: Person) -> str | int | None:
    plain = one.folded.isascii() and one.folded.replace(" ", "-") == one.slug
    return 0 if plain else one.slug


def handed_over(name: str, data: Any) -> str:
    """A script that gives a value to the page that asked for it."""
    return f'take["{name}"]({embedded(data)});\n'
