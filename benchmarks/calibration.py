"""Simulation-based calibration: where do true skills lie among the posteriors of TTT?

Draws many artificial histories from the model, fits each with the parameters that made it, and takes one random
player-year per player (`skill`), and in every year one random pair of players (`difference`). If posteriors
N(mean, sd) are right, z = (truth - mean) / sd is standard normal and the ranks Phi(z) are uniform. Beside the sds of
the fit (one Gaussian per skill) stand those of the joint Gaussian for which the same sites stand, from its inverted
precision matrix: they show what is lost by leaving out that skills depend on each other.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.simulate.simulate import Plan, Simulated, simulate
from ttt_cli.fitted import Fit
from ttt_cli.inference.ep.merged import merge_games
from ttt_cli.systems import ttt
from ttt_cli.timeline import Timeline, build_timeline

Array = NDArray[np.float64]
Nodes = NDArray[np.intp]

BINS = 10
WIDE = 1.6448536269514722  # the middle 90 % of a standard normal
QUANTITIES = ("skill", "difference")
SDS = ("factorised", "joint")
HEADER = (
    "games",
    "nodes",
    "",
    "sds",
    "ratio",
    "mean z",
    "sd z",
    "+-",
    "90 %",
    "KS",
    "p",
    "ranks, % in tenths",
)


@dataclass(frozen=True)
class Errors:
    """Errors of the means of one quantity in one history, and both kinds of sd, points."""

    error: Array
    factorised: Array
    joint: Array


@dataclass(frozen=True)
class History:
    """What one history gave: its size, and the errors of each quantity."""

    games_per_node: float
    nodes: int
    errors: dict[str, Errors]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--histories", type=int, default=200)
    parser.add_argument("--players", type=int, default=60)
    parser.add_argument("--years", type=int, default=12)
    parser.add_argument(
        "--density", type=float, nargs="+", default=[1, 3, 10, 30, 100], help="games per player-year"
    )
    parser.add_argument("--clusters", type=int, default=1, help="groups who mostly meet each other")
    parser.add_argument("--mixing", type=float, default=0.1, help="share of games outside the group")
    parser.add_argument("--beta", type=float, default=480.0)
    parser.add_argument("--tau", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    plan = Plan(
        players=options.players, years=options.years, growth=0.0, clusters=options.clusters, mixing=options.mixing,
        beta=options.beta, tau=options.tau,
    )  # fmt: skip
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}")
    print(
        f"{options.histories} histories, each of {plan.players} players in {plan.clusters} clusters, {plan.years} years"
    )
    print(_line(*HEADER))
    for density in options.density:
        begun = time.perf_counter()
        seeds = range(options.seed, options.seed + options.histories)
        histories = [take_history(replace(plan, seed=seed), density) for seed in seeds]
        for quantity in QUANTITIES:
            for line in report(histories, quantity):
                print(line, flush=True)
        print(f"  {time.perf_counter() - begun:.1f} s", flush=True)


def take_history(plan: Plan, density: float) -> History:
    """Draw one history with so many games per player and year of a career, fit it, compare with the truth."""
    rows = len(simulate(replace(plan, games=1)).player)
    simulated = simulate(replace(plan, games=max(1, round(density * rows / 2))))
    timeline = build_timeline(simulated.games())
    params = ttt.Params(beta=plan.beta, tau=plan.tau, draw_margin=plan.margin)
    fit = ttt.fit(timeline, params, SolverConfig(tol=1e-3))
    if not fit.status.converged:
        raise SystemExit(f"seed {plan.seed}: not converged")
    error = true_skills(simulated, timeline) - fit.mean
    covariance = joint_covariance(timeline, fit)
    rng = np.random.default_rng(plan.seed)
    some = one_per_player(timeline, rng)
    one, other = one_pair_per_period(timeline, rng)
    apart = covariance[one, one] + covariance[other, other] - 2.0 * covariance[one, other]
    errors = {
        "skill": Errors(error[some], fit.sd[some], np.sqrt(covariance[some, some])),
        "difference": Errors(error[one] - error[other], np.hypot(fit.sd[one], fit.sd[other]), np.sqrt(apart)),
    }
    return History(2.0 * timeline.n_games / timeline.n_nodes, timeline.n_nodes, errors)


def true_skills(simulated: Simulated, timeline: Timeline) -> Array:
    """The true skill of every node, points."""
    keys = zip(simulated.player.tolist(), simulated.year.tolist(), strict=True)
    truth = dict(zip(keys, simulated.skill.tolist(), strict=True))
    nodes = zip(timeline.node_player.tolist(), timeline.node_period.tolist(), strict=True)
    return np.array([truth[node] for node in nodes])


def one_per_player(timeline: Timeline, rng: np.random.Generator) -> Nodes:
    """A random node of every player who has any."""
    order = rng.permutation(timeline.n_nodes)
    _, first = np.unique(timeline.node_player[order], return_index=True)
    return order[first]


def one_pair_per_period(timeline: Timeline, rng: np.random.Generator) -> tuple[Nodes, Nodes]:
    """Two random nodes of every period."""
    spans = zip(timeline.node_start[:-1], timeline.node_start[1:], strict=True)
    pairs = [rng.choice(np.arange(begin, end), 2, replace=False) for begin, end in spans]
    one, other = np.array(pairs).T
    return one, other


def joint_covariance(timeline: Timeline, fit: Fit) -> Array:
    """Covariances of all skills in the joint Gaussian of the fit's sites: the random walks, and a link per game."""
    pairs = merge_games(timeline, colours=False).games
    first, second = pairs.first, pairs.second
    own, other = fit.state["sites"][:, 0], fit.state["sites"][:, 2]
    var_first = 1.0 / (fit.sd[first] ** -2 - own)
    var_second = 1.0 / (fit.sd[second] ** -2 - other)
    shrink = own / (1.0 + var_first * own)
    pull = pairs.weight * shrink / (1.0 - (var_first + var_second) * shrink)
    later = np.flatnonzero(timeline.previous >= 0)
    i = np.concatenate([first, timeline.previous[later]])
    j = np.concatenate([second, later])
    weight = np.concatenate([pull, 1.0 / (fit.params["tau"] ** 2 * timeline.gap_years[later])])
    precision = np.diag(np.where(timeline.previous < 0, fit.params["prior_sd"] ** -2, 0.0))
    for row, column, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
        np.add.at(precision, (row, column), sign * weight)
    return np.linalg.inv(precision)


