"""Tables of a comparison: columns that scripts rely on, what is empty where, the whole in one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.support.handmade import RECORDS, games_of
from ttt_cli.api import configure
from ttt_cli.config.documents import parse_document
from ttt_cli.evaluate.compare import Comparison, Lost, SystemResult
from ttt_cli.evaluate.tune_before import TunedSystem, TunePlan
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import build_timeline
from ttt_cli.views.compare import (
    calibration_rows,
    group_rows,
    note_lines,
    overall_rows,
    shown_rows,
    tuned_config,
    tuned_name,
    tuning_lines,
)
from ttt_cli.views.rows import Rows

TIMELINE = build_timeline(
    games_of(RECORDS)
)  # 7 games in 1857, 1858, 1861 and 1862; the last 5 are scored
OUTCOMES = TIMELINE.outcome[2:]


def entry(name: str, chance: float, kind: str = "filtered", **changes: object) -> SystemResult:
    """A system that gave what happened this chance, and the rest in equal parts to the others."""
    probabilities = np.full((5, 3), (1 - chance) / 2)
    probabilities[np.arange(5), OUTCOMES] = chance
    system = replace(configure(model="ttt", beta=300.0), name=name)
    made = SystemResult(system, kind, probabilities, -5.5, True, 1.25)  # type: ignore[arg-type]
    return replace(made, **changes)


def comparison(*entries: SystemResult, plan: TunePlan | None = None) -> Comparison:
    return Comparison(TIMELINE, 1, 2, plan, entries)


PAIR = comparison(entry("worse", 0.4, "smoothed", log_evidence=math.nan), entry("better", 0.5))


def dicts(rows: Rows) -> list[dict[str, object]]:
    return [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]


def test_the_best_stands_first_and_the_others_say_how_far_behind() -> None:
    rows = overall_rows(PAIR)
    best, other = dicts(rows)
    assert [best[key] for key in ("system", "kind", "games", "refitted_every")] == [
        "better",
        "filtered",
        5,
        None,
    ]
    assert (best["behind"], best["standard_error"]) == (None, None)
    assert best["log_loss"] == pytest.approx(math.log(2))
    assert other["behind"] == pytest.approx(math.log(0.5 / 0.4))
    assert other["standard_error"] == pytest.approx(0, abs=1e-9)
    assert (other["kind"], other["refitted_every"]) == ("smoothed", 2)
    assert (best["log_evidence"], other["log_evidence"]) == (-5.5, None)
    assert (best["accuracy"], best["brier"]) == (1.0, pytest.approx(0.25 + 2 * 0.0625))
    assert best["tuned_by"] is None
    assert "beta=300" in str(best["parameters"])
    assert rows.title == (
        "5 of 7 games predicted, 1858 to 1862",
        "smoothed systems refitted every 2 years, filtered ones pass the games once",
        "log_loss: nats a game, lower is better; behind: log_loss less that of the best",
        "slope: of calibration; 1 is right, less is overconfident",
    )


def test_impossible_outcomes_have_no_standard_error() -> None:
    (_, other) = dicts(overall_rows(comparison(entry("sure", 0.0), entry("fair", 1 / 3))))
    assert (other["log_loss"], other["behind"], other["standard_error"]) == (
        math.inf,
        math.inf,
        None,
    )


def test_groups_and_bins() -> None:
    decades = dicts(group_rows(PAIR, "decade"))
    assert [(row["group"], row["system"], row["games"]) for row in decades] == [
        ("1850s", "better", 3), ("1850s", "worse", 3), ("1860s", "better", 2), ("1860s", "worse", 2),
    ]  # fmt: skip
    bins = dicts(calibration_rows(PAIR))
    assert sum(row["games"] for row in bins if row["system"] == "worse") == 5  # type: ignore[misc]
    assert {row["expected"] for row in bins if row["system"] == "better"} == {
        "0.3-0.4",
        "0.5-0.6",
        "0.6-0.7",
    }


def test_one_table_for_other_programs() -> None:
    (rows,) = shown_rows(PAIR, ["decade"], calibrated=True, separate=False)
    found = dicts(rows)
    assert rows.columns[:4] == ("system", "kind", "by", "group")
    assert [(row["by"], row["group"]) for row in found[:3]] == [
        ("all", "all"), ("all", "all"), ("decade", "1850s"),
    ]  # fmt: skip
    assert len(found) == 2 + 4 + len(list(calibration_rows(PAIR).rows))
    last = found[-1]
    assert (last["system"], last["kind"], last["by"]) == ("worse", "smoothed", "calibration")
    assert last["observed"] is not None
    assert last["log_loss"] is None


def test_tuning_is_told_and_gives_configs_that_read_back() -> None:
    score = TunedSystem("score", {"beta": 480.0}, {"beta": 300.0}, -1.0, -0.9, 42, reached=True)
    evidence = TunedSystem("evidence", {"beta": 480.0}, {}, -10.0, -9.0, 7, reached=False)
    entries = entry("a", 0.5, tuned=replace(score, seconds=3.0)), entry("b", 0.4, tuned=evidence)
    tuned = comparison(*entries, plan=TunePlan(0, 1, 3, 100))
    assert list(tuning_lines(tuned)) == [
        "tuned on the games of 1857 to 1857, smoothed systems refitted every 3 years:",
        "  a: beta 300 (log-loss 1.00000 to 0.90000, 42 fits)",
        "  b: as they were (log-evidence -10.0 to -9.0, 7 fits, NOT at its best yet)",
    ]
    row = dicts(overall_rows(tuned))[0]
    assert (row["tuned_by"], row["tuning_evaluations"], row["tuning_seconds"]) == ("score", 42, 3.0)
    assert list(tuning_lines(comparison(entry("a", 0.5)))) == []


def test_predictions_tuned_by_evidence_are_checked() -> None:
    """All favourites lose: no other system is named."""
    upset = np.full((5, 3), 0.45)
    upset[np.arange(5), OUTCOMES] = 0.1
    evidence = TunedSystem("evidence", {"beta": 480.0}, {}, -10.0, -9.0, 7, reached=True)
    score = replace(evidence, by="score")
    upset[0] = 1.0 - 2.0 * upset[0, OUTCOMES[0]], 0.1, 0.1
    entries = [replace(entry(name, 0.5, tuned=tuned), probabilities=upset) for name, tuned in
               (("e", evidence), ("s", score), ("n", None))]  # fmt: skip
    found = comparison(*entries, plan=TunePlan(0, 1, 3, 100, "evidence"))
    slope, error = found.overall()[0].calibration
    assert slope + 2 * error < 1
    assert list(note_lines(found)) == [
        f"e: its predictions are overconfident: calibration slope {slope:.3f} +- {error:.3f}, not 1; "
        "--tune-by score tunes by predictions"
    ]
    row = dicts(overall_rows(found))[0]
    assert (row["slope"], row["slope_error"]) == (slope, error)


def test_a_lost_system_has_a_row_that_says_so() -> None:
    lost = Lost(entry("gone", 0.5).system, "too large", "try less")
    found = replace(comparison(entry("a", 0.5, note="no log-evidence: why")), lost=(lost,))
    for rows in (
        overall_rows(found),
        *shown_rows(found, ["decade"], calibrated=True, separate=False),
    ):
        gone = [row for row in dicts(rows) if row["system"] == "gone"]
        assert len(gone) == 1
        assert gone[0].pop("note") == "too large"
        assert {key: value for key, value in gone[0].items() if value is not None}.keys() <= {
            "system", "by", "group",
        }  # fmt: skip
        assert dicts(rows)[0]["note"] == "no log-evidence: why"
    assert list(note_lines(found)) == [
        "a: no log-evidence: why",
        "gone: LOST: too large",
        "hint: try less",
    ]
    both = replace(found, entries=(), lost=(lost, replace(lost, system=entry("away", 0.5).system)))
    assert list(note_lines(both)) == ["gone, away: LOST: too large", "hint: try less"]


def test_a_tuned_config_reads_back_and_configs_of_one_name_are_written_apart() -> None:
    both = [entry(name, 0.5).system for name in ("one/x.yaml", "/two/x.yaml")]
    assert [tuned_name(system) for system in both] == ["one-x.yaml", "two-x.yaml"]
    text = tuned_config(both[0], "1858")
    assert text.startswith("# Tuned by `ttt compare --tune` on the games before 1858\n")
    assert resolve(parse_document(text, "one-x.yaml")).params == both[0].params
