"""Skills as the run works them out of its spans: those of `fitted`, with labels, in order, and by periods."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import fit_rows, make_games
from tests.support.cases import each
from tests.support.handmade import CONFIG, RECORDS, fit_of, games_of
from tests.support.laid_out import histories
from tests.support.strategies import examples
from ttt_cli.histories import chain_columns
from ttt_cli.periods import label
from ttt_cli.runs.write import memory_run
from ttt_cli.systems.registry import MODULES
from ttt_cli.timeline import build_timeline

ROWS = [
    (1850, "a", "b", 2), (1850, "b", "c", 1), (1850, "c", "a", 2), (1851, "b", "a", 1), (1857, "a", "c", 0),
    (1857, "b", "c", 2), (1890, "a", "b", 2), (1892, "b", "d", 0), (1895, "d", "c", 1), (1896, "d", "a", 1),
]  # fmt: skip


CAREER = {
    "growth": 150,
    "growth_years": 2.5,
    "decline": 12.5,
    "decline_after": 3.5,
    "early": 2,
    "early_years": 1.5,
}
SYSTEMS = [*((name, {}) for name in MODULES), *((name, CAREER) for name in ("ttt", "ttt-d", "trueskill"))]


@pytest.mark.slow
@each("model, given", SYSTEMS)
def test_every_system_is_shown_as_it_was_found(model: str, given: dict[str, float]) -> None:
    timeline, fit = fit_rows(ROWS, model, **given)
    expected = histories(timeline, fit)
    run = memory_run(make_games(ROWS), timeline, fit, CONFIG)
    skills = run.arrays("SELECT * FROM skills")
    assert [timeline.players[i] for i in expected.player] == skills["player"].tolist()
    assert np.array_equal(expected.period, skills["period_number"])
    assert np.array_equal(expected.games, skills["games"])
    nodes = run.arrays("SELECT * FROM nodes")
    for chain in fit.chains:
        for name in chain_columns(chain):
            assert skills[name] == pytest.approx(expected.columns[name], rel=1e-12, nan_ok=True)
            played = expected.columns[name][expected.games > 0]
            assert np.array_equal(nodes[name], played, equal_nan=True)


@pytest.mark.slow
@each("model, given", SYSTEMS)
def test_every_system_goes_on_after_the_last_game_as_it_was_found(
    model: str, given: dict[str, float]
) -> None:
    timeline, fit = fit_rows(ROWS, model, **given)
    expected = histories(timeline, fit, onward=True)
    run = memory_run(make_games(ROWS), timeline, fit, CONFIG)
    skills = run.arrays("SELECT * FROM skills_within(NULL, NULL, NULL)")
    assert [timeline.players[i] for i in expected.player] == skills["player"].tolist()
    assert np.array_equal(expected.period, skills["period_number"])
    for chain in fit.chains:
        for name in chain_columns(chain):
            assert skills[name] == pytest.approx(expected.columns[name], rel=1e-12, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("period", ["year", "quarter", "month", "week", "day"])
def test_labels_are_those_of_the_periods(period: str) -> None:
    records = [("0900", "Old, A", "Older, B", "1-0"), ("2101-12-31", "Old, A", "Older, B", "0-1")]
    games = games_of([*records[:1], *RECORDS, ("1999-12-30", "Öst, O", "New, N", "1-0"), *records[1:]])
    timeline = build_timeline(games, period)  # type: ignore[arg-type]
    run = memory_run(games, timeline, fit_of(timeline), CONFIG)
    rows = run.select("SELECT DISTINCT period_number, period FROM skills ORDER BY ALL")[1]
    assert rows == [(number, label(number, period)) for number, _ in rows]  # type: ignore[arg-type]
    assert rows == run.select("SELECT period_number, period FROM periods")[1]


games = st.lists(
    st.tuples(st.integers(1850, 1870), st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(0, 2)),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@given(games, st.none() | st.integers(1845, 1875), st.integers(0, 12), st.none() | st.integers(0, 9))
@examples(16)
def test_some_periods_are_those_rows_of_all(
    rows: list[tuple[int, str, str, int]], low: int | None, width: int, idle: int | None
) -> None:
    """Also in Elo; to `idle` periods after one with games, also after a player's last, to the last of all."""
    rows.sort()
    timeline, fit = fit_rows(rows, draw_margin=100)
    high = None if low is None else low + width
    stored = make_games(rows), timeline, fit, CONFIG
    points = memory_run(*stored)
    played = points.select("SELECT player, period_number FROM skills WHERE games > 0")[1]
    everything = "SELECT * FROM skills_within(NULL, NULL, NULL)"
    last_game = {
        (player, number): max(then for name, then in played if name == player and then <= number)
        for player, _, number, *_ in points.select(everything)[1]
    }
    assert {number for _, number in last_game} == set(range(rows[0][0], rows[-1][0] + 1))
    history = set(points.select("SELECT player, period_number FROM skills")[1])
    elo = [memory_run(*stored, scale=["a @ 1860 = 2000"])] if ("a", 1860) in history else []
    for run in (points, *elo):
        expected = [
            row
            for row in run.select(everything)[1]
            if (low is None or low <= row[2] <= low + width)
            and (idle is None or row[2] - last_game[row[0], row[2]] <= idle)
        ]
        assert run.select("SELECT * FROM skills_within(?, ?, ?)", [low, high, idle])[1] == expected
