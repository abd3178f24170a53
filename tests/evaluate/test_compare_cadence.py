"""How often to fit again: by the games alone, in parts of a year."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.support.builders import make_games
from ttt_cli.api import configure
from ttt_cli.config.schema import Period
from ttt_cli.evaluate import compare
from ttt_cli.evaluate.compare import System, affordable, affordable_every
from ttt_cli.systems import edo
from ttt_cli.timeline import Timeline, build_timeline


def timeline(period: Period = "month") -> Timeline:
    """48 periods of ten games: from the period at index 24 on, 240, 250, ... 470 games come before."""
    rows = [(1900 + k, "a", "b", 1) for k in range(48) for _ in range(10)]
    return replace(build_timeline(make_games(rows)), period=period)


@pytest.mark.parametrize(
    ("most", "every"),
    [(8520, 1), (8519, 2), (4200, 2), (4199, 3), (2759, 4), (2039, 6), (1319, 12), (0, 12)],
)
def test_as_few_months_as_the_games_allow(monkeypatch: pytest.MonkeyPatch, most: int, every: int) -> None:
    monkeypatch.setattr(compare, "MOST", most)
    assert affordable_every(timeline(), 24) == every


def test_more_sets_of_parameters_mean_fewer_fits_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "MOST", 8520)
    assert affordable_every(timeline(), 24, sets=3) == 3


def test_parameters_are_replaced_only_where_so_many_fits_cannot_be_afforded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [(1900 + k, f"p{k % 3}", "b", k % 2 * 2) for k in range(12)]
    laid_out = build_timeline(make_games(rows))
    system = System.of("mine", configure(model="edo"))
    monkeypatch.setattr(
        edo, "_posterior", lambda *_: SimpleNamespace(pattern=SimpleNamespace(entries=1, flops=2.5e5))
    )
    monkeypatch.setattr(edo, "MOST_WORK", 2e6)
    assert affordable(laid_out, system, 6) == (system, None)
    other, note = affordable(laid_out, system, 7)
    assert other.params == system.params.model_copy(update={"deviations": "own"})
    assert note == "mine: deviations own, since 7 fits are made (all as configured with --every)"
    assert affordable(laid_out, other, 1000) == (other, None)


@pytest.mark.parametrize(("period", "most"), [("year", 1), ("quarter", 4), ("week", 52), ("day", 365)])
def test_a_year_at_most(monkeypatch: pytest.MonkeyPatch, period: Period, most: int) -> None:
    monkeypatch.setattr(compare, "MOST", 0)
    assert affordable_every(timeline(period), 24) == most


def test_the_sample_is_fitted_again_every_period() -> None:
    assert affordable_every(timeline(), 24, sets=100) == 1
