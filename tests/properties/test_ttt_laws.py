"""Laws of TTT and TTT-D whatever the games, and what a draw margin means; laws of all systems: test_system_laws.py."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.builders import fit_rows
from tests.support.strategies import examples, game_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.systems import ttt_d

pytestmark = pytest.mark.slow

NEAR = 2e-6  # points; fits stop at an estimated error of 1e-7
SOLVER = SolverConfig(tol=1e-7)
PARAMS = {
    "ttt": {"beta": 300, "tau": 70, "draw_margin": 130},
    "ttt-d": {
        "beta": 300,
        "tau": 70,
        "draw_margin_mean": 140,
        "draw_margin_sd": 60,
        "draw_margin_tau": 15,
    },
}

games = game_rows(1906, "abcde", (1.0,), (0.0,), 25).map(lambda rows: [row[:4] for row in rows])
laws = examples(12)
both = pytest.mark.parametrize("model", PARAMS)


def fitted(rows, model="ttt", **params):
    """({(player, year): (skill, sd[, margin, sd])}, log-evidence)."""
    timeline, fit = fit_rows(rows, model, SOLVER, **{**PARAMS[model], **params})
    assert fit.status.converged
    names = [timeline.players[player] for player in timeline.node_player]
    keys = zip(names, timeline.node_period.tolist(), strict=True)
    columns = np.stack(
        [column for chain in fit.chains.values() for column in (chain.mean, chain.sd)], axis=1
    )
    return dict(zip(keys, columns, strict=True)), fit.log_evidence


@laws
@given(games)
def test_turning_all_results_turns_all_skills(rows):
    turned = [(year, white, black, 2 - outcome) for year, white, black, outcome in rows]
    (one, evidence), (other, turned_evidence) = fitted(rows), fitted(turned)
    for key, (mean, sd) in one.items():
        assert other[key] == pytest.approx((2400 - mean, sd), abs=NEAR)
    assert evidence == pytest.approx(turned_evidence, abs=1e-7)


@both
@laws
@given(games)
def test_units_do_not_matter(model, rows):
    """All parameters times ten make all ten times as large."""
    base, evidence = fitted(rows, model)
    tenfold = {key: 10 * value for key, value in PARAMS[model].items()}
    scaled, scaled_evidence = fitted(rows, model, prior_sd=4000, **tenfold)
    for key, (mean, *rest) in base.items():
        assert scaled[key] == pytest.approx(
            [1200 + 10 * (mean - 1200), *np.multiply(rest, 10)], abs=20 * NEAR
        )
    assert evidence == pytest.approx(scaled_evidence, abs=1e-7)


@both
@laws
@given(games, games)
def test_a_group_without_games_against_another_does_not_move_it(model, rows, others):
    apart = [
        (year, white.upper(), black.upper(), outcome) for year, white, black, outcome in others
    ]
    alone, alone_evidence = fitted(rows, model)
    apart_alone, apart_evidence = fitted(apart, model)
    together, evidence = fitted(rows + apart, model)
    for key, found in {**alone, **apart_alone}.items():
        assert found == pytest.approx(together[key], abs=NEAR)
    assert evidence == pytest.approx(alone_evidence + apart_evidence, abs=1e-7)


@both
@laws
@given(games)
def test_an_empty_year_changes_nothing(model, rows):
    """Two strangers who play in an idle year make it a period; the others cross it exactly."""
    strangers = [(1903, "y", "z", 2)]
    base, _ = fitted(rows, model)
    crossed, _ = fitted(rows + strangers, model)
    assert all(found == pytest.approx(crossed[key], abs=NEAR) for key, found in base.items())


@laws
@given(games)
def test_more_games_never_make_anybody_less_certain(rows):
    base, _ = fitted(rows)
    more, _ = fitted([*rows, *rows])
    assert all(more[key][1] <= sd + NEAR for key, (_, sd) in base.items())


@laws
@given(games)
def test_winning_once_more_does_not_lower_anybody_who_won(rows):
    year, white, black, _ = rows[0]
    base, _ = fitted(rows)
    more, _ = fitted([*rows, (year, white, black, 2)])
    assert more[white, year][0] >= base[white, year][0] - NEAR
    assert more[black, year][0] <= base[black, year][0] + NEAR


@both
@laws
@given(games)
def test_margins_stay_positive_and_spreads_within_the_prior(model, rows):
    for mean, sd, *margins in fitted(rows, model)[0].values():
        assert np.isfinite(mean)
        assert 0 < sd < np.hypot(400, np.sqrt(6) * 70)
        margin, margin_sd = margins or (1.0, 1.0)
        assert margin > 0
        assert 0 < margin_sd < np.hypot(60, np.sqrt(6) * 15)


def test_a_win_speaks_about_the_losers_margin_only():
    found, _ = fitted([(1900, "a", "b", 2)], "ttt-d")
    mean, sd = PARAMS["ttt-d"]["draw_margin_mean"], PARAMS["ttt-d"]["draw_margin_sd"]
    at_zero = mean / sd  # a normal margin that is known to be positive
    hazard = NormalDist().pdf(at_zero) / NormalDist().cdf(at_zero)
    positive_mean = mean + sd * hazard
    positive_sd = sd * math.sqrt(1 - hazard * (at_zero + hazard))
    assert found["a", 1900][2:] == pytest.approx([positive_mean, positive_sd], abs=1e-6)
    assert found["b", 1900][2] < positive_mean - 1
    assert found["b", 1900][3] < positive_sd


@laws
@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8))
def test_one_draw_more_raises_both_margins(wins, losses, draws):
    def margins(drawn):
        counts = ((2, wins), (0, losses), (1, drawn))
        rows = [(1900, "a", "b", outcome, float(count)) for outcome, count in counts if count]
        found, _ = fitted(rows, "ttt-d")
        return found["a", 1900][2], found["b", 1900][2]

    assume(wins + losses + draws)
    before, after = margins(draws), margins(draws + 1)
    assert after[0] > before[0]
    assert after[1] > before[1]


skills = st.floats(-1500, 1500)
spreads = st.floats(1, 200)
margin_means = st.floats(50, 500)


@given(
    skills,
    spreads,
    spreads,
    margin_means,
    margin_means,
    st.floats(1, 40),
    st.floats(5, 200),
    st.floats(-80, 80),
)
def test_a_player_with_a_higher_margin_draws_more_at_the_cost_of_the_opponents_wins(
    lead, sd, other_sd, own, margin, margin_sd, more, advantage
):
    """White wins when the lead exceeds Black's margin, so that alone moves; Black's wins depend on White's."""

    def odds(black_margin):
        sides = (
            {"mean": lead, "sd": sd, "draw_margin": own, "draw_margin_sd": margin_sd},
            {"mean": 0.0, "sd": other_sd, "draw_margin": black_margin, "draw_margin_sd": margin_sd},
        )
        white, black = ({key: np.array([value]) for key, value in side.items()} for side in sides)
        return ttt_d.predict({"beta": 200.0, "white_advantage": advantage}, white, black)[0]

    (loss, draw, win), (new_loss, new_draw, new_win) = odds(margin), odds(margin + more)
    assert new_win < win or win < 1e-12
    assert new_loss == pytest.approx(loss, rel=1e-12)
    assert new_draw - draw == pytest.approx(win - new_win, abs=1e-12)
