"""Groups of players: who is tied to whom by games, and since when.

Skills of two players can be compared when a chain of games leads from one to the other. Components of the graph of
players and games are groups; levels of different groups have nothing to do with each other.
"""

from dataclasses import dataclass

import numpy as np

from ttt_cli.arrays import Ids
from ttt_cli.games.records import years_of
from ttt_cli.games.table import Games
from ttt_cli.room import MEMORY, Room

Labels = Ids


@dataclass(frozen=True)
class Group:
    """Players tied by games. `leading` are those with the most games, at most three."""

    players: int
    games: int
    first: int  # year
    last: int
    leading: tuple[str, ...]


@dataclass(frozen=True)
class Groups:
    """All groups, those with more players (then games) first; `label`, shape (players,), tells the group of each."""

    groups: tuple[Group, ...]
    label: Labels

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def warning(self) -> str | None:
        """What a fit over several groups has to say, None when there is only one."""
        if len(self.groups) < 2:
            return None
        main = self.groups[0]
        outside = sum(group.players for group in self.groups[1:])
        return (
            f"{len(self.groups):,} groups of players not tied by any game: their levels are not comparable; "
            f"the largest has {main.players:,} players, {outside:,} are outside it"
        )


def label_groups(white: Ids, black: Ids, n_players: int, room: Room = MEMORY) -> Labels:
    """The group of each player, shape (n_players,), numbered from 0 by the number of players, then of games.

    Players without games are groups of their own, the last ones. `room` is where the games live. Takes time nearly
    linear in games and players.
    """
    from ttt_cli.kernels.ties import join_pairs

    first = np.arange(n_players, dtype=np.int32)
    for part in room.parts(len(white)):
        join_pairs(white[part], black[part], first)
    leads = first == np.arange(n_players)
    found = (np.cumsum(leads, dtype=np.int32) - 1)[first]
    players = np.bincount(found)
    games = np.zeros(len(players), np.int64)
    for part in room.parts(len(white)):
        games += np.bincount(found[white[part]], minlength=len(players))
    order = np.lexsort((np.arange(len(players)), -games, -players))
    rank = np.empty(len(players), np.int32)
    rank[order] = np.arange(len(players), dtype=np.int32)
    return np.take(rank, found)


def find_groups(games: Games) -> Groups:
    """The groups of the players of these games."""
    label = label_groups(games.white, games.black, len(games.players), games.room)
    count = int(label.max(initial=-1)) + 1
    played, size = np.zeros(len(label), np.int64), np.zeros(count, np.int64)
    first = np.full(count, np.iinfo(np.int16).max, np.int16)
    last = np.zeros(count, np.int16)
    for part in games.room.parts(len(games)):
        played += sum(np.bincount(ids[part], minlength=len(label)) for ids in (games.white, games.black))
        of_game, year = label[games.white[part]], years_of(games.date[part])
        size += np.bincount(of_game, minlength=count)
        np.minimum.at(first, of_game, year)
        np.maximum.at(last, of_game, year)
    order = np.lexsort((-played, label))
    start = np.searchsorted(label[order], np.arange(count + 1))
    groups = (
        Group(
            players=int(start[i + 1] - start[i]),
            games=int(size[i]),
            first=int(first[i]),
            last=int(last[i]),
            leading=tuple(
                games.players[p] for p in order[start[i] : min(start[i] + 3, start[i + 1])].tolist()
            ),
        )
        for i in range(count)
    )
    return Groups(tuple(groups), label)
