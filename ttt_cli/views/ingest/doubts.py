"""What a fit of these games should be taken with: a line for each doubt, none where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ttt_cli.reading.batches import DUPLICATE, ENGINE, TEAM

if TYPE_CHECKING:
    from ttt_cli.games.table import Games

_EXAMPLES: Final = 3


def doubt_lines(games: Games) -> Iterator[str]:
    """Groups that cannot be compared, duplicates, teams and engines, names of two people and two names of one."""
    if not len(games):
        return
    from ttt_cli.games.players.careers import long_careers
    from ttt_cli.games.players.suspects import count_suspects
    from ttt_cli.games.selection.groups import find_groups

    if warning := find_groups(games).warning:
        yield f"{warning}; --largest-group keeps it alone"
    noticed = games.report.noticed
    if repeated := noticed.get(DUPLICATE, 0):
        yield f"{_count(repeated, 'row repeats', 'rows repeat')} another and counts again: --dedupe uses one of them"
    if several := noticed.get(TEAM, 0) + noticed.get(ENGINE, 0):
        yield f"{_count(several, 'row')} of teams or computers: data.drop can leave them out"
    if long := [career.name for career in long_careers(games)]:
        yield f"{_count(len(long), 'name')} with games over 60 years apart, perhaps two people: {_some(long)}"
    pairs, left_out = count_suspects(games)
    if pairs:
        yield f"{_count(pairs, 'pair')} of names may be one person's: `ttt games FILE... --suggest -` lists them"
    if left_out:
        yield f"{_count(left_out, 'name')} of frequent surnames not compared with all of their like"


def _some(names: Sequence[str]) -> str:
    return "; ".join(names[:_EXAMPLES]) + ("; ..." if len(names) > _EXAMPLES else "")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one}" if number == 1 else f"{number:,} {many or f'{one}s'}"
