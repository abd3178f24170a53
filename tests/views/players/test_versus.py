import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.reference.ttt_ep import Twin
from tests.support.cases import each
from tests.support.handmade import RECORDS, put_small_run
from tests.support.joint_runs import PLAY, run_of
from ttt_cli.runs.run import Run, open_run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.systems import ttt
from ttt_cli.views.probability import colour_blind, match, stronger
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.period import ranking
from ttt_cli.views.versus import VersusView, side_by_side, versus_record, versus_view

LATER = ("1901", "Lasker, Emanuel", "Janowski, David", "1-0")


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return open_run(small_run(*RECORDS, LATER).path)  # tests change its parameters


def facts(view: VersusView) -> dict:
    (row,) = view.report.rows
    return dict(zip(view.report.columns, row, strict=True))


def test_by_default_each_at_the_peak(run: Run) -> None:
    view = versus_view(run, "morphy", "anderssen")
    found = facts(view)
    assert (found["period_a"], found["period_b"]) == ("1858", "1862")
    assert view.notes[0] == "Morphy, Paul in 1858, Anderssen, Adolf in 1862: each at the peak"


def test_two_players_in_a_period(run: Run) -> None:
    view = versus_view(run, "morphy", "anderssen", at=1858)
    found = facts(view)
    assert (found["player_a"], found["period_a"], found["player_b"], found["period_b"]) == (
        *("Morphy, Paul", "1858"),
        *("Anderssen, Adolf", "1858"),
    )
    assert view.notes == ("Morphy, Paul in 1858, Anderssen, Adolf in 1858: as requested",)
    a, b = {"mean": 1003.0, "sd": 50.0}, {"mean": 1002.0, "sd": 50.0}
    either = colour_blind("ttt", run.meta.params, a, b)
    assert (found["win"], found["draw"], found["loss"]) == pytest.approx(either)
    assert found["expected"] == pytest.approx(either.expected)
    assert found["stronger"] == pytest.approx(stronger(a, b))
    assert (found["lead"], found["played"], found["wins"], found["losses"]) == (1.0, 3, 2, 1)
    assert (found["skills"], found["sd_lead"]) == (
        "independent",
        pytest.approx(50.0 * math.sqrt(2.0)),
    )
    assert view.report.title[1] == "their skills taken as independent"
    assert "win_white" not in found
    assert "match_games" not in found


def test_a_screen_has_a_sentence_and_both_beside_each_other(run: Run) -> None:
    run.meta.params["white_advantage"] = 40.0
    report = versus_view(run, "morphy", "anderssen", games=4).report
    (numbers,) = report.records()
    screen = side_by_side(run, report)
    assert screen.columns == ("", "Morphy, Paul", "Anderssen, Adolf")
    assert screen.title[0] == (
        f"Morphy, Paul 1858 against Anderssen, Adolf 1862: expected {numbers['expected']:.2f}, "
        f"ahead with probability {numbers['stronger']:.2f}"
    )
    lines = {what: (a, b) for what, a, b in screen.rows}
    assert lines["period"] == ("1858", "1862")
    assert lines["skill"] == ("1003 +- 50", f"{numbers['mean_b']:.0f} +- 50")
    assert lines["wins a game"] == (f"{numbers['win']:.3f}", f"{numbers['loss']:.3f}")
    assert lines["  as white"] == (
        f"{numbers['expected_white']:.3f}",
        f"{1 - numbers['expected_black']:.3f}",
    )
    assert lines["points of 4"][0] == f"{numbers['match_points']:.3f}"
    assert lines["has beaten the other"] == ("2", "1")
    for line, fact in (("is stronger", "stronger"), ("expected score", "expected")):
        assert lines[line] == (f"{numbers[fact]:.3f}", f"{1 - numbers[fact]:.3f}")


def test_a_system_without_sds_does_not_say_who_is_stronger() -> None:
    _, run = run_of("elo")
    report = versus_view(run, "a", "b").report
    screen = side_by_side(run, report)
    (numbers,) = report.records()
    lines = {what: (a, b) for what, a, b in screen.rows}
    assert lines["is stronger"] == ("", "")
    assert lines["is ahead by"] == (f"{numbers['lead']:.0f}", f"{-numbers['lead']:.0f}")
    assert screen.title[0].endswith(f"expected {numbers['expected']:.2f}")


def test_peaks_of_different_times_and_a_caution(run: Run) -> None:
    view = versus_view(run, "morphy", "lasker")
    found = facts(view)
    assert (found["period_a"], found["period_b"], found["played"]) == ("1858", "1901", 0)
    assert "each at the peak" in view.notes[0]
    assert "only through chains of opponents" in view.notes[1]
    assert list(versus_record(run, view.players).rows) == []


@each(
    "a, b, at, at_b, periods",
    [
        ("anderssen", "paulsen", "1861", None, ("1861", "1861")),
        ("anderssen", "paulsen", "1861", "1857", ("1861", "1857")),
        ("anderssen", "paulsen", None, "1857", ("1862", "1857")),
        ("anderssen", "morphy", "peak", None, ("1862", "1858")),
    ],
)
def test_periods_asked_for(
    run: Run, a: str, b: str, at: str | None, at_b: str | None, periods: tuple[str, str]
) -> None:
    found = facts(versus_view(run, a, b, at=at, at_b=at_b))
    assert (found["period_a"], found["period_b"]) == periods


