import math
from itertools import product
from math import comb
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from tests.support.cases import each
from ttt_cli.support.normal import normal_cdf
from ttt_cli.systems import registry
from ttt_cli.views import probability
from ttt_cli.views.probability import colour_blind, match, outcomes, stronger

strengths = st.fixed_dictionaries(
    {
        "mean": st.floats(0, 3000),
        "sd": st.floats(1, 400),
        "draw_margin": st.floats(10, 500),
        "draw_margin_sd": st.floats(1, 150),
    }
)
parameters = st.fixed_dictionaries(
    {
        "beta": st.floats(50, 800),
        "draw_margin": st.floats(0, 500),
        "white_advantage": st.floats(-100, 100),
    }
)
PARAMS = {"beta": 400.0, "draw_margin": 150.0, "white_advantage": 60.0}
GROWING = {"draw_margin_strength": 0.3, "draw_margin_level": 1400.0}
A = {"mean": 1600.0, "sd": 90.0, "draw_margin": 100.0, "draw_margin_sd": 30.0}
B = {"mean": 1450.0, "sd": 140.0, "draw_margin": 250.0, "draw_margin_sd": 60.0}


def predicted(model: str, params: dict, white: dict, black: dict) -> list[float]:
    def column(side: dict) -> dict:
        return {key: np.array([value]) for key, value in side.items()}

    return registry.load(model).predict(params, column(white), column(black))[0].tolist()[::-1]


@pytest.mark.parametrize("model", ["ttt", "trueskill", "ttt-d"])
@given(params=parameters, white=strengths, black=strengths)
def test_closed_forms_are_the_models_own(
    model: str, params: dict, white: dict, black: dict
) -> None:
    if model == "ttt-d":
        params = {key: params[key] for key in ("beta", "white_advantage")}
    (outcome,) = outcomes(model, params, [white], [black])
    assert outcome == pytest.approx(predicted(model, params, white, black), abs=1e-12)
    assert sum(outcome) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_other_models_are_asked_themselves(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"player": "A", "games": 3, **A}, {"player": "B", "games": 0, **B}]
    known = outcomes(model, PARAMS, rows, rows[::-1])
    monkeypatch.setattr(probability, "is_gaussian", lambda *_: False)
    for one, other in zip(known, outcomes(model, PARAMS, rows, rows[::-1]), strict=True):
        assert one == pytest.approx(other, abs=1e-12)
    assert outcomes(model, PARAMS, [], []) == []


@given(params=parameters, a=strengths, b=strengths)
def test_by_lot_the_sides_mirror_and_the_advantage_goes_both_ways(
    params: dict, a: dict, b: dict
) -> None:
    assert colour_blind("ttt", params, a, b) == pytest.approx(
        colour_blind("ttt", params, b, a).turned()
    )
    (white,) = outcomes("ttt", params, [a], [b])
    (black,) = outcomes("ttt", params, [b], [a])
    assert colour_blind("ttt", params, a, b).win == pytest.approx((white.win + black.loss) / 2)


def test_stronger() -> None:
    a, b = {"mean": 1500.0, "sd": 30.0}, {"mean": 1450.0, "sd": 40.0}
    assert stronger(a, b) == pytest.approx(0.8413447460685429)
    assert stronger(a, b) + stronger(b, a) == pytest.approx(1.0)
    assert [stronger({**a, "sd": 0.0}, {"mean": m, "sd": 0.0}) for m in (1400, 1500, 1600)] == [
        1.0,
        0.5,
        0.0,
    ]
    assert normal_cdf(-30.0) == pytest.approx(math.erfc(30 / math.sqrt(2)) / 2, rel=1e-12)


@each(
    "model, params",
    [
        ("ttt", PARAMS),
        ("ttt", PARAMS | GROWING),
        ("ttt-d", {"beta": 400.0, "draw_margin_mean": 220.0, "white_advantage": 60.0} | GROWING),
        ("whr", {"draw_margin": 150.0, "white_advantage": 60.0, "draws": "margin"}),
        ("edo", {"draw_margin": 150.0, "white_advantage": 60.0}),
    ],
)
def test_one_game_is_a_game_with_colours_by_lot(model: str, params: dict) -> None:
    """Also where draws grow with the strength of both, and where a system predicts from ratings alone."""
    one = match(model, params, A, B, 1)
    single = colour_blind(model, params, A, B)
    assert (one.win, one.tie, one.loss) == pytest.approx(single, abs=1e-9)
    assert one.expected == pytest.approx(single.expected, abs=1e-9)


def exact_score(games: int, halves: int) -> float:
    """The probability of a score by quadrature over the lead and enumeration of all results."""
    spread = (A["sd"] ** 2 + B["sd"] ** 2) ** 0.5

    def given(lead: float) -> float:
        strong, weak = {"mean": lead, "sd": 0.0}, {"mean": 0.0, "sd": 0.0}
        (white,) = outcomes("ttt", PARAMS, [strong], [weak])
        (black,) = outcomes("ttt", PARAMS, [weak], [strong])
        sides = [(white.loss, white.draw, white.win), (black.win, black.draw, black.loss)]
        total = 0.0
        for results in product(range(3), repeat=games):
            if sum(results) == halves:
                chance = 1.0
                for number, result in enumerate(results):
                    chance *= sides[number % 2][result]
                total += chance
        return total

    center = A["mean"] - B["mean"]
    density = NormalDist(center, spread).pdf
    ends = center - 9 * spread, center + 9 * spread
    return quad(lambda x: given(x) * density(x), *ends, epsabs=1e-10, limit=200)[0]


@each("halves", [0, 3, 4, 8])
def test_the_lead_is_the_same_in_all_games(halves: int) -> None:
    assert match("ttt", PARAMS, A, B, 4).scores[halves] == pytest.approx(
        exact_score(4, halves), abs=1e-8
    )


def test_with_certain_skills_games_are_independent() -> None:
    params = {**PARAMS, "white_advantage": 0.0, "draw_margin": 0.0}
    sure_a, sure_b = {"mean": 1600.0, "sd": 0.0}, {"mean": 1450.0, "sd": 0.0}
    p = colour_blind("ttt", params, sure_a, sure_b).win
    scores = match("ttt", params, sure_a, sure_b, 7).scores
    assert scores[::2] == pytest.approx([comb(7, k) * p**k * (1 - p) ** (7 - k) for k in range(8)])


def test_the_match_mirrors_and_sums_to_one() -> None:
    there, back = match("ttt-d", PARAMS, A, B, 9), match("ttt-d", PARAMS, B, A, 9)
    assert there.scores == pytest.approx(back.scores[::-1], abs=1e-12)
    assert there.win + there.tie + there.loss == pytest.approx(1.0)
    assert there.expected == pytest.approx(9 * match("ttt-d", PARAMS, A, B, 1).expected, rel=1e-6)


def test_intervals_hold_what_they_say_and_no_more() -> None:
    found = match("ttt", PARAMS, A, B, 24)
    for share in (0.8, 0.95):
        low, high = (round(2 * score) for score in found.interval(share))
        assert sum(found.scores[low : high + 1]) >= share
        assert sum(found.scores[: low + 1]) > (1 - share) / 2
        assert sum(found.scores[high:]) > (1 - share) / 2
    certain = match("ttt", PARAMS, {**A, "sd": 1.0}, {**B, "sd": 1.0}, 24)
    assert certain.interval(0.95)[1] - certain.interval(0.95)[0] < (
        found.interval(0.95)[1] - found.interval(0.95)[0]
    )
