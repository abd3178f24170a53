"""The pages of players and events, and their games as lines of text: a script makes tables of them.

Lines are readable as they stand, and a third of a table in size.

Fields are apart by tabs. The name of a player or an event is plain where the page's address follows from it, in an `i`
where that of a shared page does, a link where neither does, and in a `span` where there is no page.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from ttt_cli.views.report.site.markup import link, page, section, text, turn
from ttt_cli.views.report.site.shared import follows, number_of
from ttt_cli.views.report.words import say

BYTES_A_PAGE: Final = 270_000
FIRST_BYTES: Final = 220_000
_ID: Final = re.compile(r"(?<=<table) id=\S+|(?<=<h2) id=[^\s>]+")


class Subject(NamedTuple):
    """A player or an event: address in its folder, title, facts and facts of `further` pages, texts; content, HTML.

    Below that stand the `games`: lines of this `kind`, each with that above it at the top of a page, `year` as `lines`.
    """

    address: str
    title: str
    facts: str
    further: str
    content: Sequence[str]
    kind: str
    games: Iterable[tuple[str, str]]
    year: int | str = ""


def subject_pages(
    site: str, few: str, addresses: Sequence[str | None], subject: Callable[[int], Subject]
) -> Iterator[tuple[str, str]]:
    """Name and text of each page of players or events: their own ones, then those that are shared, titled `few`."""
    numbers = [number_of(address) for address in addresses]
    for at, address in enumerate(addresses):
        if address and numbers[at] is None:
            yield from _own_pages(site, subject(at))
    together = sorted(
        (number, address, at)
        for at, (number, address) in enumerate(zip(numbers, addresses, strict=True))
        if number is not None
    )
    for _, found in groupby(together, key=lambda one: one[0]):
        parts = [subject(at) for *_, at in found]
        yield parts[0].address.partition("#")[0], _shared_page(site, few, parts)


def _own_pages(site: str, one: Subject) -> Iterator[tuple[str, str]]:
    for nth, (file, rows, around) in enumerate(_in_pages(one.address.removesuffix(".html"), one.games), 1):
        games = section("Games", around, lines(one.kind, rows, one.year), around)
        if nth == 1:
            title, content = one.title, [*one.content, games]
        else:
            title = say("{}: games, part {}", one.title, nth)
            content = [link(one.address, one.title), games]
        yield f"{file}.html", page(site, title, *content, facts=one.further if nth > 1 else one.facts)


def _shared_page(site: str, title: str, parts: Sequence[Subject]) -> str:
    span = f"{parts[0].title} – {parts[-1].title}"
    back = f"<p class='turn all'><a href=#>{text(say('all of this page'))}</a></p>"
    named = f"{say(title)}: {span} – {site}"
    return page(site, say(title), back, *map(_section, parts), facts=span, named=named)


def _section(part: Subject) -> str:
    """One of several on a page: headings are a step lower, and only the part itself has an id."""
    games = section("Games", lines(part.kind, [row for _, row in part.games], part.year))
    inner = _ID.sub("", "\n".join(filter(None, (*part.content, games))))
    inner = inner.replace("<h2", "<h3").replace("</h2>", "</h3>")
    head = f"<h2>{text(part.title)}</h2><p class=facts>{text(part.facts)}</p>"
    return f"<section id={part.address.partition('#')[2]}>{head}\n{inner}\n</section>"


def field(value: str) -> str:
    """A text as a field."""
    return text(" ".join(value.split()))


def named(name: str, page: str | None, folded: str, way: str) -> str:
    """The field of a player or an event; `way`: to the folder of its `page`."""
    if page is None:
        return f"<span>{field(name)}</span>"
    shared = page.partition("#")[2]
    if not follows(shared or page.removesuffix(".html"), folded):
        return link(f"{way}{page}", name)
    return f"<i>{field(name)}</i>" if shared else field(name)


def within(date: str, year: int) -> str:
    """A date without the year, where it is of that year: `12-20`, or nothing."""
    return date.removeprefix(str(year)).removeprefix("-") if date.startswith(str(year)) else date


def promised(expected: float) -> str:
    """A score that was expected, without a zero in front: `.62`."""
    return f"{expected:.2f}".removeprefix("0")


def lines(kind: str, rows: Sequence[str], year: int | str = "") -> str:
    """Lines as HTML; by `kind`, a class, the script knows what is in them; `year`: of dates without one."""
    of_year = f" data-year={year}" if year else ""
    return f"<pre class='lines {kind}'{of_year}>\n{chr(10).join(rows)}</pre>" if rows else ""


def _in_pages(slug: str, rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str], str]]:
    """Lines on as many pages as they need: of each its file, without ending, the lines, and links to its neighbours.

    Each line comes with the one that is to stand above it at the top of a page.
    """
    pages: list[list[str]] = [[]]
    room = FIRST_BYTES
    for above, row in rows:
        room -= len(row.encode("utf-8", "replace")) + 1
        if room < 0:
            pages.append([above] if above else [])
            room = BYTES_A_PAGE
        pages[-1].append(row)
    files = [slug, *(f"{slug}~{number}" for number in range(2, len(pages) + 1))]
    for at, (file, some) in enumerate(zip(files, pages, strict=True)):
        earlier = link(f"{files[at - 1]}.html", say("earlier games")) if at else ""
        later = link(f"{files[at + 1]}.html", say("later games")) if at + 1 < len(files) else ""
        yield file, some, turn(earlier, later)
