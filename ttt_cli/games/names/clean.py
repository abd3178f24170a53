"""Texts and player names as they stand in files: decoding, what belongs to no name, and the names that are none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Final

from ttt_cli.games.names.extras import without_extras
from ttt_cli.games.names.neighbours import Neighbours
from ttt_cli.games.records import NO_PLAYER, UNNAMED_PLAYER

_INVISIBLE: Final = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\u00ad"))
_NOBODY: Final = re.compile(r"[\s?.,*_\-–—]*")
_UNNAMED: Final = re.compile(r"n[\s.,]*n[\s.]*|unknown|anonymous|unnamed", re.IGNORECASE)
_COMMA: Final = re.compile(r"\s*,[\s,]*")
_ENTITY: Final = re.compile(r"&(?:#\d+|#[xX][\da-fA-F]+|[A-Za-z]\w*);", re.ASCII)
_AT_ONCE: Final = 1 << 12  # values decoded together
_CAREFUL: Final = Neighbours(  # a name without any of these is clean and somebody's
    r"[^\nA-Za-z0-9 ,.'-]|\n[^A-Za-z0-9]| [ ,\n]|,[^ ]"  # other signs and blanks
    r"|Dr|DR|Pr|PR|Do|Re|He|Mr|Mo|Hr|Dh|[GIFCN]M|[ ,.'\n-][dp]"  # how titles begin
    r"|\n[NnUu]|[Yy][Mm]"  # the unnamed
)


def decode(raw: bytes) -> str:
    """Bytes as text: UTF-8, else cp1252, else (the five bytes cp1252 lacks) latin-1. Never fails."""
    for encoding in ("utf-8", "cp1252"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1")


def text_of(raw: object) -> str:
    """A value as text: bytes are decoded, and so are the bytes that `surrogateescape` left in a text."""
    if isinstance(raw, bytes):
        return decode(raw)
    text = str(raw)
    if not text.isascii() and any("\udc80" <= character <= "\udcff" for character in text):
        return decode(text.encode("utf-8", "surrogateescape"))
    return text


def texts_of(raws: Sequence[Any], text_of: Callable[[Any], str] = text_of) -> list[str]:
    """`text_of` of each; bytes that are valid UTF-8 are decoded many at once."""
    texts: list[str] = []
    for start in range(0, len(raws), _AT_ONCE):
        some = list(raws[start : start + _AT_ONCE])
        texts += _decoded(some) or map(text_of, some)
    return texts


def _decoded(raws: Sequence[Any]) -> list[str] | None:
    """Values as lines of one text; None when some are no bytes, or none in UTF-8, or hold line ends."""
    try:
        texts = b"\n".join(raws).decode("utf-8").split("\n")
    except (TypeError, UnicodeDecodeError):
        return None
    return texts if len(texts) == len(raws) else None


def careful_names(texts: Sequence[str]) -> list[int]:
    """The numbers of those texts that may not be the clean names of players, in order; of all others it is certain."""
    numbers: list[int] = _CAREFUL.among(texts).tolist()
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
