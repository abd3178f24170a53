"""The search on functions whose maxima are known, with cliffs, bounds and saddles in the way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.evaluate import optimise as module
from ttt_cli.evaluate.optimise import FunctionValue, maximise

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
    assert math.sqrt(error @ CURVATURE @ error) < module.CLOSE + 1e-6
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
    assert found.distance < module.REACHED


def test_the_first_step_is_short():
    function, seen = hill(np.array([2.0, -1.0]), 1e4 * CURVATURE)
    maximise(function, np.zeros(2), -FAR, FAR)
    assert np.abs(seen[1]).max() <= module.FIRST_STEP + 1e-12


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
    assert len(seen) < module.MOST


def test_nothing_is_found_where_the_search_begins_nowhere():
    def nowhere(at):
        return None

    found = maximise(nowhere, np.zeros(2), -FAR, FAR)
    assert not found.reached
    assert found.point.value == -math.inf
    assert np.isnan(found.covariance).all()
    assert found.distance is None


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


def test_a_valley_whose_rim_has_no_value_has_no_top():
    function, _ = hill(np.zeros(2), -CURVATURE)

    def within(at):
        if np.abs(at).max() > 0.1:
            return None
        return function(at)

    found = maximise(within, np.zeros(2), -FAR, FAR)
    assert not found.reached
    assert np.isnan(found.covariance).all()


def test_a_search_takes_no_more_steps_than_it_may(monkeypatch):
    monkeypatch.setattr(module, "MOST", 4)
    seen = []

    def waves(at):
        seen.append(at)
        return FunctionValue(at, float(10.0 * at[0] - np.cos(at[0])), np.array([10.0 + np.sin(at[0])]))

    found = maximise(waves, np.zeros(1), np.full(1, -1e9), np.full(1, 1e9))
    assert not found.reached
    assert len(seen) == 1 + 4 + 2  # where it begins, the steps, and both sides of the last for the curvature


@given(st.floats(1e-3, 1e3), st.floats(-50.0, 50.0))
def test_noise_below_the_gain_does_no_harm(scale, shift):
    rng = np.random.default_rng(3)
    function, seen = hill(np.array([0.4, 0.2]), scale * CURVATURE, -3e5 + shift)

    def noisy(at):
        point = function(at)
        return FunctionValue(at, point.value + 1e-6 * rng.normal(), point.gradient)

    found = maximise(noisy, np.array([-1.0, -1.0]), -FAR, FAR)
    assert found.reached
    assert found.distance < module.REACHED
    assert len(seen) < 60


def test_what_changes_nothing_is_flat_and_does_not_cost_the_others_their_errors():
    def function(at):
        return FunctionValue(at, -0.5 * (at[0] - 1.0) ** 2, np.array([1.0 - at[0], 0.0]))

    found = maximise(function, np.zeros(2), -FAR, FAR)
    assert found.reached
    assert found.flat.tolist() == [False, True]
    assert found.covariance[0, 0] == pytest.approx(1.0)
    assert np.isnan(found.covariance[1]).all()
