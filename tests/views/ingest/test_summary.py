import math
from dataclasses import replace

import pytest

from tests.support.cases import each
from tests.support.handmade import CONFIG, RECORDS, REPORT, fit_of, games_of
from ttt_cli.runs.columns import describe
from ttt_cli.runs.meta import RunMeta
from ttt_cli.timeline import build_timeline
from ttt_cli.views.ingest import found_lines, reading_lines


@pytest.fixture
def meta() -> RunMeta:
    games = games_of(RECORDS)
    timeline = build_timeline(games)
    return describe(games, timeline, fit_of(timeline), CONFIG)


def test_files_rows_and_reasons_with_examples() -> None:
    lines = list(reading_lines(games_of(RECORDS, report=REPORT), "year"))
    assert lines == [
        "a.pgn: 5 rows, 3 games, 2 rows dropped",
        "b.csv: 4 rows, 4 games",
        "  dropped: bad date, 1 (a.pgn:40)",
        "  dropped: no result, 1 (a.pgn:12)",
        "  kept: duplicate tag, 1 (a.pgn:60)",
    ]


def test_many_problems_are_counted_and_the_first_shown() -> None:
    problem = REPORT.problems[2]
    report = replace(REPORT, problems=tuple(replace(problem, line=line) for line in range(1, 6)))
    games = games_of(RECORDS, report=report)
    assert "  kept: duplicate tag, 5 (a.pgn:1, a.pgn:2, a.pgn:3, ...)" in list(reading_lines(games, "year"))
    everything = list(reading_lines(games, "year", everything=True))
    assert [line for line in everything if "White" in line] == [f"    a.pgn:{i} White" for i in range(1, 6)]


def test_dropped_rows_without_a_listed_problem_are_still_counted() -> None:
    games = games_of(RECORDS, report=replace(REPORT, problems=()))
    assert "  dropped: no result, 1" in list(reading_lines(games, "year"))


def test_what_is_said_of_a_whole_column_is_shown() -> None:
    problem = replace(REPORT.problems[2], reason="unknown status", detail="each counts as 1: mate 7")
    lines = list(reading_lines(games_of(RECORDS, report=replace(REPORT, problems=(problem,))), "year"))
    assert "  kept: unknown status (a.pgn:60): each counts as 1: mate 7" in lines


@each("period, vague", [("year", 0), ("quarter", 5), ("month", 5), ("day", 6)])
def test_games_dated_less_exactly_than_the_period_are_counted(period: str, vague: int) -> None:
    lines = [line for line in reading_lines(games_of(RECORDS), period) if "less exactly" in line]
    assert [line.split()[0] for line in lines] == ([str(vague)] if vague else [])


def test_what_was_found(meta: RunMeta) -> None:
    assert list(found_lines(meta)) == [
        "ttt: TrueSkill Through Time: skills smoothed over all periods",
        "3 players, 7 games, 1857 to 1862, 8 player-years, 28.6 % drawn",
        "parameters: beta 480, tau 60, draw_margin 123.25",
        "log-evidence -1.333333 (-0.19048 a game)",
        "converged in 7 sweeps: all skills within 0.004 points",
        "2 updates left out for want of precision",
    ]


def test_not_converged_is_loud_and_an_unknown_error_is_called_so(meta: RunMeta) -> None:
    lines = list(found_lines(replace(meta, converged=False, remaining_error=math.inf, sweeps=1)))
    assert "NOT CONVERGED after 1 sweep: skills may be off by an unknown amount" in lines


def test_notes_of_the_model_come_last_and_long_ones_are_cut(meta: RunMeta) -> None:
    long = "48 players left out: " + "; ".join(f"Player {i}" for i in range(48))
    lines = list(found_lines(replace(meta, notes=("a short one", long))))
    assert lines[-2] == "a short one"
    assert lines[-1].endswith(" ...")
    assert 200 < len(lines[-1]) <= 244
    assert long.startswith(lines[-1].removesuffix(" ..."))
    assert list(found_lines(replace(meta, notes=(long,)), everything=True))[-1] == long
