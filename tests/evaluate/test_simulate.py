"""The simulator draws from the model it names: frequencies, walks, careers, pairs; and writes what it drew."""

from __future__ import annotations

import csv
import io
import math
import os
from hashlib import sha256
from pathlib import Path
from statistics import NormalDist

import chess.pgn
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tests.support.cases import each
from tests.support.strategies import examples
from ttt_cli.config.documents import Document
from ttt_cli.config.validation import validate
from ttt_cli.evaluate.simulate import Plan, Simulated, draw_pairings, learn, simulate
from ttt_cli.evaluate.simulated_files import check_targets, save
from ttt_cli.games.table import DRAW, WIN
from ttt_cli.support.errors import ConfigError, OutputError

COLUMNS = ("date", "white", "black", "outcome", "player", "year", "skill", "margin", "newcomers")
PLAN = Plan(players=300, years=40, games=5_000, seed=7)


def same(one: Simulated, other: Simulated) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS)


def played_years(simulated: Simulated) -> np.ndarray:
    return simulated.date.astype("datetime64[D]").astype("datetime64[Y]").astype(int) + 1970


def skill_in_game(simulated: Simulated, side: str) -> np.ndarray:
    truth = {
        (p, y): s for p, y, s in zip(simulated.player, simulated.year, simulated.skill, strict=True)
    }
    players = getattr(simulated, side)
    return np.array([truth[key] for key in zip(players, played_years(simulated), strict=True)])


def z_score(hits: np.ndarray, chance: np.ndarray) -> float:
    return float((hits - chance).sum() / np.sqrt((chance * (1 - chance)).sum()))


def test_equal_plans_give_equal_histories_and_other_seeds_others() -> None:
    assert same(simulate(PLAN), simulate(PLAN))
    assert not same(simulate(PLAN), simulate(PLAN.changed(seed=8)))


@examples(16)
@given(
    players=st.integers(2, 60),
    years=st.integers(1, 30),
    games=st.integers(1, 400),
    clusters=st.integers(1, 40),
    mixing=st.floats(0, 1),
    expansion=st.floats(-5, 5),
    opponents_sd=st.none() | st.floats(1e-6, 1e4),
    opponents_by=st.sampled_from(["skill", "results"]),
    dates=st.sampled_from(["year", "day"]),
    seed=st.integers(0, 2**32),
)
def test_every_game_has_two_different_players_who_are_active(**options: object) -> None:
    simulated = simulate(Plan(**options))  # type: ignore[arg-type]
    active = set(zip(simulated.player.tolist(), simulated.year.tolist(), strict=True))
    years = played_years(simulated).tolist()
    assert len(simulated.date) == options["games"]
    assert np.all(simulated.white != simulated.black)
    for side in (simulated.white, simulated.black):
        assert active.issuperset(zip(side.tolist(), years, strict=True))
    assert np.all(np.diff(simulated.date) >= 0)
    assert simulated.games().players == simulated.players


def test_careers_are_runs_of_years_within_the_history() -> None:
    simulated = simulate(PLAN.changed(players=5_000, expansion=0.0, career_years=3.0, years=60))
    assert simulated.year.min() == 1850
    assert simulated.year.max() == 1909
    follows = simulated.player[1:] == simulated.player[:-1]
    assert np.all(np.diff(simulated.year)[follows] == 1)
    lengths = np.bincount(simulated.player)
    entry = simulated.year[np.searchsorted(simulated.player, np.arange(5_000))]
    uncut = lengths[entry < 1870]  # (2/3)^40 of them reach the end
    standard_error = math.sqrt((1 - 1 / 3) * 9 / len(uncut))
    assert abs(uncut.mean() - 3.0) < 4 * standard_error


def test_skills_start_at_the_prior_and_drift_by_tau() -> None:
    simulated = simulate(
        Plan(players=20_000, years=50, games=1, prior_mean=900, prior_sd=300, tau=45, seed=3)
    )
    first = np.append(True, np.diff(simulated.player) > 0)
    start, steps = simulated.skill[first], np.diff(simulated.skill)[~first[1:]]
    assert abs(start.mean() - 900) < 4 * 300 / math.sqrt(len(start))
    for sample, sd in ((start, 300), (steps, 45)):
        assert abs(sample.var() / sd**2 - 1) < 4 * math.sqrt(2 / len(sample))
    assert abs(np.corrcoef(start[simulated.player[1:][~first[1:]]], steps)[0, 1]) < 4 / math.sqrt(
        len(steps)
    )


