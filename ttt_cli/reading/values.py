"""Single texts of tables: whether a value is missing, and the number in it."""

import math
from typing import Final

MISSING_WORDS: Final = frozenset({"", "-", "?", "na", "n/a", "nan", "null", "none", "nil"})
_LOGICAL: Final = {
    **dict.fromkeys(("true", "t", "yes", "y"), 1.0),
    **dict.fromkeys(("false", "f", "no", "n"), 0.0),
}


def is_missing(text: str) -> bool:
    """Whether a text says that there is no value."""
    return text.strip().casefold() in MISSING_WORDS


def number_of(text: str) -> float:
    """The number in a text, with a point or a comma; 1 for true and yes, 0 for false and no; else NaN."""
    word = text.strip().casefold()
    if word in _LOGICAL:
        return _LOGICAL[word]
    try:
        number = float(word.replace(",", "."))
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def probability_of(text: str) -> float:
    """A probability above 0, 1 where nothing is written, else NaN."""
    number = number_of(text) if text else 1.0
    return number if 0.0 < number <= 1.0 else math.nan
