"""Everything that the pages of a site show: tables of the run, and links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ttt_cli.games.people import BORN, DIED
from ttt_cli.runs.run import Run
from ttt_cli.views.history.events import Events, find_events
from ttt_cli.views.history.opponents import AllOpponents, all_opponents
from ttt_cli.views.history.people import People, read_people
from ttt_cli.views.history.played import PlayedGames, played_games
from ttt_cli.views.history.years import (
    YearRankings,
    YearSkills,
    plain_year_rankings,
    year_rankings,
    year_skills,
)
from ttt_cli.views.people import AGE, RunPeople
from ttt_cli.views.published_ratings import PublishedRatings
from ttt_cli.views.rankings.dominance import LeadInPeriod, Leads, largest_leads, lead_sds_from
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.report.links import PageLinks, event_links, player_links
from ttt_cli.views.report.markup import text
from ttt_cli.views.sides import GameWords, game_words

MOST_DOMINANT: Final = 50  # players on the first page
_SHOWN_FIELDS: Final = ("federation", "title")

if TYPE_CHECKING:
    from ttt_cli.views.report.peak_influence import Influences


@dataclass(frozen=True)
class Book:
    """The data of a site; players are numbers in the run's names, events are those of `events.rows`.

    `limits`: who is eligible. `published`: published ratings, if any. `opponents`: of all players. `skills`: skills
    by year. `rankings`: of every year. `player_pages`, `event_pages`: addresses and links. `event_names`: as HTML;
    last, a dash for no event. `event_numbers`: indices of events by title. `events_in`: the events of a year.
    `years`: those that have a page, from the first game to the last one with a game or a ranking. `words`: what
    sides and results are called. `about`: what else is known of players. `dominant`: the `MOST_DOMINANT` largest leads.
    `influences`: on the peaks of the best players.
    """

    run: Run
    title: str
    limits: Eligible
    published: PublishedRatings | None
    people: People
    played: PlayedGames
    opponents: AllOpponents
    skills: YearSkills
    rankings: YearRankings
    events: Events
    player_pages: PageLinks
    event_pages: PageLinks
    event_names: list[str]
    event_numbers: dict[str, int]
    events_in: dict[int, list[int]]
    years: list[int]
    words: GameWords
    about: RunPeople
    dominant: Leads
    influences: Influences = field(default_factory=dict)

    def fields_of(self, players: Sequence[str], year: int | None = None) -> dict[str, list[str]]:
        """Columns of a table with what is known of its players: ages in a year, or else births and deaths.

        Of the other fields federation and title are shown, each if it is known of any of the players.
        """
        dates = (BORN, DIED) if year is None else (AGE,)
        names = [name for name in (*dates, *_SHOWN_FIELDS) if name in self.about.fields]
        columns = {name: self.about.texts(name, players, year) for name in names}
        return {
            f"#{name}" if name == AGE else name: [text(value) for value in texts]
            for name, texts in columns.items()
            if any(texts)
        }

    @cached_property
    def lead_of(self) -> dict[str, LeadInPeriod]:
        """The largest lead of each of the most dominant players, by name."""
        return {lead.player: lead for lead in self.dominant.leads}


class BookSettings(NamedTuple):
    """What a site is made of.

    `limits`: who is eligible. `most`: this many players, those of the most games, have a page, and as many events.
    """

    run: Run
    limits: Eligible
    title: str
    most: int
    published: PublishedRatings | None = None


def make_book(settings: BookSettings) -> Book:
    """Read all data of a site from a run."""
    run, limits, *_ = settings
    people = read_people(run)
    leads = largest_leads(run, limits, MOST_DOMINANT)
    rankings = year_rankings(run, limits, people, leads.groups)
    dominant = leads.with_sds(lead_sds_from(leads.leads, rankings.covariances))
    return _make_book(settings, people, rankings, dominant)


def make_plain_book(settings: BookSettings) -> Book:
    """As `make_book`, without probabilities of being the strongest and without the most dominant players."""
    people = read_people(settings.run)
    rankings = YearRankings(plain_year_rankings(settings.run, settings.limits), "")
    return _make_book(settings, people, rankings, Leads([], ""))


def _make_book(
    settings: BookSettings, people: People, rankings: YearRankings, dominant: Leads
) -> Book:
    run, limits, title, most, published = settings
    played = played_games(run)
    skills = year_skills(run, people)
    events = find_events(played)
    events_in: dict[int, list[int]] = {}
    for index, event in enumerate(events.rows):
        events_in.setdefault(event.year, []).append(index)
    return Book(
        run, title, limits, published, people, played, all_opponents(played), skills, rankings, events,
        player_pages=player_links(people.rows, np.diff(played.side_order.starts), most),
        event_pages=event_links(events.rows, most),
        event_names=[*(text(event.name) for event in events.rows), "–"],
        event_numbers={event.title: index for index, event in enumerate(events.rows)},
        events_in=events_in,
        years=_years(played, rankings),
        words=game_words(run),
        about=RunPeople(run),
        dominant=dominant,
    )  # fmt: skip


def _years(played: PlayedGames, rankings: YearRankings) -> list[int]:
    """All years from the first game to the last one with a game or a ranking."""
    years = [*played.year[[0, -1]].tolist(), *rankings.by_year]
    return list(range(min(years), max(years) + 1))
