"""Which parameters can be tuned, and how a search sees them."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from tests.support.cases import each
from ttt_cli.api import configure
from ttt_cli.evaluate.optimise import Coordinate, coordinates, free_coordinates, parse_keys
from ttt_cli.inference.params import Params
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry, ttt, ttt_d

ALL = ttt.TRAITS.tunable | ttt_d.TRAITS.tunable


def coordinate(key: str, prior_sd: float, beta: float) -> Coordinate:
    (found,) = coordinates([key], ALL, prior_sd, beta)
    return found


def test_keys_keep_their_order_and_symbols_are_understood() -> None:
    assert parse_keys("tau, sigma0", configure()) == ("tau", "prior_sd")
    assert parse_keys("nu0,varsigma0,varsigma", configure(model="ttt-d")) == (
        *("draw_margin_mean", "draw_margin_sd", "draw_margin_tau"),
    )


@each(
    "spec, setting, message, hint",
    [
        ("beta,", "", "a parameter is missing", "ttt tune beta,tau"),
        ("betta", "", "betta cannot be tuned", "did you mean beta?"),
        ("xyz", "", "xyz cannot be tuned", "parameters are prior_sd, beta"),
        ("beta,tau,beta", "", "beta is given twice", "once"),
        ("prior_sd,sigma0", "", "prior_sd is given twice", "once"),
        ("prior_mean", "", "does not change the evidence", "leave it out"),
        ("beta,mu0", "", "does not change the evidence", "leave it out"),
        ("seed", "model.name=trueskill", "seed cannot be tuned", "parameters are"),
        ("draw_margin", "model.name=ttt-d", "draw_margin cannot be tuned", "did you mean draw_margin_"),
        ("draw_probability", "model.draw_margin=90", "only while draw_margin is auto", "tune draw_margin"),
        ("draw_probability,epsilon", "", "only while draw_margin is auto", "tune draw_margin"),
        ("prior_sd,beta,tau", "", "there is no scale", "leave one out"),
        ("prior_sd,beta,tau,draw_margin,gamma", "model.draw_margin=90", "there is no scale", "leave one out"),
        ("prior_sd,beta,tau", "model.name=ttt-d", "there is no scale", "leave one out"),
        ("white_advantage", "data.colours=unknown", "colours are unknown", "data.colours"),
    ],
)
def test_what_cannot_be_tuned_is_refused(spec: str, setting: str, message: str, hint: str) -> None:
    resolved = configure(overrides=[setting] if setting else [])
    with pytest.raises(ConfigError, match=message) as caught:
        parse_keys(spec, resolved)
    assert caught.value.where == f"tune {spec}"
    assert hint in (caught.value.hint or "")


@each("keys", [{"draw_margin": 90.0}, {"white_advantage": 30.0}, {"model": "ttt-d", "draw_margin_sd": 40.0}])
def test_any_length_that_stays_sets_the_scale(keys: dict[str, object]) -> None:
    assert parse_keys("prior_sd,beta,tau", configure(**keys)) == ("prior_sd", "beta", "tau")


def test_what_is_estimated_is_tuned_along() -> None:
    estimated = configure(white_advantage="estimate")
    assert parse_keys("beta", estimated) == ("beta", "white_advantage")
    assert parse_keys("gamma,beta", estimated) == ("white_advantage", "beta")


@given(st.sampled_from(list(ALL)), st.floats(0.0, 1.0), st.floats(1.0, 2000.0), st.floats(1.0, 2000.0))
def test_coordinates_lead_there_and_back_with_the_slope_they_say(
    key: str, share: float, prior_sd: float, beta: float
) -> None:
    one = coordinate(key, prior_sd, beta)
    low, high = one.bounds
    place = low + share * (high - low)
    value = one.value(place)
    assert one.low - 1e-9 * abs(one.low) <= value <= one.high + 1e-9 * abs(one.high)
    assert one.place(value) == pytest.approx(place, abs=1e-7 * max(1.0, high - low))
    step = 1e-4
    difference = (one.value(place + step) - one.value(place - step)) / (2 * step)
    assert one.slope(value) == pytest.approx(difference, rel=1e-5, abs=1e-9 * one.unit)


def test_values_beyond_the_bounds_are_moved_to_them() -> None:
    tau, share = (coordinate(key, 400.0, 480.0) for key in ("tau", "draw_probability"))
    assert tau.value(tau.place(0.0)) == pytest.approx(0.04)
    assert tau.value(tau.place(1e9)) == pytest.approx(2000.0)
    assert share.place(0.0) == pytest.approx(math.log(1e-4), rel=1e-3)


@given(st.floats(0.05, 5000.0).map(lambda value: float(f"{value:.6g}")))
def test_a_written_number_comes_back_as_it_was_written(value: float) -> None:
    for key in ("beta", "white_advantage"):
        one = coordinate(key, 1000.0, 480.0)
        if one.low <= value <= one.high:
            assert one.value(one.place(value)) == value


@each("name", registry.MODULES)
def test_every_parameter_that_can_be_tuned_has_a_slope(name: str) -> None:
    """A key that tuning takes and the model's gradient lacks would fail in the middle of the work.

    A model without evidence need not have a gradient, and tuning refuses it.
    """
    from ttt_cli.systems.resolve import numeric_params

    known = set(registry.load(name).TRAITS.tunable)
    if name in ("ttt", "ttt-d", "trueskill"):
        assert {"prior_sd", "beta", "tau", "white_advantage"} <= known
    assert known <= set(numeric_params(configure(model=name)))
    assert not hasattr(registry.load(name), "gradient") or known <= _sloped(name)


def _sloped(name: str) -> set[str]:
    from tests.support.builders import EXACT, make_games
    from ttt_cli.timeline import build_timeline

    module = registry.load(name)
    timeline = build_timeline(make_games([(1900, "a", "b", 2), (1901, "a", "b", 1), (1901, "b", "a", 2)]))
    params = module.Params()
    return set(module.gradient(timeline, params, module.fit(timeline, params, EXACT)))


class Some(Params):
    """Every kind of key."""

    k: Annotated[Literal["auto"] | Annotated[float, Field(gt=0)], Field()] = "auto"
    step: Annotated[float, Field(ge=0)] = 0.0
    ceiling: Annotated[float, Field(gt=0, le=50)] = 40.0
    share: Annotated[float, Field(ge=0, le=1)] = 1.0
    level: float = 2300.0
    unused: Annotated[float | None, Field(gt=0)] = None
    rounds: Annotated[int, Field(ge=1)] = 10
    flag: bool = True
    way: Literal["one", "two"] = "one"


def test_numbers_with_a_fraction_are_free() -> None:
    values = {**Some().model_dump(), "k": 12.0, "unused": 12.0}
    found = {one.key: one for one in free_coordinates(Some(), values)}
    assert list(found) == ["k", "ceiling", "share", "level"]
    assert (found["k"].form, found["k"].place(12.0)) == ("log", math.log(12))
    assert (found["ceiling"].form, found["ceiling"].high) == ("log", 50)
    assert found["share"].form == "logit"
    assert 0.99 < found["share"].value(found["share"].place(1.0)) < 1
    assert found["level"].form == "linear"
    assert found["level"].place(2300.0) == 23


def test_one_length_sets_the_scale_and_the_margin_stands_for_the_share_of_draws() -> None:
    values = {**ttt.Params().model_dump(), "draw_margin": 150.0, "draw_probability": 0.3}
    keys = [one.key for one in free_coordinates(ttt.Params(), values)]
    assert keys == ["prior_mean", "beta", "tau", "white_advantage", "draw_margin"]
    estimated = ttt.Params(white_advantage="estimate")
    assert "white_advantage" in [
        one.key for one in free_coordinates(estimated, {**values, "white_advantage": 5.0})
    ]


def test_the_margins_of_ttt_d_are_free_though_they_follow_beta() -> None:
    params = ttt_d.Params()
    keys = [one.key for one in free_coordinates(params, params.resolved().model_dump(), ttt_d.TRAITS.tunable)]
    assert keys[-3:] == ["draw_margin_mean", "draw_margin_sd", "draw_margin_tau"]
