"""Games at odds: what was given, by whom, and how many Elo points it is worth.

The points are the estimates of the Edo ratings (section on odds games, figures of December 2023).
"""

from collections.abc import Mapping
from typing import Final, Literal

from ttt_cli.folding import fold

Giver = Literal["white", "black"]

POINTS: Final[dict[str, float]] = {
    "draw": 87,
    "exchange": 130,
    "exchange and move": 182,
    "knight": 373,
    "knight and move": 426,
    "knight and pawn": 479,
    "knight for two moves": 321,
    "mate on a given square": 373,
    "move": 24,
    "pawn and four moves": 332,
    "pawn and move": 163,
    "pawn and three moves": 271,
    "pawn and two moves": 219,
    "pawn for the move": 113,
    "queen": 1008,
    "queen for pawn and move": 851,
    "rook": 479,
    "rook and knight": 799,
    "rook and move": 539,
    "rook and pawn": 591,
    "rook and two pawns": 695,
    "rook, pawn and move": 651,
    "rook, pawn and two moves": 712,
    "two knights": 747,
    "two moves": 66,
}
_IDLE: Final = frozenset(
    ("a", "and", "at", "both", "by", "given", "giving", "in", "kings", "of", "odds", "on", "queens", "the", "with")
)  # fmt: skip
_SAME: Final = {
    "1": "one", "2": "two", "3": "three", "4": "four", "p": "pawn", "f7": "pawn", "kbp": "pawn", "n": "knight",
    "kt": "knight", "qn": "knight", "qkt": "knight", "kn": "knight", "r": "rook", "qr": "rook", "kr": "rook",
    "q": "queen", "m": "move", "exch": "exchange", "pieces": "knight", "knights": "knight", "moves": "move",
    "pawns": "pawn", "rooks": "rook", "draws": "draw", "pm": "pawn move", "p1": "pawn move",
    "p2": "pawn two", "p3": "pawn three", "p4": "pawn four",
}  # fmt: skip
_COUNTS: Final = ("one", "two", "three", "four")
_EVEN: Final = frozenset({"", "0", "even", "level", "none", "no", "nothing", "without"})


class OddsTable:
    """Looks up odds as written; `further` are points of other odds, or instead of the usual ones."""

    def __init__(self, further: Mapping[str, float]) -> None:
        self._points = {_words(odds): points for odds, points in POINTS.items()}
        self._points |= {_words(odds): points for odds, points in further.items()}

    def points(self, written: str) -> float | None:
        """Elo points that the receiver gains, 0 for a game on even terms, None for odds that are not known."""
        return 0.0 if is_even(written) else self._points.get(_words(written))

    def tells(self, written: str) -> bool:
        """Whether a text can only be meant as odds: a plain number or nothing may mean anything."""
        if is_even(written):
            return any(map(str.isalpha, written))
        return self.points(written) is not None


def is_even(written: str) -> bool:
    """Whether no odds were given; `?` is not known."""
    return _words(written) in _EVEN and "?" not in written


def usual_giver(written: str) -> Giver:
    """Who gives the odds where nothing is said: Black if the receiver has the move besides, else White."""
    words = _words(written).split()
    return "black" if words and words[-1] == "move" and "for" not in words else "white"


def named_giver(text: str) -> Giver | None:
    """Who gives the odds, where the text is a colour."""
    word = fold(text)
    return "white" if word in ("white", "w") else "black" if word in ("black", "b") else None


def _words(written: str) -> str:
    """One spelling of odds: `P & 2`, `pawn and two moves` and `odds of pawn and two` are the same."""
    words = [_SAME.get(word, word) for word in fold(written.replace("+", " ")).split()]
    words = [word for word in " ".join(words).split() if word not in _IDLE]
    if words in (["queen", "knight"], ["queen", "rook"]):  # the queen's knight or rook
        words = words[1:]
    if len(words) > 1 and words[-1] in _COUNTS and words[-2] == "pawn":
        words.append("move")
    return " ".join(word for word in words if word != "one")
