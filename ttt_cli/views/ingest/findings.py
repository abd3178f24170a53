"""A reading, and what follows from it: worked out when it is first asked for, once."""

from collections.abc import Iterable
from functools import cached_property
from itertools import takewhile
from pathlib import PurePath
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.players.careers import Career, long_careers
from ttt_cli.games.players.suspects import Suspects, find_suspects
from ttt_cli.games.records import Records, games_of
from ttt_cli.games.selection.duplicates import Duplicates, find_duplicates
from ttt_cli.games.selection.groups import (
    Groups,
    Growth,
    Join,
    Tie,
    find_groups,
    find_joins,
    find_ties,
    groups_over_time,
)
from ttt_cli.games.table import Games
from ttt_cli.reading.reasons import DUPLICATE, FEW_GAMES, OTHER_GROUP, REJECT_CODE

_AFTER_DUPLICATES: Final = (0, REJECT_CODE[DUPLICATE], REJECT_CODE[FEW_GAMES], REJECT_CODE[OTHER_GROUP])


class Findings:
    """All records of a reading, the games that they gave, and what was found in them.

    `rows` are the records that are used, as indices; `played`, shape (rows,), the games behind each of them (more than
    one for a match), `drawn` those of them that were drawn, `year` when they were. With `short`, paths are
    shown as they are below `folder`, where all files are. Without `suspects` none are looked for.
    """

    def __init__(self, records: Records, *, short: bool = False, suspects: bool = True) -> None:
        self._look_for_suspects = suspects
        self.records = records
        self.folder = _folder(file.path for file in records.files) if short else ""
        self.rows: NDArray[np.int64] = np.flatnonzero(records.used)
        result = records.result.codes[self.rows]
        self.played: NDArray[np.int32] = records.tally.sum(axis=1).astype(np.int32)[result]
        self.drawn: NDArray[np.int32] = records.tally[:, 1].astype(np.int32)[result]
        self.year: NDArray[np.int16] = records.year[self.rows]

    def path(self, path: str) -> str:
        """A path as it is shown."""
        return path.removeprefix(f"{self.folder}/") if self.folder else path

    def place(self, row: int) -> str:
        """`file:line` of a record, as it is shown."""
        return self.path(self.records.place(row))

    @cached_property
    def games(self) -> Games:
        """The games that a fit would take."""
        return games_of(self.records)

    @cached_property
    def groups(self) -> Groups:
        """Groups of players tied by games."""
        return find_groups(self.games) if len(self.games) else Groups((), np.zeros(0, np.int32))

    @cached_property
    def ties(self) -> tuple[Tie, ...]:
        """Parts of groups that hang on one player."""
        return find_ties(self.games)

    @cached_property
    def joins(self) -> tuple[Join, ...]:
        """When large groups became one, the largest first."""
        return tuple(sorted(find_joins(self.games), key=lambda join: (-join.players, join.year)))

    @cached_property
    def growth(self) -> tuple[Growth, ...]:
        """Groups in the course of time."""
        return groups_over_time(self.games)

    @cached_property
    def suspects(self) -> Suspects:
        """Pairs of names that may be one person's."""
        return find_suspects(self.games) if self._look_for_suspects and len(self.games) else Suspects((), 0)

    @cached_property
    def long_careers(self) -> tuple[Career, ...]:
        """Names that may be two people's."""
        return long_careers(self.games) if len(self.games) else ()

    @cached_property
    def duplicates(self) -> Duplicates:
        """Records that repeat others: those that are used all the same, and those that were left out for it."""
        found = find_duplicates(self.records, self.records.with_codes(_AFTER_DUPLICATES))
        shown = np.isin(self.records.reject_code[found.row], _AFTER_DUPLICATES[:2])
        return Duplicates(found.row[shown], found.original[shown])


def _folder(paths: Iterable[str]) -> str:
    """The folder, or archive, in which all the files are; empty where there is none."""
    parents = [PurePath(path).parent.parts for path in paths]
    shared = [
        parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, zip(*parents, strict=False))
    ]
    return str(PurePath(*shared)) if shared else ""