def test_pairs_that_cannot_be_compared_are_refused(run: Run) -> None:
    with pytest.raises(LookupFailed, match="Anderssen, Adolf has no skill at 1857"):
        versus_view(run, "anderssen", "morphy", at="1857")
    with pytest.raises(LookupFailed, match="both match Morphy"):
        versus_view(run, "morphy", "paul morphy")


def test_a_skill_goes_on_after_the_last_game_as_in_a_ranking(run: Run) -> None:
    found = facts(versus_view(run, "anderssen", "morphy", at="1862"))
    assert (found["period_a"], found["period_b"]) == ("1862", "1862")
    ranked = ranking(run, "1862", Eligible(), None)
    sds = {row[1]: row[4] for row in ranked.rows}
    assert (found["sd_a"], found["sd_b"]) == (sds["Anderssen, Adolf"], sds["Morphy, Paul"])


def test_with_whites_advantage_each_colour_has_its_own(run: Run) -> None:
    run.meta.params["white_advantage"] = 40.0
    found = facts(versus_view(run, "morphy", "anderssen"))
    assert found["win_white"] > found["win"] > found["win_black"]
    assert found["win"] == pytest.approx((found["win_white"] + found["win_black"]) / 2)


def test_the_record_of_their_games(run: Run) -> None:
    view = versus_view(run, "anderssen", "paulsen")
    assert [facts(view)[key] for key in ("played", "wins", "draws", "losses")] == [2, 0, 1, 1]
    record = versus_record(run, view.players)
    assert [row[1:7] for row in record.rows] == [
        ("1861", "both", 1, 0, 0, 1), ("1861", "white", 1, 0, 0, 1),
        ("1862", "both", 1, 0, 1, 0), ("1862", "black", 1, 0, 1, 0),
    ]  # fmt: skip
    assert record.title == ("Anderssen, Adolf against Paulsen, Louis: +0 =1 -1",)


def test_a_match_and_a_model_with_margins_of_its_own(tmp_path: Path) -> None:
    run = open_run(put_small_run(tmp_path / "d.ttt", further="draw_margin"))
    object.__setattr__(run.meta, "model", "ttt-d")
    found = facts(versus_view(run, "morphy", "anderssen", games=12, at=1858))
    a = {"mean": 1003.0, "sd": 50.0, "draw_margin": 100.3, "draw_margin_sd": 5.0}
    b = {"mean": 1002.0, "sd": 50.0, "draw_margin": 100.2, "draw_margin_sd": 5.0}
    single, promised = (
        colour_blind("ttt-d", run.meta.params, a, b),
        match("ttt-d", run.meta.params, a, b, 12),
    )
    assert (found["win"], found["draw"], found["loss"]) == pytest.approx(single)
    names = ("win", "draw", "loss", "points", "low_80", "high_80")
    expected = promised.win, promised.tie, promised.loss, promised.expected, *promised.interval(0.8)
    assert [found[f"match_{name}"] for name in names] == pytest.approx(expected)


@pytest.mark.parametrize(("a", "b"), [(("a", 1853), ("b", 1853)), (("a", 1857), ("d", 1895))])
def test_skills_are_taken_together_where_the_run_knows_how(
    a: tuple[str, int], b: tuple[str, int]
) -> None:
    """Also across eras, against the inverse of a dense matrix."""
    rows = [(1853, "a", "b", 1), (1853, "a", "b", 2), (1857, "a", "c", 2), (1895, "c", "d", 1)]
    timeline, run = run_of(rows=rows, draw_margin=150.0)
    covariance = (
        Twin(timeline, ttt.Params(**PLAY, draw_margin=150.0), joint=True).run().gaussian()[1]
    )
    nodes = zip(timeline.node_player, timeline.node_period, strict=True)
    place = {(timeline.players[player], int(period)): k for k, (player, period) in enumerate(nodes)}
    u = np.zeros(len(covariance))
    u[place[a]], u[place[b]] = 1.0, -1.0
    sd = math.sqrt(u @ covariance @ u)
    view = versus_view(run, a[0], b[0], at=str(a[1]), at_b=str(b[1]), games=6)
    found = facts(view)
    assert found["sd_lead"] == pytest.approx(sd, rel=1e-6)
    assert sd < 0.99 * math.hypot(found["sd_a"], found["sd_b"])
    assert found["stronger"] == pytest.approx(
        0.5 * math.erfc(-found["lead"] / sd / math.sqrt(2.0)), rel=1e-6
    )
    one, other = ({"mean": found[f"mean_{side}"], "sd": sd / math.sqrt(2.0)} for side in "ab")
    assert found["win"] == pytest.approx(
        colour_blind("ttt", run.meta.params, one, other).win, rel=1e-6
    )
    promised = match("ttt", run.meta.params, one, other, 6)
    assert (found["match_win"], found["skills"]) == (pytest.approx(promised.win, rel=1e-6), "joint")
    assert "joint posterior" in view.report.title[1]


def test_without_uncertainty_nothing_is_said_of_it() -> None:
    _, run = run_of("elo")
    view = versus_view(run, "a", "b")
    assert (facts(view)["skills"], facts(view)["sd_lead"], facts(view)["stronger"]) == (
        None,
        None,
        None,
    )
    assert not any("independent" in line for line in view.report.title)
