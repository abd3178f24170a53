"""Which of the records are wanted: the `data.filter` section, and how its texts are read."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator

from ttt_cli.config.document import Section, key

EventSet = Literal[
    "simul", "blindfold", "correspondence", "consultation", "odds", "rapid", "blitz", "variants", "set-up"
]
_YEARS = re.compile(r"\s*(\d{1,4})?\s*(?:(-)\s*(\d{1,4})?)?\s*", re.ASCII)


def year_range(years: str | int | list[int]) -> tuple[int, int]:
    """First and last year of `1850-1900`, `1850-`, `-1900`, `1850` or [1850, 1900]. Raises ValueError."""
    if isinstance(years, list):
        if len(years) != 2:
            raise ValueError("years are a first and a last one, for instance 1850-1900")
        first, last = years
    else:
        match = _YEARS.fullmatch(str(years))
        if match is None or not (match[1] or match[3]):
            raise ValueError(f"{years!r} is no range of years, for instance 1850-1900, 1850- or -1900")
        first = int(match[1] or 0)
        last = int(match[3] or 9999) if match[2] else first
    if first > last:
        raise ValueError(f"{first}-{last} goes backwards: perhaps {last}-{first} is meant")
    return first, last


def pattern_of(text: str) -> re.Pattern[str] | None:
    """The pattern of `/regular expression/`, None for plain words. Raises ValueError."""
    if len(text) < 3 or not (text.startswith("/") and text.endswith("/")):
        return None
    try:
        return re.compile(text[1:-1], re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{text} is no regular expression: {error}") from error


def _checked_years(years: str | int | list[int] | None) -> str | int | list[int] | None:
    if years is not None:
        year_range(years)
    return years


def _checked_patterns(texts: list[str]) -> list[str]:
    for text in texts:
        pattern_of(text)
        if not text.strip():
            raise ValueError("an empty text would match everything")
    return texts


Patterns = Annotated[list[str], AfterValidator(_checked_patterns)]


class FilterConfig(Section):
    """Which records are used; each key that leaves some out is counted as a reason."""

    years: Annotated[str | int | list[int] | None, AfterValidator(_checked_years)] = key(
        None, "first and last year, as in 1850-1900, 1850- or [1850, 1900]; null: all"
    )
    players: Patterns = key([], "games in which one of these plays, names or /patterns/; empty: everybody")
    among: bool = key(False, "only games in which both players are among `players`")
    events: Patterns = key([], "words or /patterns/ in event or site of the games that are used; empty: all")
    exclude: list[EventSet] = key([], "ready-made sets of events and positions that are not used")
    exclude_events: Patterns = key([], "words or /patterns/ in event or site of the games that are not used")
    dedupe: bool = key(False, "use only one of several records of the same game")
    min_games: int = key(0, "players with fewer games are left out, until all have as many", ge=0)
    largest_group: bool = key(False, "use only the largest group of players tied by games")