def test_what_is_off_changes_nothing() -> None:
    """Digests of the games before there were careers, numpy 2."""
    days = PLAN.changed(dates="day", tau=25.0, clusters=3, white_advantage=30.0)
    for plan, expected in ((PLAN, "c6db7655"), (days, "a93ba4e4")):
        for one in (plan, plan.changed(growth_years=9.0, decline_after=1.0, early_years=7.0)):
            drawn = simulate(one)
            games = b"".join(getattr(drawn, name).tobytes() for name in COLUMNS[:4])
            assert sha256(games).hexdigest()[:8] == expected
            assert set(drawn.margin) == {plan.margin}
            assert set(drawn.newcomers) == {1200.0}


def test_steps_follow_the_curve() -> None:
    """D and A of docs/models/careers.md, written out."""
    growth, growth_years, decline, late, early, early_years, tau = (
        310.0,
        2.7,
        11.0,
        6.0,
        2.8,
        3.0,
        40.0,
    )
    plan = Plan(
        players=20_000, years=40, games=1, expansion=0.0, tau=tau, growth=growth, growth_years=growth_years,
        decline=decline, decline_after=late, early=early, early_years=early_years, seed=5,
    )  # fmt: skip
    simulated = simulate(plan)
    age = simulated.year - simulated.year[np.searchsorted(simulated.player, simulated.player)]
    steps, after = np.diff(simulated.skill), age[1:]
    for a in range(1, 15):
        found = steps[after == a]
        mean = growth * (math.exp(-(a - 1) / growth_years) - math.exp(-a / growth_years))
        mean -= decline * (max(0.0, a - late) - max(0.0, a - 1 - late))
        passed = 1 + early * early_years * (
            math.exp(-(a - 1) / early_years) - math.exp(-a / early_years)
        )
        assert len(found) > 1_000
        assert abs(found.mean() - mean) < 4 * tau * math.sqrt(passed / len(found))
        assert abs(found.var() / (tau**2 * passed) - 1) < 4 * math.sqrt(2 / len(found))


def test_newcomers_rise_and_fall_with_their_year() -> None:
    plan = Plan(
        players=40_000, years=60, games=1, expansion=0.0, prior_mean=1000.0, prior_sd=200.0,
        newcomers_slope=2.0, newcomers_wave=300.0, newcomers_wave_years=40.0,
    )  # fmt: skip
    simulated = simulate(plan)
    t = np.arange(60)
    expected = 1000.0 + 2.0 * t + 300.0 * np.sin(2 * np.pi * t / 40.0)
    assert simulated.newcomers == pytest.approx(expected, abs=1e-9)
    first = np.searchsorted(simulated.player, np.arange(40_000))
    entered, start = simulated.year[first] - 1850, simulated.skill[first]
    number = np.bincount(entered)
    z = (np.bincount(entered, start) / number - expected) / (200.0 / np.sqrt(number))
    assert np.abs(z).max() < 4.5
    assert abs((z**2).sum() - 60) < 4 * math.sqrt(120)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"white_advantage": 120.0},
        {"draw_margin_drift": 0.2, "expansion": 0.0},
        {"draw_margin_strength": 0.5, "years": 3, "tau": 30.0, "career_years": 30.0},
    ],
)
def test_outcomes_have_the_probabilities_of_the_model(changes: dict[str, float]) -> None:
    """Of all games and of those of the weak, the strong and both sides with a clear lead."""
    plan = Plan(players=200, years=20, games=60_000, beta=300, draw_margin=110, seed=11).changed(
        **changes
    )
    simulated = simulate(plan)
    white, black = (skill_in_game(simulated, side) for side in ("white", "black"))
    years = played_years(simulated) - 1850
    strength = (white + black) / 2
    level = (np.bincount(years, strength) / np.bincount(years))[years]
    margin = simulated.margin[years] * np.exp(
        plan.draw_margin_strength * np.clip((strength - level) / 400, -2, 2)
    )
    cdf = np.vectorize(NormalDist(0, math.sqrt(2) * 300).cdf)
    lead = white - black + plan.advantage
    win, loss = cdf(lead - margin), cdf(-lead - margin)
    won, drawn = simulated.outcome == WIN, simulated.outcome == DRAW
    for by in (lead, strength - level, margin):
        for part in (slice(None), by <= np.quantile(by, 0.2), by >= np.quantile(by, 0.8)):
            assert abs(z_score(won[part], win[part])) < 4
            assert abs(z_score(drawn[part], (1 - win - loss)[part])) < 4


