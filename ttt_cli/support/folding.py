"""The one rule for equal spellings of a name.

A name is decomposed (NFKD) and loses accents and case; letters that do not decompose (ø, ł, æ, ...) get their usual
ASCII spelling, apostrophes vanish, and other punctuation becomes one blank: `Müller-Öst, O'Neil  J.` and `muller ost
oneil j` are equal.
"""

import re
import unicodedata
from collections.abc import Sequence
from string import ascii_letters, digits
from typing import Final

_LETTERS: Final = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "æ": "ae",
        "œ": "oe",
        "ı": "i",
        "ħ": "h",
        "ŧ": "t",
    }
)
_APOSTROPHES: Final = re.compile("['’‘ʼ`´]")
_OTHER: Final = re.compile(r"[\W_]+")
_SIGNS: Final = {code: " " for code in range(128) if chr(code) not in ascii_letters + digits}
_IN_LINES: Final = _SIGNS | {ord("\n"): "\n", ord("'"): None, ord("`"): None}  # of ASCII text


def fold(name: str) -> str:
    """The folded spelling: words of letters and digits, separated by single blanks; may be empty."""
    if name.isascii():
        text = name.lower()
    else:
        bare = _APOSTROPHES.sub("", name)  # before NFKD, which turns ´ into a blank and an accent
        decomposed = unicodedata.normalize("NFKD", bare.casefold())
        text = (
            "".join(c for c in decomposed if not unicodedata.combining(c))
            .casefold()
            .translate(_LETTERS)
        )
    return _OTHER.sub(" ", _APOSTROPHES.sub("", text)).strip()


def fold_all(names: Sequence[str]) -> list[str]:
    """`fold` of each name, faster: ASCII names are folded as lines of one text."""
    plain = [name if name.isascii() and "\n" not in name else "" for name in names]
    text = "\n".join(plain).lower().translate(_IN_LINES)
    while "  " in text:
        text = text.replace("  ", " ")
    return [
        line.strip() if ascii_name or not name else fold(name)
        for name, ascii_name, line in zip(names, plain, text.split("\n"), strict=False)
    ]


def fold_surname(name: str) -> str:
    """The folded surname: the words before a comma, else the last word that is more than an initial."""
    before, comma, _ = name.partition(",")
    return (comma and fold(before)) or _last_word(fold(name))


def fold_surnames(names: Sequence[str], folded: Sequence[str]) -> list[str]:
    """`fold_surname` of each name, given `fold_all` of them."""
    surnames = fold_all([name.partition(",")[0] if "," in name else "" for name in names])
    return [
        surname or _last_word(full_name)
        for surname, full_name in zip(surnames, folded, strict=True)
    ]


def _last_word(folded: str) -> str:
    """The last word that is more than an initial, else the last one; empty without words."""
    last = folded.rpartition(" ")[2]
    if len(last) > 1:
        return last
    words = folded.split()
    return next((word for word in reversed(words) if len(word) > 1), words[-1] if words else "")
