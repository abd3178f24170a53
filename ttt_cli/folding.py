"""The one rule by which spellings of a name are held to be the same.

A name is decomposed (NFKD), loses its accents and its case, letters that do not decompose (ø, ł, æ, ...)
become their usual ASCII spelling, apostrophes vanish, and every other run of punctuation or blanks becomes
one blank: `Müller-Öst, O'Neil  J.` and `muller ost oneil j` are the same.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_LETTERS: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t"}
)
_APOSTROPHES: Final = re.compile("['’‘ʼ`´]")
_OTHER: Final = re.compile(r"[\W_]+")


def fold(name: str) -> str:
    """The folded spelling: words of letters and digits, one blank between them; empty when there are none."""
    if name.isascii():
        text = name.lower()
    else:
        bare = _APOSTROPHES.sub("", name)  # before NFKD, which turns ´ into a blank and an accent
        decomposed = unicodedata.normalize("NFKD", bare.casefold())
        text = "".join(c for c in decomposed if not unicodedata.combining(c)).casefold().translate(_LETTERS)
    return _OTHER.sub(" ", _APOSTROPHES.sub("", text)).strip()


def fold_surname(name: str) -> str:
    """The folded surname: what stands before a comma, else the last word that is more than an initial."""
    before, comma, _ = name.partition(",")
    folded = fold(before)
    if comma and folded:
        return folded
    words = fold(name).split()
    return next((word for word in reversed(words) if len(word) > 1), words[-1] if words else "")
