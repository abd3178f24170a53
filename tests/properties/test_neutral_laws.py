"""Games on neutral ground: nobody has White's advantage in them, in every system."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import EXACT, assert_slopes, fit_rows, make_games
from tests.support.strategies import examples
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.forecast import Forecaster
from ttt_cli.systems import registry
from ttt_cli.timeline import build_timeline

ADVANTAGE = 90.0
SYSTEMS = [name for name in registry.MODULES if name != "naive"]
PARAMS = {
    "ttt": {"beta": 300, "draw_margin": 150},
    "ttt-d": {"beta": 300, "draw_margin_mean": 150, "draw_margin_sd": 60},
    "trueskill": {"beta": 300, "draw_margin": 150},
}
laws = examples(10)


def row(year, ends, outcome, weight, offset, neutral):
    return (1900 + year, *ends, outcome, weight, offset, neutral)


rows_of_games = st.lists(
    st.builds(
        row,
        st.integers(0, 3),
        st.sampled_from([(a, b) for a in "abcd" for b in "abcd" if a != b]),
        st.integers(0, 2),
        st.sampled_from([1.0, 2.0]),
        st.sampled_from([0.0, 0.0, 120.0, -120.0]),
        st.booleans(),
    ),
    min_size=1,
    max_size=16,
).map(lambda rows: sorted(rows, key=lambda one: one[0]))


def history(seed, games=40, offsets=(0.0, 0.0, 120.0)):
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(games):
        ends = rng.choice(list("abcde"), 2, replace=False).tolist()
        outcome, offset = int(rng.integers(3)), float(rng.choice(offsets))
        rows.append(row(number // 10, ends, outcome, 1.0, offset, bool(rng.random() < 0.4)))
    return rows


def fitted(rows, system, colours="known", solver=EXACT, **params):
    given = {"white_advantage": ADVANTAGE, **PARAMS.get(system, {}), **params}
    return fit_rows(rows, system, solver, colours=colours, **given)


def turned(rows, which):
    """Some of the rows told from the other side."""
    return [
        (one[0], one[2], one[1], 2 - one[3], one[4], -one[5], one[6]) if other else one
        for one, other in zip(rows, which, strict=True)
    ]


def assert_same(one, other, abs_=1e-7):
    (first, one), (second, other) = one, other
    assert first.n_nodes == second.n_nodes
    assert one.mean == pytest.approx(other.mean, abs=abs_)
    assert one.sd == pytest.approx(other.sd, abs=abs_, nan_ok=True)
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-7, nan_ok=True)
    assert one.leave_one_out == pytest.approx(other.leave_one_out, abs=1e-7, nan_ok=True)


def test_a_neutral_game_is_one_in_which_the_advantage_is_given_back():
    """As odds worth as many points: what games at odds are is proved elsewhere."""
    for system in SYSTEMS:
        rows = history(1)
        one = fitted(rows, system)
        back = ADVANTAGE / one[1].elo_unit
        other = fitted([(*r[:5], r[5] - back * r[6]) for r in rows], system)
        assert_same(one, other, 1e-5)
        _, counted = fitted([r[:6] for r in rows], system)
        assert np.abs(one[1].mean - counted.mean).max() > 1.0


def test_where_all_is_neutral_there_is_no_advantage():
    for system in registry.MODULES:
        rows = [(*r[:6], True) for r in history(2)]
        one = fitted(rows, system)
        other = fitted([r[:6] for r in rows], system, white_advantage=0.0)
        assert_same(one, other)


@laws
@given(rows_of_games, st.data())
@pytest.mark.parametrize("system", ["ttt", "ttt-d", "trueskill", "elo", "whr", "weighted-ep"])
def test_who_is_named_first_on_neutral_ground_changes_nothing(system, rows, data):
    which = [r[6] and data.draw(st.booleans()) for r in rows]
    if system == "edo":
        rows = [(*r[:5], 0.0, r[6]) for r in rows]
    solver = SolverConfig(tol=1e-9, posterior="factorised", max_sweeps=2000)
    params = {"draw_margin": 60.0} if system not in PARAMS and system != "edo" else {}
    one, other = (fitted(them, system, solver=solver, **params) for them in (rows, turned(rows, which)))
    assert_same(one, other)


@pytest.mark.parametrize("system", ["ttt", "ttt-d", "trueskill", "elo", "weighted-ep"])
def test_among_unknown_colours_neutral_games_have_no_advantage_either(system):
    """Of two groups that never meet the evidence is that of each."""
    rows = [(*r[:6], False) for r in history(6)]
    neutral = [(year, f"{a}2", f"{b}2", *rest, True) for year, a, b, *rest, _ in history(7)]
    margin = {} if system in PARAMS else {"draw_margin": 100.0}
    one, other, both = (
        fitted(them, system, "unknown", **margin)[1].log_evidence
        for them in (rows, neutral, sorted(rows + neutral, key=lambda game: game[0]))
    )
    level = fitted([r[:6] for r in neutral], system, white_advantage=0.0, **margin)[1].log_evidence
    assert both == pytest.approx(one + other, abs=1e-6)
    assert other == pytest.approx(level, abs=1e-6)


@pytest.mark.parametrize("system", ["ttt", "ttt-d"])
@pytest.mark.parametrize("posterior", ["factorised", "joint"])
def test_the_gradient_of_the_evidence_is_its_slope(system, posterior):
    module, solver = registry.load(system), SolverConfig(tol=1e-10, posterior=posterior, max_sweeps=2000)
    given = {"white_advantage": ADVANTAGE, **PARAMS.get(system, {"draw_margin": 100.0})}
    steps = {key: 0.01 for key in ("white_advantage", "beta", "draw_margin") if key in given}
    timeline = build_timeline(make_games(history(4)))
    assert_slopes(module, timeline, module.Params(**given), steps, solver, rel=0, abs=2e-6)


@pytest.mark.parametrize("system", ["ttt", "ttt-d", "trueskill"])
def test_the_estimated_advantage_is_that_of_the_other_games(system):
    """Hosts win four of five; on neutral ground, where others meet, the second wins them all."""
    hosts = [row(year, ("a", "b")[:: 1 - 2 * (k % 2)], 2 * (k > 1), 1.0, 0.0, False)
             for year in range(4) for k in range(10)]  # fmt: skip
    elsewhere = [row(year, ("c", "d"), 0, 1.0, 0.0, True) for year in range(4) for _ in range(10)]
    alone, both = (
        fitted(rows, system, white_advantage="estimate")[1].params["white_advantage"]
        for rows in (hosts, hosts + elsewhere)
    )
    assert alone > 50.0
    assert both == pytest.approx(alone, abs=0.2)


def test_neutral_games_are_predicted_without_advantage():
    for system in registry.MODULES:
        module = registry.load(system)
        rows = [(*r[:5], 0.0, False) for r in history(5)]
        further = {"draw_margin": 120.0} if "draw_margin" in module.Params.model_fields else {}
        last = partial(row, 4, ("a", "b"), 2, 1.0, 0.0)
        with_it, neutral, swapped = (
            Forecaster(
                build_timeline(make_games([*rows, game])), module,
                module.Params(white_advantage=ADVANTAGE, **further), SolverConfig(tol=1e-9),
            ).predict(4, 5)[-1]
            for game in (last(False), last(True), row(4, ("b", "a"), 0, 1.0, 0.0, True))
        )  # fmt: skip
        assert neutral == pytest.approx(swapped[::-1], abs=1e-9)
        assert neutral[2] < with_it[2] - 0.01
