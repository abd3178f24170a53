"""What a run knows of its players besides their games: as a table, and as further columns of other tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from ttt_cli.games.people import BORN, PeopleTable, date_in_years
from ttt_cli.periods import numbers_within, year_of
from ttt_cli.runs.people import people_in
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError, LookupFailed, suggested
from ttt_cli.views.rows import Rows

AGE: Final = "age"
PLAYER: Final = "player"
NO_PEOPLE_HINT: Final = (
    "`ttt fit FILE --people PEOPLE` makes a run that knows births, federations and the like"
)
# Columns with the period of an age; the first of them that a table has.
_PERIODS: Final = ("period", "peak_period", "last")
_ROUNDING: Final = 1e-9  # years


def age_in(birth: float, number: int, period: str) -> int:
    """Completed years in the middle of a period, from a birth in years."""
    return math.floor(exact_age(birth, number, period) + _ROUNDING)


def exact_age(birth: float, number: int, period: str) -> float:
    """Years from a birth to the middle of a period."""
    return year_of(number + 0.5, period) - birth


def first_period_at(birth: float, age: int, period: str) -> int:
    """The number of the first period in whose middle somebody has reached an age (`age_in`).

    The middle of period n is the year m + n y, with m that of period 0 and y years a period: n is the least number with
    m + n y >= birth + age.
    """
    middle_of_period_0 = year_of(0.5, period)
    years_a_period = year_of(1.0, period) - year_of(0.0, period)
    return math.ceil((birth + age - middle_of_period_0) / years_a_period - _ROUNDING)


@dataclass(frozen=True)
class RunPeople:
    """What a run knows of its players, and their ages in its periods."""

    run: Run

    @cached_property
    def table(self) -> PeopleTable:
        """The fields of the players."""
        return people_in(self.run.rows)

    @cached_property
    def births(self) -> dict[str, float]:
        """Births in years, of the players of whom they are known."""
        players = list(self.table.values)
        births = [date_in_years(text) for text in self.table.column(BORN, players)]
        return {
            player: birth
            for player, birth in zip(players, births, strict=True)
            if not math.isnan(birth)
        }

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields, `age` among them if there are births."""
        fields = self.table.fields
        return (*fields, AGE) if BORN in fields else fields

    def check(self, name: str, option: str) -> None:
        """Raise LookupFailed for a field that the run does not have."""
        if name not in self.fields:
            known = f"fields are {', '.join(self.fields)}" if self.fields else NO_PEOPLE_HINT
            raise LookupFailed(
                f"{option}: the run has no field {name!r} of players",
                where=self.run.name,
                hint=suggested(name, self.fields, known),
            )

    def value(self, player: str, name: str) -> str | None:
        """The text of a field of a player; None if it is not known."""
        texts = self.table.values.get(player)
        if texts is None:
            return None
        text = texts[self.table.fields.index(name)]
        return text or None

    def texts(self, name: str, players: Sequence[str], year: int | None = None) -> list[str]:
        """Texts of a field of players, empty where it is unknown; `age` is that in the middle of a year."""
        if name != AGE or year is None:
            return self.table.column(name, players)
        births = [self.births.get(player) for player in players]
        return [
            "" if birth is None else str(math.floor(year + 0.5 - birth + _ROUNDING))
            for birth in births
        ]

    def facts_line(self, player: str) -> str:
        """`born 1837-06-22, died 1884-07-10, federation USA`; empty if nothing is known."""
        facts = []
        for name in self.table.fields:
            value = self.value(player, name)
            if value is not None:
                facts.append(f"{name.replace('_', ' ')} {value}")
        return ", ".join(facts)


def with_fields(run: Run, rows: Rows, names: Sequence[str]) -> Rows:
    """The table with fields of the player of each row as its last columns; the age is that in the row's period.

    Raises LookupFailed for a field that the run does not have, ConfigError for one that the table has already.
    """
    if not names:
        return rows
    people = RunPeople(run)
    with run:
        for name in names:
            people.check(name, "--columns")
            if name in rows.columns:
                raise ConfigError(f"--columns: the table has a column {name} already")
        values = [_values_of(people, rows, name) for name in names]
    player_column = rows.columns.index(PLAYER)

    def extended() -> Iterator[tuple[Any, ...]]:
        for row in rows.rows:
            yield (*row, *(value(row[player_column], row) for value in values))

    is_list = isinstance(rows.rows, list)
    return replace(
        rows,
        columns=(*rows.columns, *names),
        rows=list(extended()) if is_list else extended(),
        parquet=None,
    )


def _values_of(
    people: RunPeople, rows: Rows, name: str
) -> Callable[[str, tuple[Any, ...]], str | int | None]:
    """The function of a player and a row that gives the value of a field."""
    if name != AGE:
        return lambda player, _: people.value(player, name)
    in_table = [column for column in _PERIODS if column in rows.columns]
    if not in_table:
        raise ConfigError("--columns: an age needs a period, which this table has not")
    period_column = rows.columns.index(in_table[0])
    births = people.births
    period: Any = people.run.meta.period

    def age(player: str, row: tuple[Any, ...]) -> int | None:
        label = row[period_column]
        if player not in births or label is None:
            return None
        return age_in(births[player], numbers_within(label, period)[0], period)

    return age
