"""Systems compared: read from configs, each as it is scored alone, tuned on the past only, the better one first."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import make_games
from tests.support.cases import each
from tests.support.handmade import RECORDS, games_of
from tests.support.plans import ONE_CIRCLE
from tests.support.recorder import Recorder
from tests.support.strategies import examples
from ttt_cli import api
from ttt_cli.api import configure, fit
from ttt_cli.config.schema import Period
from ttt_cli.evaluate import compare as module
from ttt_cli.evaluate.calibration import calibrate, paired_difference
from ttt_cli.evaluate.compare import (
    SCORE_BINS,
    TuneOptions,
    affordable,
    affordable_every,
    compare,
    games_of_files,
    games_of_run,
    groups,
    read_systems,
)
from ttt_cli.evaluate.forecast import Forecast, Forecaster, forecast, later_half, score
from ttt_cli.evaluate.simulate import simulate
from ttt_cli.gaussian import factor
from ttt_cli.inference.filters import games_so_far
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.systems import edo
from ttt_cli.systems.resolve import Resolved
from ttt_cli.timeline import Timeline, build_timeline

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return build_timeline(simulate(ONE_CIRCLE).games())


def system(name: str, model: str = "ttt", **params: object) -> Resolved:
    return replace(api.configure(model=model, **params), name=name)


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
            timeline,
            resolved.model,
            resolved.params,
            resolved.config.solver,
            first=found.first,
            every=2,
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


def test_standings_put_the_best_first_and_say_how_far_behind_the_others_are(
    timeline: Timeline,
) -> None:
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
    scored = timeline.outcome[standings.scored]
    for _, bins in standings.calibration_bins():
        assert sum(one.games for one in bins) == standings.overall()[0].scores.games
        points = sum(one.games * one.observed for one in bins)
        assert points == pytest.approx((scored / 2.0).sum())


def test_half_of_the_games_come_before_the_test(timeline: Timeline) -> None:
    first = compare(timeline, SYSTEMS[2:]).first
    assert first == later_half(timeline, len(timeline.periods))
    assert timeline.game_start[first - 1] < timeline.n_games / 2 <= timeline.game_start[first]
    assert later_half(timeline, 1) == 0


@pytest.mark.parametrize("by", [pytest.param("score", marks=pytest.mark.large), "evidence"])
def test_tuning_finds_better_parameters_without_a_look_at_the_test(
    timeline: Timeline, by: str
) -> None:
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
    (entry,) = compare(
        timeline, [system("e", "elo")], "1907", tuning=TuneOptions(by="evidence")
    ).entries
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


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.large)])
def test_every_system_has_a_bar_that_ends_at_its_total(timeline: Timeline, jobs: int) -> None:
    tuning, recorder = TuneOptions(evaluations=10), Recorder()
    systems = [SYSTEMS[2], system("e", "spinrad")]
    found = compare(timeline, systems, "1858", every=3, tuning=tuning, jobs=jobs, progress=recorder)
    total = 10 + 4 + 1
    assert recorder.told[:2] == [("filter", total), ("e     ", total)]
    assert sum(recorder.told[2:]) == 2 * total
    assert math.isnan(found.entries[1].log_evidence)
    tried = [note for note in recorder.notes if note.startswith("tuning: log-loss ")]
    assert len(tried) >= 20
    assert recorder.notes.count("tuned") == 2


BAD = system("bad", draw_margin=0.0)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.large)])
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
    monkeypatch.setattr(
        Forecaster, "predict", raising_for("trueskill", ZeroDivisionError("by zero\nmore"))
    )
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


def test_forecasts_stand_where_the_evidence_cannot_be_had(
    timeline: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factor, "MOST_FLOPS", 0.0)
    found = compare(timeline, [system("w", "whr")], "1858")
    (entry,) = found.entries
    assert math.isnan(entry.log_evidence)
    assert (entry.note or "").startswith("no log-evidence: exact deviations of")
    assert found.lost == ()


def monthly(period: Period) -> Timeline:
    """48 periods of ten games: from the period at index 24 on, 240, 250, ... 470 games come before."""
    rows = [(1900 + k, "a", "b", 1) for k in range(48) for _ in range(10)]
    return replace(build_timeline(make_games(rows)), period=period)


@each(
    "period, most, sets, every",
    [
        *[
            ("month", most, 1, every)
            for most, every in ((8520, 1), (8519, 2), (4200, 2), (4199, 3), (2759, 4))
        ],
        *[
            ("month", 2039, 1, 6),
            ("month", 1319, 1, 12),
            ("month", 0, 1, 12),
            ("month", 8520, 3, 3),
        ],
        *[
            ("year", 0, 1, 1),
            ("quarter", 0, 1, 4),
            ("week", 0, 1, 52),
            ("day", 0, 1, 365),
        ],  # a year at most
    ],
)
def test_as_few_periods_as_the_games_allow(
    monkeypatch: pytest.MonkeyPatch, period: Period, most: int, sets: int, every: int
) -> None:
    monkeypatch.setattr(module, "MOST_GAMES", most)
    assert affordable_every(monthly(period), 24, sets=sets) == every


def test_parameters_are_replaced_only_where_so_many_fits_cannot_be_afforded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [(1900 + k, f"p{k % 3}", "b", k % 2 * 2) for k in range(12)]
    laid_out = build_timeline(make_games(rows))
    system = replace(configure(model="edo"), name="mine")
    monkeypatch.setattr(
        edo,
        "_posterior",
        lambda *_: SimpleNamespace(pattern=SimpleNamespace(entries=1, flops=2.5e5)),
    )
    monkeypatch.setattr(edo, "MOST_WORK", 2e6)
    assert affordable(laid_out, system, 6) == (system, None)
    other, note = affordable(laid_out, system, 7)
    assert other.params == system.params.model_copy(update={"deviations": "own"})
    assert note == "mine: deviations own, since 7 fits are made (all as configured with --every)"
    assert affordable(laid_out, other, 1000) == (other, None)


CSV = "date,white,black,result\n1857.03.01,a,b,1-0\n1857.04.01,b,a,1-0\n1858.05.01,a,b,1/2-1/2\n"


def test_systems_are_named_after_their_files(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.yaml").write_text("model: {name: trueskill, beta: 300}\n")
    one, two = (str(tmp_path / folder / "mine.yaml") for folder in ("one", "two"))
    assert [system.name for system in read_systems(["ttt", one])] == ["ttt", "mine"]
    assert [system.name for system in read_systems([one, two])] == [one, two]
    (system,) = read_systems([one], ["solver.tol=0.5"])
    assert (system.config.model.name, system.config.solver.tol) == ("trueskill", 0.5)
    assert system.params.model_dump()["beta"] == 300
    assert system.model.NAME == "trueskill"


@each(
    "configs, overrides, message",
    [
        (["ttt", "ttt"], [], "ttt: is compared with itself"),
        (["all", "ttt-d"], [], "ttt-d: is compared with itself"),
        (["ttt"], ["model.beta=300"], "model.beta is not common to all systems"),
        (["ttt", "nobody"], [], "no such config"),
    ],
)
def test_what_cannot_be_read(configs: list[str], overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_systems(configs, overrides)


def test_games_of_a_run_can_be_laid_out_in_other_periods(tmp_path: Path) -> None:
    run = fit(games_of(RECORDS), output=tmp_path / "a.ttt")
    assert games_of_run(run).timeline.period == "year"
    monthly = games_of_run(run, ["data.period=month", "data.colours=unknown"]).timeline
    assert (monthly.period, monthly.colours, monthly.n_games) == ("month", False, 7)
    with pytest.raises(ConfigError, match=r"data\.header cannot change"):
        games_of_run(run, ["data.header=false"])


def test_files_are_read_as_all_systems_say(tmp_path: Path) -> None:
    (tmp_path / "games.csv").write_text(CSV)
    (tmp_path / "monthly.yaml").write_text("model: {name: ttt}\ndata: {period: month}\n")
    files, mine = [str(tmp_path / "games.csv")], str(tmp_path / "monthly.yaml")
    assert games_of_files(files, read_systems(["ttt", "trueskill"])).timeline.n_games == 3
    assert games_of_files(files, read_systems([mine])).timeline.period == "month"
    with pytest.raises(ConfigError, match=r"ttt and monthly differ in data\.period") as caught:
        games_of_files(files, read_systems(["ttt", mine]))
    assert caught.value.hint == "set it for all, as -s data.period=year"
    both = read_systems(["ttt", mine], ["data.period=quarter"])
    assert games_of_files(files, both).timeline.period == "quarter"


ROWS = [
    (1898, "a", "b", 2, 5.0), (1899, "a", "c", 1, 6.0), (1899, "b", "c", 1),
    (1900, "a", "b", 0), (1900, "c", "d", 2), (1911, "a", "c", 1, 90.0), (1912, "c", "a", 1),
]  # fmt: skip

games = st.lists(
    st.tuples(
        st.permutations(range(6)).map(lambda p: (p[0], p[1])), st.floats(-2, 2), st.floats(0.1, 3)
    ),
    min_size=2,
    max_size=25,
)


def arrays(rows: list[tuple[tuple[int, int], float, float]]) -> tuple[np.ndarray, ...]:
    white, black = np.array([pair for pair, _, _ in rows], np.int32).T
    return np.array([d for _, d, _ in rows]), np.array([w for _, _, w in rows]), white, black


@examples(20)
@given(games)
def test_games_with_a_common_player_are_taken_as_dependent(
    rows: list[tuple[tuple[int, int], float, float]],
) -> None:
    """All pairs of games one by one."""
    difference, weight, white, black = arrays(rows)
    found = paired_difference(difference, weight, white, black)
    mean = sum(w * d for _, d, w in rows) / weight.sum()
    deviation = [w * (d - mean) for _, d, w in rows]
    pairs = [set(pair) for pair, _, _ in rows]
    shared = sum(a * b for a, p in zip(deviation, pairs, strict=True)
                 for b, q in zip(deviation, pairs, strict=True) if p & q)  # fmt: skip
    alone = sum(a * a for a in deviation)
    assert found.mean == pytest.approx(mean, abs=1e-12)
    assert found.standard_error == pytest.approx(
        math.sqrt(max(shared, alone)) / weight.sum(), abs=1e-7
    )


def test_infinite_losses_and_single_games_have_no_standard_error() -> None:
    one = np.zeros(1, np.int32), np.ones(1, np.int32)
    assert math.isnan(paired_difference(np.array([0.5]), np.ones(1), *one).standard_error)
    players = np.array([0, 1], np.int32), np.array([2, 3], np.int32)
    found = paired_difference(np.array([math.inf, 0.5]), np.ones(2), *players)
    assert found.mean == math.inf
    assert math.isnan(found.standard_error)


def test_games_of_earlier_periods_are_counted_with_their_weights() -> None:
    timeline = build_timeline(make_games(ROWS))
    earlier = {
        (timeline.players[timeline.node_player[i]], int(timeline.node_period[i])): games
        for i, games in enumerate((games_so_far(timeline) - timeline.node_games).tolist())
    }
    assert earlier == {
        ("a", 1898): 0, ("b", 1898): 0, ("a", 1899): 5, ("b", 1899): 5, ("c", 1899): 0,
        ("a", 1900): 11, ("b", 1900): 6, ("c", 1900): 7, ("d", 1900): 0,
        ("a", 1911): 12, ("c", 1911): 8, ("a", 1912): 102, ("c", 1912): 98,
    }  # fmt: skip


def test_experience_is_that_of_the_less_experienced() -> None:
    timeline = build_timeline(make_games(ROWS))
    found = {
        name: np.flatnonzero(member).tolist() for name, member in groups(timeline, 1, "experience")
    }
    assert found == {"0": [0, 1, 3], "1-9": [2, 4], "30-99": [5]}
    every = groups(timeline, 0, "experience")
    assert sum(member.astype(int) for _, member in every).tolist() == [1] * 7


def test_decades_hold_their_years() -> None:
    timeline = build_timeline(make_games(ROWS))
    found = {name: int(member.sum()) for name, member in groups(timeline, 1, "decade")}
    assert found == {"1890s": 2, "1900s": 2, "1910s": 2}
    months = build_timeline(make_games(ROWS), "month")
    assert [name for name, _ in groups(months, 3, "decade")] == ["1910s"]


def test_bins_by_hand():
    probabilities = np.array([[0.52, 0.26, 0.22], [0.54, 0.26, 0.20], [0.1, 0.1, 0.8]])
    outcome, weight = np.array([0, 2, 2], np.int8), np.array([1.0, 3.0, 2.0])
    found = Forecast("", 1, outcome, weight, probabilities, probabilities, converged=True).bins
    losses = found["loss"]
    assert [(one.games, one.observed) for one in losses] == [(2.0, 0.0), (4.0, 0.25)]
    chance = (0.52 + 3 * 0.54) / 4
    assert losses[1].predicted == pytest.approx(chance)
    assert losses[1].error == pytest.approx(np.sqrt(chance * (1 - chance) * 10) / 4)
    wins = {round(one.predicted, 3): one.observed for one in found["win"]}
    assert wins == {0.205: 0.75, 0.8: 1.0}


def test_a_probability_of_one_is_in_the_last_bin():
    probabilities = np.array([[0.0, 0.0, 1.0]])
    found = Forecast(
        "", 1, np.array([2], np.int8), np.ones(1), probabilities, probabilities, converged=True
    ).bins
    (sure,) = found["win"]
    assert (sure.high, sure.predicted, sure.observed, sure.error) == (1.0, 1.0, 1.0, 0.0)
    assert all(one.predicted == 0.0 for name in ("loss", "draw") for one in found[name])


def test_calibration_compares_expected_scores_with_those_made() -> None:
    probabilities = np.array(
        [[0.05, 0.2, 0.75], [0.05, 0.2, 0.75], [0.0, 0.0, 1.0], [0.9, 0.1, 0.0]]
    )
    outcome, weight = np.array([2, 1, 2, 0], np.int8), np.array([1.0, 3.0, 2.0, 1.0])
    expected = probabilities[:, 2] + 0.5 * probabilities[:, 1]
    low, middle, high = calibrate(expected, outcome / 2.0, weight, SCORE_BINS)
    assert (low.low, low.high, low.games, low.observed) == (0.0, 0.1, 1, 0)
    assert low.predicted == pytest.approx(0.05)
    assert (middle.low, middle.high, middle.games) == (0.8, 0.9, 4)
    assert middle.predicted == pytest.approx(0.85)
    assert middle.observed == pytest.approx((1 + 3 * 0.5) / 4)
    assert (high.low, high.high, high.predicted, high.observed) == (0.9, 1.0, 1, 1)
