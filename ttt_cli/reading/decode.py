"""Bytes as they stand in files, as text."""

from collections.abc import Callable, Sequence
from typing import Any, Final

_AT_ONCE: Final = 1 << 12  # values decoded together


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
