"""Everything that the pages of a site are made from, asked of the run in a few queries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Final

import numpy as np

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import DATABASE, TEXTS
from ttt_cli.views.beside import Beside
from ttt_cli.views.players.record import NEUTRAL
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.strongest import NAMED, contest, settled
from ttt_cli.views.rankings.top import SEED
from ttt_cli.views.report.site.lines import addresses, named, slugs
from ttt_cli.views.report.site.markup import link, text
from ttt_cli.views.report.site.played import Event, Events, Played, find_events, played_games
from ttt_cli.views.report.words import say
from ttt_cli.views.run import side_names

FEW_GAMES: Final = 3  # of a player are all there is to say
_PLAYERS: Final = """
SELECT player, folded, games, wins, draws, losses, opponents, CAST(substr("first", 1, 4) AS INTEGER) AS "first",
       CAST(substr("last", 1, 4) AS INTEGER) AS "last", peak_period, peak_mean, peak_sd
FROM players JOIN names USING (player) ORDER BY id
"""
# Of a year the last period counts, in a history as in rankings.
_SKILLS: Final = """
SELECT id, CAST(substr(period, 1, 4) AS INTEGER) AS year, arg_max(mean, period_number) AS mean,
       arg_max(sd, period_number) AS sd, sum(games) AS games
FROM skills JOIN names USING (player) GROUP BY id, year ORDER BY id, year
"""
_RANKED: Final = """
SELECT CAST(substr(period, 1, 4) AS INTEGER) AS year, period_number, id, mean, sd, games
FROM ({rows}) ranked JOIN names USING (player)
WHERE period_number IN (SELECT max(period_number) FROM periods GROUP BY substr(period, 1, 4))
ORDER BY period_number, mean DESC, player
"""
CHANCES: Final = 10  # of a ranking's first players the probability of being the strongest is worked out


@dataclass(frozen=True)
class Person:
    """A row of the run's players, `first` and `last` as years.

    `page` is the address in the folder of players, `slug` the name in it; both None for one who has none.
    """

    name: str
    folded: str
    games: float
    wins: float
    draws: float
    losses: float
    opponents: int
    first: int
    last: int
    peak_period: str
    peak_mean: float
    peak_sd: float | None
    slug: str | None = None
    page: str | None = None


@dataclass(frozen=True)
class Years:
    """Rows of (id, year), by id, then year: skills at the end of a year; NaN sds where there are none.

    | name | shape | unit | |
    |---|---|---|---|
    | id, year | (rows,) | | player, number in the run's names |
    | mean, sd | (rows,) | run's scale | |
    | games | (rows,) | games | in the year |
    | starts | (players + 1,) | | the rows of each player |
    """

    id: Ids
    year: Ids
    mean: Array
    sd: Array
    games: Array

    @cached_property
    def starts(self) -> Places:
        """Where the rows of each player begin, and the end."""
        return np.searchsorted(self.id, np.arange(int(self.id.max(initial=-1)) + 2))


@dataclass(frozen=True)
class Ranking:
    """Who was eligible in the last period of a year, its `number`, by descending mean: arrays of shape (players,).

    `best`: the probabilities of being the strongest, of the first `CHANCES`; empty in a system without sds.
    """

    number: int
    id: Ids
    mean: Array
    sd: Array
    games: Array
    best: tuple[float, ...] = ()

    @cached_property
    def rank(self) -> dict[int, int]:
        """The rank of each player."""
        return {player: rank for rank, player in enumerate(self.id.tolist(), 1)}


def people(run: Run) -> list[Person]:
    """All players, by number in the run's names."""
    return [Person(*row) for row in run.query(_PLAYERS)[1]]


def histories(run: Run) -> Years:
    """The skills of all players at the end of every year of their careers."""
    return Years(**run.arrays(_SKILLS))


def rankings(run: Run, limits: Eligible, everybody: Sequence[Person]) -> tuple[dict[int, Ranking], str]:
    """The ranking of every year in which anybody is eligible, and how the probabilities were found."""
    rows, values = limits.always(run)
    found = run.arrays(_RANKED.format(rows=rows), values)
    year, number = found.pop("year"), found.pop("period_number")
    years, start = np.unique(year, return_index=True)
    end = [*start[1:].tolist(), len(year)][: len(years)]
    parts: dict[int, Ranking] = {}
    for one, low, high in zip(years.tolist(), start.tolist(), end, strict=True):
        columns: dict[str, Any] = {name: column[low:high] for name, column in found.items()}
        parts[one] = Ranking(int(number[low]), **columns)
    if np.isnan(found["sd"]).any() or not parts:
        return parts, ""
    contests = [
        contest(one.number, [everybody[at].name for at in one.id[:NAMED]], one.mean, one.sd, CHANCES)
        for one in parts.values()
    ]
    decided, remark, _ = settled(run, contests, SEED)
    return {
        at: replace(one, best=tuple(decision.p[:CHANCES].tolist()))
        for (at, one), decision in zip(parts.items(), decided, strict=True)
    }, remark


