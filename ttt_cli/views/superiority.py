"""For every pair of several players the probability that one is stronger than the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.entrants import (
    PEAK,
    EntrantRows,
    Entrants,
    entrants_in,
    find_entrants,
    stronger_than,
)
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.period import find_field
from ttt_cli.views.rows import Rows, finite
from ttt_cli.views.run import run_line
from ttt_cli.views.versus import TAKEN

PAIR_COLUMNS: Final = (
    Described("player", "", "name"),
    Described("period", "", "the period of the skill"),
    Described("mean", "points", "skill in the period"),
    Described("sd", "points", "uncertainty of the skill, one sd"),
    Described("NAME", "probability", "that the player is stronger than NAME", pattern=".*"),
)


def superiority_rows(run: Run, entrants: Entrants, *, numbered: bool = False) -> Rows:
    """The probability that the player of the row is stronger than that of the column.

    Columns are `PAIR_COLUMNS`, the last one for each player, called by the name; `numbered`: by the number of the row.
    Raises LookupFailed in systems without uncertainties.
    """
    if not entrants.has_sds:
        raise LookupFailed(
            f"{run.meta.model} has no uncertainties, so nobody is stronger with a probability"
        )
    with run:
        table = stronger_than(run, entrants)
    names = [entrant.player for entrant in entrants.players]
    heads = [str(number) for number in range(1, len(names) + 1)] if numbered else names
    rows: list[tuple[Any, ...]] = []
    for number, (entrant, chances) in enumerate(
        zip(entrants.players, table.tolist(), strict=True), 1
    ):
        skill = entrant.skill
        cells = (
            entrant.period,
            skill["mean"],
            skill["sd"],
            *(finite(chance) for chance in chances),
        )
        rows.append((number, entrant.player, *cells) if numbered else (entrant.player, *cells))
    decimals = {"mean": 0, "sd": 0} | dict.fromkeys(heads, 2)
    columns = (*column_names(PAIR_COLUMNS[:-1]), *heads)
    method = TAKEN["joint" if run.has_joint else "independent"]
    title = ("Probability that the row is stronger than the column", method, run_line(run))
    hidden = {"sd"}
    if len({entrant.period for entrant in entrants.players}) == 1:
        title = (f"{title[0]}, {entrants.players[0].period}", *title[1:])
        hidden.add("period")
    return Rows(("no", *columns) if numbered else columns, rows, title, decimals, frozenset(hidden))


def superiority_of_names(
    run: Run, names: Sequence[str], at: str | int | None, *, numbered: bool = False
) -> EntrantRows:
    """`superiority_rows` of players by name, in the order of the list; without `at` each at the peak.

    Raises LookupFailed.
    """
    with run:
        entrants = find_entrants(run, names, PEAK if at is None else at)
    notes = entrants.notes if at is not None else (*entrants.notes, "each at the peak")
    return EntrantRows(superiority_rows(run, entrants, numbered=numbered), notes)


def superiority_of_field(
    run: Run, at: str | int | None, limits: Eligible, number: int | None, *, numbered: bool = False
) -> Rows:
    """`superiority_rows` of the best of a period, the best first. Raises LookupFailed."""
    with run:
        field = find_field(run, at, limits)
        best = [field.players[index] for index in field.order("mean")[:number]]
        entrants = entrants_in(run, best, field.period)
    return superiority_rows(run, entrants, numbered=numbered)
