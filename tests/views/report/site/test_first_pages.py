"""Highlights on the first page, sentences on those of years, folded rows, and the rivals of a player."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.views.report.site.conftest import TOLD, run_of
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.report.book import BookSettings, make_book
from ttt_cli.views.report.careers import rivals
from ttt_cli.views.report.highlights import highlights
from ttt_cli.views.report.markup import first_rows
from ttt_cli.views.report.player_pages import player_subject
from ttt_cli.views.report.record_page import find_records
from ttt_cli.views.report.year_pages import year_page

YEARS = 12
MATCHES = [
    ("c", 6, "b"),
    ("d", 3, "b"),
    ("e", 4, "b"),
    ("f", 2, "c"),
    ("g", 2, "d"),
]  # a's opponents and their foe
GAMES = [
    (str(1900 + year), first, second, "1-0", "Masters", "", str(number))
    for year in range(YEARS)
    for opponent, games, foe in MATCHES
    for number, (first, second) in enumerate([("a", opponent)] * games + [(foe, opponent)])
]


def test_every_highlight_is_a_first_record() -> None:
    book = make_book(BookSettings(run_of(GAMES), Eligible(), "", 99))
    records = find_records(book)
    sentences = re.findall("<li>(.*?)(?=<li>|</ul>)", highlights(book, records))
    kinds = [
        "reigns",
        "dominance",
        "uncrowned",
        "performances",
        "events",
        "unbeaten",
        "upsets",
        "rivalries",
    ]
    firsts = {kind: of_kind[0] for kind, of_kind in records.items() if of_kind}
    told = [
        kind for kind in kinds if kind in firsts or (kind == "dominance" and book.dominant.leads)
    ]
    assert len(sentences) == len(told) + 1  # the last leads to all records
    for kind, sentence in zip(told, sentences, strict=False):
        if kind == "dominance":
            lead = book.dominant.leads[0]
            assert f">{lead.player}</a>: {lead.lead:.0f}" in sentence
            assert f"in {lead.period}." in sentence
        else:
            name = firsts[kind].event if kind == "events" else firsts[kind].player
            assert f">{name}</a>" in sentence
    assert "dominance" in told
    assert sentences[-1] == "<a href=records.html>All records</a>"


def test_rivals_were_expected_to_score_most_against_the_player() -> None:
    book = make_book(BookSettings(run_of(GAMES), Eligible(), "", 99))
    player = book.people.number["a"]
    sides = book.played.of(player)
    lost = {}
    for opponent in np.unique(sides.opponent).tolist():
        against = sides.opponent == opponent
        lost[book.people.rows[opponent].name] = float((1.0 - sides.expected[against]).sum())
    names = [name for name, *_ in rivals(book, player)]
    assert names == sorted(lost, key=lambda name: -lost[name])[:3]
    assert rivals(make_book(BookSettings(run_of(TOLD[:2]), Eligible(), "", 9)), 0) == []


def test_a_year_begins_with_who_was_first_who_is_ranked_and_who_is_new() -> None:
    run = run_of(sorted([*GAMES, ("1905", "h", "a", "0-1", "Masters", "", "9")]))
    book = make_book(BookSettings(run, Eligible(min_games=5), "", 99))
    ranking = book.rankings.by_year[1905]
    first, second = (book.people.rows[player].name for player in ranking.id[:2].tolist())
    lead = ranking.mean[0] - ranking.mean[1]
    sentences = re.sub(
        "<[^>]+>", "", year_page(book, 1905).partition("<p>")[2].partition("</p>")[0]
    )
    assert sentences == (
        f"{first} was number one (probability {ranking.best[0]:.2f}), {lead:.0f} points ahead of {second}. "
        f"{len(ranking.id)} players are ranked: at least 5 games. 1 player has the first game in this year."
    )


def test_a_year_without_a_ranking_and_newcomers_begins_with_its_links() -> None:
    book = make_book(BookSettings(run_of(GAMES), Eligible(min_games=999), "", 99))
    page = year_page(book, 1905)
    assert "<p>" not in page
    assert "Nobody is eligible in this year." in page


@pytest.mark.parametrize(("rows", "folded"), [(3, 0), (4, 1), (9, 6)])
def test_rows_beyond_the_first_are_folded_in_a_table_of_their_own(rows: int, folded: int) -> None:
    numbers = [str(row) for row in range(rows)]
    html = first_rows("ranking", {"#no": numbers}, 3, "<p>all")
    shown, _, further = html.partition("<details>")
    assert re.findall(r"<td>(\d+)", shown + further) == numbers
    assert len(re.findall("<td>", further)) == folded
    assert (f"<summary>{folded} more</summary>" in html) == bool(folded)
    assert html.removesuffix("</details>").endswith("<p>all")


@pytest.mark.parametrize(("count", "summary"), [(20, ""), (21, "All games, 21")])
def test_more_than_twenty_games_of_a_player_are_folded_with_their_number(
    count: int, summary: str
) -> None:
    games = [(str(1900 + number), "a", "b", "1-0", "", "", "") for number in range(count)]
    book = make_book(BookSettings(run_of(games), Eligible(), "", 99))
    assert player_subject(book, book.people.number["a"]).summary == summary
