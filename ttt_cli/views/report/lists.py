"""The lists of all players, events and years of a site."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.views.rankings.peaks import find_peaks
from ttt_cli.views.report import markup
from ttt_cli.views.report.book import Book
from ttt_cli.views.report.subjects import SubjectPage
from ttt_cli.views.rows import counted

_LISTED: Final = 1500  # players or events in one list


class ListPart(NamedTuple):
    """A page of a list.

    `file`: its name. `span`: what of the list it has. `rows`: positions in the columns of the list.
    """

    file: str
    span: str
    rows: Sequence[int]


def player_lists(book: Book) -> Iterator[SubjectPage]:
    """A page of the strongest players, those eligible first, and pages of all by name if these are more."""
    people = book.people.rows
    names = [person.name for person in people]
    table = {
        "player": book.player_pages.links("players/"),
        "#from": [str(person.first) for person in people],
        "#to": [str(person.last) for person in people],
        "#games": [markup.number(person.games) for person in people],
        "#highest skill": [markup.points(person.peak_mean) for person in people],
        "in": [person.peak_period for person in people],
        **book.fields_of(names),
    }
    eligible = {peak.player for peak in find_peaks(book.run, book.limits, None)}
    strongest = sorted(
        range(len(people)),
        key=lambda player: (names[player] not in eligible, -people[player].peak_mean),
    )[:_LISTED]
    parts = [ListPart("players.html", f"the {len(strongest):,} strongest", strongest)]
    if len(people) > _LISTED:
        by_name = sorted(range(len(people)), key=lambda player: people[player].folded)
        parts += _parts("players", by_name, names)
    return _lists(book, "players", "Players", table, parts)


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
    first, *others = _parts("events", range(len(events)), years)
    return _lists(book, "events", "Events", table, [first._replace(file="events.html"), *others])


def _parts(name: str, order: Sequence[int], keys: Sequence[str]) -> list[ListPart]:
    """The pages of a list in an order; `keys`: for the span of each. One page without any rows."""
    parts = []
    for number, start in enumerate(range(0, max(len(order), 1), _LISTED), 1):
        rows = order[start : start + _LISTED]
        span = f"{keys[rows[0]]} – {keys[rows[-1]]}" if rows else ""
        parts.append(ListPart(f"{name}~{number}.html", span, rows))
    return parts


def _lists(
    book: Book, name: str, title: str, table: dict[str, list[str]], parts: Sequence[ListPart]
) -> Iterator[SubjectPage]:
    """The pages of a list, each with links to all of them."""
    (column, *_) = table.values()
    total = f"{len(column):,} in all"
    links = "".join(f"<li>{markup.link(part.file, part.span)}" for part in parts)
    all_parts = markup.section("All", f"<ul>{links}</ul>" if len(parts) > 1 else "")
    for part in parts:
        columns = {head: [column[row] for row in part.rows] for head, column in table.items()}
        content = markup.table(name, columns) or markup.note(f"No {name} are known in this run.")
        facts = f"{total}; here {part.span}" if len(parts) > 1 else total
        yield SubjectPage(
            part.file, markup.page(book.title, title, content, all_parts, up="", facts=facts)
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
