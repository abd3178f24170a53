"""What games of TTT say of skills within the joint Gaussian (see `joint_means`).

A game between nodes i and j is a link: s_i - s_j = y with precision q; its score is q (y - (s_i - s_j)). The coupling
of two nodes is w q for games of weight w. Arrays as in `structures`.
"""

from ttt_cli.kernels.arrays import Rows, Strided, Vector
from ttt_cli.kernels.compile import at, kernel, span
from ttt_cli.kernels.ep.structures import Games, Messages, Part, Sites


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
    """Fill `out` with b - A s at a part's marginal means s, `means` with s, `diagonal` with diag(L), and `coupling`.

    The means come from smoothing the sites (S, h), so T s = h - S s and T itself is not needed.
    """
    forward, backward, marginal = messages
    link = sites.link
    for i in span(part.node, part.node_end):
        means[i] = marginal[i, 1] / marginal[i, 0]
        precision = marginal[i, 0] - forward[i, 0] - backward[i, 0]
        out[i] = precision * means[i] - (marginal[i, 1] - forward[i, 1] - backward[i, 1])
        diagonal[i] = 0.0
    for g in span(part.game, part.game_end):
        i, j = at(games.first[g]), at(games.second[g])
        coupling[g] = games.weight[g] * link[g, 0]
        diagonal[i] += coupling[g]
        diagonal[j] += coupling[g]
        score = games.weight[g] * link[g, 1] - coupling[g] * (means[i] - means[j])
        out[i] += score
        out[j] -= score


@kernel
def add_couplings(
    begin: int, end: int, games: Games, link: Rows, coupling: Vector, z: Strided, az: Strided
) -> float:
    """Add (L - diag(L)) z of some games to `az`; returns the product of z and what was added."""
    product = 0.0
    for g in span(begin, end):
        i, j = at(games.first[g]), at(games.second[g])
        added = coupling[g] * z[j]
        az[i] -= added
        az[j] -= coupling[g] * z[i]
        product -= added * z[i]
    return 2.0 * product


@kernel
def spread(begin: int, end: int, games: Games, sites: Sites, means: Vector) -> None:
    """Set every site so that smoothing gives these means: (p, p s_i + score) and (p, p s_j - score), p as it is."""
    message, link, _ = sites
    for g in span(begin, end):
        i, j = at(games.first[g]), at(games.second[g])
        score = link[g, 1] - link[g, 0] * (means[i] - means[j])
        message[g, 1] = message[g, 0] * means[i] + score
        message[g, 3] = message[g, 2] * means[j] - score
