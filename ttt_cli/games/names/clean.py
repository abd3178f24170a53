"""Texts and player names as they stand in files: decoding, what belongs to no name, and the names that are none."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ttt_cli.games.names.extras import without_extras
from ttt_cli.games.records import NO_PLAYER, UNNAMED_PLAYER

_INVISIBLE: Final = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\u00ad"))
_NOBODY: Final = re.compile(r"[\s?.,*_\-–—]*")
_UNNAMED: Final = re.compile(r"n[\s.,]*n[\s.]*|unknown|anonymous|unnamed", re.IGNORECASE)
_COMMA: Final = re.compile(r"\s*,[\s,]*")
_ENTITY: Final = re.compile(r"&(?:#\d+|#[xX][\da-fA-F]+|[A-Za-z]\w*);", re.ASCII)


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
