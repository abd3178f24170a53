"""Histories: every period from first to last, the inactive ones from the bridge between their neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import EXACT, fit_rows, make_games
from tests.support.laid_out import histories
from tests.support.strategies import examples
from ttt_cli.evaluate.forecast import beliefs_at, known_before
from ttt_cli.fitted import Line, by_player, periods_of_histories, spans
from ttt_cli.histories import chain_columns, later_on
from ttt_cli.systems.registry import MODULES, load
from ttt_cli.timeline import build_timeline

ROWS = [
    (1850, "a", "b", 2),
    (1850, "b", "a", 1),
    (1853, "a", "c", 0),
    (1858, "a", "b", 2),
    (1851, "b", "c", 2),
]


BUSY = [*ROWS, *((year, "a", "b", year % 3) for year in range(1859, 1863)), (1870, "d", "e", 1)]
STANDS = {
    "chessmetrics",
    "elo-historical",
    "spinrad",
    "weighted-ep",
}  # the rating, what is predicted moves on


@pytest.mark.parametrize("period", ["year", "month"])
@pytest.mark.parametrize("model", [name for name in MODULES if name not in STANDS])
def test_after_the_last_game_a_skill_is_what_the_system_foresees(model, period):
    """Predicted as the forecasts do it: from nodes without games, which stand for the period asked for."""
    timeline, fit = fit_rows(BUSY, model, period=period)
    step = len(timeline.periods) - 1
    ghosts = [
        (year, x, y, 1) for year, x, y in ((1871, "a", "b"), (1871, "c", "a"), (1871, "d", "e"))
    ]
    longer = build_timeline(make_games([*BUSY, *ghosts]), period)
    before = load(model)
    predicted = before.fit(
        known_before(longer, step + 1, step + 2), before.Params(**resolved(fit)), EXACT
    )
    laid_out = spans(timeline, fit, by_player(timeline))
    ended = np.flatnonzero(np.isnan(laid_out["until"]))
    begun = {name: column[ended] for name, column in laid_out.items()}
    number = longer.periods[-1]
    nodes = slice(int(longer.node_start[-2]), int(longer.node_start[-1]))
    columns = beliefs_at(predicted, nodes)
    for chain in fit.chains:
        mean, sd = later_on(begun, chain, number - laid_out["period_number"][ended], 1.0)
        name = "mean" if chain == "skill" else chain
        wanted = dict(zip(longer.node_player[nodes].tolist(), columns[name].tolist(), strict=True))
        found = dict(zip(laid_out["player"][ended].tolist(), mean.tolist(), strict=True))
        close = 1.0 if model == "ttt-d" else 1e-6  # a node without games has a positive margin, too
        assert found == pytest.approx(wanted, abs=close, rel=1e-9)
        sds = columns["sd" if chain == "skill" else f"{chain}_sd"].tolist()
        wanted = dict(zip(longer.node_player[nodes].tolist(), sds, strict=True))
        found = dict(zip(laid_out["player"][ended].tolist(), sd.tolist(), strict=True))
        assert found == pytest.approx(wanted, abs=close, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("model", MODULES)
def test_after_the_last_game_nobody_grows_surer_and_every_number_is_one(model):
    timeline, fit = fit_rows(
        BUSY, model, **({"tau": 100, "prior_sd": 350} if model == "glicko" else {})
    )
    after = histories(timeline, fit, onward=True)
    for chain in fit.chains:
        mean, sd = (after.columns[name] for name in chain_columns(chain))
        assert np.all(np.isfinite(mean))
        known = np.isfinite(sd)
        assert known.all() or not known.any()
        own = after.player == timeline.players.index("c")
        later = own & (after.period >= 1853)
        if known.any():
            assert np.all(np.diff(sd[later]) >= 0)
        if model == "glicko":
            assert sd[later][-1] == sd.max() == 350
        if model != "edo":
            assert np.ptp(mean[later]) == 0


def resolved(fit):
    """Parameters of a fit to fit with again: nothing left to the games."""
    free = {"draw_probability": None, "k_new": None, "k_top": None}
    return {key: value for key, value in fit.params.items() if key not in free}


def test_no_games_have_no_histories():
    timeline = build_timeline(make_games([]))
    fit = load("ttt").fit(timeline, load("ttt").Params(), EXACT)
    assert len(histories(timeline, fit).player) == 0
    assert (
        len(spans(timeline, fit, by_player(timeline))["player"])
        == len(periods_of_histories(timeline))
        == 0
    )
    assert fit.log_evidence == 0


@given(
    st.lists(
        st.tuples(
            st.integers(1850, 1875),
            st.sampled_from("abcdef"),
            st.sampled_from("uvwxyz"),
            st.integers(0, 2),
        ),
        min_size=1,
        max_size=25,
    )
)
@examples(16)
def test_spans_follow_each_other_from_the_first_game_on(rows):
    timeline, fit = fit_rows(rows, draw_margin=100)
    found = spans(timeline, fit, by_player(timeline))
    played = {}
    for year, *names, _ in rows:
        for name in names:
            played.setdefault(name, {}).setdefault(year, 0)
            played[name][year] += 1
    for player, name in enumerate(timeline.players):
        own = found["player"] == player
        years = sorted(played[name])
        assert found["period_number"][own].tolist() == years
        assert found["until"][own].tolist() == pytest.approx([*years[1:], np.nan], nan_ok=True)
        assert found["games"][own].tolist() == [played[name][year] for year in years]
    whole = histories(timeline, fit, onward=True)
    assert periods_of_histories(timeline).tolist() == sorted(set(whole.period.tolist()))


def test_a_rating_moves_along_a_straight_line_between_periods_with_games():
    """Mean and sd of a quarter of the way from (1500, 80) to (1620, 60)."""
    line = Line(np.array([1500.0, 1620.0]), np.array([80.0, 60.0]))
    bridge = line.bridge(np.array([0]), np.array([1]), np.array([4.0]))
    assert bridge.mean_change == pytest.approx([120.0])
    share = 0.25
    variance = 80.0**2 + bridge.rise[0] * share + bridge.bend[0] * share**2
    assert variance**0.5 == pytest.approx(75.0)
