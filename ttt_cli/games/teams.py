"""Teams of players that stand on a side of a game: who is in them, and with what share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.support.arrays import Array, Ids, Mask, Places

NO_TEAM: Final = 0  # the number of the team of a side that is one player


@dataclass(frozen=True)
class Teams:
    """Teams by number. The first one has nobody: it is that of sides that are one player.

    | name | shape | |
    |---|---|---|
    | start | (teams + 1,) | the first member of each team, and the number of members |
    | player | (members,) | index of the player; the first member also stands in `Games.white` or `Games.black` |
    | share | (members,) | of the game that the member played, 1 for all of it |
    """

    start: Places
    player: Ids
    share: Array

    def __len__(self) -> int:
        return len(self.start) - 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Teams):
            return NotImplemented
        pairs = ((self.start, other.start), (self.player, other.player), (self.share, other.share))
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    __hash__ = None  # type: ignore[assignment]

    @property
    def team_of_member(self) -> Places:
        """The team of each member, (members,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @property
    def size(self) -> Places:
        """Number of members of each team, (teams,)."""
        return np.diff(self.start)

    def first_players(self) -> Ids:
        """The first member of each team, (teams,); 0 for the team of nobody."""
        first = np.zeros(len(self), np.int32)
        has_members = self.size > 0
        first[has_members] = self.player[self.start[:-1][has_members]]
        return first

    def of_players(self, number: NDArray[np.integer]) -> Teams:
        """The teams with other numbers of players; `number` has that of each."""
        return Teams(self.start, number[self.player].astype(np.int32), self.share)

    def names(self, players: tuple[str, ...] | list[str]) -> list[str]:
        """The members of each team in one text."""
        texts = [
            players[player] if share == 1.0 else f"{players[player]} ({share:g})"
            for player, share in zip(self.player.tolist(), self.share.tolist(), strict=True)
        ]
        return [
            " / ".join(texts[begin:end])
            for begin, end in zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True)
        ]


def teams_of(members: Iterable[Mapping[int, float]]) -> Teams:
    """Teams of the shares by player of each, the team of nobody before them."""
    start = [0, 0]
    player: list[int] = []
    share: list[float] = []
    for of_team in members:
        player += of_team.keys()
        share += of_team.values()
        start.append(len(player))
    return Teams(np.array(start, np.int64), np.array(player, np.int32), np.array(share, np.float64))


NO_TEAMS: Final = teams_of([])


def joined_teams(first: Teams, second: Teams) -> Teams:
    """Two tables of teams: those of the second, but nobody's, follow those of the first."""
    return Teams(
        np.concatenate([first.start, second.start[2:] + first.start[-1]]),
        np.concatenate([first.player, second.player]),
        np.concatenate([first.share, second.share]),
    )


class UsedTeams(NamedTuple):
    """Teams that occur in columns, and these with new numbers of them."""

    teams: Teams
    white: Ids
    black: Ids


def without_unused_teams(teams: Teams, white: Ids, black: Ids) -> UsedTeams:
    """The teams that occur in the columns of sides, and these columns."""
    is_used = np.zeros(len(teams), np.bool_)
    is_used[NO_TEAM] = True
    is_used[white] = True
    is_used[black] = True
    number = (np.cumsum(is_used) - 1).astype(np.int32)
    of_used: Mask = is_used[teams.team_of_member]
    start = np.append(0, np.cumsum(teams.size[is_used])).astype(np.int64)
    used = Teams(start, teams.player[of_used], teams.share[of_used])
    return UsedTeams(used, number[white], number[black])
