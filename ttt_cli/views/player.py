"""One player's history: rows, the facts above them, and a line that shows its shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.views.rows import Rows
from ttt_cli.views.sparkline import sparkline

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

_DECIMALS: Final = {"mean": 1, "sd": 1, "draw_margin": 1, "draw_margin_sd": 1}
_SKILLS: Final = "SELECT * EXCLUDE (period_number) FROM skills WHERE player = ? ORDER BY period_number"


@dataclass(frozen=True)
class PlayerView:
    """A player's rows, ready for the console; `note` names others who might have been meant, or is empty."""

    player: str
    rows: Rows
    note: str


def player_view(run: Run, name: str, *, width: int = 60, ascii_only: bool = False) -> PlayerView:
    """The history of the player whom `name` means: `player,period,mean,sd,games` and further columns.

    `width` bounds the sparkline; `ascii_only` keeps the title to ASCII. Raises LookupFailed.
    """
    with run:
        found = run.find_player(name)
        columns, rows = run.query(_SKILLS, [found.player])
        keys, records = run.query("SELECT * FROM players WHERE player = ?", [found.player])
    facts = dict(zip(keys, records[0], strict=True))
    means = [row[columns.index("mean")] for row in rows]
    shape = shape_line(means, width=width, ascii_only=ascii_only)
    head = found.player, facts_line(facts, ascii_only=ascii_only), f"{run.name}: {run.meta.describe()}"
    table = Rows(columns, rows, (*head, *([shape] if shape else [])), _DECIMALS, frozenset({"player"}))
    return PlayerView(found.player, table, found.note)


def facts_line(facts: Mapping[str, Any], *, ascii_only: bool = False) -> str:
    """Years, record and peak, from a row of the run's `players`."""
    dash, plus_minus = ("-", "+-") if ascii_only else ("–", "±")
    if facts["first"] is None:
        return "no games"
    years = facts["first"] if facts["first"] == facts["last"] else f"{facts['first']}{dash}{facts['last']}"
    games = "1 game" if facts["games"] == 1 else f"{facts['games']:.10g} games"
    record = f"+{facts['wins']:.10g} ={facts['draws']:.10g} -{facts['losses']:.10g}"
    peak = f"peak {facts['peak_mean']:.0f} {plus_minus} {facts['peak_sd']:.0f} in {facts['peak_period']}"
    return f"{years}, {games} ({record}), {peak}"


def shape_line(means: list[float], *, width: int = 60, ascii_only: bool = False) -> str:
    """The sparkline between the lowest and the highest mean; empty for fewer than two periods."""
    if len(means) < 2:
        return ""
    return f"{min(means):.0f} {sparkline(means, width=width, ascii_only=ascii_only)} {max(means):.0f}"
