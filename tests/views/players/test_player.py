from collections.abc import Callable

import pytest

from ttt_cli.runs.run import Run
from ttt_cli.views.players import facts_line, player_view, shape_line


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run(further="draw_margin")


def test_rows_are_the_players_periods_in_order(run: Run) -> None:
    view = player_view(run, "anderssen")
    assert view.player == "Anderssen, Adolf"
    assert view.note == ""
    assert view.rows.columns == (
        *("player", "period", "mean", "sd", "games"),
        *("draw_margin", "draw_margin_sd"),
    )
    rows = list(view.rows.rows)
    assert [(row[0], row[1], row[4]) for row in rows] == [
        ("Anderssen, Adolf", year, games)
        for year, games in (("1858", 3), ("1859", 0), ("1860", 0), ("1861", 1), ("1862", 1))
    ]
    assert rows[0][2:4] == (1002.0, 50.0)


def test_the_title_says_who_when_and_how_well(run: Run) -> None:
    title = player_view(run, "anderssen").rows.title
    assert title[0] == "Anderssen, Adolf"
    assert title[1] == "1858–1862, 5 games (+1 =1 -3), peak 1006 ± 50 in 1862"
    assert title[2].startswith("d.ttt: ttt, 7 games 1857-1862")
    assert title[3].startswith("skill 1002 ")
    assert title[3].endswith(" 1006 points")


def test_the_title_can_keep_to_ascii(run: Run) -> None:
    title = player_view(run, "anderssen", ascii_only=True).rows.title
    assert all(line.isascii() for line in title)
    assert "peak 1006 +- 50" in title[1]


def test_a_single_year_and_game_read_well() -> None:
    facts = {"first": "1858", "last": "1858", "games": 1, "wins": 0.5, "draws": 0, "losses": 0.5,
             "peak_period": "1858", "peak_mean": 1200.4, "peak_sd": 99.6}  # fmt: skip
    assert facts_line(facts) == "1858, 1 game (+0.5 =0 -0.5), peak 1200 ± 100 in 1858"
    assert shape_line([1.0]) == ""


def test_a_long_history_fits_the_width() -> None:
    line = shape_line([float(i) for i in range(200)], width=40)
    assert len(line) == 40 + len("skill 0  199 points")
    assert shape_line([2500.0, 2600.0], unit="Elo").startswith("rating 2500 ")
