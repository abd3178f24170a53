"""Laws that TTT-D obeys whatever the games, and what a draw margin means."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.builders import assert_same, fit_rows, make_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.kernels.ep.sides import apart, game_log_probability
from ttt_cli.systems import ttt_d
from ttt_cli.timeline import build_timeline

pytestmark = pytest.mark.slow

NEAR = 2e-6  # points; fits stop at an estimated error of 1e-7
SOLVER = SolverConfig(tol=1e-7)
PARAMS = {
    "beta": 300, "tau": 70, "draw_margin_mean": 140, "draw_margin_sd": 60, "draw_margin_tau": 15,
}  # fmt: skip

games = st.lists(
    st.tuples(
        st.integers(1900, 1906), st.permutations("abcde").map(lambda p: (p[0], p[1])), st.integers(0, 2)
    ).map(lambda row: (row[0], *row[1], row[2])),
    min_size=1,
    max_size=25,
)
laws = settings(max_examples=40)


def fitted(rows, **params):
    """({(player, year): (skill, sd, margin, sd)}, log-evidence)."""
    timeline, fit = fit_rows(rows, "ttt-d", SOLVER, **{**PARAMS, **params})
    assert fit.status.converged
    margin = fit.chains["draw_margin"]
    columns = np.stack([fit.mean, fit.sd, margin.mean, margin.sd], axis=1)
    names = [timeline.players[player] for player in timeline.node_player]
    keys = zip(names, timeline.node_period.tolist(), strict=True)
    return dict(zip(keys, columns, strict=True)), fit.log_evidence


@laws
@given(games)
def test_swapping_the_colours_of_all_games_changes_nothing(rows):
    mirrored = [(year, black, white, 2 - outcome) for year, white, black, outcome in rows]
    assert_same(fitted(rows), fitted(mirrored))


@laws
@given(games)
def test_swapping_colours_and_the_sign_of_the_advantage_changes_nothing(rows):
    mirrored = [(year, black, white, 2 - outcome) for year, white, black, outcome in rows]
    assert_same(
        fitted(rows, white_advantage=45),
        fitted(mirrored, white_advantage=-45),
    )


@laws
@given(games)
def test_order_inside_a_year_does_not_matter(rows):
    assert_same(fitted(rows), fitted(rows[::-1]))


@laws
@given(games)
def test_names_do_not_matter(rows):
    rename = dict(zip("abcde", ["zoe", "yan", "xi", "wu", "vera"], strict=True)).__getitem__
    renamed = [(year, rename(white), rename(black), outcome) for year, white, black, outcome in rows]
    assert_same(fitted(rows), fitted(renamed), rename)


@laws
@given(games)
def test_levels_and_units_do_not_matter(rows):
    """Moving the prior mean moves skills alone; all parameters times ten make all ten times as large."""
    base, evidence = fitted(rows)
    moved, moved_evidence = fitted(rows, prior_mean=0)
    tenfold = {key: 10 * value for key, value in PARAMS.items()}
    scaled, scaled_evidence = fitted(rows, prior_sd=4000, **tenfold)
    for key, (mean, sd, margin, margin_sd) in base.items():
        assert moved[key] == pytest.approx((mean - 1200, sd, margin, margin_sd), abs=NEAR)
        expected = (1200 + 10 * (mean - 1200), 10 * sd, 10 * margin, 10 * margin_sd)
        assert scaled[key] == pytest.approx(expected, abs=20 * NEAR)
    assert evidence == pytest.approx(moved_evidence, abs=1e-7)
    assert evidence == pytest.approx(scaled_evidence, abs=1e-7)


@laws
@given(games, games)
def test_a_group_without_games_against_another_does_not_move_it(rows, others):
    apart = [(year, white.upper(), black.upper(), outcome) for year, white, black, outcome in others]
    alone, alone_evidence = fitted(rows)
    apart_alone, apart_evidence = fitted(apart)
    together, evidence = fitted(rows + apart)
    for key, found in {**alone, **apart_alone}.items():
        assert found == pytest.approx(together[key], abs=NEAR)
    assert evidence == pytest.approx(alone_evidence + apart_evidence, abs=1e-7)


@laws
@given(games, st.integers(1, 6))
def test_equal_games_are_one_game_with_their_number_as_weight(rows, times):
    assert_same(
        fitted([row for row in rows for _ in range(times)]),
        fitted([(*row, float(times)) for row in rows]),
    )


@laws
@given(games, st.sampled_from([0.3, 0.7, 1.5, 2.5]))
def test_fractional_weights_converge(rows, weight):
    fitted([(*row, weight) for row in rows])


@laws
@given(games)
def test_an_empty_year_changes_nothing(rows):
    """Strangers who play in an idle year make it a period; the others cross it exactly."""
    base, _ = fitted(rows)
    crossed, _ = fitted([*rows, (1903, "y", "z", 2)])
    assert all(found == pytest.approx(crossed[key], abs=NEAR) for key, found in base.items())


@laws
@given(games)
def test_margins_stay_positive_and_spreads_within_the_prior(rows):
    for mean, sd, margin, margin_sd in fitted(rows)[0].values():
        assert np.isfinite(mean)
        assert 0 < sd < np.hypot(400, np.sqrt(6) * 70)
        assert margin > 0
        assert 0 < margin_sd < np.hypot(60, np.sqrt(6) * 15)


@laws
@given(st.lists(st.integers(0, 2), min_size=1, max_size=8))
def test_turning_the_results_of_two_players_lets_them_change_places(outcomes):
    """Margins too: unlike skills they are not mirrored, as a win is about the loser's margin and no other."""
    (one, evidence), (other, turned_evidence) = (
        fitted([(1900, "a", "b", outcome) for outcome in turned])
        for turned in (outcomes, [2 - outcome for outcome in outcomes])
    )
    assert other["b", 1900] == pytest.approx(one["a", 1900], abs=NEAR)
    assert other["a", 1900] == pytest.approx(one["b", 1900], abs=NEAR)
    assert evidence == pytest.approx(turned_evidence, abs=1e-7)


