"""Would other rules of draws and of White's advantage predict better than a margin that grows with strength?

Every year is predicted by a fit to the years before (`ttt-career` as shipped, White's advantage 130). What it believes
of both players then goes into each rule, whose own numbers are tuned on the years before the test. Differences are
paired, from `draw_margin_strength` (kappa). h is how far both players are above the year's level on average, in units
of 400 points and within +-2, s how far above 1200. Numbers: White's advantage in 100 points, scale, those of draws,
last how White's advantage grows.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from measuring import markdown
from scipy import optimize
from scipy.special import ndtr, ndtri, softmax

from ttt_cli.api import configure, read_games
from ttt_cli.arrays import Array
from ttt_cli.evaluate.forecast.predict import Forecaster, find_step
from ttt_cli.evaluate.forecast.results import paired_difference
from ttt_cli.systems.resolve import Resolved
from ttt_cli.timeline import Timeline, build_timeline

SEARCH: Final[Any] = optimize  # whose types leave out functions of arrays

Side = Mapping[str, Array]

LOGISTIC = 1.702  # times as steep, a logistic curve is nearly a normal one
UNUSED = 0.1  # what a rule's numbers begin at that it may not have
KAPPA = "kappa: margin of the year, exp(kappa h) times as wide"


class Recorded:
    """A model that keeps what it is asked to predict."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.asked: list[tuple[Mapping[str, Any], Any, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def predict(self, params: Mapping[str, Any], white: Any, black: Any) -> Array:
        self.asked.append((params, white, black))
        return np.asarray(self._model.predict(params, white, black))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("games")
    parser.add_argument("--since", default="1952", help="the first year that is predicted")
    parser.add_argument("--test-from", default="1970")
    options = parser.parse_args(arguments)
    timeline = build_timeline(read_games(options.games))
    games = predicted(timeline, options.since)
    first = timeline.game_start[find_step(timeline, options.since)]
    test = int(timeline.game_start[find_step(timeline, options.test_from)] - first)
    before, after = (SimpleNamespace(**{k: v[part] for k, v in games.items()}) for part in (
        slice(test), slice(test, None)))  # fmt: skip
    found = {name: tuned(rule, before, after) for name, rule in RULES.items()}
    ends = [timeline.node_player[ends[first + test :]] for ends in (timeline.game_white, timeline.game_black)]
    rows = []
    for name, (loss_before, loss, numbers) in found.items():
        difference = paired_difference(loss - found[KAPPA][1], np.ones(len(loss)), *ends)
        cells = (
            f"{loss_before:.4f}",
            f"{loss.mean():.4f}",
            f"{difference.mean:+.5f}",
            f"{difference.standard_error:.5f}",
        )
        rows.append([name, *cells, " ".join(f"{n:.2f}" for n in numbers if n != UNUSED)])
    print(markdown(("rule", "tuned", "log-loss", "more", "standard error", "its numbers"), rows))


def predicted(timeline: Timeline, since: str) -> dict[str, Array]:
    """Of every game from a year on what the years before tell."""
    resolved = configure("ttt-career", white_advantage=130.0)
    white, black, (margin, level) = beliefs(timeline, resolved, since, "draw_margin", "draw_margin_level")
    strength = (white["mean"] + black["mean"]) / 2.0
    noise = 2.0 * resolved.params.model_dump()["beta"] ** 2
    scored = slice(int(timeline.game_start[find_step(timeline, since)]), None)
    return {
        "lead": white["mean"] - black["mean"],
        "spread": np.sqrt(noise + white["sd"] ** 2 + black["sd"] ** 2),
        "between_equals": margin / math.sqrt(noise),
        "h": np.clip((strength - level) / 400.0, -2.0, 2.0),
        "s": (strength - 1200.0) / 400.0,
        "noise": np.full(len(strength), math.sqrt(noise)),
        "outcome": timeline.outcome[scored].astype(np.int64),
    }


