"""Players who meet a condition on what is known of them, in the periods in which they do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ttt_cli.games.where import Condition, FieldComparison, comparisons, parse_condition
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError
from ttt_cli.views.name_lists import find_players
from ttt_cli.views.people import AGE, PLAYER, RunPeople, first_period_at
from ttt_cli.views.rows import Rows, counted

_CAREERS: Final = """
SELECT id, player, min(period_number), max(period_number) FROM spans JOIN names USING (player) GROUP BY ALL ORDER BY id
"""
_ALWAYS: Final = (-(2**31), 2**31 - 1)  # numbers of periods
_OLDEST: Final = 200  # years


class Span(NamedTuple):
    """Periods in which a player meets a condition: the player's id, and the numbers of the first and the last one."""

    player: int
    first: int
    last: int


class _CareerPeriods(NamedTuple):
    """A player, and the numbers of the first and the last period with games."""

    id: int
    player: str
    first: int
    last: int


@dataclass(frozen=True)
class PlayerFilter:
    """Players who meet a condition.

    `words`: the condition. `spans`: by player. `depends_on_period`: whether it says anything about ages.
    `in_career`: ids of players who meet it in a period from their first to their last game.
    """

    words: str
    spans: tuple[Span, ...]
    depends_on_period: bool
    in_career: tuple[int, ...]

    def players(self, player: str = "player") -> str:
        """The SQL condition that a player meets it in some period of the career; of numbers only."""
        ids = ", ".join([str(number) for number in self.in_career])
        return f"{player} IN (SELECT player FROM names WHERE id IN ({ids}))" if ids else "false"

    def rows(self, player: str = "player", period_number: str = "period_number") -> str:
        """The SQL condition that a player meets it in a period; of numbers only."""
        if not self.spans:
            return "false"
        ids = [span.player for span in self.spans]
        if not self.depends_on_period:
            return f"{player} IN (SELECT player FROM names WHERE id IN (SELECT unnest({ids})))"
        first = [span.first for span in self.spans]
        last = [span.last for span in self.spans]
        return (
            "EXISTS (SELECT 1 FROM (SELECT player AS chosen_player, first_number, last_number FROM names JOIN "
            f"(SELECT unnest({ids}) AS id, unnest({first}) AS first_number, unnest({last}) AS last_number) "
            f"USING (id)) WHERE chosen_player = {player} AND {period_number} BETWEEN first_number AND last_number)"
        )


def find_filter(run: Run, text: str) -> PlayerFilter:
    """The players of a run who meet a condition. Raises ConfigError where it is malformed, LookupFailed."""
    condition = parse_condition(text)
    people = RunPeople(run)
    with run:
        mentioned = [comparison.field for comparison in comparisons(condition)]
        for name in mentioned:
            if name != PLAYER:
                people.check(name, "--where")
        ages = _turning_ages(condition)
        unknown_meet_it = condition.holds({}) is True
        spans: list[Span] = []
        in_career: list[int] = []
        for career in [_CareerPeriods(*row) for row in run.select(_CAREERS)[1]]:
            if career.player in people.table.values or PLAYER in mentioned:
                met = _spans_of(people, condition, career, ages)
            else:
                met = [Span(career.id, *_ALWAYS)] if unknown_meet_it else []
            spans += met
            if any(span.first <= career.last and span.last >= career.first for span in met):
                in_career.append(career.id)
    return PlayerFilter(text.strip(), tuple(spans), AGE in mentioned, tuple(in_career))


def only_players(run: Run, names: Sequence[str], among: PlayerFilter | None = None) -> PlayerFilter:
    """The players in a list (`ttt_cli.views.name_lists`) who also meet a condition, if any. Raises LookupFailed."""
    players = find_players(run, names).players
    rows = run.select(
        "SELECT id FROM names WHERE player IN (SELECT unnest(?)) ORDER BY id", [players]
    )[1]
    ids = {number for (number,) in rows}
    words = counted(len(players), "player")
    if among is None:
        spans = tuple(Span(number, *_ALWAYS) for number in sorted(ids))
        return PlayerFilter(
            f"only {words}", spans, depends_on_period=False, in_career=tuple(sorted(ids))
        )
    return PlayerFilter(
        f"only {words} with {among.words}",
        tuple(span for span in among.spans if span.player in ids),
        among.depends_on_period,
        tuple(number for number in among.in_career if number in ids),
    )


def _turning_ages(condition: Condition) -> list[int]:
    """The ages at which comparisons with the age may change, in order. Raises ConfigError for texts."""
    ages: set[int] = set()
    for comparison in comparisons(condition):
        if comparison.field != AGE or not isinstance(comparison, FieldComparison):
            continue
        for value in comparison.values:
            if isinstance(value, str):
                raise ConfigError(f"--where: age is a number, and {value!r} is a text")
            lower = math.floor(min(max(value, -1.0), _OLDEST))
            ages |= {lower, lower + 1}
    return sorted(ages)


def _spans_of(
    people: RunPeople, condition: Condition, career: _CareerPeriods, ages: Sequence[int]
) -> list[Span]:
    """The periods in which a player meets a condition that changes at these ages."""
    facts: dict[str, str | float | None] = {PLAYER: career.player}
    for name in people.table.fields:
        facts[name] = people.value(career.player, name)
    birth = people.births.get(career.player)
    if birth is None or not ages:
        age = None if birth is None else 0.0  # of which only counts that it is known
        return [Span(career.id, *_ALWAYS)] if condition.holds({**facts, AGE: age}) else []
    starts = [_ALWAYS[0], *(first_period_at(birth, age, people.run.meta.period) for age in ages)]
    ends = [*(start - 1 for start in starts[1:]), _ALWAYS[1]]
    ages_of_pieces = [ages[0] - 1, *ages]
    spans = []
    for first, last, age_of_piece in zip(starts, ends, ages_of_pieces, strict=True):
        if condition.holds({**facts, AGE: float(age_of_piece)}):
            spans.append(Span(career.id, first, last))
    return spans


def people_rows(run: Run, where: str | None = None) -> Rows:
    """The players of whom anything is known, with all fields: `player,born,died,...`.

    `where`: a condition that they meet at some time of their careers.
    """
    people = RunPeople(run)
    with run:
        players = list(people.table.values)
        if where is not None:
            chosen = find_filter(run, where)
            players = [
                player
                for (player,) in run.select(f"SELECT player FROM players WHERE {chosen.players()}")[
                    1
                ]
            ]
    rows = []
    for player in players:
        if player in people.table.values:
            rows.append((player, *(people.value(player, name) for name in people.table.fields)))
    return Rows((PLAYER, *people.table.fields), rows)
