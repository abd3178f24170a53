"""What a fit of these games should be taken with: a line for each doubt, none where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ttt_cli.games.records import DUPLICATE, ENGINE, TEAM

if TYPE_CHECKING:
    from ttt_cli.games.table import Games

_EXAMPLES: Final = 3
_FEW_NAMES: Final = 10_000  # among which pairs are looked for; more take seconds
_FEW_GAMES: Final = 500_000


def doubt_lines(games: Games) -> Iterator[str]:
    """Groups that cannot be compared, duplicates, teams and engines, names of two people and two names of one.

    Takes about a third of a second for 3.5 million games and 200,000 players. Pairs of names are looked for in small
    tables only (10,000 names, 500,000 games); `ttt games` always looks for them.
    """
    if not len(games):
        return
    from ttt_cli.games.selection.groups import find_groups

    if warning := find_groups(games).warning:
        yield f"{warning}; --largest-group keeps it alone"
    noticed = games.report.noticed
    if repeated := noticed.get(DUPLICATE, 0):
        yield f"{_count(repeated, 'row repeats', 'rows repeat')} another and counts again: --dedupe uses one of them"
    if several := noticed.get(TEAM, 0) + noticed.get(ENGINE, 0):
        yield f"{_count(several, 'row')} of teams or computers: data.drop can leave them out"
    if long := _long_careers(games):
        yield f"{_count(len(long), 'name')} with games over 60 years apart, perhaps two people: {_some(long)}"
    if len(games.players) <= _FEW_NAMES and len(games) <= _FEW_GAMES:
        from ttt_cli.games.names.suspects import find_suspects

        if pairs := len(find_suspects(games)):
            yield f"{_count(pairs, 'pair')} of names may be one person's: `ttt games FILE... --suggest -` lists them"


def _long_careers(games: Games) -> list[str]:
    """As `suspects.long_careers`, in less time: games are sorted by date."""
    import numpy as np

    from ttt_cli.games.ledger import years_of
    from ttt_cli.games.names.suspects import LIFETIME

    n, earliest, latest = len(games.players), games.date[0], games.date[-1]
    first, last = np.full(n, latest), np.full(n, earliest)
    for ids in (games.white, games.black):
        opening, closing = np.full(n, latest), np.full(n, earliest)
        opening[ids[::-1]] = games.date[::-1]
        closing[ids] = games.date
        first, last = np.minimum(first, opening), np.maximum(last, closing)
    years = years_of(last).astype(int) - years_of(first)
    order = np.argsort(-years, kind="stable")
    return [games.players[i] for i in order[years[order] > LIFETIME].tolist()]


def _some(names: Sequence[str]) -> str:
    return "; ".join(names[:_EXAMPLES]) + ("; ..." if len(names) > _EXAMPLES else "")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one}" if number == 1 else f"{number:,} {many or f'{one}s'}"
