"""The words of a site in a language of one's own: a table from the English texts that `assets/words.txt` lists."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from ttt_cli.errors import DataError
from ttt_cli.reading.streams import Input
from ttt_cli.reading.text import whole_text
from ttt_cli.views.templates import asset

LANG: Final = "lang"  # the key of the language's own name, as in HTML
# Dates, too.
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]\d+)?(?:[-:T][QW]?\d+)*")
_APART: Final = re.compile(r"(; |: |, | \(|\))")  # what stands between phrases
_NAME: Final = "{name}"
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


def say(text: str, *values: object, **named: str) -> str:
    """A text of a page in the language in use, with values in its places `{}`."""
    said = _SPOKEN.get().get(text, text)
    return said.format(*values, **named) if values or named else said


def counted(count: int, one: str, many: str) -> str:
    """A number of things; `one` and `many` are texts with a `{}`."""
    return say(one if count == 1 else many, f"{count:,}")


def say_line(line: str) -> str:
    """A line that others wrote, as a whole or phrase by phrase.

    What is asked for has `{}` in place of every number, `{name}` in place of a name; other phrases stay.
    """
    if not _SPOKEN.get():
        return line
    if (whole := _said(line)) is not None:
        return whole
    return "".join(_said(part) or part for part in _APART.split(line))


def _said(phrase: str) -> str | None:
    """A phrase in other words, None where there are none for it."""
    table, core = _SPOKEN.get(), phrase.strip()
    pattern, numbers = _NUMBER.sub("{}", core), _NUMBER.findall(core)
    if core and pattern in table:
        return phrase.replace(core, say(pattern, *numbers))
    for key in table:
        before, name, after = key.partition(_NAME)
        if name and pattern.startswith(before) and pattern.endswith(after):
            first, last = numbers[: before.count("{}")], numbers[len(numbers) - after.count("{}") :]
            named = core.removeprefix(before.format(*first)).removesuffix(after.format(*last))
            return phrase.replace(core, say(key, *first, *last, name=named))
    return None


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
        if english != LANG and _places(said) != _places(english):
            raise DataError(f"{said!r} has not as many {{}} as {english!r}", where=source.name)
    return table


def _places(text: str) -> list[str]:
    """The places for values in a text."""
    return sorted(re.findall(r"\{\w*\}", text))
