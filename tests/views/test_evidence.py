"""The report beside the naive model, and the surface over a grid."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.handmade import CONFIG, RECORDS, fit_of, games_of
from ttt_cli.cli.evidence import surface_map
from ttt_cli.runs.columns import describe
from ttt_cli.runs.evidence_points import EvidencePoint
from ttt_cli.runs.meta import RunMeta
from ttt_cli.timeline import build_timeline
from ttt_cli.views.evidence import (
    LOG_EVIDENCE_MEANING,
    SHADES,
    AxisValues,
    Surface,
    evidence_report,
    naive_log_evidence,
    stored_surface,
    surface_rows,
)


@given(st.lists(st.sampled_from("wdl"), max_size=50))
def test_the_naive_model_is_the_sum_over_the_games(outcomes: list[str]) -> None:
    """Also where all, none or a third of the games are drawn."""
    share = outcomes.count("d") / max(len(outcomes), 1)
    chance = {"d": share, "w": (1 - share) / 2, "l": (1 - share) / 2}
    assert naive_log_evidence(len(outcomes), share) == pytest.approx(
        sum(math.log(chance[outcome]) for outcome in outcomes), abs=1e-9
    )


def meta_of(weights: Sequence[float] | None = None) -> RunMeta:
    games = games_of(RECORDS, weights)
    timeline = build_timeline(games)
    return describe(games, timeline, fit_of(timeline), CONFIG)


def test_the_report_is_one_row_with_the_keys_that_scripts_rely_on() -> None:
    rows = evidence_report(meta_of())
    (row,) = rows.rows
    facts = dict(zip(rows.columns, row, strict=True))
    assert rows.single
    assert facts["games"] == 7
    assert isinstance(facts["games"], int)
    assert facts["log_evidence"] == -4 / 3
    assert facts["draw_share"] == pytest.approx(2 / 7)
    assert facts["naive_log_evidence"] == pytest.approx(2 * math.log(2 / 7) + 5 * math.log(5 / 14))
    assert facts["gain_per_game"] == pytest.approx((-4 / 3 - facts["naive_log_evidence"]) / 7)
    assert (facts["converged"], facts["sweeps"], facts["remaining_error"]) == (True, 7, 0.004)
    assert (facts["beta"], facts["tau"], facts["draw_margin"]) == (480.0, 60.0, 123.25)
    assert rows.title == (meta_of().describe(), LOG_EVIDENCE_MEANING)
    noted = replace(meta_of(), notes=("2 players left out",))
    assert evidence_report(noted).title[2:] == ("2 players left out",)


def test_the_report_names_the_config_and_a_single_game() -> None:
    meta = replace(meta_of(), params=meta_of().params | {"growth": 310.0, "decline": 11.0}, games=1)
    rows = evidence_report(meta)
    facts = dict(zip(rows.columns, next(iter(rows.rows)), strict=True))
    assert facts["model"] == "ttt-career"
    assert meta.extent == f"1 game {meta.first}-{meta.last}"
    assert replace(meta, games=1200).extent.startswith("1,200 games ")


def test_the_report_counts_weights_and_leaves_out_what_has_no_value() -> None:
    meta = replace(
        meta_of([0.5, 1, 1, 1, 1, 1, 1]), params={"beta": 480.0, "draw_probability": None}
    )
    rows = evidence_report(meta)
    facts = dict(zip(rows.columns, next(iter(rows.rows)), strict=True))
    assert facts["games"] == 6.5
    assert facts["gain_per_game"] == pytest.approx((-4 / 3 - facts["naive_log_evidence"]) / 6.5)
    assert "draw_probability" not in facts
    assert evidence_report(replace(meta, weight=0.0)).columns[8] == "gain_per_game"


def surface_of(
    axes: Mapping[str, Sequence[float]],
    evidence: Mapping[tuple[float, ...], float],
    failed: Collection[tuple[float, ...]] = (),
) -> Surface:
    """A surface with these values, which did not converge at the `failed` places."""
    points = {}
    for place in product(*axes.values()):
        asked = dict(zip(axes, place, strict=True))
        params = {"prior_sd": 400.0, "unset": None, **asked, "draw_margin": place[0] / 2}
        points[place] = EvidencePoint(asked, params, evidence[place], place not in failed, 3, 0.001)
    return Surface(tuple(axes), points)


AXES = {"beta": (200.0, 300.0, 400.0), "tau": (0.0, 60.0, 80.0)}
HILL = {(b, t): -100.0 - abs(b - 300) - abs(t - 60) for b, t in product(*AXES.values())}


def test_the_best_point_and_how_far_others_are_below() -> None:
    surface = surface_of(AXES, HILL)
    assert surface.keys == ("beta", "tau")
    assert surface.ticks == tuple(AXES.values())
    assert list(surface.points) == sorted(HILL)
    assert surface.best == (300.0, 60.0)
    assert surface.best_words == "beta 300, tau 60"
    assert list(surface.remarks) == []


def test_a_map_has_the_nats_below_the_best_and_marks_what_did_not_converge() -> None:
    table = surface_map(surface_of(AXES, {**HILL, (400.0, 0.0): math.nan}, failed=[(300.0, 80.0)]))
    assert table is not None
    cells = [[str(cell).split() for cell in column.cells] for column in table.columns]
    assert cells[0] == [["200"], ["300"], ["400"]]
    assert cells[1:] == [
        [["160"], ["60"], ["inf"]],
        [["100"], ["best"], ["100"]],
        [["120"], ["20!"], ["120"]],
    ]
    shades = {str(cell.style).split()[-1] for column in table.columns[1:] for cell in column.cells}  # type: ignore[union-attr]
    assert shades <= set(SHADES)
    assert str(table.columns[2]._cells[1].style) == f"black on {SHADES[0]}"  # type: ignore[union-attr]
    assert surface_map(surface_of({"beta": (1.0, 2.0)}, {(1.0,): -2.0, (2.0,): -1.0})) is None


@given(st.lists(st.floats(-1e6, 0), min_size=9, max_size=9), st.sets(st.sampled_from(sorted(HILL))))
def test_the_best_is_the_highest_that_converged_unless_none_has(
    values: list[float], failed: set[AxisValues]
) -> None:
    surface = surface_of(AXES, dict(zip(HILL, values, strict=True)), failed=failed)
    counted = [
        point.log_evidence for place, point in surface.points.items() if place not in failed
    ] or values
    assert surface.points[surface.best].log_evidence == max(counted)


def test_what_is_no_number_is_never_the_best() -> None:
    surface = surface_of(AXES, {**HILL, (200.0, 0.0): math.nan})
    assert surface.best == (300.0, 60.0)


@each(
    "top, edges",
    [
        ((400.0, 0.0), "beta 400, tau 0"),
        ((200.0, 80.0), "beta 200, tau 80"),
        ((300.0, 80.0), "tau 80"),
    ],
)
def test_a_best_point_on_the_edge_is_pointed_out(top: tuple[float, float], edges: str) -> None:
    (remark,) = surface_of(AXES, {**HILL, top: -1.0}).remarks
    assert remark == f"the best point lies on the edge of the grid: {edges}"


def test_an_axis_of_one_value_has_no_edge() -> None:
    taus = (1.0, 2.0, 3.0)
    surface = surface_of({"beta": (300.0,), "tau": taus}, {(300.0, t): -abs(t - 2) for t in taus})
    assert list(surface.remarks) == []


def test_rows_have_the_axes_then_the_evidence_then_all_other_parameters() -> None:
    rows = surface_rows(surface_of(AXES, HILL, failed={(200.0, 0.0)}))
    assert rows.columns[:6] == ("beta", "tau", "log_evidence", "converged", "sweeps", "best")
    assert set(rows.columns[6:]) == {"prior_sd", "draw_margin"}
    table = [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]
    assert [(row["beta"], row["tau"]) for row in table] == sorted(HILL)
    assert [(row["beta"], row["tau"]) for row in table if row["best"]] == [(300.0, 60.0)]
    assert [(row["beta"], row["tau"]) for row in table if not row["converged"]] == [(200.0, 0.0)]
    assert all(row["draw_margin"] == row["beta"] / 2 and row["prior_sd"] == 400.0 for row in table)
    assert rows.hidden == {"prior_sd"}
    assert rows.title == ("prior_sd 400",)


def point(log_evidence: float, converged: bool = True, **asked: object) -> EvidencePoint:
    return EvidencePoint(
        {"draw_margin": "auto", **asked}, dict(asked), log_evidence, converged, 3, 0.0
    )


def grid(evidence: dict[tuple[float, float], float], **others: object) -> list[EvidencePoint]:
    return [point(value, beta=b, tau=t, **others) for (b, t), value in evidence.items()]


SMALL = {(100.0, 10.0): -9.0, (100.0, 20.0): -8.0, (200.0, 10.0): -7.0, (200.0, 20.0): -7.5}


def values_of(surface: Surface) -> dict[AxisValues, float]:
    return {place: point.log_evidence for place, point in surface.points.items()}


def test_a_grid_is_laid_out_and_its_best_found() -> None:
    surface = stored_surface(grid(SMALL))
    assert surface is not None
    assert surface.keys == ("beta", "tau")
    assert values_of(surface) == SMALL
    assert surface.best == (200.0, 10.0)


def test_the_runs_own_point_beside_the_grid_is_no_line_of_it() -> None:
    surface = stored_surface([point(-1.0, beta=480.0, tau=60.0), *grid(SMALL)])
    assert surface is not None
    assert values_of(surface) == SMALL


def test_of_two_grids_the_larger_counts_and_they_are_not_mixed() -> None:
    larger = {**SMALL, (300.0, 10.0): -6.0, (300.0, 20.0): -6.5}
    surface = stored_surface([*grid(SMALL, prior_sd=300.0), *grid(larger, prior_sd=400.0)])
    assert surface is not None
    assert values_of(surface) == larger


def test_points_along_one_parameter_are_no_surface() -> None:
    assert stored_surface([]) is None
    assert stored_surface([point(-1.0, beta=b, tau=60.0) for b in (1.0, 2.0, 3.0)]) is None
    diagonal = [point(-1.0, beta=b, tau=b) for b in (1.0, 2.0, 3.0)]
    assert stored_surface(diagonal) is None
