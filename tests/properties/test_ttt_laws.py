"""Laws that TTT obeys whatever the games, most of them TTT-D too; those of all systems are in test_system_laws.py."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import fit_rows
from tests.support.laid_out import histories
from tests.support.strategies import examples
from ttt_cli.config.schema import SolverConfig

pytestmark = pytest.mark.slow

NEAR = 2e-6  # points; fits stop at an estimated error of 1e-7
SOLVER = SolverConfig(tol=1e-7)
PARAMS = {
    "ttt": {"beta": 300, "tau": 70, "draw_margin": 130},
    "ttt-d": {"beta": 300, "tau": 70, "draw_margin_mean": 140, "draw_margin_sd": 60, "draw_margin_tau": 15},
}

games = st.lists(
    st.tuples(
        st.integers(1900, 1906), st.permutations("abcde").map(lambda p: (p[0], p[1])), st.integers(0, 2)
    ).map(lambda row: (row[0], *row[1], row[2])),
    min_size=1,
    max_size=25,
)
laws = examples(20)
both = pytest.mark.parametrize("model", PARAMS)


def fitted(rows, model="ttt", **params):
    """({(player, year): (skill, sd[, margin, sd])}, log-evidence)."""
    timeline, fit = fit_rows(rows, model, SOLVER, **{**PARAMS[model], **params})
    assert fit.status.converged
    names = [timeline.players[player] for player in timeline.node_player]
    keys = zip(names, timeline.node_period.tolist(), strict=True)
    columns = np.stack([column for chain in fit.chains.values() for column in (chain.mean, chain.sd)], axis=1)
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
    apart = [(year, white.upper(), black.upper(), outcome) for year, white, black, outcome in others]
    alone, alone_evidence = fitted(rows, model)
    apart_alone, apart_evidence = fitted(apart, model)
    together, evidence = fitted(rows + apart, model)
    for key, found in {**alone, **apart_alone}.items():
        assert found == pytest.approx(together[key], abs=NEAR)
    assert evidence == pytest.approx(alone_evidence + apart_evidence, abs=1e-7)


@laws
@given(games)
def test_a_game_of_hardly_any_weight_hardly_counts(rows):
    base, evidence = fitted(rows)
    more, more_evidence = fitted([*rows, (*rows[0][:3], 2, 1e-9)])
    assert evidence == pytest.approx(more_evidence, abs=1e-6)
    assert all(found == pytest.approx(more[key], abs=1e-4) for key, found in base.items())


@both
@laws
@given(games, st.sampled_from([0.3, 0.7, 1.5, 2.5]))
def test_fractional_weights_converge(model, rows, weight):
    fitted([(*row, weight) for row in rows], model)


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
def test_interpolated_years_are_those_of_nodes_without_information(rows):
    """A game against a stranger of unknown strength, almost without weight, makes a node of an inactive year."""
    timeline, fit = fit_rows(rows, solver=SOLVER, **PARAMS["ttt"])
    laid_out = histories(timeline, fit)
    for row in np.flatnonzero(laid_out.games == 0)[:3]:
        name, year = timeline.players[laid_out.player[row]], int(laid_out.period[row])
        with_node, _ = fitted([*rows, (year, name, "stranger", 1, 1e-9)])
        found = laid_out.columns["mean"][row], laid_out.columns["sd"][row]
        assert with_node[name, year] == pytest.approx(found, abs=1e-3)


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


@laws
@given(games)
def test_the_posterior_spread_is_within_the_prior(rows):
    for mean, sd in fitted(rows)[0].values():
        assert 0 < sd < np.sqrt(400**2 + 6 * 70**2)
        assert np.isfinite(mean)
