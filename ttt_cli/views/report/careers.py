"""What the page of a player begins with: a sentence, rivals of the time, and the best events."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.views.history.performances import clean_score
from ttt_cli.views.history.played import Sides
from ttt_cli.views.history.slices import rows_of
from ttt_cli.views.rankings.dominance import OTHERS
from ttt_cli.views.report import markup
from ttt_cli.views.report.book import Book

_RIVALS: Final = 3
_LEAST_GAMES: Final = 3  # against a rival, and of an event among the best
_BEST_EVENTS: Final = 8


class YearsInARow(NamedTuple):
    """Years in a row, the first and the last."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


def career_sentence(book: Book, player: int, sides: Sides) -> str:
    """What is known of the player, when the player was number one or ranked highest, and the score."""
    name = book.people.rows[player].name
    about = book.about.facts_line(name)
    points = float((sides.weight * sides.outcome).sum()) / 2.0
    games = float(sides.weight.sum())
    score = f"Scored {markup.number(points)} of {markup.number(games)} points"
    parts = [
        about[:1].upper() + about[1:],
        _highest_rank(book, player),
        _largest_lead(book, name),
        score,
    ]
    return " ".join([f"{part}." for part in parts if part])


def _highest_rank(book: Book, player: int) -> str:
    """The years as number one with the mean probability, or the best rank and its first year."""
    ranks = {
        year: ranking.rank[player]
        for year, ranking in sorted(book.rankings.by_year.items())
        if player in ranking.rank
    }
    if not ranks:
        return ""
    best = min(ranks.values())
    years = [year for year, rank in ranks.items() if rank == best]
    if best > 1:
        return f"Best rank {best}, in {years[0]}"
    spans = spans_of(years)
    words = f"Number one in {', '.join([str(span) for span in spans])}"
    chances = [
        book.rankings.by_year[year].best[0] for year in years if book.rankings.by_year[year].best
    ]
    if not chances:
        return words
    mean = "a mean probability" if len(chances) > 1 else "a probability"
    return f"{words}, with {mean} of {sum(chances) / len(chances):.2f}"


def _largest_lead(book: Book, name: str) -> str:
    """The dominance of one of the most dominant players; empty for others."""
    lead = book.lead_of.get(name)
    if lead is None:
        return ""
    return f"At most {markup.skill(lead.lead, lead.sd)} points ahead of the {OTHERS} best others, in {lead.period}"


def spans_of(years: list[int]) -> list[YearsInARow]:
    """Ascending years as spans of years in a row."""
    starts = [years[0], *(year for before, year in pairwise(years) if year > before + 1)]
    ends = [*(before for before, year in pairwise(years) if year > before + 1), years[-1]]
    return [YearsInARow(first, last) for first, last in zip(starts, ends, strict=True)]


def rivals(book: Book, player: int) -> list[list[Any]]:
    """The frequent and strong opponents: surname, first year and means in the player's years.

    They were expected to score most points against the player.
    """
    totals = book.opponents.of(player)
    often = np.flatnonzero(totals.games >= _LEAST_GAMES)
    expected_of_opponent = totals.games[often] - totals.expected[often]
    order = often[np.lexsort((totals.opponent[often], -expected_of_opponent))][:_RIVALS]
    years = book.skills.of(player).year
    histories = []
    for rival in totals.opponent[order].tolist():
        history = book.skills.of(rival)
        together = (history.year >= years[0]) & (history.year <= years[-1])
        if together.any():
            means = [markup.short(mean) for mean in history.mean[together].tolist()]
            surname = book.people.rows[rival].name.partition(",")[0]
            histories.append([surname, history.year[together].tolist()[0], means])
    return histories


def best_events(book: Book, player: int) -> str:
    """The contests of the highest performances; nothing of those of a few games."""
    entries = book.events.entries
    entry_of_side = entries.of_side[rows_of(book.played.side_order.starts, player)]
    of_player = np.unique(entry_of_side[entry_of_side >= 0]).astype(np.int64)
    of_player = of_player[entries.played[of_player] >= _LEAST_GAMES]
    performances = entries.performances_of(of_player)
    rated = np.flatnonzero(~np.isnan(performances.mean))
    best = rated[np.argsort(-performances.mean[rated], kind="stable")][:_BEST_EVENTS]
    best_entries = of_player[best]
    events = (np.searchsorted(entries.starts, best_entries, side="right") - 1).tolist()
    titles = book.event_pages.links("../events/")
    ranks = entries.rank[best_entries].tolist()
    table = {
        "year": [str(book.events.rows[event].year) for event in events],
        "event": [titles[event] for event in events],
        "#place": [str(rank or "") for rank in ranks],
        "#points": [
            f"{markup.number(points)} of {markup.number(games)}"
            for points, games in zip(
                entries.points[best_entries].tolist(),
                entries.played[best_entries].tolist(),
                strict=True,
            )
        ],
        "#expected": [
            markup.number(expected) for expected in entries.expected_of(best_entries).tolist()
        ],
        "#performance": [
            markup.with_clean_score(markup.skill(mean, sd), clean_score(points, games))
            for mean, sd, points, games in zip(
                performances.mean[best].tolist(),
                performances.sd[best].tolist(),
                entries.points[best_entries].tolist(),
                entries.played[best_entries].tolist(),
                strict=True,
            )
        ],
    }
    return markup.table("best events", table)