def report(histories: Sequence[History], quantity: str) -> Iterator[str]:
    """A line of figures for each kind of sd.

    `+-` is the standard error of `sd z`, by histories. KS and p are of one z per history, as errors within a history
    depend on each other.
    """
    from scipy.special import ndtr
    from scipy.stats import kstest

    errors = [history.errors[quantity] for history in histories]
    size = np.mean([history.games_per_node for history in histories])
    nodes = np.mean([history.nodes for history in histories])
    ratio = np.median(np.concatenate([one.factorised / one.joint for one in errors]))
    for kind in SDS:
        scores = [one.error / getattr(one, kind) for one in errors]
        z = np.concatenate(scores)
        spread = np.sqrt(np.mean(z**2))
        doubt = np.std([np.mean(score**2) for score in scores]) / np.sqrt(len(scores)) / (2.0 * spread)
        test = kstest(ndtr([score[len(score) // 2] for score in scores]), "uniform")
        ranks = np.histogram(ndtr(z), bins=BINS, range=(0.0, 1.0))[0] / len(z)
        yield _line(
            f"{size:.1f}", f"{nodes:.0f}", quantity, kind, f"{ratio:.3f}", f"{z.mean():+.3f}", f"{spread:.3f}",
            f"{doubt:.3f}", f"{100 * np.mean(np.abs(z) < WIDE):.1f}", f"{test.statistic:.3f}", f"{test.pvalue:.2g}",
            " ".join(f"{100 * share:.1f}" for share in ranks),
        )  # fmt: skip


def _line(*cells: str) -> str:
    widths = (6, 6, 11, 11, 7, 8, 7, 7, 7, 7, 9)
    return "".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=False)) + "  " + cells[-1]


if __name__ == "__main__":
    main()