class Folder:
    """Players or events, whose pages are in one folder: by the way there, links to them and their fields in lines."""

    def __init__(self, found: Sequence[Person | Event]) -> None:
        self.links = cache(
            lambda way: [link(f"{way}{one.page}", one.name) if one.page else text(one.name) for one in found]
        )
        self.fields = cache(lambda way: [named(one.name, one.page, one.folded, way) for one in found])


@dataclass(frozen=True)
class Book:
    """What is in a site: `title` stands on every page, players are called by their numbers in the run's names.

    `remark` says how probabilities of being the strongest were found; `beside` are published ratings, if any.
    """

    run: Run
    limits: Eligible
    title: str
    people: list[Person]
    years: Years
    rankings: dict[int, Ranking]
    remark: str
    beside: Beside | None
    played: Played
    events: Events

    @cached_property
    def of_players(self) -> Folder:
        """How players are called in pages."""
        return Folder(self.people)

    @cached_property
    def of_events(self) -> Folder:
        """How events are called in pages."""
        return Folder(self.events.all)

    @cached_property
    def sides(self) -> list[str]:
        """What stands for the side named first, the other and neutral ground: their initials, if these differ."""
        names = [say(name) for name in (*side_names(self.run), NEUTRAL)]
        initials = [name[0].upper() for name in names]
        return initials if len(set(initials)) == len(names) else names

    @cached_property
    def event_names(self) -> list[str]:
        """The name of each event, as HTML, and at the end what stands for none."""
        return [*(text(event.name) for event in self.events.all), "–"]

    @cached_property
    def entry_event(self) -> Ids:
        """The event of each entry."""
        return np.repeat(np.arange(len(self.events.all)), np.diff(self.events.entry_starts))

    @cached_property
    def _entries(self) -> tuple[Places, Places]:
        order = np.argsort(self.events.player, kind="stable")
        return order, np.searchsorted(self.events.player[order], np.arange(len(self.people) + 1))

    def entries_of(self, player: int) -> list[int]:
        """The entries of a player, by year."""
        order, starts = self._entries
        found: list[int] = order[starts[player] : starts[player + 1]].tolist()
        return found

    @cached_property
    def all_years(self) -> list[int]:
        """The years that have a page: from the first game to the last period of the run."""
        known = [*self.played.year[:1].tolist(), *self.years.year[:1].tolist(), *self.rankings]
        return list(
            range(min(known, default=1), max([*self.played.year[-1:].tolist(), *known], default=0) + 1)
        )

    @cached_property
    def spellings(self) -> dict[str, list[str]]:
        """Other spellings of players' names that were united with them."""
        if not self.run.held_tables >= TEXTS:
            return {}
        found: dict[str, list[str]] = {}
        for player, spelling in self.run.query(f"SELECT * FROM {DATABASE}.main.spellings ORDER BY rowid")[1]:
            found.setdefault(player, []).append(spelling)
        return found

    @cached_property
    def events_in(self) -> dict[int, list[int]]:
        """The events of each year, by name."""
        found: dict[int, list[int]] = {}
        for at, event in enumerate(self.events.all):
            found.setdefault(event.year, []).append(at)
        return found

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each player by name."""
        return {one.name: at for at, one in enumerate(self.people)}

    @property
    def has_sd(self) -> bool:
        """Whether skills have an sd."""
        return not bool(np.isnan(self.years.sd).any())


def open_book(run: Run, limits: Eligible, title: str, most: int, beside: Beside | None = None) -> Book:
    """Ask a run for all that its site shows. The `most` players of the most games have a page, and as many events."""
    everybody, played = people(run), played_games(run)
    ahead = sorted(range(len(everybody)), key=lambda at: (-everybody[at].games, at))[:most]
    named: list[str | None] = [None] * len(everybody)
    every = slugs([one.name for one in everybody])
    for at in ahead:
        named[at] = every[at]
    pages = addresses(named, *_extent(everybody, played))
    with_pages = [
        replace(one, slug=slug, page=page) for one, slug, page in zip(everybody, named, pages, strict=True)
    ]
    ranked, remark = rankings(run, limits, everybody)
    events = find_events(run, played, most)
    return Book(run, limits, title, with_pages, histories(run), ranked, remark, beside, played, events)


def _extent(everybody: list[Person], played: Played) -> tuple[Places, Places]:
    """The number of records of each player's games, and roughly the bytes of what is said of him."""
    records = np.bincount(np.concatenate([played.white, played.black]), minlength=len(everybody)).astype(
        np.int64
    )
    years = np.array([one.last - one.first + 1 for one in everybody], np.int64)
    return records, 150 + 150 * records + np.where(records > FEW_GAMES, 2000 + 90 * years, 0)
