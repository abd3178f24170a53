from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.handmade import CONFIG, fit_of, games_of, put_small_run
from ttt_cli.periods import year_of
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import memory_run
from ttt_cli.timeline import build_timeline
from ttt_cli.views.figures import figure as module
from ttt_cli.views.figures.figure import histories, leading_players
from ttt_cli.views.rankings import Eligible


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run()


def test_histories_come_in_the_order_asked_for(run: Run) -> None:
    found = histories(run, ["Paulsen, Louis", "nobody", "Anderssen, Adolf"])
    assert list(found) == ["Paulsen, Louis", "Anderssen, Adolf"]
    points = found["Anderssen, Adolf"]
    assert [(p.period, p.year, p.mean, p.games, p.margin) for p in points[:2]] == [
        ("1858", 1858.0, 1002.0, 3, None),
        ("1859", 1859.0, pytest.approx(1002 + 1 / 3, abs=2.0), 0, None),
    ]


def test_margins_are_read_where_there_are_some(tmp_path: Path) -> None:
    put_small_run(tmp_path / "d.ttt", further="draw_margin")
    (points,) = histories(open_run(tmp_path / "d.ttt"), ["Anderssen, Adolf"]).values()
    assert points[0].margin == pytest.approx(100.2)


def test_of_many_days_without_games_the_first_of_each_month_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    games = games_of([("1858-01-30", "A, a", "B, b", "1-0"), ("1858-03-20", "B, b", "A, a", "1-0")])
    timeline = build_timeline(games, "day")
    run = memory_run(games, timeline, fit_of(timeline), CONFIG)
    assert len(histories(run, ["A, a"])["A, a"]) == 50
    monkeypatch.setattr(module, "MANY_DAYS", 49)
    assert [(point.period, point.games) for point in histories(run, ["A, a"])["A, a"]] == [
        ("1858-01-30", 1), ("1858-02-01", 0), ("1858-03-01", 0), ("1858-03-20", 1),
    ]  # fmt: skip


@each(
    "number, period, year",
    [
        (1858, "year", 1858.0),
        (4 * 1858 + 2, "quarter", 1858.5),
        (12 * 1858 + 6, "month", 1858.5),
        (365, "day", 1970.999),
        (52, "week", 1970.997),
    ],
)
def test_periods_as_years(number: int, period: str, year: float) -> None:
    assert year_of(number, period) == pytest.approx(year, abs=1e-3)


def test_leaders_are_those_of_the_highest_mean_in_the_most_periods(run: Run) -> None:
    # means rise with the node's number: Paulsen leads when he plays, else Morphy or Anderssen
    expected: dict[str, int] = {}
    for (player,) in run.select(
        "SELECT arg_max(player, mean) FROM skills WHERE games > 0 GROUP BY period_number"
    )[1]:
        expected[player] = expected.get(player, 0) + 1
    ordered = sorted(expected, key=lambda player: (-expected[player], player))
    assert leading_players(run, 8, Eligible(0)) == ordered
    assert leading_players(run, 1, Eligible(0)) == ordered[:1]
    assert leading_players(run, 8, Eligible(0, 100)) == []
