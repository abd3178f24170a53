"""Sides and results as they are called: White, Black and 1-0 in chess, home, away and words elsewhere."""

from __future__ import annotations

import io
import re

import pytest

from tests.views.report.site.conftest import TOLD, run_of
from ttt_cli import api
from ttt_cli.runs.run import Run
from ttt_cli.views.event import event_game_rows, standing_rows
from ttt_cli.views.fewest_removals import LEFT_OUT_COLUMNS
from ttt_cli.views.player_book import book_rows
from ttt_cli.views.players import player_games
from ttt_cli.views.rankings.eligible import eligible
from ttt_cli.views.report.book import BookSettings, make_book
from ttt_cli.views.report.site import site_files
from ttt_cli.views.rows import Rows
from ttt_cli.views.sides import game_words
from ttt_cli.views.versus import side_by_side, versus_record, versus_view
from ttt_cli.views.why import why_rows

CUP = """date,home_team,away_team,home_score,away_score,tournament,city,neutral
2014-07-04,Brazil,Chile,1,1,Cup,Rio,FALSE
2014-07-08,Brazil,Germany,1,7,Cup,Rio,FALSE
2014-07-12,Chile,Germany,0,1,Cup,Rio,TRUE
2014-09-03,Chile,Brazil,0,2,Cup,Santiago,FALSE
"""
DUEL = "date,winner,loser\n2014-07-08,Federer,Nadal\n2014-07-12,Nadal,Federer\n"


def fitted(text: str, margin: str | None = None) -> Run:
    """A run of a file, with data.margin if a margin is given."""
    margins = [f"data.margin={margin}"] if margin else []
    config = api.configure(overrides=margins, model="ttt")
    return api.fit(io.BytesIO(text.encode()), config)


@pytest.fixture(scope="module")
def run() -> Run:
    return fitted(CUP)


@pytest.fixture(scope="module")
def goals() -> Run:
    return fitted(CUP, "score")


def column(rows: Rows, name: str) -> list:
    return [record[name] for record in rows.records()]


def test_games_of_an_event_have_the_sides_and_the_ground(run: Run) -> None:
    games = event_game_rows(run, "cup", 2014)
    assert games.columns == ("round", "date", "home", "away", "result", "expected", "ground")
    assert column(games, "result") == ["drawn", "away won", "away won", "away won"]
    assert column(games, "ground") == ["", "", "neutral", ""]


def test_performances_are_explained_as_those_of_newcomers(run: Run) -> None:
    assert (
        "performance: the skill that a newcomer would be given for these games alone, drawn towards 1200; "
        "compare performances with each other, not with skills"
    ) in standing_rows(run, "cup", 2014).title


def test_margins_are_written_where_the_run_has_them(goals: Run) -> None:
    assert column(event_game_rows(goals, "cup", 2014), "result") == [
        "drawn", "away won by 6", "away won by 1", "away won by 2",
    ]  # fmt: skip
    assert column(book_rows(goals, "Brazil", "games"), "result") == [
        "drawn",
        "lost by 6",
        "won by 2",
    ]


def test_games_of_a_player_have_sides_and_words(run: Run) -> None:
    games = book_rows(run, "Germany", "games")
    assert column(games, "side") == ["away", "neutral"]
    assert column(games, "result") == ["won", "won"]
    record, upsets = player_games(run, "Germany")
    assert "side" in record.columns
    assert "side" in upsets.columns
    short, _ = player_games(run, "Germany", short=True)
    assert short.columns[-3:] == ("at_home", "away", "neutral")


def test_reasons_name_the_sides(run: Run) -> None:
    reasons = why_rows(run, "Germany", 2014)
    assert reasons.columns[1:4] == ("home", "away", "result")
    assert {"if_home", "if_draw", "if_away"} <= {*reasons.columns}
    assert {*column(reasons, "result")} == {"drawn", "away won"}
    changes = [row for row in reasons.records() if row["result"] == "away won"]
    assert all(row["if_away"] is None and row["if_home"] is not None for row in changes)
    renamed = game_words(run).renamed(Rows(tuple(column.name for column in LEFT_OUT_COLUMNS), []))
    assert renamed.columns[1:3] == ("home", "away")


def test_predictions_name_the_sides_and_what_they_average(run: Run) -> None:
    view = versus_view(run, "Germany", "Brazil")
    (facts,) = view.report.records()
    assert {"win_home", "win_neutral", "win_away"} <= facts.keys()
    assert not [name for name in facts if "white" in name or "black" in name]
    screen = side_by_side(run, view.report)
    assert {"  at home", "  away", "  on neutral ground"} <= {what for what, *_ in screen.rows}
    assert screen.title[1:3] == (
        "a game and its expected score: averaged over home and away",
        "beaten and drawn: in the games of all years",
    )


def test_a_record_of_two_has_a_row_a_period_on_terminals(run: Run) -> None:
    view = versus_view(run, "Germany", "Brazil")
    assert column(versus_record(run, view.players), "side") == ["both", "away"]
    assert column(versus_record(run, view.players, short=True), "period") == ["2014"]
    assert view.notes_on_names == ()


def site_text(run: Run) -> dict[str, str]:
    """All files of a site by path."""
    return dict(site_files(make_book(BookSettings(run, eligible(run), "", 9))))


def test_a_site_has_no_results_and_colours_of_chess(goals: Run) -> None:
    site = site_text(goals)
    assert 'globalThis.SIDES = {"first":"home","second":"away","column":"side"};' in site["site.js"]
    assert "averaged over home and away" in site["compare.html"]
    pages = "\n".join(text for path, text in site.items() if path.endswith(".html"))
    assert not re.findall(r"\d–\d</td>|\tA\t|<th>white|<th>black|colours", pages)
    germany = site["players/germany.html"]
    assert "\taway\tBrazil\twon by 6\t" in germany
    (event,) = [text for path, text in site.items() if re.fullmatch(r"events/2014.*", path)]
    assert "Germany" in event


def test_chess_stays_as_it_is() -> None:
    chess = run_of(TOLD)
    words = game_words(chess)
    assert words.is_chess
    assert words.initials == ["W", "B", "N"]
    assert [words.result_of_game(outcome) for outcome in (0, 1, 2)] == ["0-1", "1/2-1/2", "1-0"]
    assert event_game_rows(chess, "new york", 1857).columns[2:] == (
        "white", "black", "result", "expected",
    )  # fmt: skip


def test_a_sport_without_home_sides_has_a_first_and_a_second() -> None:
    duel = fitted(DUEL)
    assert duel.meta.config["data"]["sides"] == ["first", "second"]
    games = book_rows(duel, "Nadal", "games")
    assert (column(games, "side"), column(games, "result")) == (
        ["second", "first"],
        ["lost", "won"],
    )
