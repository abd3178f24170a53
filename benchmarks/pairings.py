"""Does whom newcomers meet tell how strong they are, more than a model that takes pairings as given knows?

Every year is predicted from the years before. In games of a newcomer's first year against others the newcomer's mean
is moved by `told` times what the opponent is above the year's opponents of newcomers; `told`, a shift of all newcomers,
how uncertain they are and White's advantage are fitted. 0: the pairing tells nothing; 1: newcomers are as strong as
whom they meet. Of real games (`ttt-career`), and of artificial ones whose players are chosen by skill or by results.
Standard errors take all games of a newcomer as one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from draw_rules import beliefs
from levels import CAREER, PLAN, SHARED, chosen
from measuring import markdown
from scipy import optimize
from scipy.special import ndtr

from ttt_cli.api import configure, read_games
from ttt_cli.arrays import Array
from ttt_cli.evaluate.forecast.predict import find_step
from ttt_cli.evaluate.simulate.simulate import simulate
from ttt_cli.systems.resolve import Resolved
from ttt_cli.timeline import Timeline, build_timeline

SEARCH: Final[Any] = optimize  # whose types leave out functions of arrays

BEGUN = np.array(
    [0.0, 0.0, 0.0, 0.0]
)  # shift in 100 points, told, log of the variance's factor, White's advantage
STEP = 1e-4


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("games", nargs="?", type=Path)
    parser.add_argument("--since", default="1970", help="the first year that is predicted of real games")
    parser.add_argument("--opponents", nargs="+", default=["any", "400", "250", "250 by results"])
    options = parser.parse_args(arguments)
    head, rows = ("games", "of newcomers", "told", "standard error", "log-loss", "less by it"), []
    if options.games:
        real = build_timeline(read_games(options.games))
        rows.append(
            [options.games.name, *told(real, configure("ttt-career", white_advantage=130.0), options.since)]
        )
    given = {key: value for key, value in asdict(PLAN).items() if key in SHARED + CAREER}
    resolved = configure(model="ttt", draw_margin=PLAN.margin, **given)
    for opponents in options.opponents:
        drawn = build_timeline(simulate(replace(PLAN, **chosen(opponents))).games())
        rows.append(
            [f"artificial, {opponents}", *told(drawn, resolved, str(PLAN.first_year + PLAN.years // 2))]
        )
    print(markdown(head, rows))


def told(timeline: Timeline, resolved: Resolved, since: str) -> list[str]:
    """What the newcomers' games of a timeline say."""
    white, black, (margin, advantage) = beliefs(timeline, resolved, since, "draw_margin", "white_advantage")
    first = int(timeline.game_start[find_step(timeline, since)])
    ends = [end[first:] for end in (timeline.game_white, timeline.game_black)]
    new_white, new_black = (timeline.previous[end] < 0 for end in ends)
    games = np.flatnonzero(new_white ^ new_black)
    side, year = np.where(new_white, 1.0, -1.0)[games], timeline.node_period[ends[0]][games]
    (new, new_sd), (other, other_sd) = (
        [np.where(here, white[key], black[key])[games] for key in ("mean", "sd")]
        for here in (new_white, ~new_white)
    )
    _, place = np.unique(year, return_inverse=True)
    above = other - (np.bincount(place, other) / np.bincount(place))[place]
    newcomer = np.where(new_white, *ends)[games]
    outcome, margin, advantage = timeline.outcome[first:][games], margin[games], advantage[games]
    noise = 2.0 * resolved.params.model_dump()["beta"] ** 2

    def losses(p: Array) -> Array:
        lead = side * (new + 100.0 * p[0] + p[1] * above - other) + advantage + 100.0 * p[3]
        spread = np.sqrt(noise + new_sd**2 * np.exp(p[2]) + other_sd**2)
        win, loss = ndtr((lead - margin) / spread), ndtr((-lead - margin) / spread)
        chances = np.stack([loss, np.maximum(1.0 - win - loss, 1e-12), win], axis=1)
        return np.asarray(-np.log(np.maximum(chances[np.arange(len(outcome)), outcome], 1e-300)))

    free = SEARCH.minimize(lambda p: losses(p).mean(), BEGUN, method="BFGS", options={"gtol": 1e-6}).x
    without = SEARCH.minimize(
        lambda p: losses(np.insert(p, 1, 0.0)).mean(), np.delete(BEGUN, 1), method="BFGS"
    )
    error, loss = standard_errors(losses, free, newcomer)[1], losses(free).mean()
    return [f"{len(games):,}", f"{free[1]:.3f}", f"{error:.3f}", f"{loss:.4f}", f"{without.fun - loss:.4f}"]


def standard_errors(losses: Callable[[Array], Array], at: Array, cluster: Array) -> Array:
    """Of parameters at a minimum of the sum of losses, those of a cluster dependent (the sandwich of White 1980)."""
    steps = STEP * np.eye(len(at))
    slopes = np.array([(losses(at + step) - losses(at - step)) / (2.0 * STEP) for step in steps])
    summed = np.array([np.bincount(cluster, slope) for slope in slopes])
    curved = SEARCH.approx_fprime(
        at, lambda p: SEARCH.approx_fprime(p, lambda q: losses(q).sum(), STEP), STEP
    )
    inverse = np.linalg.inv((curved + curved.T) / 2.0)
    return np.asarray(np.sqrt(np.diag(inverse @ summed @ summed.T @ inverse)))


if __name__ == "__main__":
    main()
