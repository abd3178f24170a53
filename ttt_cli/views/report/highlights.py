"""The most striking records of a run, a sentence each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ttt_cli.views.history.streaks import ORDER_OF_GAMES
from ttt_cli.views.rankings.dominance import OTHERS, LeadInPeriod
from ttt_cli.views.records.record import Record
from ttt_cli.views.report import markup
from ttt_cli.views.report.book import Book
from ttt_cli.views.report.record_page import RecordsByKind, event_link, player_link

Sentence = Callable[[Book, Record], str]


def highlights(book: Book, records: RecordsByKind) -> str:
    """A list of sentences, as HTML."""
    sentences = [
        sentence(book, records[kind][0])
        for kind, sentence in _SENTENCES.items()
        if records.get(kind)
    ]
    if book.dominant.leads:
        sentences.insert(1, _dominance(book, book.dominant.leads[0]))
    more = "<a href=records.html>All records</a>"
    return (
        f"<ul>{''.join([f'<li>{sentence}' for sentence in [*sentences, more]])}</ul>"
        if sentences
        else ""
    )


def _dominance(book: Book, lead: LeadInPeriod) -> str:
    return (
        f"The largest lead over the {OTHERS} best others is that of {player_link(book, lead.player)}: "
        f"{markup.skill(lead.lead, lead.sd)} points in {lead.period}."
    )


def _reign(book: Book, record: Record) -> str:
    years = "1 year" if record.figure == 1 else f"{markup.number(record.figure)} years"
    return f"{player_link(book, record.player)} was number one for the longest time: {years}, {_span(record)}."


def _uncrowned(book: Book, record: Record) -> str:
    skill = markup.skill(record.figure, record.sd)
    return f"The best who was never number one is {player_link(book, record.player)}: {skill} in {record.first}."


def _performance(book: Book, record: Record) -> str:
    points = f"{markup.number(record.points or 0.0)} of {markup.number(record.games or 0.0)}"
    return (
        f"The best performance in an event is that of {player_link(book, record.player)}, "
        f"{event_link(book, record.event)}: {markup.skill(record.figure, record.sd)} with {points} points."
    )


def _strongest_event(book: Book, record: Record) -> str:
    return f"The strongest event is {event_link(book, record.event)}: a mean skill of {record.figure:.0f}."


def _unbeaten(book: Book, record: Record) -> str:
    return (
        f"The longest series without a loss is that of {player_link(book, record.player)}: "
        f"{markup.number(record.figure)} games, {_span(record)}, {ORDER_OF_GAMES}."
    )


def _upset(book: Book, record: Record) -> str:
    where = event_link(book, record.event) if record.event else markup.date(record.first)
    return (
        f"The least expected win is that of {player_link(book, record.player)} over "
        f"{player_link(book, record.opponent or '')}, {where}: "
        f"an expected score of {markup.chance(record.figure)}."
    )


def _rivalry(book: Book, record: Record) -> str:
    points = record.points or 0.0
    return (
        f"The pair with most games is {player_link(book, record.player)} and "
        f"{player_link(book, record.opponent or '')}: {markup.number(record.figure)} games, "
        f"{markup.number(points)} to {markup.number(record.figure - points)}."
    )


def _span(record: Record) -> str:
    if record.first == record.last:
        return markup.date(record.first)
    return f"{markup.date(record.first)} to {markup.date(record.last)}"


# By the kind of records
_SENTENCES: Final[dict[str, Sentence]] = {
    "reigns": _reign,
    "uncrowned": _uncrowned,
    "performances": _performance,
    "events": _strongest_event,
    "unbeaten": _unbeaten,
    "upsets": _upset,
    "rivalries": _rivalry,
}
