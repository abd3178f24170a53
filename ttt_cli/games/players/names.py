"""Player names as they stand in files: what belongs to no name, and the names that are none."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from ttt_cli.games.players.neighbours import Neighbours
from ttt_cli.games.players.titles import without_extras
from ttt_cli.reading.decode import text_of
from ttt_cli.reading.reasons import NO_PLAYER, UNNAMED_PLAYER

_INVISIBLE: Final = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\u00ad"))
_NOBODY: Final = re.compile(r"[\s?.,*_\-–—]*")
_UNNAMED: Final = re.compile(r"n[\s.,]*n[\s.]*|unknown|anonymous|unnamed", re.IGNORECASE)
_COMMA: Final = re.compile(r"\s*,[\s,]*")
_ENTITY: Final = re.compile(r"&(?:#\d+|#[xX][\da-fA-F]+|[A-Za-z]\w*);", re.ASCII)
_SLOW_PATH: Final = Neighbours(  # a name without any of these is clean and somebody's
    r"[^\nA-Za-z0-9 ,.'-]|\n[^A-Za-z0-9]| [ ,\n]|,[^ ]"  # other signs and blanks
    r"|Dr|DR|Pr|PR|Do|Re|He|Mr|Mo|Hr|Dh|[GIFCN]M|[ ,.'\n-][dp]"  # how titles begin
    r"|\n[NnUu]|[Yy][Mm]"  # the unnamed
)


def unusual_names(texts: Sequence[str]) -> list[int]:
    """The numbers of those texts that may not be the clean names of players, in order; of all others it is certain."""
    numbers: list[int] = _SLOW_PATH.among(texts).tolist()
    return numbers


def clean_name(raw: object) -> str:
    """A player's name without what does not belong to it.

    Single blanks between words and one after a comma, HTML entities as their characters, composed characters (NFC) and
    no invisible ones; titles and the code of a country at the end are taken away (see `name_extras`).
    """
    name = text_of(raw)
    while (cleaner := _cleaned(name)) != name:
        name = cleaner
    return name


def _cleaned(text: str) -> str:
    if "&" in text and _ENTITY.search(text):
        import html

        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.translate(_INVISIBLE))
    text = " ".join(text.split())
    if "," in text and not _NOBODY.fullmatch(text):
        text = _COMMA.sub(", ", text).strip(", ")
    return without_extras(text)


def not_a_player(name: str) -> str | None:
    """Why a cleaned name names nobody: `no player` or `unnamed player`; None when it does."""
    if _NOBODY.fullmatch(name):
        return NO_PLAYER
    if _UNNAMED.fullmatch(name):
        return UNNAMED_PLAYER
    return None
