"""The record book of a site: the best of every kind."""

from __future__ import annotations

from typing import Any, Final

from ttt_cli.views.columns import Column
from ttt_cli.views.events import EventData
from ttt_cli.views.records.record import EVENT, FIRST, LAST, OPPONENT, PLAYER, Record, RecordSource
from ttt_cli.views.records.table import RECORDS, title_of_kind, who_counts
from ttt_cli.views.report import markup
from ttt_cli.views.report.book import Book

_LISTED: Final = 10  # records of a kind
RecordsByKind = dict[str, list[Record]]


def find_records(book: Book) -> RecordsByKind:
    """The first records of every kind."""
    source = _source(book)
    return {name: kind.find(source) for name, kind in RECORDS.items()}


def _source(book: Book) -> RecordSource:
    data = EventData(book.played, book.events)
    return RecordSource(book.run, book.limits, number=_LISTED, already_read=data)


def record_page(book: Book, records: RecordsByKind) -> str:
    """The page of all kinds of records, with links to them at its top."""
    source = _source(book)
    sections = {}
    for name, kind in RECORDS.items():
        if records[name]:
            heading = title_of_kind(source, kind)
            table = _table(book, heading, kind.columns, records[name])
            sections[heading] = table + markup.note(who_counts(source, kind))
    links = "".join(
        f"<li>{markup.link(f'#{markup.anchor(heading)}', heading)}" for heading in sections
    )
    content = [markup.section(heading, html) for heading, html in sections.items()]
    facts = f"The first {_LISTED} of every kind; the command `ttt records` lists all"
    listed = f"<ul>{links}</ul>" if links else markup.note("There are no records in this run.")
    return markup.page(book.title, "Records", listed, *content, up="", facts=facts)


def _table(
    book: Book, name: str, columns: tuple[Column[Record], ...], records: list[Record]
) -> str:
    """The records of a kind; columns that are empty are left out."""
    table = {}
    for column in columns:
        heading = column.name.replace("_", " ")
        values = column.values(book.run, records)
        if all(value is None for value in values):
            continue
        if column in (PLAYER, OPPONENT):
            table[heading] = [player_link(book, name) for name in values]
        elif column is EVENT:
            table[heading] = [event_link(book, title) for title in values]
        elif all(isinstance(value, int | float | None) for value in values):
            table[f"#{heading}"] = [_number(value, column.decimals) for value in values]
        else:
            form = markup.date if column in (FIRST, LAST) else markup.text
            table[heading] = [form(value or "") for value in values]
    return markup.table(name, table)


def player_link(book: Book, name: str) -> str:
    """A link to the page of a player; several winners of an event are a text."""
    number = book.people.number.get(name)
    return markup.text(name) if number is None else book.player_pages.links("players/")[number]


def event_link(book: Book, title: str | None) -> str:
    """A link to the page of an event by its title."""
    index = book.event_numbers.get(title or "")
    if index is None:
        return markup.text(title or "–")
    address = book.event_pages.addresses[index]
    return markup.link(f"events/{address}", title or "") if address else markup.text(title or "")


def _number(value: Any, decimals: int | None) -> str:
    if value is None:
        return ""
    return markup.number(value) if decimals is None else f"{value:.{decimals}f}"
