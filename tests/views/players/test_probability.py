import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.systems import registry
from ttt_cli.views.players import probability
from ttt_cli.views.players.probability import Outcome, colour_blind, normal_cdf, outcomes, stronger

strengths = st.fixed_dictionaries(
    {
        "mean": st.floats(0, 3000),
        "sd": st.floats(1, 400),
        "draw_margin": st.floats(10, 500),
        "draw_margin_sd": st.floats(1, 150),
    }
)
parameters = st.fixed_dictionaries(
    {"beta": st.floats(50, 800), "draw_margin": st.floats(0, 500), "white_advantage": st.floats(-100, 100)}
)


def predicted(model: str, params: dict, white: dict, black: dict) -> list[float]:
    def column(side: dict) -> dict:
        return {key: np.array([value]) for key, value in side.items()}

    return registry.load(model).predict(params, column(white), column(black))[0].tolist()[::-1]


@pytest.mark.parametrize("model", ["ttt", "trueskill", "ttt-d"])
@given(params=parameters, white=strengths, black=strengths)
def test_closed_forms_are_the_models_own(model: str, params: dict, white: dict, black: dict) -> None:
    if model == "ttt-d":
        params = {key: params[key] for key in ("beta", "white_advantage")}
    (outcome,) = outcomes(model, params, [white], [black])
    assert outcome == pytest.approx(predicted(model, params, white, black), abs=1e-12)
    assert sum(outcome) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_other_models_are_asked_themselves(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    params = {"beta": 480.0, "draw_margin": 200.0, "white_advantage": 30.0}
    rows = [
        {"player": "A", "mean": 1500.0, "sd": 80.0, "games": 3, "draw_margin": 150.0, "draw_margin_sd": 40.0},
        {
            "player": "B",
            "mean": 1300.0,
            "sd": 120.0,
            "games": 0,
            "draw_margin": 300.0,
            "draw_margin_sd": 60.0,
        },
    ]
    known = outcomes(model, params, rows, rows[::-1])
    monkeypatch.setattr(probability, "is_gaussian", lambda *_: False)
    asked = outcomes(model, params, rows, rows[::-1])
    assert len(asked) == 2
    for one, other in zip(known, asked, strict=True):
        assert one == pytest.approx(other, abs=1e-12)
    assert outcomes(model, params, [], []) == []


@given(params=parameters, a=strengths, b=strengths)
def test_by_lot_the_sides_mirror_and_the_advantage_goes_both_ways(params: dict, a: dict, b: dict) -> None:
    assert colour_blind("ttt", params, a, b) == pytest.approx(colour_blind("ttt", params, b, a).turned())
    (white,) = outcomes("ttt", params, [a], [b])
    (black,) = outcomes("ttt", params, [b], [a])
    assert colour_blind("ttt", params, a, b).win == pytest.approx((white.win + black.loss) / 2)


def test_stronger() -> None:
    a, b = {"mean": 1500.0, "sd": 30.0}, {"mean": 1450.0, "sd": 40.0}
    assert stronger(a, b) == pytest.approx(0.8413447460685429)
    assert stronger(a, b) + stronger(b, a) == pytest.approx(1.0)
    assert [stronger({**a, "sd": 0.0}, {"mean": m, "sd": 0.0}) for m in (1400, 1500, 1600)] == [1.0, 0.5, 0.0]
    assert normal_cdf(-30.0) == pytest.approx(math.erfc(30 / math.sqrt(2)) / 2, rel=1e-12)


def test_the_expected_score_counts_half_a_draw() -> None:
    assert Outcome(0.5, 0.3, 0.2).expected == pytest.approx(0.65)
    assert Outcome(0.5, 0.3, 0.2).turned() == (0.2, 0.3, 0.5)
