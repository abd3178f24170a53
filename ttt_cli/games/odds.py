"""Odds in chess: what players write, and how many Elo points the odds are worth."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ttt_cli.support.folding import fold

POINTS: Final[dict[str, float]] = {  # by `odds_words`
    "draw": 87, "exchange": 130, "exchange move": 182, "knight": 373, "knight move": 426, "knight pawn": 479,
    "knight for two move": 321, "mate square": 373, "move": 24, "pawn four move": 332, "pawn move": 163,
    "pawn three move": 271, "pawn two move": 219, "pawn for move": 113, "queen": 1008,
    "queen for pawn move": 851, "rook": 479, "rook knight": 799, "rook move": 539, "rook pawn": 591,
    "rook two pawn": 695, "rook pawn move": 651, "rook pawn two move": 712, "two knight": 747, "two move": 66,
}  # fmt: skip
_IGNORED_WORDS: Final = frozenset(
    ("a", "and", "at", "both", "by", "given", "giving", "in", "kings", "of", "odds", "on", "queens", "the", "with")
)  # fmt: skip
_SYNONYMS: Final = {
    "1": "one", "2": "two", "3": "three", "4": "four", "p": "pawn", "f7": "pawn", "kbp": "pawn", "n": "knight",
    "kt": "knight", "qn": "knight", "qkt": "knight", "kn": "knight", "r": "rook", "qr": "rook", "kr": "rook",
    "q": "queen", "m": "move", "exch": "exchange", "pieces": "knight", "knights": "knight", "moves": "move",
    "pawns": "pawn", "rooks": "rook", "draws": "draw", "pm": "pawn move", "p1": "pawn move",
    "p2": "pawn two", "p3": "pawn three", "p4": "pawn four",
}  # fmt: skip
_COUNTS: Final = ("one", "two", "three", "four")
_EVEN: Final = frozenset({"", "0", "even", "level", "none", "no", "nothing", "without"})


def odds_points(written: str, points_of: Mapping[str, float] = MappingProxyType({})) -> float:
    """Elo points of odds as written, positive if White usually receives them; 0 on even terms, NaN for unknown odds.

    Black gives odds if the receiver also has the move, else White. The points are POINTS, the estimates of the Edo
    ratings (section on odds games, figures of December 2023), or `points_of`, by `odds_words`.
    """
    if is_even(written):
        return 0.0
    key = odds_words(written)
    points = points_of.get(key, POINTS.get(key, math.nan))
    words = key.split()
    receiver_has_move = words[-1:] == ["move"] and "for" not in words
    return points if receiver_has_move else -points


def is_even(written: str) -> bool:
    """Whether no odds were given; `?` is unknown."""
    return odds_words(written) in _EVEN and "?" not in written


def odds_words(written: str) -> str:
    """One spelling of odds: `P & 2`, `pawn and two moves` and `odds of pawn and two` are the same."""
    words = [_SYNONYMS.get(word, word) for word in fold(written.replace("+", " ")).split()]
    words = [word for word in " ".join(words).split() if word not in _IGNORED_WORDS]
    if len(words) > 1 and words[-1] in _COUNTS and words[-2] == "pawn":
        words.append("move")
    return " ".join(word for word in words if word != "one")
