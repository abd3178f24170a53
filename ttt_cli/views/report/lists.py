"""The lists of all players, events and years of a site."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ttt_cli.views.report import markup
from ttt_cli.views.report.book import Book
from ttt_cli.views.report.subjects import SubjectPage
from ttt_cli.views.rows import counted

_LISTED: Final = 1500  # players or events in one list


def player_lists(book: Book) -> Iterator[SubjectPage]:
    """Pages that list all players by name."""
    links = book.player_pages.links("players/")
    people = book.people.rows
    order = sorted(range(len(people)), key=lambda player: people[player].folded)
    rows = [people[player] for player in order]
    table = {
        "player": [links[player] for player in order],
        "#from": [str(person.first) for person in rows],
        "#to": [str(person.last) for person in rows],
        "#games": [markup.number(person.games) for person in rows],
        "#highest skill": [markup.points(person.peak_mean) for person in rows],
        "in": [person.peak_period for person in rows],
        **book.fields_of([person.name for person in rows]),
    }
    return _lists(book, "players", "Players", table, [person.name for person in rows])


def event_lists(book: Book) -> Iterator[SubjectPage]:
    """Pages that list all events by year."""
    events = book.events.rows
    years = [str(event.year) for event in events]
    table = {
        "year": years,
        "event": book.event_pages.links("events/"),
        "#games": [f"{event.games:,}" for event in events],
        "#players": [str(players) for players in np.diff(book.events.entries.starts)],
    }
    return _lists(book, "events", "Events", table, years)


def _lists(
    book: Book, name: str, title: str, table: dict[str, list[str]], keys: Sequence[str]
) -> Iterator[SubjectPage]:
    """Pages of a long list; `keys`: for the range in the title of each."""
    parts = [slice(start, start + _LISTED) for start in range(0, max(len(keys), 1), _LISTED)]
    files = [f"{name}.html", *(f"{name}~{number}.html" for number in range(2, len(parts) + 1))]
    spans = [f"{keys[part][0]} – {keys[part][-1]}" if keys else "" for part in parts]
    several = len(files) > 1
    total = f"{len(keys):,} in all"
    links = "".join(
        f"<li>{markup.link(file, span)}" for file, span in zip(files, spans, strict=True)
    )
    all_parts = markup.section("All", f"<ul>{links}</ul>" if several else "")
    for part, file, span in zip(parts, files, spans, strict=True):
        rows = markup.table(name, {head: column[part] for head, column in table.items()})
        facts = f"{total}; here {span}" if several else total
        content = rows or markup.note(f"No {name} are known in this run.")
        yield SubjectPage(
            file, markup.page(book.title, title, content, all_parts, up="", facts=facts)
        )


def year_list(book: Book) -> str:
    """The list of all years: number one, games, events."""
    years = book.years
    links = book.player_pages.links("players/")
    rankings = [book.rankings.by_year.get(year) for year in years]
    games = np.bincount(book.played.year - years[0], minlength=len(years))
    table = {
        "year": [markup.link(f"years/{year}.html", str(year)) for year in years],
        "number one": [links[ranking.id[0]] if ranking else "" for ranking in rankings],
        "#skill": [markup.points(ranking.mean[0]) if ranking else "" for ranking in rankings],
        "#games": [f"{count:,}" for count in games],
        "#ranked": [f"{len(ranking.id) if ranking else 0:,}" for ranking in rankings],
        "#events": [f"{len(book.events_in.get(year, [])):,}" for year in years],
    }
    listed = markup.table("years", table)
    return markup.page(book.title, "Years", listed, up="", facts=counted(len(years), "year"))
