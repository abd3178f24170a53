"""Artificial histories that several tests simulate."""

from typing import Final

from ttt_cli.evaluate.simulate import Plan

ONE_CIRCLE: Final = Plan(
    players=30,
    years=12,
    games=900,
    expansion=0.0,
    beta=350,
    tau=100,
    draw_margin=150,
    clusters=1,
    mixing=1.0,
    seed=3,
)
