"""Names of files for names of people and events, whatever those hold."""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from ttt_cli.folding import fold_all

_LONGEST: Final = 60
_OTHER: Final = re.compile("[^a-z0-9]+")
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
)


def slugs(names: Sequence[str]) -> list[str]:
    """A slug for each of these different names, of `a` to `z`, digits, `-` and `~`, no two alike.

    Names that fold to what others fold to, to nothing, to more than ASCII, or to what Windows keeps for itself have a
    hash of the name behind `~`.
    """
    folded = fold_all(names)
    plain = ["-".join(_OTHER.sub(" ", text).split())[:_LONGEST].strip("-") for text in folded]
    shared = Counter(plain)
    found = []
    for name, text, slug in zip(names, folded, plain, strict=True):
        whole = slug == text.replace(" ", "-") and slug not in _DEVICES
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
