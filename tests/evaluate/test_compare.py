"""Systems compared: each as it is scored alone, tuned on the past only, the better one first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pytest

from tests.support.builders import make_games
from tests.support.plans import ONE_CIRCLE
from ttt_cli import api
from ttt_cli.evaluate.compare import System, TuneOptions, compare, later_half
from ttt_cli.evaluate.forecast import Forecaster, forecast, score
from ttt_cli.evaluate.simulate import simulate
from ttt_cli.gaussian import factor
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.support.progress import Bar
from ttt_cli.timeline import Timeline, build_timeline

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return build_timeline(simulate(ONE_CIRCLE).games())


def system(name: str, model: str = "ttt", **params: object) -> System:
    return System.of(name, api.configure(model=model, **params))


SYSTEMS = [
    system("true", beta=350.0, tau=100.0, draw_margin=150.0),
    system("stiff", beta=350.0, tau=0.0, draw_margin=300.0),
    system("filter", "trueskill", beta=350.0, tau=100.0, draw_margin=150.0),
]


def test_every_system_is_scored_as_it_is_alone(timeline: Timeline) -> None:
    found = compare(timeline, SYSTEMS, "1856", every=2)
    assert [(entry.system.name, entry.kind) for entry in found.entries] == [
        ("true", "smoothed"), ("stiff", "smoothed"), ("filter", "filtered"),
    ]  # fmt: skip
    for entry in found.entries:
        resolved = entry.system
        alone = forecast(
            timeline, resolved.model, resolved.params, resolved.config.solver, first=found.first, every=2
        )
        assert np.array_equal(entry.probabilities, alone.model)
        fit = resolved.model.fit(timeline, resolved.params, resolved.config.solver)
        assert entry.log_evidence == pytest.approx(fit.log_evidence, abs=1e-4)
        assert entry.converged
        assert entry.tuned is None


def test_processes_change_nothing(timeline: Timeline) -> None:
    here, there = (compare(timeline, SYSTEMS, "1858", jobs=jobs) for jobs in (1, 2))
    for one, other in zip(here.entries, there.entries, strict=True):
        assert one.system == other.system
        assert np.array_equal(one.probabilities, other.probabilities)
        assert one.log_evidence == other.log_evidence


def test_standings_put_the_best_first_and_say_how_far_behind_the_others_are(timeline: Timeline) -> None:
    found = compare(timeline, SYSTEMS, "1854")
    standings = found.overall()
    assert {standings[0].entry.system.name, standings[1].entry.system.name} == {"true", "filter"}
    assert standings[0].behind is None
    outcome, weight = timeline.outcome[found.scored], timeline.weight[found.scored]
    for one in standings:
        alone = score(one.entry.probabilities, outcome, weight)
        assert astuple(one.scores) == pytest.approx(astuple(alone))
    last = standings[2].behind
    assert last is not None
    assert last.mean == pytest.approx(standings[0].scores.per_game - standings[2].scores.per_game)
    assert 0 < 3 * last.standard_error < last.mean


def test_groups_make_up_the_whole(timeline: Timeline) -> None:
    standings = compare(timeline, SYSTEMS, "1854")
    order = [one.entry.system.name for one in standings.overall()]
    for by in ("decade", "experience"):
        total = dict.fromkeys(order, 0.0)
        for _, group in standings.by(by):  # type: ignore[arg-type]
            assert [one.entry.system.name for one in group] == order
            for one in group:
                total[one.entry.system.name] += one.scores.log_score
        for one in standings.overall():
            assert total[one.entry.system.name] == pytest.approx(one.scores.log_score)
    for _, bins in standings.calibration():
        assert sum(one.games for one in bins) == standings.overall()[0].scores.games


def test_weights_count_games(timeline: Timeline) -> None:
    rows = [(1900 + i % 5, "abc"[i % 3], "bca"[i % 3], i % 3) for i in range(30)]
    heavy = [(*row, 2.0) for row in rows]
    systems = SYSTEMS[2:]
    once, twice, double = (
        compare(build_timeline(make_games(games)), systems, "1903").overall()[0]
        for games in (rows, [row for row in rows for _ in range(2)], heavy)
    )
    assert double.scores.games == twice.scores.games == 2 * once.scores.games
    assert double.scores.per_game == pytest.approx(twice.scores.per_game)


def test_half_of_the_games_come_before_the_test(timeline: Timeline) -> None:
    first = compare(timeline, SYSTEMS[2:]).first
    assert first == later_half(timeline, len(timeline.periods))
    assert timeline.game_start[first - 1] < timeline.n_games / 2 <= timeline.game_start[first]
    assert later_half(timeline, 1) == 0


@pytest.mark.parametrize("by", ["score", "evidence"])
def test_tuning_finds_better_parameters_without_a_look_at_the_test(timeline: Timeline, by: str) -> None:
    options = TuneOptions(since="1853", by=by, evaluations=40)  # type: ignore[arg-type]
    systems = [SYSTEMS[1], system("filter", "trueskill", draw_margin=20.0)]
    found = compare(timeline, systems, "1858", tuning=options)
    untuned = compare(timeline, systems, "1858")
    for entry, before in zip(found.entries, untuned.entries, strict=True):
        assert entry.tuned is not None
        assert entry.tuned.by == by
        assert entry.tuned.after > entry.tuned.before
        assert entry.system.params.model_dump().items() >= dict(entry.tuned.values).items()
        assert better(entry.probabilities, before.probabilities, timeline, found.scored)
    assert found.entries[0].system.params.prior_sd == 400.0  # type: ignore[attr-defined]
    outcome = timeline.outcome.copy()
    outcome[found.scored] = 2 - outcome[found.scored]

    turned = compare(replace(timeline, outcome=outcome), systems, "1858", tuning=options)
    assert [entry.tuned for entry in turned.entries] == [entry.tuned for entry in found.entries]


def better(one: np.ndarray, other: np.ndarray, timeline: Timeline, scored: slice) -> bool:
    outcome, weight = timeline.outcome[scored], timeline.weight[scored]
    return score(one, outcome, weight).per_game > score(other, outcome, weight).per_game


def test_systems_without_evidence_are_tuned_by_their_score() -> None:
    rows = [(1900 + i // 6, "abcd"[i % 4], "bcda"[i % 4], (i * 7) % 3) for i in range(60)]
    timeline = build_timeline(make_games(rows))
    (entry,) = compare(timeline, [system("e", "elo")], "1907", tuning=TuneOptions(by="evidence")).entries
    assert entry.tuned is not None
    assert entry.tuned.by == "score"
    assert set(entry.tuned.values) == {"k", "draw_margin", "white_advantage"}


def test_what_cannot_be_compared(timeline: Timeline) -> None:
    with pytest.raises(LookupFailed, match="no games from 1900 on"):
        compare(timeline, SYSTEMS, "1900")
    with pytest.raises(ConfigError, match="no games before the test"):
        compare(timeline, SYSTEMS, "1850", tuning=TuneOptions())
    with pytest.raises(ConfigError, match="no games before the test"):
        compare(timeline, SYSTEMS, "1855", tuning=TuneOptions(since="1855"))
    with pytest.raises(LookupFailed, match="no games to predict"):
        compare(timeline.until(0), SYSTEMS)
    with pytest.raises(ConfigError) as caught:
        compare(timeline, [system("bad", draw_margin=0.0)], "1855")
    assert caught.value.where == "bad"


class Recorder:
    """Progress that remembers, by task, the total, what was done, and the notes."""

    def __init__(self) -> None:
        self.totals: dict[str, float | None] = {}
        self.done: dict[str, float] = {}
        self.notes: dict[str, list[str]] = {}

    @contextmanager
    def task(self, label: str, total: float | None = None, unit: str = "") -> Iterator[Bar]:
        self.totals[label], self.done[label], self.notes[label] = total, 0.0, []
        yield Recorded(self, label)


class Recorded:
    def __init__(self, recorder: Recorder, label: str) -> None:
        self.recorder, self.label = recorder, label

    def advance(self, amount: float = 1, note: str = "") -> None:
        self.recorder.done[self.label] += amount
        self.recorder.notes[self.label].append(note)


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_system_has_a_bar_that_ends_at_its_total(timeline: Timeline, jobs: int) -> None:
    recorder = Recorder()
    systems = [SYSTEMS[2], system("other", "elo")]
    tuning = TuneOptions(evaluations=10)
    compare(timeline, systems, "1858", every=3, tuning=tuning, jobs=jobs, progress=recorder)
    assert recorder.totals == recorder.done == {"filter": 10 + 4 + 1, "other ": 10 + 4 + 1}
    for notes in recorder.notes.values():
        tried = notes.index("tuned")
        assert tried >= 10
        assert all(note.startswith("tuning: log-loss 0.") for note in notes[:tried])


BAD = system("bad", draw_margin=0.0)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_system_that_cannot_take_the_games_is_lost_alone(timeline: Timeline, jobs: int) -> None:
    alone = compare(timeline, SYSTEMS[2:], "1858")
    found = compare(timeline, [BAD, SYSTEMS[2]], "1858", jobs=jobs)
    (entry,), (lost,) = found.entries, found.lost
    assert np.array_equal(entry.probabilities, alone.entries[0].probabilities)
    assert (lost.system, found.interrupted) == (BAD, False)
    assert "draw" in lost.reason
    assert lost.hint


def test_a_program_error_in_one_system_costs_no_other(
    timeline: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Forecaster, "predict", raising_for("trueskill", ZeroDivisionError("by zero\nmore")))
    found = compare(timeline, [SYSTEMS[2], system("other", "elo")], "1858")
    assert [entry.system.name for entry in found.entries] == ["other"]
    assert [(lost.system.name, lost.reason) for lost in found.lost] == [
        ("filter", "unexpected ZeroDivisionError: by zero")
    ]


def raising_for(model: str, error: BaseException) -> Callable[..., Any]:
    """Forecasts as they are, but an error for one model."""
    predicted_of = Forecaster.predict

    def raising(forecaster: Forecaster, *args: Any) -> Any:
        if model == forecaster.model.NAME:
            raise error
        return predicted_of(forecaster, *args)

    return raising


def test_an_interrupt_keeps_the_systems_that_are_done(
    timeline: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Forecaster, "predict", raising_for("elo", KeyboardInterrupt()))
    found = compare(timeline, [SYSTEMS[2], system("e", "elo"), system("g", "glicko")], "1858", jobs=1)
    assert found.interrupted
    assert [entry.system.name for entry in found.entries] == ["filter"]
    assert [lost.system.name for lost in found.lost] == ["e", "g"]
    with pytest.raises(KeyboardInterrupt):
        compare(timeline, [system("e", "elo")], "1858", jobs=1)


def test_forecasts_stand_where_the_evidence_cannot_be_had(
    timeline: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factor, "MOST_FLOPS", 0.0)
    found = compare(timeline, [system("w", "whr")], "1858")
    (entry,) = found.entries
    assert math.isnan(entry.log_evidence)
    assert (entry.note or "").startswith("no log-evidence: exact deviations of")
    assert found.lost == ()


def test_evidence_is_not_a_number_where_a_system_has_none() -> None:
    rows = [(1900 + i // 6, "abcd"[i % 4], "bcda"[i % 4], (i * 7) % 3) for i in range(60)]
    (entry,) = compare(build_timeline(make_games(rows)), [system("s", "spinrad")], "1907").entries
    assert math.isnan(entry.log_evidence)
