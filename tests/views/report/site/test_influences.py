"""What moves the peaks of the best players stands on their pages."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.support.builders import fit_rows, make_games, random_rows
from tests.support.handmade import CONFIG
from tests.support.joint_runs import JOINT, PLAY
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import memory_run
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.report import influences
from ttt_cli.views.report.book import Book, BookSettings, make_book
from ttt_cli.views.report.influences import influences_of
from ttt_cli.views.report.shared_work import SharedWork, _Made
from ttt_cli.views.report.site import site_files
from ttt_cli.views.why import why_rows

EVERYBODY = Eligible(min_games=0.0, min_opponents=1)
ROWS = random_rows(3, 80, players=5, years=3)
EVENTS = ("", "London", "Paris", "Vienna")


@pytest.fixture(scope="module")
def run() -> Run:
    timeline, fit = fit_rows(ROWS, "ttt", JOINT, **PLAY)
    codes = np.arange(len(ROWS), dtype=np.int32) % len(EVENTS)
    games = replace(make_games(ROWS), event=CodedColumn(codes, [*EVENTS]))
    return memory_run(games, timeline, fit, CONFIG)


@pytest.fixture(scope="module")
def book(run: Run) -> Book:
    book = make_book(BookSettings(run, EVERYBODY, "", 9))
    return replace(book, influences=influences_of(book))


def test_changes_are_near_those_of_the_command(run: Run, book: Book) -> None:
    """First order beside the joint posterior without the games, for which all sites are matched again."""
    best = {
        player
        for ranking in book.rankings.by_year.values()
        for player, rank in ranking.rank.items()
        if rank <= influences.BEST
    }
    assert set(book.influences) == best
    for player, influence in book.influences.items():
        person = book.people.rows[player]
        for by, changes in {"game": influence.games, "event": influence.events}.items():
            table = why_rows(run, person.name, person.peak_period, None, by, len(changes))
            exact = [row["change"] for row in table.records()]
            points = sorted(change.points for change in changes)
            assert points == pytest.approx(sorted(exact), rel=0.15, abs=2.0)
        game = influence.games[0].number
        sides = (book.played.white[game], book.played.black[game])
        assert person.name in {book.people.rows[side].name for side in sides}


def test_pages_of_the_best_show_events_and_games(book: Book) -> None:
    pages = dict(site_files(book))
    player, influence = next(iter(book.influences.items()))
    name = book.people.rows[player].name
    section = pages[f"players/{name}.html"].partition("Why this peak</h2>")[2]
    cells = re.findall(r"<td>([+−]\d+)", section)
    shown = [*influence.events, *influence.games]
    assert cells[: len(shown)] == [f"{change.points:+.0f}".replace("-", "−") for change in shown]
    others = [
        person.name
        for number, person in enumerate(book.people.rows)
        if number not in book.influences
    ]
    assert all("Why this peak" not in pages[f"players/{other}.html"] for other in others)


def test_runs_without_influence_have_no_such_section() -> None:
    timeline, fit = fit_rows(ROWS, "elo")
    run = memory_run(make_games(ROWS), timeline, fit, CONFIG)
    book = make_book(BookSettings(run, EVERYBODY, "", 9))
    assert influences_of(book) == {}


def test_what_another_process_has_not_made_is_made_here(book: Book) -> None:
    alone = SharedWork(iter(()))
    assert alone.influences(book) == book.influences
    elsewhere = SharedWork(iter([_Made({}), _Made({}, ())]))
    assert elsewhere.influences(book) == {}
    assert list(elsewhere.files(book)) == []