def test_a_win_speaks_about_the_losers_margin_only():
    found, _ = fitted([(1900, "a", "b", 2)])
    mean, sd = PARAMS["draw_margin_mean"], PARAMS["draw_margin_sd"]
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
        found, _ = fitted(rows)
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


@given(skills, margin_means, margin_means, st.floats(1, 60))
def test_so_do_the_sides_of_a_game_inside_inference(lead, own, margin, margin_sd):
    def log_p(outcome, black_margin):
        spread = apart(8e4, 2e4, margin_sd**2, margin_sd**2)
        return game_log_probability(outcome, lead + own, black_margin - lead, 0.0, spread)

    assert log_p(2, margin + 20) < log_p(2, margin)
    assert log_p(1, margin + 20) > log_p(1, margin) or log_p(1, margin) > -1e-9
    assert log_p(0, margin + 20) == log_p(0, margin)
    whole = sum(np.exp(log_p(outcome, margin)) for outcome in (0, 1, 2))
    assert whole == pytest.approx(1, abs=0.02)


def test_the_same_games_give_the_same_fit_to_the_last_bit():
    rng = np.random.default_rng(3)
    rows = [
        (int(y), f"p{i}", f"q{j}", int(o))
        for y, i, j, o in rng.integers([1900, 0, 0, 0], [1920, 9, 9, 3], (300, 4))
    ]
    timeline = build_timeline(make_games(rows))
    one, other = (ttt_d.fit(timeline, ttt_d.Params(), SolverConfig()) for _ in range(2))
    assert one.log_evidence == other.log_evidence
    for name, chain in one.chains.items():
        assert np.array_equal(chain.mean, other.chains[name].mean)
        assert np.array_equal(chain.sd, other.chains[name].sd)
