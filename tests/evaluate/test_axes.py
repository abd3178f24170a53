import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.evaluate.grid import MAX_COUNT, Axis, parse_axes
from ttt_cli.support.errors import ConfigError

PARAMS = {"prior_mean": 1200.0, "prior_sd": 400.0, "beta": 480.0, "tau": 60.0, "draw_margin": "auto"}


def test_bare_names_take_the_ratios_of_the_paper() -> None:
    beta, tau = parse_axes("beta,tau", PARAMS)
    assert beta == Axis("beta", tuple(float(80 * step) for step in range(1, 11)))
    assert tau == Axis("tau", tuple(float(20 * step) for step in range(1, 11)))


def test_the_paper_axes_scale_with_the_prior() -> None:
    (beta,) = parse_axes("beta", PARAMS | {"prior_sd": 100.0})
    assert beta.values == (20.0, 40.0, 60.0, 80.0, 100.0, 120.0, 140.0, 160.0, 180.0, 200.0)


def test_ranges_are_linear_or_logarithmic() -> None:
    beta, tau, prior = parse_axes(" beta = 200:800:7 , tau=20:320:5:log, prior_sd=400:200:3:linear", PARAMS)
    assert beta == Axis("beta", (200.0, 300.0, 400.0, 500.0, 600.0, 700.0, 800.0))
    assert tau == Axis("tau", (20.0, 40.0, 80.0, 160.0, 320.0))
    assert prior == Axis("prior_sd", (200.0, 300.0, 400.0))


def test_values_may_be_listed() -> None:
    assert parse_axes("beta=480/200/4e2", PARAMS) == (Axis("beta", (200.0, 400.0, 480.0)),)
    assert parse_axes("draw_margin=0", PARAMS) == (Axis("draw_margin", (0.0,)),)
    assert parse_axes("beta=5:5:1", PARAMS) == (Axis("beta", (5.0,)),)


def test_symbols_name_the_parameters_they_stand_for() -> None:
    assert parse_axes("sigma0=1/2", PARAMS, {"sigma0": "prior_sd"}) == (Axis("prior_sd", (1.0, 2.0)),)


@each(
    "spec, message, hint",
    [
        ("betta", "unknown parameter betta", "did you mean beta?"),
        ("zzz=1:2:3", "unknown parameter zzz", "parameters are prior_mean, prior_sd"),
        ("prior_sd", "prior_sd needs its values", "prior_sd=START:STOP:COUNT"),
        ("", "an axis is missing", "--grid beta,tau"),
        ("beta,,tau", "an axis is missing", "--grid beta,tau"),
        ("beta,beta=1:2:3", "beta is given twice", "one axis"),
        ("beta=1:2", "beta=1:2 is not a range", "START:STOP:COUNT"),
        ("beta=1:2:3:log:4", "is not a range", "START:STOP:COUNT"),
        ("beta=", "nothing is not a number", "START:STOP:COUNT"),
        ("beta=x:2:3", "x is not a number", "START:STOP:COUNT"),
        ("beta=1:inf:3", "inf is not a number", "START:STOP:COUNT"),
        ("beta=200|400", "200|400 is not a number", "200/400/480"),
        ("beta=1:2:0", "0 is not a count", "from 1"),
        ("beta=1:2:2.5", "2.5 is not a count", "whole number"),
        (f"beta=1:2:{MAX_COUNT + 1}", "is not a count", str(MAX_COUNT)),
        ("beta=1:2:1", "two ends but one value", "beta=1"),
        ("beta=2:2:3", "the same value twice", "fewer"),
        ("beta=2/2.0", "the same value twice", "fewer"),
        ("beta=0:2:3:log", "needs positive ends", "above 0"),
        ("beta=2:-1:3:log", "needs positive ends", "above 0"),
        ("beta=1:2:3:cubic", "unknown spacing cubic", "linear and log"),
    ],
)
def test_errors_name_the_option_and_have_a_hint(spec: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_axes(spec, PARAMS)
    assert caught.value.where == f"--grid {spec}"
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_without_a_prior_the_paper_axes_need_values() -> None:
    with pytest.raises(ConfigError, match="beta needs its values"):
        parse_axes("beta", {"beta": 480.0})


@given(
    start=st.floats(1e-3, 1e3),
    ratio=st.floats(1.1, 1e3),
    count=st.integers(2, 60),
    spacing=st.sampled_from(["linear", "log"]),
)
def test_ends_are_exact_and_steps_are_even(start: float, ratio: float, count: int, spacing: str) -> None:
    stop = start * ratio
    (axis,) = parse_axes(f"beta={start!r}:{stop!r}:{count}:{spacing}", PARAMS)
    values = axis.values
    assert (values[0], values[-1], len(values)) == (start, stop, count)
    places = [math.log(value) for value in values] if spacing == "log" else list(values)
    width = (places[-1] - places[0]) / (count - 1)
    steps = [after - before for before, after in pairwise(places)]
    assert steps == pytest.approx([width] * (count - 1), rel=1e-6)
    assert parse_axes(f"beta={stop!r}:{start!r}:{count}:{spacing}", PARAMS)[0].values == pytest.approx(values)
