"""The search on functions whose maxima are known; which parameters can be tuned, and how a search sees them."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from tests.support.builders import fit_rows
from tests.support.cases import each
from ttt_cli.api import configure
from ttt_cli.evaluate.optimise import Coordinate, coordinates, free_coordinates, parse_keys
from ttt_cli.inference.maximise import CLOSE, MOST_STEPS, REACHED, FunctionValue, maximise
from ttt_cli.inference.params import Params
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry, ttt, ttt_d
from ttt_cli.systems.resolve import numeric_params

FAR = np.full(2, 50.0)
CURVATURE = np.array([[900.0, 200.0], [200.0, 60.0]])


def hill(top, curvature=CURVATURE, height=-1000.0):
    """A quadratic hill, and the places at which it was asked."""
    seen = []

    def function(at):
        seen.append(at)
        way = at - top
        return FunctionValue(at, height - 0.5 * way @ curvature @ way, -curvature @ way)

    return function, seen


@given(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), st.tuples(st.floats(-3, 3), st.floats(-3, 3)))
def test_the_top_of_a_hill_and_its_curvature_are_found(top, begin):
    function, seen = hill(np.array(top))
    found = maximise(function, np.array(begin), -FAR, FAR)
    assert found.reached
    error = found.point.at - top
    assert math.sqrt(error @ CURVATURE @ error) < CLOSE + 1e-6
    assert found.covariance == pytest.approx(np.linalg.inv(CURVATURE), rel=1e-6)
    assert found.start.at == pytest.approx(begin)
    assert len(seen) < 40


def test_a_bent_ridge_is_followed_to_its_end():
    def ridge(at):
        x, y = at
        slopes = [40.0 * x * (y - x * x) + 2.0 * (1.0 - x), -20.0 * (y - x * x)]
        return FunctionValue(at, -10.0 * (y - x * x) ** 2 - (1.0 - x) ** 2, np.array(slopes))

    found = maximise(ridge, np.array([-1.2, 1.0]), -FAR, FAR)
    assert found.reached
    assert found.point.at == pytest.approx([1.0, 1.0], abs=0.02)
    assert found.distance < REACHED


@pytest.mark.parametrize(("low", "side"), [(-0.5, -1), (-9.0, 0)])
def test_a_top_beyond_a_bound_is_told_and_the_rest_goes_on(low, side):
    function, _ = hill(np.array([-1.0, 1.0]))
    found = maximise(function, np.zeros(2), np.array([low, -9.0]), FAR)
    assert found.reached
    assert found.side.tolist() == [side, 0]
    if side:
        assert found.point.at == pytest.approx([low, 1.0 - 200.0 / 60.0 * (low + 1.0)], abs=0.01)
        assert found.covariance[1, 1] == pytest.approx(1.0 / 60.0)
        assert np.isnan(found.covariance[0]).all()


@each("near", [1e-6, 0.005, 0.5])
def test_nothing_beyond_the_bounds_is_ever_asked(near):
    low = np.array([-near, -9.0])
    function, seen = hill(np.zeros(2))
    found = maximise(function, np.array([3.0, -2.0]), low, FAR)
    assert found.reached
    assert (np.array(seen) >= low).all()
    assert found.covariance == pytest.approx(np.linalg.inv(CURVATURE), rel=1e-5)


@each("cliff", [-0.1, 0.2, 0.29, 1.0])
def test_points_without_a_value_are_gone_round(cliff):
    function, seen = hill(np.array([1.2, 0.5]))

    def with_cliff(at):
        if at[0] > 1.3 or at[1] < cliff - 1.0:
            seen.append(at)
            return None
        return function(at)

    found = maximise(with_cliff, np.array([-2.0, 2.0]), -FAR, FAR)
    assert found.reached
    assert found.point.at == pytest.approx([1.2, 0.5], abs=0.01)
    assert len(seen) < 100


def test_a_top_behind_a_cliff_is_not_reached():
    function, seen = hill(np.array([1.0, 0.0]))

    def with_cliff(at):
        if at[0] > 0.5:
            return None
        return function(at)

    found = maximise(with_cliff, np.zeros(2), -FAR, FAR)
    assert not found.reached
    assert found.point.at[0] == pytest.approx(0.5, abs=0.02)
    assert len(seen) < MOST_STEPS


def test_a_flat_direction_has_no_standard_errors():
    function, _ = hill(np.zeros(2), np.array([[900.0, 900.0], [900.0, 900.0]]))
    found = maximise(function, np.array([1.0, 1.0]), -FAR, FAR)
    assert np.isnan(found.covariance).all()
    assert found.distance is None
    assert found.point.value == pytest.approx(-1000.0, abs=1e-3)


def test_a_gentle_slope_that_is_curved_upwards_is_left_by_a_leap():
    """Far outside of a bell the steep coordinate is at its top long before the other has moved."""

    def bell(at):
        x, y = at
        height = 8.0 * math.exp(-0.5 * y * y)
        slope = np.array([-50.0 * x - 0.2 * x**3, -y * height])
        return FunctionValue(at, -25.0 * x * x - 0.05 * x**4 + height - 700.0, slope)

    found = maximise(bell, np.array([1.0, -4.2]), -FAR, FAR)
    assert found.reached
    assert found.point.at == pytest.approx([0.0, 0.0], abs=0.02)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx([0.02**0.5, 0.125**0.5], rel=0.01)


def test_the_bottom_of_a_valley_is_left_for_its_rim():
    function, _ = hill(np.zeros(2), -CURVATURE)
    found = maximise(function, np.zeros(2), -FAR, FAR)
    assert found.reached
    assert np.abs(found.point.at).tolist() == [50.0, 50.0]
    assert np.isnan(found.covariance).all()


def test_a_search_takes_no_more_steps_than_it_may(monkeypatch):
    monkeypatch.setattr("ttt_cli.inference.maximise.MOST_STEPS", 4)
    seen = []

    def waves(at):
        seen.append(at)
        return FunctionValue(
            at, float(10.0 * at[0] - np.cos(at[0])), np.array([10.0 + np.sin(at[0])])
        )

    found = maximise(waves, np.zeros(1), np.full(1, -1e9), np.full(1, 1e9))
    assert not found.reached
    assert (
        len(seen) == 1 + 4 + 2
    )  # where it begins, the steps, and both sides of the last for the curvature


@given(st.floats(1e-3, 1e3), st.floats(-50.0, 50.0))
def test_noise_below_the_gain_does_no_harm(scale, shift):
    rng = np.random.default_rng(3)
    function, seen = hill(np.array([0.4, 0.2]), scale * CURVATURE, -3e5 + shift)

    def noisy(at):
        point = function(at)
        return FunctionValue(at, point.value + 1e-6 * rng.normal(), point.gradient)

    found = maximise(noisy, np.array([-1.0, -1.0]), -FAR, FAR)
    assert found.reached
    assert found.distance < REACHED
    assert len(seen) < 60


def test_what_changes_nothing_is_flat_and_does_not_cost_the_others_their_errors():
    def function(at):
        return FunctionValue(at, -0.5 * (at[0] - 1.0) ** 2, np.array([1.0 - at[0], 0.0]))

    found = maximise(function, np.zeros(2), -FAR, FAR)
    assert found.reached
    assert found.flat.tolist() == [False, True]
    assert found.covariance[0, 0] == pytest.approx(1.0)
    assert np.isnan(found.covariance[1]).all()


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
        ("beta,", "", "'' cannot be tuned", "parameters are prior_sd, beta"),
        ("betta", "", "'betta' cannot be tuned", "did you mean beta?"),
        ("beta,tau,beta", "", "beta is given twice", "once"),
        ("prior_sd,sigma0", "", "prior_sd is given twice", "once"),
        ("beta,mu0", "", "does not change the evidence", "leave it out"),
        (
            "draw_margin",
            "model.name=ttt-d",
            "'draw_margin' cannot be tuned",
            "did you mean draw_margin_",
        ),
        (
            "draw_probability",
            "model.draw_margin=90",
            "only while draw_margin is auto",
            "tune draw_margin",
        ),
        ("draw_probability,epsilon", "", "only while draw_margin is auto", "tune draw_margin"),
        (
            "beta,growth_years",
            "",
            "growth_years has an effect only while growth is not 0",
            "tune growth",
        ),
        ("prior_sd,beta,tau", "", "there is no scale", "leave one out"),
        (
            "prior_sd,beta,tau,draw_margin,gamma",
            "model.draw_margin=90",
            "there is no scale",
            "leave one out",
        ),
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


@each(
    "keys",
    [{"draw_margin": 90.0}, {"white_advantage": 30.0}, {"model": "ttt-d", "draw_margin_sd": 40.0}],
)
def test_any_length_that_stays_sets_the_scale(keys: dict[str, object]) -> None:
    assert parse_keys("prior_sd,beta,tau", configure(**keys)) == ("prior_sd", "beta", "tau")


def test_what_is_estimated_is_tuned_along() -> None:
    estimated = configure(white_advantage="estimate")
    assert parse_keys("beta", estimated) == ("beta", "white_advantage")
    assert parse_keys("gamma,beta", estimated) == ("white_advantage", "beta")


@given(
    st.sampled_from(list(ALL)), st.floats(0.0, 1.0), st.floats(1.0, 2000.0), st.floats(1.0, 2000.0)
)
def test_coordinates_lead_there_and_back_with_the_slope_they_say(
    key: str, share: float, prior_sd: float, beta: float
) -> None:
    one = coordinate(key, prior_sd, beta)
    low, high = one.bounds
    place = low + share * (high - low)
    value = one.value(place)
    assert one.low - 1e-9 * abs(one.low) <= value <= one.high + 1e-9 * abs(one.high)
    assert one.position(value) == pytest.approx(place, abs=1e-7 * max(1.0, high - low))
    step = 1e-4
    difference = (one.value(place + step) - one.value(place - step)) / (2 * step)
    assert one.slope(value) == pytest.approx(difference, rel=1e-5, abs=1e-9 * one.unit)


@each("name", registry.MODULES)
def test_every_parameter_that_can_be_tuned_has_a_slope(name: str) -> None:
    """A key that tuning takes and the model's gradient lacks would fail in the middle of the work."""
    module = registry.load(name)
    known = set(module.TRAITS.tunable)
    assert known <= set(numeric_params(configure(model=name)))
    if hasattr(module, "gradient"):
        rows = [(1900, "a", "b", 2), (1901, "a", "b", 1), (1901, "b", "a", 2)]
        timeline, fit = fit_rows(rows, name)
        assert known <= set(module.gradient(timeline, module.Params(), fit))


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
    assert (found["k"].form, found["k"].position(12.0)) == ("log", math.log(12))
    assert (found["ceiling"].form, found["ceiling"].high) == ("log", 50)
    assert found["share"].form == "logit"
    assert 0.99 < found["share"].value(found["share"].position(1.0)) < 1
    assert found["level"].form == "linear"
    assert found["level"].position(2300.0) == 23


def test_one_length_sets_the_scale_and_the_margin_stands_for_the_share_of_draws() -> None:
    resolved = {"draw_margin": 150.0, "draw_probability": 0.3, "white_advantage": 0.0}
    values = ttt.Params().model_dump() | resolved
    keys = [one.key for one in free_coordinates(ttt.Params(), values)]
    assert keys == ["prior_mean", "beta", "tau", "white_advantage", "draw_margin"]
    estimated = ttt.Params(white_advantage="estimate")
    assert "white_advantage" in [
        one.key for one in free_coordinates(estimated, {**values, "white_advantage": 5.0})
    ]


def test_the_margins_of_ttt_d_are_free_though_they_follow_beta() -> None:
    params = ttt_d.Params()
    keys = [
        one.key
        for one in free_coordinates(params, params.resolved().model_dump(), ttt_d.TRAITS.tunable)
    ]
    assert keys[-3:] == ["draw_margin_mean", "draw_margin_sd", "draw_margin_tau"]