def test_draw_margins_walk() -> None:
    plan = Plan(
        players=9, years=1000, games=1, first_year=1100, draw_margin=100, draw_margin_drift=0.06
    )
    margin = simulate(plan).margin
    assert margin[0] == 100.0
    changes = np.diff(np.log(margin))
    assert abs(changes.var() / 0.06**2 - 1) < 4 * math.sqrt(2 / 999)
    assert abs(changes.mean()) < 4 * 0.06 / math.sqrt(999)


@pytest.mark.parametrize(("mixing", "groups"), [(0.0, 4), (1.0, 1)])
def test_clusters_meet_only_by_mixing(mixing: float, groups: int) -> None:
    simulated = simulate(
        Plan(players=400, years=1, games=20_000, clusters=4, mixing=mixing, seed=2)
    )
    games = coo_array((np.ones(20_000), (simulated.white, simulated.black)), shape=(400, 400))
    group = connected_components(games, directed=False)[1]
    assert len(set(group[simulated.white])) == groups


def test_opponents_by_results_know_no_skill_before_the_first_game() -> None:
    plan = Plan(
        players=400,
        years=12,
        games=24_000,
        expansion=0.0,
        career_years=40.0,
        opponents_sd=50.0,
        clusters=1,
    )

    def alike(plan: Plan) -> tuple[float, float]:
        simulated = simulate(plan)
        white, black = (skill_in_game(simulated, side) for side in ("white", "black"))
        year = played_years(simulated)
        first, last = year == year[0], year == year[-1]
        return tuple(float(np.corrcoef(white[of], black[of])[0, 1]) for of in (first, last))  # type: ignore[return-value]

    by_skill, by_results = alike(plan), alike(plan.changed(opponents_by="results"))
    assert min(by_skill) > 0.8
    assert abs(by_results[0]) < 0.2
    assert 0.5 < by_results[1] < by_skill[1]


@each(
    "wrong, words",
    [
        ({"players": 1}, "simulate.players must be at least 2, not 1"),
        ({"mixing": 1.5}, "mixing must be at most 1, not 1.5"),
        ({"opponents_sd": 0.0}, "opponents_sd must be at least"),
        ({"first_year": 2990, "years": 11}, "after the year 2999"),
        ({"dates": "week"}, "dates must be 'year' or 'day', not 'week'"),
    ],
)
def test_impossible_plans_are_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        validate(Plan, wrong, Document(), ("simulate",))


