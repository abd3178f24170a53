"""Where players and events stand: in files of their own or, of a few games, on pages that they share.

Files of their own would take more room than what is in them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

import numpy as np

from ttt_cli.arrays import Places
from ttt_cli.folding import fold_all

OWN: Final = 3_000  # of the most games have a page of their own, whatever they played
FEW: Final = 20  # games that do not fill a page
BYTES: Final = 100_000  # of a shared page, roughly
_LONGEST: Final = 60
_OTHER: Final = re.compile("[^a-z0-9]+")
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)


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
