"""Samples of a joint Gaussian: of its chains alone, and what sites say against one."""

import math

from ttt_cli.kernels.arrays import Index, Rows, Vector
from ttt_cli.kernels.compile import at, kernel, span
from ttt_cli.kernels.ep.structures import Games


@kernel
def walk(previous: Index, variance: Vector, x: Vector) -> None:
    """Turn standard normal numbers into a sample of all chains around their means."""
    for i in span(0, len(x)):
        x[i] *= math.sqrt(variance[i])
        if previous[i] >= 0:
            x[i] += x[at(previous[i])]


@kernel
def pull_skills(games: Games, link: Rows, x: Vector, z: Rows, out: Vector) -> None:
    """Add to `out` what sites of differences, each moved by noise, say against x; `z` (games, 1) standard normal."""
    for g in span(0, len(games.first)):
        i, j = at(games.first[g]), at(games.second[g])
        precision = games.weight[g] * link[g, 0]
        pull = math.sqrt(precision) * z[g, 0] - precision * (x[i] - x[j])
        out[i] += pull
        out[j] -= pull


@kernel
def pull_sides(games: Games, link: Rows, x: Vector, z: Rows, out: Vector) -> None:
    """The same of sites of both sides of a draw; `z` (games, 2)."""
    n = at(len(x) // 2)
    for g in span(0, len(games.first)):
        i, j = at(games.first[g]), at(games.second[g])
        times = games.weight[g]
        q11, q12, q22 = times * link[g, 0], times * link[g, 1], times * link[g, 2]
        root = math.sqrt(max(q11, 0.0))
        across = q12 / root if root > 0.0 else 0.0
        rest = math.sqrt(max(q22 - across * across, 0.0))
        x1 = x[i] - x[j] + x[n + i]
        x2 = x[n + j] - x[i] + x[j]
        pull_1 = root * z[g, 0] - q11 * x1 - q12 * x2
        pull_2 = across * z[g, 0] + rest * z[g, 1] - q12 * x1 - q22 * x2
        out[i] += pull_1 - pull_2
        out[j] -= pull_1 - pull_2
        out[n + i] += pull_1
        out[n + j] += pull_2
