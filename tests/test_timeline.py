"""Games laid out in time, and time steps."""

import datetime as dt
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import make_games
from tests.support.cases import each
from ttt_cli import api
from ttt_cli.config.schema import Colours
from ttt_cli.games.read import read_games
from ttt_cli.periods import DAYS_PER_YEAR, STEPS_PER_YEAR, label, period_of
from ttt_cli.reading.reports import FileReport, Problem, ReadReport
from ttt_cli.timeline import KNOWN, UNKNOWN, build_timeline

EPOCH = dt.date(1970, 1, 1)
dates = st.dates(dt.date(1, 1, 8), dt.date(2999, 12, 31))


def number(day, period):
    return int(period_of(np.array([(day - EPOCH).days], np.int32), period)[0])


@given(dates)
def test_labels_are_those_of_the_calendar(day):
    iso = day.isocalendar()
    expected = {
        "year": f"{day.year:04d}",
        "quarter": f"{day.year:04d}-Q{(day.month + 2) // 3}",
        "month": f"{day.year:04d}-{day.month:02d}",
        "week": f"{iso.year:04d}-W{iso.week:02d}",
        "day": day.isoformat(),
    }
    assert {period: label(number(day, period), period) for period in [*STEPS_PER_YEAR]} == expected


@given(dates, st.integers(0, 40_000), st.sampled_from([*STEPS_PER_YEAR]))
def test_periods_follow_the_calendar_and_steps_measure_years(day, later, period):
    other = day + dt.timedelta(days=later)
    if other.year > 9999:
        return
    steps = number(other, period) - number(day, period)
    assert steps >= 0
    assert (
        abs(steps / STEPS_PER_YEAR[period] - later / DAYS_PER_YEAR)
        < 1.01 / STEPS_PER_YEAR[period] + 0.01
    )


rows = st.lists(
    st.tuples(
        st.integers(1850, 1860),
        st.permutations("abcd").map(lambda p: (p[0], p[1])),
        st.integers(0, 2),
    ).map(lambda row: (row[0], *row[1], row[2])),
    min_size=1,
    max_size=30,
)


@given(rows)
def test_every_game_finds_its_two_nodes(games):
    table = make_games(games)
    timeline = build_timeline(table)
    assert timeline.n_games == len(games)
    for g in range(timeline.n_games):
        white, black = timeline.game_white[g], timeline.game_black[g]
        period = period_of(table.date[g : g + 1], "year")[0]
        assert timeline.node_player[white] == table.white[g]
        assert timeline.node_player[black] == table.black[g]
        assert timeline.node_period[white] == timeline.node_period[black] == period
        step = np.searchsorted(timeline.periods, period)
        assert timeline.game_start[step] <= g < timeline.game_start[step + 1]
        assert timeline.node_start[step] <= min(white, black)
        assert max(white, black) < timeline.node_start[step + 1]
    assert timeline.node_games.sum() == pytest.approx(2 * len(games))


@given(rows)
def test_chains_run_through_a_players_periods_in_order(games):
    timeline = build_timeline(make_games(games))
    for player in range(len(timeline.players)):
        nodes = np.flatnonzero(timeline.node_player == player)
        assert list(timeline.previous[nodes]) == [-1, *nodes[:-1]]
        assert list(timeline.next[nodes]) == [*nodes[1:], -1]
        years = timeline.node_period[nodes]
        assert list(timeline.gap_years[nodes]) == [0.0, *np.diff(years)]
        assert len(set(years)) == len(nodes)


def test_arrays_cannot_be_changed():
    timeline = build_timeline(make_games([(1850, "a", "b", 2)]))
    with pytest.raises(ValueError, match="read-only"):
        timeline.node_player[0] = 3


WINS = [(1900 + i % 3, f"p{i % 7}", f"p{(i + 1) % 7}", 2) for i in range(30)]


