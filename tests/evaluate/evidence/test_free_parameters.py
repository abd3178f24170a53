"""Which parameters are free, told from the schema."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from ttt_cli.evaluate.evidence.free_parameters import free_coordinates
from ttt_cli.inference.params import Params
from ttt_cli.systems import ttt, ttt_d


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
    keys = [one.key for one in free_coordinates(params, params.resolved().model_dump())]
    assert keys[-3:] == ["draw_margin_mean", "draw_margin_sd", "draw_margin_tau"]
