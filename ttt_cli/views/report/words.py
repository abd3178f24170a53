"""The words of a site in a language of one's own: a table from the English texts that `assets/words.txt` lists."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from ttt_cli.errors import DataError
from ttt_cli.reading.small import whole_text
from ttt_cli.reading.streams import Input
from ttt_cli.views.report.templates import asset

LANG: Final = "lang"  # the key of the language's own name, as in HTML
_NUMBER: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")
_NONE: Final[Mapping[str, str]] = {}
_SPOKEN: Final[ContextVar[Mapping[str, str]]] = ContextVar("words", default=_NONE)


@contextmanager
def speaking(words: Mapping[str, str] | None) -> Iterator[None]:
    """Pages are made in these words meanwhile."""
    token = _SPOKEN.set(words or _NONE)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def spoken() -> Mapping[str, str]:
    """The words in use: nothing in English."""
    return _SPOKEN.get()


def say(text: str, *values: object) -> str:
    """A text of a page in the language in use, with values in its places `{}`."""
    said = _SPOKEN.get().get(text, text)
    return said.format(*values) if values else said


def say_line(line: str) -> str:
    """A line that others wrote, with numbers in it: what is asked for has `{}` in their places."""
    if not _SPOKEN.get():
        return line
    pattern = _NUMBER.sub("{}", line)
    return say(pattern, *_NUMBER.findall(line)) if pattern in _SPOKEN.get() else line


def all_words() -> list[str]:
    """Every English text that may be said otherwise."""
    return asset("words.txt").splitlines()


def read_words(path: str) -> dict[str, str]:
    """Read a table of words: a JSON object of English texts and what to say instead, `lang` among them.

    Raises DataError where it is none, says what is never said, or loses a value.
    """
    source = Input(path)
    try:
        table = json.loads(whole_text(source, "a table of words"))
    except ValueError as error:
        raise DataError(f"is no JSON: {error}", where=source.name) from None
    if not isinstance(table, dict) or not all(isinstance(one, str) for one in table.values()):
        raise DataError("is no table of texts", where=source.name, hint='a line is "Players": "Spieler"')
    known = {LANG, *all_words()}
    for english, said in table.items():
        if english not in known:
            raise DataError(
                f"{english!r} is never said", where=source.name, hint="docs/site.md lists what is"
            )
        if english != LANG and said.count("{}") != english.count("{}"):
            raise DataError(f"{said!r} has not as many {{}} as {english!r}", where=source.name)
    return table
