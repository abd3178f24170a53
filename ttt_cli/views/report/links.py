"""Addresses of the pages of players and events, and links to them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

import numpy as np

from ttt_cli.support.arrays import Places
from ttt_cli.support.folding import fold_all
from ttt_cli.views.history.events import Event
from ttt_cli.views.history.people import Person
from ttt_cli.views.report.markup import field as field_text
from ttt_cli.views.report.markup import is_shared, link, slug_of, text

OWN_PAGES: Final = 3_000  # of the most games have a page of their own, whatever they played
FEW_GAMES: Final = 20  # games that do not fill a page
SHARED_PAGES: Final = 251  # pages of players, and of events, with so few
_LONGEST: Final = 60
_SEPARATORS: Final = re.compile("[^a-z0-9]+")
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)


@dataclass(frozen=True)
class PageLinks:
    """The pages of players or events, by index.

    `names`: as they are shown. `folded`: without accents and case. `addresses`: in their folder, None without a page.
    `marks`: HTML behind links, as ` (simul)`.
    """

    names: list[str]
    folded: list[str]
    addresses: list[str | None]
    marks: list[str]
    _links: dict[str, list[str]] = field(default_factory=dict)
    _fields: dict[str, list[str]] = field(default_factory=dict)

    @property
    def without_page(self) -> int:
        """The number of players or events without a page."""
        return self.addresses.count(None)

    def links(self, folder: str) -> list[str]:
        """Links by the path to the folder of the pages; a plain name without a page."""
        if folder not in self._links:
            self._links[folder] = [
                (link(f"{folder}{address}", name) if address else text(name)) + mark
                for name, address, mark in zip(self.names, self.addresses, self.marks, strict=True)
            ]
        return self._links[folder]

    def fields(self, folder: str) -> list[str]:
        """Fields of lines, which the site's script turns into links.

        Plain where the address follows from the name, in an `i` where it is on a shared page.
        """
        if folder not in self._fields:
            self._fields[folder] = [
                _field(name, folded, address, folder)
                for name, folded, address in zip(
                    self.names, self.folded, self.addresses, strict=True
                )
            ]
        return self._fields[folder]

    def code(self, index: int) -> list[str | int | None]:
        """The address for scripts: None without a page, 0 if it follows from the name; then a 1 on a shared page."""
        address = self.addresses[index]
        if address is None:
            return [None]
        slug = slug_of(address)
        slug_code = 0 if follows(slug, self.folded[index]) else slug
        return [slug_code, 1] if is_shared(address) else [slug_code]


def _field(name: str, folded: str, address: str | None, folder: str) -> str:
    if address is None:
        return f"<span>{field_text(name)}</span>"
    if not follows(slug_of(address), folded):
        return link(f"{folder}{address}", name)
    return f"<i>{field_text(name)}</i>" if is_shared(address) else field_text(name)


def player_links(people: Sequence[Person], games: Places, most: int) -> PageLinks:
    """Pages of the `most` players of the most games by weight; `games`, (players,): of each, not weighted."""
    with_page = _of_most_games([person.games for person in people], most)
    names = [person.name for person in people]
    page_slugs = [slug if index in with_page else None for index, slug in enumerate(slugs(names))]
    folded = [person.folded for person in people]
    return PageLinks(names, folded, addresses(page_slugs, games), [""] * len(people))


def event_links(events: Sequence[Event], most: int) -> PageLinks:
    """Pages of the `most` events of the most games; exhibitions are marked by their kind."""
    games = [event.games for event in events]
    with_page = _of_most_games(games, most)
    event_slugs = slugs([f"{event.year} {event.name}" for event in events])
    page_slugs = [slug if index in with_page else None for index, slug in enumerate(event_slugs)]
    return PageLinks(
        [event.name for event in events],
        [event.folded for event in events],
        addresses(page_slugs, np.array(games, np.int64)),
        [f" ({event.kind})" if event.kind else "" for event in events],
    )


def _of_most_games(games: Sequence[float], most: int) -> set[int]:
    """Indices of the `most` players or events of the most games; of equals the first."""
    by_games = sorted(range(len(games)), key=lambda index: (-games[index], index))
    return set(by_games[:most])


def addresses(slugs: Sequence[str | None], games: Places) -> list[str | None]:
    """The address of each player or event in its folder: `slug.html`, or on a shared page, `few_2.html#slug`.

    `slugs` are None for those without a page. The slug decides which page is shared; scripts of the site work it out.
    """
    pages = [slug and f"{slug}.html" for slug in slugs]
    fewer = np.argsort(-games, kind="stable")[OWN_PAGES:]
    for index in fewer[games[fewer] <= FEW_GAMES].tolist():
        if slug := slugs[index]:
            shared_page = int.from_bytes(slug.encode(), "big") % SHARED_PAGES
            pages[index] = f"few_{shared_page}.html#{slug}"
    return pages


def slugs(names: Sequence[str]) -> list[str]:
    """A slug for each of these different names, of `a` to `z`, digits, `-` and `~`, no two alike.

    Names that fold to what others fold to, to nothing, to more than ASCII, or to what Windows keeps for itself have a
    hash of the name behind `~`.
    """
    folded_names = fold_all(names)
    plain = [
        "-".join(_SEPARATORS.sub(" ", text).split())[:_LONGEST].strip("-") for text in folded_names
    ]
    uses = Counter(plain)
    short_slugs = []
    for name, folded, slug in zip(names, folded_names, plain, strict=True):
        usable = slug and follows(slug, folded) and slug not in _DEVICES and uses[slug] == 1
        short_slugs.append(slug if usable else f"{slug}~{_digest(name, 4)}")
    uses = Counter(short_slugs)
    return [
        slug if uses[slug] == 1 else f"{slug}{_digest(name, 32)}"
        for name, slug in zip(names, short_slugs, strict=True)
    ]


def _digest(name: str, size: int) -> str:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def follows(slug: str, folded: str) -> bool:
    """Whether a slug follows from the folded name alone, as the scripts of a site work it out."""
    return folded.isascii() and folded.replace(" ", "-") == slug
