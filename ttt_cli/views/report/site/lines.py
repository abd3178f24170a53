"""Games as lines of text in a page: readable as they stand, a third of a table in size; a script makes tables of them.

Fields are apart by tabs. The name of a player or an event is plain where the page's address follows from it, in an `i`
where that of a shared page does, a link where neither does, and in a `span` where there is no page.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from ttt_cli.views.report.site.markup import link, text
from ttt_cli.views.report.site.slugs import follows

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


def pieces(rows: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Lines on as many pages as they need; each comes with the line that is to stand above it at the top of a page."""
    found: list[list[str]] = [[]]
    room = FIRST_BYTES
    for above, row in rows:
        room -= len(row.encode("utf-8", "replace")) + 1
        if room < 0:
            found.append([above] if above else [])
            room = BYTES_A_PAGE
        found[-1].append(row)
    return found
