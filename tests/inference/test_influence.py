"""Influence of games, against refits without them or with other results."""

from dataclasses import replace

import numpy as np
import pytest

from tests.support.builders import random_rows
from tests.support.handmade import CONFIG
from tests.support.joint_runs import JOINT, PLAY, run_of
from tests.support.sides import games_of_sides
from ttt_cli import api
from ttt_cli.fitted import by_player
from ttt_cli.inference.influence import Influence, Supposition
from ttt_cli.runs.joint import SkillSum
from ttt_cli.runs.write import memory_run
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline

GIVEN = {"draw_margin": 150.0, "white_advantage": 35.0}
ROWS = random_rows(3, 120, players=8, years=4)


def refitted(timeline, **given):
    return ttt.fit(timeline, ttt.Params(**{**PLAY, **given}), JOINT)


def node_shifts(influence, timeline, shift):
    """Shifts of variables by node."""
    shifts = np.zeros(timeline.n_nodes)
    shifts[timeline.game_white] = shift[influence.games.white]
    shifts[timeline.game_black] = shift[influence.games.black]
    return shifts


def target_of(influence, timeline, node):
    """The skill of a node."""
    weights = np.zeros(len(influence.games.deviation))
    weights[influence.games.white[timeline.game_white == node]] = 1.0
    return influence.target(SkillSum(weights, 0.0, 0.0))


def assert_near(predicted, exact):
    """Within 1 point or 5 %."""
    assert np.all(np.abs(predicted - exact) <= np.maximum(1.0, 0.05 * np.abs(exact)))