def beliefs(timeline: Timeline, resolved: Resolved, since: str, *keys: str) -> tuple[Side, Side, list[Array]]:
    """Of every game from a year on what the years before tell of White and Black, and some parameters of the year."""
    model, first = Recorded(resolved.model), find_step(timeline, since)
    forecaster = Forecaster(timeline, model, resolved.params, resolved.config.solver)
    for step in range(first, len(timeline.periods)):
        forecaster.predict(step, step + 1)
    params, *sides = zip(*model.asked, strict=True)
    white, black = (
        {key: np.concatenate([one[key] for one in side]) for key in ("mean", "sd")} for side in sides
    )
    counts = [len(one["mean"]) for one in sides[0]]
    return white, black, [np.repeat([of[key] for of in params], counts) for key in keys]


def normal(of: Any, advantage: Array | float, margin: Array, scale: float) -> Array:
    """Outcomes by a margin, in sds of a difference of performances."""
    lead, margin, spread = of.lead + 100.0 * advantage, margin * of.noise, of.spread * scale
    win, loss = ndtr((lead - margin) / spread), ndtr((-lead - margin) / spread)
    return np.stack([loss, np.maximum(1.0 - win - loss, 1e-12), win], axis=1)


def davidson(of: Any, advantage: Array | float, log_odds: Array | float, scale: float) -> Array:
    """Outcomes where a draw has exp(`log_odds`) times the geometric mean of the other two."""
    half = 0.5 * LOGISTIC * (of.lead + 100.0 * advantage) / (of.spread * scale)
    return np.asarray(softmax(np.stack([-half, np.broadcast_to(log_odds, half.shape), half], axis=1), axis=1))


def odds(margin: Array) -> Array:
    """log of the chance of a draw over that of a win, between equals with this margin."""
    drawn = 2.0 * ndtr(margin) - 1.0
    return np.asarray(np.log(2.0 * drawn / (1.0 - drawn)))


def margin_of(log_odds: Array) -> Array:
    """What `odds` takes."""
    return np.asarray(ndtri(1.0 - 1.0 / (2.0 + np.exp(log_odds))))


RULES: dict[str, Callable[[Any, Any], Array]] = {
    "margin of the year alone": lambda g, p: normal(g, p[0], g.between_equals * np.exp(p[2]), p[1]),
    KAPPA: lambda g, p: normal(g, p[0], g.between_equals * np.exp(p[2] + p[3] * g.h), p[1]),
    "kappa, White's advantage by strength": lambda g, p: normal(
        g, p[0] + p[4] * g.h, g.between_equals * np.exp(p[2] + p[3] * g.h), p[1]),
    "odds of a draw between equals exp(b1 h) times the year's": lambda g, p: normal(
        g, p[0], margin_of(odds(g.between_equals) + p[2] + p[3] * g.h), p[1]),
    "the same, White's advantage by strength": lambda g, p: normal(
        g, p[0] + p[4] * g.h, margin_of(odds(g.between_equals) + p[2] + p[3] * g.h), p[1]),
    "Davidson's rule, the year's odds, both by strength": lambda g, p: davidson(
        g, p[0] + p[4] * g.h, odds(g.between_equals) + p[2] + p[3] * g.h, p[1]),
    "Glickman's: Davidson's rule, both by absolute strength s": lambda g, p: davidson(
        g, p[0] + p[4] * g.s, p[2] + p[3] * g.s, p[1]),
}  # fmt: skip


def tuned(rule: Callable[[Any, Any], Array], before: Any, after: Any) -> tuple[float, Array, Array]:
    """The mean loss of the games before the test, the losses of those after, and the numbers of the rule."""

    def losses(games: Any, numbers: Any) -> Array:
        return np.asarray(-np.log(rule(games, numbers)[np.arange(len(games.outcome)), games.outcome]))

    found = SEARCH.minimize(
        lambda p: 1e3 * losses(before, p).mean(),
        [1.3, 1.0, 0.0, 0.1, 0.1],
        method="BFGS",
        options={"gtol": 1e-3},
    )
    return float(found.fun) / 1e3, losses(after, found.x), found.x


if __name__ == "__main__":
    main()
