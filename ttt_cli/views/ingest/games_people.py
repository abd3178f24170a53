"""Sections of the ingest report about who is who: groups, what ties them, duplicates, doubtful names."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, fields
from typing import Any, Final

import numpy as np

from ttt_cli.games.players.not_one_person import teams_and_engines
from ttt_cli.games.selection.ties import Growth, Join, Tie
from ttt_cli.reading.reasons import ENGINE, REJECT_CODE, TEAM
from ttt_cli.views.ingest.findings import Findings
from ttt_cli.views.rows import Rows

_CAREERS: Final = ("main_games", "main_first", "main_last", "synonym_games", "synonym_first", "synonym_last")


class _Made:
    """Rows that are made when they are asked for: `make` of 0 up to `count`."""

    def __init__(self, make: Callable[[int], tuple[Any, ...]], count: int) -> None:
        self._make = make
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return map(self._make, range(self._count))


def groups(findings: Findings) -> Rows:
    """Groups of players tied by games, those with more players first."""
    rows = [
        (number, group.players, group.games, group.first, group.last, "; ".join(group.leading))
        for number, group in enumerate(findings.groups.groups, 1)
    ]
    return Rows(("group", "players", "games", "first", "last", "leading"), rows)


def ties(findings: Findings) -> Rows:
    """Parts that hang on one player by few games, large parts first."""
    return _plain(Tie, findings.ties)


def joins(findings: Findings) -> Rows:
    """First games between two groups, large ones first; `players` are those of the smaller group."""
    return _plain(Join, findings.joins)


def growth(findings: Findings) -> Rows:
    """Players and groups up to each year."""
    return _plain(Growth, findings.growth)


def duplicates(findings: Findings) -> Rows:
    """Records that repeat another, and whether they are used all the same."""
    records, found = findings.records, findings.duplicates

    def made(number: int) -> tuple[Any, ...]:
        row, original = int(found.row[number]), int(found.original[number])
        return (
            *(findings.place(row), findings.place(original), records.date[row]),
            *(records.players[records.white[row]], records.players[records.black[row]], records.result[row]),
            bool(records.reject_code[row] == 0),
        )

    columns = ("record", "repeats", "date", "white", "black", "result", "used")
    return Rows(columns, _Made(made, len(found)), hidden=frozenset({"used"}))


def not_persons(findings: Findings) -> Rows:
    """Names of teams and of computer engines that stand in games, used or left out for it."""
    records = findings.records
    n = len(records.players)
    counted = np.flatnonzero(records.with_codes((0, REJECT_CODE[TEAM], REJECT_CODE[ENGINE])))
    counts, used = (
        sum((np.bincount(side[rows], minlength=n) for side in (records.white, records.black)), np.zeros(n, int))
        for rows in (counted, findings.rows)
    )  # fmt: skip
    rows = [
        (records.players[i], kind, int(counts[i]), int(used[i]))
        for kind, is_one in zip((TEAM, ENGINE), teams_and_engines(records.players), strict=True)
        for i in np.flatnonzero(is_one).tolist()
        if counts[i]
    ]
    return Rows(("name", "kind", "rows", "used"), sorted(rows, key=lambda row: (-row[2], row[0])))


def careers(findings: Findings) -> Rows:
    """Names whose games lie further apart than a lifetime at the board."""
    rows = [(c.name, c.games, c.first, c.last, c.last - c.first) for c in findings.long_careers]
    return Rows(("player", "games", "first", "last", "years"), rows)


def suspects(findings: Findings) -> Rows:
    """Pairs of names that may be one person's, likely ones first; `others` may be meant by the synonym instead.

    `shared` are opponents of both, `sure` whether `--suggest` makes one of them.
    """
    rows = [
        (
            *(s.synonym.name, s.main.name, s.kind, s.gap, s.others, s.shared, s.sure),
            *(s.main.games, s.main.first, s.main.last),
            *(s.synonym.games, s.synonym.first, s.synonym.last),
        )
        for s in findings.suspects.pairs
    ]
    return Rows(
        ("synonym", "main", "kind", "gap", "others", "shared", "sure", *_CAREERS),
        rows,
        hidden=frozenset(_CAREERS),
    )


def _plain(kind: type[Any], found: Sequence[Any]) -> Rows:
    return Rows(tuple(field.name for field in fields(kind)), [astuple(one) for one in found])