@each(
    "rows, colours, known",
    [
        (WINS, "auto", False),
        ([*WINS, (1901, "p1", "p2", 1)], "auto", False),  # draws tell nothing
        ([*WINS, (1901, "p1", "p2", 0)], "auto", True),
        (WINS[1:], "auto", True),  # may be chance
        (WINS, "known", True),
        (WINS[:5], "unknown", False),
    ],
)
def test_colours_are_unknown_where_the_winner_is_always_named_first(
    rows: list[tuple[int, str, str, int]], colours: Colours, known: bool
) -> None:
    timeline = build_timeline(make_games(rows), colours=colours)
    assert timeline.colours is known
    assert bool(timeline.notes) is (colours == "auto" and not known)


@pytest.mark.parametrize("colours", ["auto", "known", "unknown"])
def test_of_a_file_that_names_the_winner_first_among_others_colours_are_unknown(
    tmp_path: Path, colours: Colours
) -> None:
    """With such a file among others White's advantage came out three times too large."""
    for name, results in (("lists.csv", ["1-0"] * 30), ("games.csv", ["0-1"] * 3)):
        rows = [
            f"{1900 + i % 3},p{i % 7},p{(i + 1) % 7},{result}\n" for i, result in enumerate(results)
        ]
        (tmp_path / name).write_text("".join(["date,white,black,result\n", *rows]))
    games = read_games([tmp_path / "lists.csv", tmp_path / "games.csv"])
    assert [(one.reason, one.detail) for one in games.report.problems] == [
        ("winner named first", "in all 30 decisive records")
    ]
    reworded = [replace(problem, reason="winners come first") for problem in games.report.problems]
    games = replace(games, report=replace(games.report, problems=tuple(reworded)))
    timeline = build_timeline(games, colours=colours)
    named_first = np.array(
        [games.report.files[file].path.endswith("lists.csv") for file in games.source_file]
    )
    unknown = named_first if colours == "auto" else np.full(len(games), colours == "unknown")
    assert timeline.advantage_owner.tolist() == np.where(unknown, UNKNOWN, KNOWN).tolist()
    assert [note.partition(": colours")[0] for note in timeline.notes] == (
        [f"{tmp_path / 'lists.csv'}: the winner is always named first"] if colours == "auto" else []
    )


def test_two_files_of_one_name_differ_in_their_sides(tmp_path: Path) -> None:
    """The file of an update may have the name of an earlier one."""
    rows = [(1900, "a", "b", 2), (1901, "b", "a", 0)]
    games = make_games(rows)
    first = FileReport("games.csv", "csv", "00", 1, 1, 1, {}, winner_first=True)
    second = FileReport("games.csv", "csv", "11", 1, 1, 1, {})
    note = Problem("games.csv", 2, "winner named first", "by its columns", "kept")
    report = ReadReport((first, second), (note,))
    games = replace(games, source_file=np.array([0, 1], np.int32), report=report)
    assert build_timeline(games, colours="auto").advantage_owner.tolist() == [UNKNOWN, KNOWN]


def test_columns_of_winners_say_nothing_of_sides_however_few_their_games(tmp_path: Path) -> None:
    rows = [f"{19900101 + k},{'ab'[k % 2]},{'ba'[k % 2]}\n" for k in range(4)]
    (tmp_path / "a.csv").write_text("".join(["tourney_date,winner_name,loser_name\n", *rows]))
    games = api.read_games(tmp_path / "a.csv")
    assert [(one.reason, one.detail) for one in games.report.problems] == [
        ("winner named first", "by its columns")
    ]
    run = api.fit(games, white_advantage="estimate")
    assert run.meta.params["white_advantage"] == 0.0
    assert any("colours are taken as unknown" in note for note in run.meta.notes)
    told = api.fit(api.read_games(tmp_path / "a.csv", colours="known"), white_advantage=300)
    assert told.meta.log_evidence > run.meta.log_evidence
