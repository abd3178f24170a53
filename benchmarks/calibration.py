"""Simulation-based calibration: where do true skills lie among the posteriors of TTT?

Draws many artificial histories from the model and fits each with the parameters that made it. Of every player it takes
a random year (`skill`), of every year a random pair of players (`same year`), and players of random years at least so
many apart (`across eras`). If posteriors N(mean, sd) are right, z = (truth - mean) / sd is standard normal and the
ranks Phi(z) are uniform. Both posteriors that TTT has are asked: the factorised one, in which sds of differences are
those of independent skills, and the joint one, in which they come from the factor of its precision matrix.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from measuring import machine, markdown, options_of
from numpy.typing import NDArray

from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.simulate import Plan, Simulated, simulate
from ttt_cli.fitted import Fit
from ttt_cli.inference.joint.sites import JointInference
from ttt_cli.systems import ttt
from ttt_cli.timeline import Timeline, build_timeline

Array = NDArray[np.float64]
Nodes = NDArray[np.intp]

BINS = 10
WIDE = 1.6448536269514722  # the middle 90 % of a standard normal
QUANTITIES = ("skill", "same year", "across eras")
POSTERIORS: tuple[Literal["factorised", "joint"], ...] = ("factorised", "joint")
HEADER = (
    "games", "nodes", "", "posterior", "ratio", "mean z", "sd z", "+-", "90 %", "KS", "p", "ranks, % in tenths",
)  # fmt: skip


class History(NamedTuple):
    """What one history gave: its size, and the errors and sds of each quantity by posterior, points."""

    games_per_node: float
    nodes: int
    errors: dict[str, dict[str, tuple[Array, Array]]]


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(
        __doc__, arguments,
        histories=1000, players=60, years=12, density=[10.0, 100.0], clusters=[1, 6], mixing=0.1, apart=6,
        beta=480.0, tau=60.0, seed=0,
    )  # fmt: skip
    print(machine("numpy", "scipy"))
    for clusters in options.clusters:
        plan = Plan(
            players=options.players, years=options.years, expansion=0.0, clusters=clusters, mixing=options.mixing,
            beta=options.beta, tau=options.tau,
        )  # fmt: skip
        size = f"{plan.players} players in {clusters} clusters, {plan.years} years"
        print(f"{options.histories} histories of {size}")
        for density in options.density:
            begun = time.perf_counter()
            seeds = range(options.seed, options.seed + options.histories)
            histories = [
                take_history(plan.changed(seed=seed), density, options.apart) for seed in seeds
            ]
            rows = [cells for quantity in QUANTITIES for cells in report(histories, quantity)]
            print(f"\n{markdown(HEADER, rows)}\n\n{time.perf_counter() - begun:.1f} s", flush=True)


def take_history(plan: Plan, density: float, apart: int) -> History:
    """Draw one history with so many games per player and year of a career, fit it, compare with the truth."""
    rows = len(simulate(plan.changed(games=1)).player)
    simulated = simulate(plan.changed(games=max(1, round(density * rows / 2))))
    timeline = build_timeline(simulated.games())
    params = ttt.Params(beta=plan.beta, tau=plan.tau, draw_margin=plan.margin)
    fits: dict[str, Fit] = {
        kind: ttt.fit(timeline, params, SolverConfig(tol=1e-3, posterior=kind))
        for kind in POSTERIORS
    }
    if not all(fit.status.converged for fit in fits.values()):
        raise SystemExit(f"seed {plan.seed}: not converged")
    truth, rng = true_skills(simulated, timeline), np.random.default_rng(plan.seed)
    some = one_per_player(timeline, rng)
    pairs = one_pair_per_period(timeline, rng), pairs_across(timeline, apart, rng)
    weights = [contrasts(timeline.n_nodes, some)]
    weights += [
        contrasts(timeline.n_nodes, one) - contrasts(timeline.n_nodes, other)
        for one, other in pairs
    ]
    joint = ttt.through_time(timeline, params, fits["joint"].params["draw_margin"]).posterior(
        fits["joint"]
    )
    assert isinstance(joint, JointInference)
    errors = {}
    for quantity, c in zip(QUANTITIES, weights, strict=True):
        sds = {
            "factorised": np.sqrt(fits["factorised"].sd ** 2 @ c**2),
            "joint": np.sqrt(np.diag(joint.covariance(c))),
        }
        errors[quantity] = {kind: ((truth - fit.mean) @ c, sds[kind]) for kind, fit in fits.items()}
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


def pairs_across(timeline: Timeline, apart: int, rng: np.random.Generator) -> tuple[Nodes, Nodes]:
    """For every period with one so many years later or more: a random node of each of two such, of two players."""
    later = timeline.periods[:, None] - timeline.periods >= apart
    found = []
    for early in np.flatnonzero(later.any(axis=0)):
        ends = early, rng.choice(np.flatnonzero(later[:, early]))
        one, other = (
            rng.integers(timeline.node_start[end], timeline.node_start[end + 1]) for end in ends
        )
        if timeline.node_player[one] != timeline.node_player[other]:
            found.append((one, other))
    one, other = np.array(found, np.intp).reshape(-1, 2).T
    return one, other


def contrasts(n: int, nodes: Nodes) -> Array:
    """Weights (n, nodes) that each pick one node."""
    weights = np.zeros((n, len(nodes)))
    weights[nodes, np.arange(len(nodes))] = 1.0
    return weights


def report(histories: Sequence[History], quantity: str) -> Iterator[tuple[str, ...]]:
    """The cells of a row for each posterior.

    `+-` is the standard error of `sd z`, by histories. KS and p are of one z per history, as errors within a history
    depend on each other.
    """
    from scipy.special import ndtr
    from scipy.stats import kstest

    errors = [history.errors[quantity] for history in histories]
    size = np.mean([history.games_per_node for history in histories])
    nodes = np.mean([history.nodes for history in histories])
    ratio = np.median(np.concatenate([one["factorised"][1] / one["joint"][1] for one in errors]))
    for kind in POSTERIORS:
        scores = [error / sd for error, sd in (one[kind] for one in errors) if len(error)]
        z = np.concatenate(scores)
        spread = np.sqrt(np.mean(z**2))
        doubt = (
            np.std([np.mean(score**2) for score in scores]) / np.sqrt(len(scores)) / (2.0 * spread)
        )
        test = kstest(ndtr([score[len(score) // 2] for score in scores]), "uniform")
        ranks = np.histogram(ndtr(z), bins=BINS, range=(0.0, 1.0))[0] / len(z)
        yield (
            f"{size:.1f}", f"{nodes:.0f}", quantity, kind, f"{ratio:.3f}", f"{z.mean():+.3f}", f"{spread:.3f}",
            f"{doubt:.3f}", f"{100 * np.mean(np.abs(z) < WIDE):.1f}", f"{test.statistic:.3f}", f"{test.pvalue:.2g}",
            " ".join(f"{100 * share:.1f}" for share in ranks),
        )  # fmt: skip


if __name__ == "__main__":
    main()
