"""Pages that players or events of a few games share: files of their own would take more room than what is in them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.arrays import Places
from ttt_cli.views.report.site.markup import page, text
from ttt_cli.views.report.words import say

OWN: Final = 3_000  # of the most games have a page of their own, whatever they played
FEW: Final = 20  # games that do not fill a page
BYTES: Final = 100_000  # of a shared page, roughly
_ID: Final = re.compile(r"(?<=<table) id=\S+|(?<=<h2) id=[^\s>]+")


class Part(NamedTuple):
    """What a page shows of one player or event: address in its folder, title and facts, texts, and content, HTML."""

    address: str
    title: str
    facts: str
    content: Sequence[str]


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


def in_order(addresses: Iterable[tuple[str | None, int]]) -> list[int]:
    """The numbers of players or events on shared pages, by page, then slug."""
    parts = ((number_of(address), address, at) for address, at in addresses)
    return [at for *_, at in sorted(part for part in parts if part[0] is not None)]


def firsts(addresses: Iterable[str | None]) -> list[str]:
    """The first slug on each shared page: the scripts of a site find by it which page a slug is on."""
    found: dict[int, str] = {}
    for address in addresses:
        if address and (number := number_of(address)) is not None:
            slug = address.partition("#")[2]
            found[number] = min(slug, found.get(number, slug))
    return [found[number] for number in sorted(found)]


def shared_pages(site: str, title: str, parts: Iterable[Part]) -> Iterator[tuple[str, str]]:
    """Name and text of each page of parts, which come by page."""
    together: list[Part] = []
    for part in parts:
        if together and _file(part) != _file(together[0]):
            yield _file(together[0]), _shared_page(site, title, together)
            together = []
        together.append(part)
    if together:
        yield _file(together[0]), _shared_page(site, title, together)


def _file(part: Part) -> str:
    return part.address.partition("#")[0]


def _shared_page(site: str, title: str, parts: Sequence[Part]) -> str:
    span = f"{parts[0].title} – {parts[-1].title}"
    back = f"<p class='turn all'><a href=#>{text(say('all of this page'))}</a></p>"
    return page(
        site, say(title), back, *map(_section, parts), facts=span, named=f"{say(title)}: {span} – {site}"
    )


def _section(part: Part) -> str:
    """One of several on a page: headings are a step lower, and only the part itself has an id."""
    inner = _ID.sub("", "\n".join(filter(None, part.content))).replace("<h2", "<h3").replace("</h2>", "</h3>")
    head = f"<h2>{text(part.title)}</h2><p class=facts>{text(part.facts)}</p>"
    return f"<section id={part.address.partition('#')[2]}>{head}\n{inner}\n</section>"
