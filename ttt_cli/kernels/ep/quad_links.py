"""What single games of TTT-D say about skills and draw margins, within the joint Gaussian (see `joint`).

Variables as in `ttt_d`: skills of nodes 0..n-1, then margins. A game between nodes i and j is a Gaussian on
x1 = s_i - s_j + e_i and x2 = e_j - s_i + s_j: a row (q11, q12, q22, b1, b2) of `links`. The factors that keep margins
positive stand beside the games as they are.
"""

from __future__ import annotations

from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.indices import at, span

_RANGE = "int64, int64"  # begin, end: of the games of a slice
_ENDS = "int32[::1], int32[::1]"  # first, second


@inner
def _pair(g, i, j, n, links, values):
    """(q x)_1 and (q x)_2 of a game at these values of the variables."""
    lead = values[i] - values[j]
    x1 = lead + values[n + i]
    x2 = values[n + j] - lead
    return links[g, 0] * x1 + links[g, 1] * x2, links[g, 1] * x1 + links[g, 2] * x2


@kernel(
    f"void(int64, int64, {_RANGE}, {_ENDS}, float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[::1])"
)
def residual(
    node, last_node, begin, end, first, second, weight, links, forward, backward, marginal, positivity,
    means, diagonal, out,
):  # fmt: skip
    """Fill `out` with b - A s, `means` with s and `diagonal` with diag(A - T), at the present marginal means s.

    All of one slice.
    """
    n = at(len(positivity))
    for i in span(node, last_node):
        for v in (i, n + i):
            means[v] = marginal[v, 1] / marginal[v, 0]
            precision = marginal[v, 0] - forward[v, 0] - backward[v, 0]
            weighted = marginal[v, 1] - forward[v, 1] - backward[v, 1]
            out[v] = precision * means[v] - weighted
            diagonal[v] = 0.0
        out[n + i] += positivity[i, 1] - positivity[i, 0] * means[n + i]
        diagonal[n + i] = positivity[i, 0]
    for g in span(begin, end):
        i = at(first[g])
        j = at(second[g])
        times = weight[g]
        pull_1, pull_2 = _pair(g, i, j, n, links, means)
        force_1 = times * (links[g, 3] - pull_1)
        force_2 = times * (links[g, 4] - pull_2)
        out[i] += force_1 - force_2
        out[j] -= force_1 - force_2
        out[n + i] += force_1
        out[n + j] += force_2
        between = times * (links[g, 0] - 2.0 * links[g, 1] + links[g, 2])
        diagonal[i] += between
        diagonal[j] += between
        diagonal[n + i] += times * links[g, 0]
        diagonal[n + j] += times * links[g, 2]


@kernel(f"float64({_RANGE}, {_ENDS}, float64[::1], float64[:, ::1], float64[:], float64[:])")
def add_pulls(begin, end, first, second, weight, links, z, az):
    """Add (L - diag(L)) z to `az`; returns the product of z and what was added."""
    n = at(len(z) // 2)
    product = 0.0
    for g in span(begin, end):
        i = at(first[g])
        j = at(second[g])
        times = weight[g]
        pull_1, pull_2 = _pair(g, i, j, n, links, z)
        pull = pull_1 - pull_2
        between = links[g, 0] - 2.0 * links[g, 1] + links[g, 2]
        skill_i = times * (pull - between * z[i])
        skill_j = -times * (pull + between * z[j])
        margin_i = times * (pull_1 - links[g, 0] * z[n + i])
        margin_j = times * (pull_2 - links[g, 2] * z[n + j])
        az[i] += skill_i
        az[j] += skill_j
        az[n + i] += margin_i
        az[n + j] += margin_j
        product += skill_i * z[i] + skill_j * z[j] + margin_i * z[n + i] + margin_j * z[n + j]
    return product


@kernel(f"void({_RANGE}, {_ENDS}, float64[:, ::1], float64[:, ::1], float64[::1])")
def spread(begin, end, first, second, links, sites, means):
    """Set every site so that smoothing gives these means; precisions stay as they are (see `pair_links.spread`)."""
    n = at(len(means) // 2)
    for g in span(begin, end):
        i = at(first[g])
        j = at(second[g])
        pull_1, pull_2 = _pair(g, i, j, n, links, means)
        force_1 = links[g, 3] - pull_1
        force_2 = links[g, 4] - pull_2
        sites[g, 1] = sites[g, 0] * means[i] + force_1 - force_2
        sites[g, 3] = sites[g, 2] * means[j] - force_1 + force_2
        sites[g, 5] = sites[g, 4] * means[n + i] + force_1
        sites[g, 7] = sites[g, 6] * means[n + j] + force_2
