"""Texts and player names as they stand in files: decoding, blanks, and the names that are none."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ttt_cli.games.records import NO_PLAYER, UNNAMED_PLAYER

_INVISIBLE: Final = dict.fromkeys(map(ord, "\ufeff\u200b\u200e\u200f\u00ad"))
_NOBODY: Final = re.compile(r"[\s?.,*_\-–—]*")
_UNNAMED: Final = re.compile(r"n[\s.,]*n[\s.]*|unknown|anonymous|unnamed", re.IGNORECASE)


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


def clean_name(raw: object) -> str:
    """A player's name with single blanks between words, composed characters (NFC) and no invisible ones."""
    text = text_of(raw)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.translate(_INVISIBLE))
    return " ".join(text.split())


def not_a_player(name: str) -> str | None:
    """Why a cleaned name names nobody: `no player` or `unnamed player`; None when it does."""
    if _NOBODY.fullmatch(name):
        return NO_PLAYER
    if _UNNAMED.fullmatch(name):
        return UNNAMED_PLAYER
    return None