@pytest.mark.parametrize("dates", ["year", "day"])
def test_csv_and_truth_hold_what_was_drawn(tmp_path: Path, dates: str) -> None:
    moving = PLAN.changed(games=500, draw_margin_drift=0.1, newcomers_slope=2.5)
    simulated = simulate(moving.changed(dates=dates))
    save(simulated, tmp_path / "it's.csv", tmp_path / "truth.csv", tmp_path / "years.csv")
    rows = list(csv.DictReader((tmp_path / "it's.csv").read_text(encoding="utf-8").splitlines()))
    days = np.datetime_as_string(
        simulated.date.astype("datetime64[D]"), unit="Y" if dates == "year" else "D"
    )
    names = simulated.players
    assert [row["date"] for row in rows] == days.tolist()
    assert [row["white"] for row in rows] == [names[i] for i in simulated.white]
    assert [row["black"] for row in rows] == [names[i] for i in simulated.black]
    assert [row["result"] for row in rows] == [
        ("0-1", "1/2-1/2", "1-0")[code] for code in simulated.outcome
    ]
    truth = list(csv.DictReader((tmp_path / "truth.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["player"], int(row["period"])) for row in truth] == [
        (names[i], year) for i, year in zip(simulated.player, simulated.year, strict=True)
    ]
    assert [float(row["skill"]) for row in truth] == simulated.skill.tolist()
    years = list(csv.DictReader((tmp_path / "years.csv").read_text(encoding="utf-8").splitlines()))
    assert [int(row["period"]) for row in years] == list(range(1850, 1890))
    assert [float(row["draw_margin"]) for row in years] == simulated.margin.tolist()
    assert [float(row["newcomers_mean"]) for row in years] == simulated.newcomers.tolist()
    assert {path.name for path in tmp_path.iterdir()} == {"it's.csv", "truth.csv", "years.csv"}


def test_a_pgn_holds_the_same_games(tmp_path: Path) -> None:
    simulated = simulate(PLAN.changed(games=60))
    save(simulated, place := tmp_path / "games.PGN")
    with place.open(encoding="ascii") as stream:
        for code, white, black in zip(
            simulated.outcome, simulated.white, simulated.black, strict=True
        ):
            game = chess.pgn.read_game(stream)
            assert game is not None
            assert not game.errors
            assert game.headers["White"] == simulated.players[white]
            assert game.headers["Black"] == simulated.players[black]
            assert game.headers["Result"] == ("0-1", "1/2-1/2", "1-0")[code]
        assert chess.pgn.read_game(stream) is None


def test_a_stream_gets_the_games(tmp_path: Path) -> None:
    simulated = simulate(PLAN.changed(games=5))
    stream = io.BytesIO()
    save(simulated, stream)
    save(simulated, tmp_path / "games.csv")
    assert stream.getvalue() == (tmp_path / "games.csv").read_bytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        save(simulate(PLAN.changed(games=5)), pipe)
        assert os.read(reader, 1 << 12).startswith(b"date,white,black,result\n")
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")  # not on Windows
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(OutputError, match="cannot be written: File too large"):
            save(simulate(PLAN.changed(games=2000)), tmp_path / "games.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_files_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ttt_cli.evaluate.simulated_files._copy", interrupted)
    place = tmp_path / "games.pgn"
    earlier = '[Event "Simulation"]\n[White "before"]'
    place.write_text(earlier, encoding="ascii")
    with pytest.raises(KeyboardInterrupt):
        save(simulate(PLAN.changed(games=5)), place, tmp_path / "truth.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["games.pgn"]
    assert place.read_text(encoding="ascii") == earlier


def test_places_are_checked_without_a_trace_and_those_to_be_replaced_are_named(
    tmp_path: Path,
) -> None:
    games, truth = tmp_path / "games.csv", tmp_path / "truth.csv"
    assert check_targets(games, truth) == []
    truth.write_text("player,period,skill\n")
    assert check_targets(games, truth) == [truth]
    assert check_targets(io.BytesIO(), None) == []
    assert [path.name for path in tmp_path.iterdir()] == ["truth.csv"]
    assert truth.read_text() == "player,period,skill\n"


def test_a_link_is_the_file_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "games.csv").write_text("before")
    (tmp_path / "link.csv").symlink_to("games.csv")
    with pytest.raises(ConfigError, match="one file"):
        check_targets(tmp_path / "games.csv", tmp_path / "link.csv")


N = 200_000
SKILL = np.linspace(900.0, 1500.0, 7)
ACTIVITY = np.array([1.0, 3.0, 0.5, 2.0, 1.0, 4.0, 1.5])


@pytest.mark.parametrize("within", [None, 300.0])
def test_opponents_come_by_activity_and_likeness(within: float | None) -> None:
    plan = Plan(mixing=0.0, opponents_sd=within)
    cluster = np.zeros(7, np.int64)
    first, second = draw_pairings(plan, cluster, ACTIVITY, SKILL, N, np.random.default_rng(1))
    likeness = 1.0 if within is None else np.exp(-0.5 * ((SKILL[:, None] - SKILL) / within) ** 2)
    weight = ACTIVITY * likeness * (1 - np.eye(7))
    expected = (ACTIVITY / ACTIVITY.sum())[:, None] * weight / weight.sum(axis=1, keepdims=True) * N
    found = np.bincount(7 * first + second, minlength=49).reshape(7, 7)
    assert not np.trace(found)
    off = ~np.eye(7, dtype=bool)
    assert np.abs((found - expected)[off] / np.sqrt(expected[off])).max() < 4.5


def test_a_history_may_end_in_the_last_year() -> None:
    assert Plan(first_year=2990, years=10).years == 10


def test_ratings_learned_from_results_know_who_has_white() -> None:
    """With an advantage a draw is less than was expected of White."""
    rating = np.zeros(2)
    learn(
        PLAN.changed(white_advantage=100.0),
        rating,
        np.array([0]),
        np.array([1]),
        np.array([DRAW], np.int8),
    )
    assert rating[0] == -rating[1] < 0.0
