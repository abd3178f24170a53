"""The simulator draws from the model it names: frequencies, walks, careers."""

from __future__ import annotations

import math
from dataclasses import replace
from hashlib import sha256
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tests.support.cases import each
from tests.support.strategies import examples
from ttt_cli.config.errors import validate
from ttt_cli.config.load import Document
from ttt_cli.evaluate.simulate import Plan, Simulated, simulate
from ttt_cli.games.table import DRAW, WIN
from ttt_cli.support.errors import ConfigError

COLUMNS = ("date", "white", "black", "outcome", "player", "year", "skill", "margin", "newcomers")
PLAN = Plan(players=300, years=40, games=5_000, seed=7)


def same(one: Simulated, other: Simulated) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS)


def played_years(simulated: Simulated) -> np.ndarray:
    return simulated.date.astype("datetime64[D]").astype("datetime64[Y]").astype(int) + 1970


def skill_in_game(simulated: Simulated, side: str) -> np.ndarray:
    truth = {(p, y): s for p, y, s in zip(simulated.player, simulated.year, simulated.skill, strict=True)}
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


def test_most_games_fall_in_the_last_years() -> None:
    simulated = simulate(Plan(players=1_000, years=157, games=20_000))
    share = np.mean(played_years(simulated) > 1850 + 156 - 20)
    expected = (1 - math.exp(-0.05 * 20)) / (1 - math.exp(-0.05 * 157))
    assert abs(share - expected) < 4 * math.sqrt(expected * (1 - expected) / 20_000)


def test_skills_start_at_the_prior_and_drift_by_tau() -> None:
    simulated = simulate(
        Plan(players=20_000, years=50, games=1, prior_mean=900, prior_sd=300, tau=45, seed=3)
    )
    first = np.append(True, np.diff(simulated.player) > 0)
    start, steps = simulated.skill[first], np.diff(simulated.skill)[~first[1:]]
    assert abs(start.mean() - 900) < 4 * 300 / math.sqrt(len(start))
    for sample, sd in ((start, 300), (steps, 45)):
        assert abs(sample.var() / sd**2 - 1) < 4 * math.sqrt(2 / len(sample))
    assert abs(np.corrcoef(start[simulated.player[1:][~first[1:]]], steps)[0, 1]) < 4 / math.sqrt(len(steps))


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
    growth, growth_years, decline, late, early, early_years, tau = 310.0, 2.7, 11.0, 6.0, 2.8, 3.0, 40.0
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
        passed = 1 + early * early_years * (math.exp(-(a - 1) / early_years) - math.exp(-a / early_years))
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


def test_draw_margins_walk_and_draws_follow_them() -> None:
    long = simulate(
        Plan(players=9, years=1000, games=1, first_year=1100, draw_margin=100, draw_margin_drift=0.06)
    )
    assert long.margin[0] == 100.0
    changes = np.diff(np.log(long.margin))
    assert abs(changes.var() / 0.06**2 - 1) < 4 * math.sqrt(2 / 999)
    assert abs(changes.mean()) < 4 * 0.06 / math.sqrt(999)
    plan = Plan(
        players=50, years=40, games=200_000, prior_sd=0, tau=0, beta=300, draw_margin_drift=0.2, expansion=0.0
    )
    simulated = simulate(plan)
    cdf = np.vectorize(NormalDist(0, math.sqrt(2) * 300).cdf)
    margin = simulated.margin[played_years(simulated) - 1850]
    drawn = simulated.outcome == DRAW
    for part in (slice(None), margin > np.median(margin), margin < np.median(margin)):
        assert abs(z_score(drawn[part], (2 * cdf(margin) - 1)[part])) < 4


def test_the_strong_draw_more_where_strength_counts() -> None:
    plan = Plan(
        players=300, years=3, games=60_000, beta=300, tau=30, draw_margin=110, draw_margin_strength=0.5,
        career_years=30.0, seed=4,
    )  # fmt: skip
    simulated = simulate(plan)
    white, black = (skill_in_game(simulated, side) for side in ("white", "black"))
    strength, years = (white + black) / 2, played_years(simulated)
    level = np.array([strength[years == year].mean() for year in (1850, 1851, 1852)])[years - 1850]
    margin = 110 * np.exp(0.5 * np.clip((strength - level) / 400, -2, 2))
    cdf = np.vectorize(NormalDist(0, math.sqrt(2) * 300).cdf)
    chance = cdf(margin - (white - black)) - cdf(-margin - (white - black))
    drawn = simulated.outcome == DRAW
    assert np.abs(strength - level).max() > 800
    for part in (slice(None), strength > level + 300, strength < level - 300):
        assert abs(z_score(drawn[part], chance[part])) < 4


