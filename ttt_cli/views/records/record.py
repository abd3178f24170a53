"""What a record is, and what records are taken from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Ids, Mask, Places
from ttt_cli.views.columns import Column, each
from ttt_cli.views.events import EventData
from ttt_cli.views.history.event_names import NamedEvents, name_events
from ttt_cli.views.history.events import Events, find_events
from ttt_cli.views.history.performances import clean_score
from ttt_cli.views.history.played import PlayedGames, Sides, game_of, played_games
from ttt_cli.views.rankings.eligible import Eligible

_CHOSEN: Final = """
SELECT id FROM names JOIN players USING (player)
WHERE games >= {min_games} AND opponents >= {min_opponents} AND {chosen}
"""
_YEAR: Final = "CAST(substr(period, 1, 4) AS INTEGER)"


class Record(NamedTuple):
    """A record; what its kind does not have is None.

    `figure`: what is largest or smallest, in the unit of the kind. `sd`: uncertainty of the figure. `points`, `games`:
    scored in so many games. `first`, `last`: dates or periods.
    """

    rank: int
    player: str
    figure: float
    first: str
    last: str
    opponent: str | None = None
    sd: float | None = None
    points: float | None = None
    games: float | None = None
    event: str | None = None


@dataclass(frozen=True)
class RecordSource:
    """The run that records are taken from, and which of them count.

    `since`, `until`: years (None: any). `number`: of records (None: all). `already_read`: games and events of the run,
    if they have been read before.
    """

    run: Run
    limits: Eligible
    since: int | None = None
    until: int | None = None
    number: int | None = 20
    already_read: EventData | None = None

    @cached_property
    def played(self) -> PlayedGames:
        """The games of the run."""
        return self.already_read.played if self.already_read else played_games(self.run)

    @cached_property
    def events(self) -> Events:
        """The events of the run."""
        if self.already_read:
            return self.already_read.events
        return find_events(self.played, self.named_events)

    @cached_property
    def named_events(self) -> NamedEvents:
        """The names of the events, which take less time than the events."""
        return self.already_read.events.named if self.already_read else name_events(self.played)

    @cached_property
    def is_eligible(self) -> Mask:
        """Mask of the players who have enough games and opponents in the run and meet its conditions."""
        limits = self.limits
        chosen = "true" if limits.where is None else limits.where.players()
        query = _CHOSEN.format(
            min_games=limits.min_games, min_opponents=limits.min_opponents, chosen=chosen
        )
        mask = np.zeros(len(self.played.players), np.bool_)
        mask[[player for (player,) in self.run.select(query)[1]]] = True
        return mask

    def in_years(self, year: Ids) -> Mask:
        """Mask of the years that count."""
        first = -np.inf if self.since is None else self.since
        last = np.inf if self.until is None else self.until
        return np.asarray((year >= first) & (year <= last))

    @property
    def periods(self) -> str:
        """The SQL condition that the year of a `period` counts."""
        first = "true" if self.since is None else f"{_YEAR} >= {self.since}"
        last = "true" if self.until is None else f"{_YEAR} <= {self.until}"
        return f"{first} AND {last}"

    @cached_property
    def sides(self) -> Sides:
        """The games that count of eligible players, each from their side: by player, then in the run's order."""
        played = self.played
        order = played.side_order
        is_eligible = np.repeat(self.is_eligible, np.diff(order.starts))
        counts = is_eligible & self.in_years(played.year)[game_of(order.codes)]
        return played.sides_in_order(counts)

    def dates(self, games: Places) -> list[str]:
        """The dates of some games."""
        return self.played.dates_of(games)

    def event_titles(self, games: Places) -> list[str]:
        """The events of some games; empty for none."""
        return self.named_events.titles_of(games)


@dataclass(frozen=True)
class RecordKind:
    """A kind of records.

    `find`: the records, the best first. `heading`: what they are. `counted`: what counts besides the limits on players.
    `limited`: whether the limits on players apply: to all their games, to skills in a period, or not. `columns`: of the
    table.
    """

    find: Callable[[RecordSource], list[Record]]
    heading: str
    counted: str
    columns: tuple[Column[Record], ...]
    limited: Literal["games", "periods", "not"] = "games"


RANK: Final[Column[Record]] = Column(
    "rank", "", "place in the list", each(lambda record: record.rank), value_type="integer"
)
PLAYER: Final[Column[Record]] = Column(
    "player", "", "name", each(lambda record: record.player), nullable=True
)
OPPONENT: Final[Column[Record]] = Column(
    "opponent", "", "name", each(lambda record: record.opponent)
)
SD: Final[Column[Record]] = Column(
    "sd",
    "points",
    "uncertainty of the figure before, one sd",
    each(lambda record: record.sd),
    decimals=0,
)
POINTS: Final[Column[Record]] = Column(
    "points", "points of games", "points scored", each(lambda record: record.points), decimals=1
)
CLEAN_SCORE: Final[Column[Record]] = Column(
    "clean_score", "", "`all won` or `all lost`",
    each(lambda record: clean_score(record.points or 0.0, record.games or 0.0)), unfolded=True,
    nullable=True,
)  # fmt: skip
GAMES: Final[Column[Record]] = Column(
    "games", "games", "in so many games", each(lambda record: record.games)
)
FIRST: Final[Column[Record]] = Column(
    "from", "", "date of the first game, or first period", each(lambda record: record.first)
)
LAST: Final[Column[Record]] = Column(
    "to", "", "date of the last game, or last period", each(lambda record: record.last)
)
EVENT: Final[Column[Record]] = Column(
    "event", "", "event, with the year", each(lambda record: record.event)
)


def figure(name: str, unit: str, description: str, decimals: int | None = None) -> Column[Record]:
    """The column of the figure of a kind."""
    return Column(name, unit, description, each(lambda record: record.figure), decimals)
