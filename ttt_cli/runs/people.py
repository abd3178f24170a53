"""People of a run."""

from collections.abc import Callable
from typing import Any

from ttt_cli.games.people import NO_PEOPLE, PeopleTable


def people_in(select: Callable[[str], list[tuple[Any, ...]]]) -> PeopleTable:
    """What a run knows of its players; `select` returns the rows of a query."""
    fields = tuple(name for (name,) in select("SELECT name FROM people_fields ORDER BY id"))
    if not fields:
        return NO_PEOPLE
    texts: dict[str, list[str]] = {}
    for player, index, text in select("SELECT player, field, value FROM people"):
        texts.setdefault(player, [""] * len(fields))[index] = text
    return PeopleTable(fields, {player: tuple(row) for player, row in texts.items()})