def test_draws_between_equals_are_as_frequent_as_asked() -> None:
    plan = Plan(players=50, years=1, games=200_000, prior_sd=0, draw_probability=0.41, seed=5)
    drawn = simulate(plan).outcome == DRAW
    assert abs(z_score(drawn, np.full(len(drawn), 0.41))) < 4


@pytest.mark.parametrize("advantage", [0.0, 120.0])
def test_outcomes_have_the_probabilities_of_the_model(advantage: float) -> None:
    plan = Plan(
        players=200, years=20, games=60_000, beta=300, white_advantage=advantage, draw_margin=110, seed=11
    )
    simulated = simulate(plan)
    lead = skill_in_game(simulated, "white") - skill_in_game(simulated, "black") + advantage
    cdf = np.vectorize(NormalDist(0, math.sqrt(2) * 300).cdf)
    win, loss = cdf(lead - 110), cdf(-lead - 110)
    won, drawn = simulated.outcome == WIN, simulated.outcome == DRAW
    weak, strong = lead < np.quantile(lead, 0.2), lead > np.quantile(lead, 0.8)
    for part in (slice(None), weak, strong):
        assert abs(z_score(won[part], win[part])) < 4
        assert abs(z_score(drawn[part], (1 - win - loss)[part])) < 4


def test_pairing_knows_nothing_of_skill() -> None:
    simulated = simulate(Plan(players=4_000, years=1, games=40_000, seed=2))
    pairs = {
        tuple(sorted(pair)) for pair in zip(simulated.white.tolist(), simulated.black.tolist(), strict=True)
    }
    skill = dict(zip(simulated.player.tolist(), simulated.skill.tolist(), strict=True))
    first, second = np.array([(skill[i], skill[j]) for i, j in pairs]).T
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.05


@pytest.mark.parametrize(("mixing", "groups"), [(0.0, 4), (1.0, 1)])
def test_clusters_meet_only_by_mixing(mixing: float, groups: int) -> None:
    simulated = simulate(Plan(players=400, years=1, games=20_000, clusters=4, mixing=mixing, seed=2))
    games = coo_array((np.ones(20_000), (simulated.white, simulated.black)), shape=(400, 400))
    group = connected_components(games, directed=False)[1]
    assert len(set(group[simulated.white])) == groups


def test_opponents_by_results_know_no_skill_before_the_first_game() -> None:
    plan = Plan(
        players=400, years=12, games=24_000, expansion=0.0, career_years=40.0, opponents_sd=50.0, clusters=1
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
        ({"games": 0}, "games must be at least 1, not 0"),
        ({"beta": 0.0}, "beta must be at least 0.000001, not 0"),
        ({"tau": -1.0}, "tau must be at least 0, not -1"),
        ({"draw_margin": math.nan}, "draw_margin must be .*, not .nan"),
        ({"draw_probability": 1.0}, "draw_probability must be at most 0.999999"),
        ({"mixing": 1.5}, "mixing must be at most 1, not 1.5"),
        ({"expansion": math.inf}, "expansion must be a finite number, not .inf"),
        ({"growth": -1.0}, "growth must be at least 0"),
        ({"growth_years": 0.0}, "growth_years must be at least 0.01"),
        ({"early": math.nan}, "early must be .*, not .nan"),
        ({"opponents_sd": 0.0}, "opponents_sd must be at least"),
        ({"first_year": 2990, "years": 11}, "after the year 2999"),
        ({"first_year": 3000, "years": 1}, "first_year must be at most 2999"),
        ({"dates": "week"}, "dates must be 'year' or 'day', not 'week'"),
        ({"opponents_by": "luck"}, "opponents_by must be"),
    ],
)
def test_impossible_plans_are_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        validate(Plan, wrong, Document(), ("simulate",))


@pytest.mark.slow
def test_names_widen_so_that_they_sort_like_the_players() -> None:
    simulated = replace(simulate(PLAN.changed(games=5)), plan=PLAN.changed(players=1_000_000))
    assert simulated.players[0] == "Player 0000001"
    assert simulated.players[-1] == "Player 1000000"
