"""What games of TTT-D say of skills and draw margins within the joint Gaussian (see `joint_means`).

A game is a Gaussian on x1 = s_i - s_j + e_i and x2 = e_j - s_i + s_j, without the noise; the factors that keep margins
positive stand beside the games as they are. Arrays as in `structures`.
"""

from ttt_cli.kernels.arrays import Rows, Strided, Vector
from ttt_cli.kernels.compile import at, inner, kernel, span
from ttt_cli.kernels.ep.structures import Games, Messages, Part, Sites


@inner
def _weighted(g, i, j, n, link, values):
    """(q x)_1 and (q x)_2 of a game at these values of the variables."""
    difference = values[i] - values[j]
    x1 = difference + values[n + i]
    x2 = values[n + j] - difference
    return link[g, 0] * x1 + link[g, 1] * x2, link[g, 1] * x1 + link[g, 2] * x2


@kernel
def residual(
    part: Part,
    games: Games,
    sites: Sites,
    messages: Messages,
    means: Vector,
    coupling: Vector,
    diagonal: Vector,
    out: Vector,
) -> None:
    """Fill `out` with b - A s, `means` with s and `diagonal` with diag(A - T), at a part's marginal means s."""
    forward, backward, marginal = messages
    _, link, positivity = sites
    n = at(len(positivity))
    for i in span(part.node, part.node_end):
        for v in (i, n + i):
            means[v] = marginal[v, 1] / marginal[v, 0]
            precision = marginal[v, 0] - forward[v, 0] - backward[v, 0]
            out[v] = precision * means[v] - (marginal[v, 1] - forward[v, 1] - backward[v, 1])
            diagonal[v] = 0.0
        out[n + i] += positivity[i, 1] - positivity[i, 0] * means[n + i]
        diagonal[n + i] = positivity[i, 0]
    for g in span(part.game, part.game_end):
        i, j = at(games.first[g]), at(games.second[g])
        times = games.weight[g]
        weighted_1, weighted_2 = _weighted(g, i, j, n, link, means)
        score_1 = times * (link[g, 3] - weighted_1)
        score_2 = times * (link[g, 4] - weighted_2)
        out[i] += score_1 - score_2
        out[j] -= score_1 - score_2
        out[n + i] += score_1
        out[n + j] += score_2
        between = times * (link[g, 0] - 2.0 * link[g, 1] + link[g, 2])
        diagonal[i] += between
        diagonal[j] += between
        diagonal[n + i] += times * link[g, 0]
        diagonal[n + j] += times * link[g, 2]


@kernel
def add_couplings(
    begin: int, end: int, games: Games, link: Rows, coupling: Vector, z: Strided, az: Strided
) -> float:
    """Add (L - diag(L)) z of some games to `az`; returns the product of z and what was added."""
    n = at(len(z) // 2)
    product = 0.0
    for g in span(begin, end):
        i, j = at(games.first[g]), at(games.second[g])
        times = games.weight[g]
        weighted_1, weighted_2 = _weighted(g, i, j, n, link, z)
        difference = weighted_1 - weighted_2
        between = link[g, 0] - 2.0 * link[g, 1] + link[g, 2]
        skill_i = times * (difference - between * z[i])
        skill_j = -times * (difference + between * z[j])
        margin_i = times * (weighted_1 - link[g, 0] * z[n + i])
        margin_j = times * (weighted_2 - link[g, 2] * z[n + j])
        az[i] += skill_i
        az[j] += skill_j
        az[n + i] += margin_i
        az[n + j] += margin_j
        product += skill_i * z[i] + skill_j * z[j] + margin_i * z[n + i] + margin_j * z[n + j]
    return product


@kernel
def spread(begin: int, end: int, games: Games, sites: Sites, means: Vector) -> None:
    """Set every site so that smoothing gives these means; precisions stay as they are (see `ttt_links.spread`)."""
    message, link, _ = sites
    n = at(len(means) // 2)
    for g in span(begin, end):
        i, j = at(games.first[g]), at(games.second[g])
        weighted_1, weighted_2 = _weighted(g, i, j, n, link, means)
        score_1 = link[g, 3] - weighted_1
        score_2 = link[g, 4] - weighted_2
        message[g, 1] = message[g, 0] * means[i] + score_1 - score_2
        message[g, 3] = message[g, 2] * means[j] - score_1 + score_2
        message[g, 5] = message[g, 4] * means[n + i] + score_1
        message[g, 7] = message[g, 6] * means[n + j] + score_2
