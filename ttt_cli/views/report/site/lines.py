"""The pages of players and events: where they stand, and their games as lines of text, of which a script makes tables.

Those of a few games share pages: files of their own would take more room than what is in them. Lines are readable as
they stand, and a third of a table in size. Fields are apart by tabs. The name of a player or an event is plain where
the page's address follows from it, in an `i` where that of a shared page does, a link where neither does, and in a
`span` where there is no page.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.arrays import Places
from ttt_cli.folding import fold_all
from ttt_cli.views.report.site.markup import link, page, section, text, turn
from ttt_cli.views.report.words import say

BYTES_A_PAGE: Final = 270_000
FIRST_BYTES: Final = 220_000
_ID: Final = re.compile(r"(?<=<table) id=\S+|(?<=<h2) id=[^\s>]+")
OWN: Final = 3_000  # of the most games have a page of their own, whatever they played
FEW: Final = 20  # games that do not fill a page
BYTES: Final = 100_000  # of a shared page, roughly
_LONGEST: Final = 60
_OTHER: Final = re.compile("[^a-z0-9]+")
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)


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


def addresses(slugs: Sequence[str | None], games: Places, sizes: Places) -> list[str | None]:
    """Where each player or event stands in its folder: `slug.html`, or on a shared page, `few_2.html#slug`.

    `slugs` are None for those without a page, `sizes` bytes, roughly. Shared pages are in the order of the slugs.
    """
    found = [slug and f"{slug}.html" for slug in slugs]
    further = np.argsort(-games, kind="stable")[OWN:]
    few = [(slug, at) for at in further[games[further] <= FEW].tolist() if (slug := slugs[at])]
    number, room = 0, 0
    for slug, at in sorted(few):
        room -= int(sizes[at])
        if room < 0:
            number, room = number + 1, BYTES - int(sizes[at])
        found[at] = f"few_{number}.html#{slug}"
    return found


def number_of(address: str | None) -> int | None:
    """The number of a shared page, None for a page of one's own or none."""
    file, _, part = (address or "").partition("#")
    return int(file.removeprefix("few_").removesuffix(".html")) if part else None


def firsts(addresses: Iterable[str | None]) -> list[str]:
    """The first slug on each shared page: the scripts of a site find by it which page a slug is on."""
    found: dict[int, str] = {}
    for address in addresses:
        if address and (number := number_of(address)) is not None:
            slug = address.partition("#")[2]
            found[number] = min(slug, found.get(number, slug))
    return [found[number] for number in sorted(found)]


def slugs(names: Sequence[str]) -> list[str]:
    """A slug for each of these different names, of `a` to `z`, digits, `-` and `~`, no two alike.

    Names that fold to what others fold to, to nothing, to more than ASCII, or to what Windows keeps for itself have a
    hash of the name behind `~`.
    """
    folded = fold_all(names)
    plain = ["-".join(_OTHER.sub(" ", text).split())[:_LONGEST].strip("-") for text in folded]
    shared = Counter(plain)
    found = []
    for name, key, slug in zip(names, folded, plain, strict=True):
        whole = slug == key.replace(" ", "-") and slug not in _DEVICES
        found.append(slug if whole and slug and shared[slug] == 1 else f"{slug}~{_digest(name, 4)}")
    again = Counter(found)
    return [
        slug if again[slug] == 1 else f"{slug}{_digest(name, 32)}"
        for name, slug in zip(names, found, strict=True)
    ]


def follows(slug: str, folded: str) -> bool:
    """Whether a slug follows from the folded name alone, as the scripts of a site work it out."""
    return folded.isascii() and folded.replace(" ", "-") == slug


def _digest(name: str, size: int) -> str:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
