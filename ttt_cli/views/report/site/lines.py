"""Games as lines of text in a page: readable as they stand, a third of a table in size; a script makes tables of them.

Fields are apart by tabs. The name of a player or an event is plain where the page's address follows from it, in an `i`
where that of a shared page does, a link where neither does, and in a `span` where there is no page.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ttt_cli.views.report.site.markup import link, text, turn
from ttt_cli.views.report.site.slugs import follows
from ttt_cli.views.report.words import say

BYTES_A_PAGE: Final = 270_000
FIRST_BYTES: Final = 220_000


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


def in_pages(slug: str, rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str], str]]:
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
    for at, (file, page) in enumerate(zip(files, pages, strict=True)):
        earlier = link(f"{files[at - 1]}.html", say("earlier games")) if at else ""
        later = link(f"{files[at + 1]}.html", say("later games")) if at + 1 < len(files) else ""
        yield file, page, turn(earlier, later)