@pytest.mark.parametrize(
    ("rows", "given"),
    [
        (ROWS, GIVEN),
        (ROWS, {**GIVEN, "tau": 0.0}),
        (ROWS, {**GIVEN, "lapse": 0.1}),
        (random_rows(5, 120, players=8, years=4, weights=(1.0, 2.0), odds=(0.0, 100.0)), GIVEN),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_means_without_games_are_those_of_a_refit(rows, given, seed):
    timeline, run = run_of(rows=rows, **given)
    before = refitted(timeline, **given)
    influence = Influence(run)
    games = np.sort(
        np.random.default_rng(seed).choice(timeline.n_games, 1 + 2 * seed, replace=False)
    )
    supposed = influence.suppose(Supposition(games))
    mask = np.ones(timeline.n_games, np.bool_)
    mask[games] = False
    exact = refitted(timeline.with_games_where(mask), **given)
    assert_near(node_shifts(influence, timeline, supposed.total_shift), exact.mean - before.mean)
    node = timeline.game_white[games[0]]
    target = target_of(influence, timeline, node)
    change = supposed.of(target)
    assert supposed.sd_of(target.sum) == pytest.approx(change.sd, abs=0.01)
    assert target.sd == pytest.approx(before.sd[node], rel=1e-3)
    assert change.sd == pytest.approx(exact.sd[node], abs=1.0)
    assert change.change == pytest.approx(exact.mean[node] - before.mean[node], abs=1.0)


@pytest.mark.parametrize("seed", range(2))
def test_means_with_other_results_are_those_of_a_refit(seed):
    timeline, run = run_of(rows=ROWS, **GIVEN)
    before = refitted(timeline, **GIVEN)
    influence = Influence(run)
    game = int(np.random.default_rng(seed).integers(timeline.n_games))
    node = timeline.game_white[game]
    target = target_of(influence, timeline, node)
    alone = influence.suppose(Supposition(np.array([game]))).one_game(target)
    assert 0.0 < alone.expected < 1.0
    for outcome in range(3):
        outcomes = timeline.outcome.copy()
        outcomes[game] = outcome
        exact = refitted(replace(timeline, outcome=outcomes), **GIVEN)
        supposed = influence.suppose(Supposition(np.array([game]), np.array([outcome], np.int8)))
        assert_near(
            node_shifts(influence, timeline, supposed.total_shift), exact.mean - before.mean
        )
        assert alone.changes[outcome] == pytest.approx(
            exact.mean[node] - before.mean[node], abs=2.0
        )


def test_a_long_match_is_left_out_at_once():
    """Their skills are so correlated by it that they are far from independent."""
    rows = [*ROWS, *[(1901, "p00", "p01", result) for result in [2, 2, 1, 0, 2] * 12]]
    timeline, run = run_of(rows=rows, **GIVEN)
    before = refitted(timeline, **GIVEN)
    influence = Influence(run)
    names = np.array(timeline.players)
    white = names[timeline.node_player[timeline.game_white]]
    black = names[timeline.node_player[timeline.game_black]]
    year = timeline.node_period[timeline.game_white]
    games = np.flatnonzero((white == "p00") & (black == "p01") & (year == 1901))
    mask = np.ones(timeline.n_games, np.bool_)
    mask[games] = False
    exact = refitted(timeline.with_games_where(mask), **GIVEN)
    supposed = influence.suppose(Supposition(games))
    assert_near(node_shifts(influence, timeline, supposed.total_shift), exact.mean - before.mean)


def test_between_periods_with_games_a_skill_has_a_noise_of_its_own():
    """The sd of 1905, in the middle of ten idle years, is the root of more than the years around it know."""
    rows = [*ROWS, *[(1910, "p00", "p01", result) for result in (2, 1, 0)]]
    _, run = run_of(rows=rows, **GIVEN)
    influence = Influence(run)
    between = influence.target(run.joint.sum_of([("p00", 1905)], np.ones(1)))
    assert between.sum.noise > 100.0
    assert influence.suppose(Supposition(np.array([0]))).sd_of(between.sum) == pytest.approx(
        influence.suppose(Supposition(np.array([0]))).of(between).sd, rel=1e-4
    )


def test_margins_that_move_are_those_of_the_fit():
    """The sites have the precision that the run stores, so that all rules of the games are the same."""
    moving = {"draw_margin_drift": 0.05, "draw_margin_strength": 0.15, "growth": 100.0}
    _, run = run_of(rows=ROWS, **GIVEN, **moving)
    games = Influence(run).games
    pairs, of_game = np.unique(games.pair, return_inverse=True)
    influence = Influence(run)
    every = np.arange(len(games))
    variance = influence._posterior_variance(every)
    sites = influence._sites(every, games.difference, variance)
    total = np.bincount(of_game, games.weight * sites[:, 0])
    assert total == pytest.approx(games.stored_precision(pairs), rel=1e-5)


def test_other_models_are_refused():
    _, run = run_of("ttt-d", rows=ROWS[:20], draw_margin_tau=9.0)
    with pytest.raises(ConfigError, match="not computed for the model ttt-d"):
        Influence(run)


def test_margins_of_victory_are_refused(tmp_path):
    games = tmp_path / "games.csv"
    games.write_text(
        "date,home_team,away_team,home_score,away_score\n1900,Ann,Bob,3,0\n1901,Bob,Ann,1,1\n"
    )
    resolved = api.configure("ttt", ["data.margin=score", "model.margin_steps={2: 100}"])
    run = api.fit(games, resolved)
    with pytest.raises(ConfigError, match="not computed for margins of victory") as refused:
        Influence(run)
    assert refused.value.__notes__ == ["hint: fit the games to another run without data.margin"]


def test_why_ranks_by_the_size_of_the_change():
    _, run = run_of(rows=ROWS, **GIVEN)
    frame = api.why(run, "p00", at=1901, number=None)
    sizes = frame["change"].abs()
    assert list(sizes) == sorted(sizes, reverse=True)
    skills = run.skills("p00")
    mean = float(skills.loc[skills["period"] == "1901", "mean"].iloc[0])
    assert frame["mean_without"].to_numpy() == pytest.approx(mean + frame["change"].to_numpy())
    results = frame.set_index("result")
    assert results.loc[["1-0"], "if_white"].isna().all()
    assert results.loc[["0-1"], "if_white"].notna().all()


@pytest.mark.parametrize("by", ["opponent", "event", "year"])
def test_groups_have_all_their_games(by):
    _, run = run_of(rows=ROWS, **GIVEN)
    frame = api.why(run, "p00", versus="p01", by=by, number=None)
    games = run.games()
    if by == "opponent":
        own = games[(games["white"] == "p00") | (games["black"] == "p00")]
        assert frame["games"].sum() == len(own)
    elif by == "year":
        assert frame["games"].sum() == len(games)
    else:
        assert frame.empty  # no events are known


TEAM_ROWS = [
    (1850 + number // 30, f"{a} / {b}", f"{c} / {d}" if number % 3 else c, outcome)
    for number, (outcome, (a, b, c, d)) in enumerate(
        (int(rng.integers(3)), rng.permutation(list("abcdefgh"))[:4].tolist())
        for rng in [np.random.default_rng(7)]
        for _ in range(90)
    )
]


@pytest.mark.parametrize("team", ["sum", "mean"])
@pytest.mark.parametrize("seed", range(2))
def test_means_without_games_of_teams_are_those_of_a_refit(team, seed):
    games = games_of_sides(TEAM_ROWS)
    timeline = build_timeline(games, "year", "known")
    before = refitted(timeline, **GIVEN, team=team)
    run = memory_run(games, timeline, before, CONFIG)
    influence = Influence(run)
    left_out = np.sort(
        np.random.default_rng(seed).choice(timeline.n_games, 1 + 2 * seed, replace=False)
    )
    supposed = influence.suppose(Supposition(left_out))
    mask = np.ones(timeline.n_games, np.bool_)
    mask[left_out] = False
    exact = refitted(timeline.with_games_where(mask), **GIVEN, team=team)
    rows = np.argsort(by_player(timeline))
    variable = run.joint.precision.variable_of_row[rows]
    assert_near(supposed.total_shift[variable], exact.mean - before.mean)
    weights = np.zeros(len(influence.games.deviation))
    node = timeline.game_white[left_out[0]]
    weights[variable[node]] = 1.0
    target = influence.target(SkillSum(weights, 0.0, 0.0))
    assert target.sd == pytest.approx(before.sd[node], rel=1e-3)
    assert supposed.of(target).sd == pytest.approx(exact.sd[node], abs=1.0)
    alone = influence.changes_without(target)[left_out]
    if len(left_out) == 1:
        assert alone[0] == pytest.approx(exact.mean[node] - before.mean[node], rel=0.3, abs=2.0)
