"""What single games say about differences of skills, within the joint Gaussian (see `joint`).

A game between nodes `first` i and `second` j is a link (q, q y), a row of `links`: s_i - s_j = y with precision q.
`pull` holds w q for games of weight w. Marginals and messages are pairs (precision, precision times mean).
"""

from __future__ import annotations

from ttt_cli.kernels.compile import kernel
from ttt_cli.kernels.indices import at, span
from ttt_cli.kernels.prefetch import fetch

_RANGE = "int64, int64"  # begin, end: of the games of a slice
_ENDS = "int32[::1], int32[::1]"  # first, second


@kernel(
    f"void(int64, int64, {_RANGE}, {_ENDS}, float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1], float64[::1], float64[::1], float64[::1])"
)
def residual(
    node,
    last_node,
    begin,
    end,
    first,
    second,
    weight,
    links,
    forward,
    backward,
    marginal,
    pull,
    diagonal,
    out,
):
    """Fill `out` with b - A s at the present marginal means s, `diagonal` with diag(L), and `pull`, of a slice.

    The means come from smoothing the sites (S, h), so T s = h - S s and T itself is not needed.
    """
    for i in span(node, last_node):
        precision = marginal[i, 0] - forward[i, 0] - backward[i, 0]
        weighted = marginal[i, 1] - forward[i, 1] - backward[i, 1]
        out[i] = precision * marginal[i, 1] / marginal[i, 0] - weighted
        diagonal[i] = 0.0
    for g in span(begin, end):
        for ends in (first, second):
            fetch(g, end, ends, marginal)
            fetch(g, end, ends, diagonal)
            fetch(g, end, ends, out)
        i = at(first[g])
        j = at(second[g])
        pull[g] = weight[g] * links[g, 0]
        diagonal[i] += pull[g]
        diagonal[j] += pull[g]
        difference = marginal[i, 1] / marginal[i, 0] - marginal[j, 1] / marginal[j, 0]
        force = weight[g] * links[g, 1] - pull[g] * difference
        out[i] += force
        out[j] -= force


@kernel(f"float64({_RANGE}, {_ENDS}, float64[::1], float64[:], float64[:])")
def add_pulls(begin, end, first, second, pull, z, az):
    """Add (L - diag(L)) z to `az`; returns the product of z and what was added."""
    product = 0.0
    for g in span(begin, end):
        for ends in (first, second):
            fetch(g, end, ends, z)
            fetch(g, end, ends, az)
        i = at(first[g])
        j = at(second[g])
        force_i = pull[g] * z[j]
        az[i] -= force_i
        az[j] -= pull[g] * z[i]
        product -= force_i * z[i]
    return 2.0 * product


@kernel(f"void({_RANGE}, {_ENDS}, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1])")
def spread(begin, end, first, second, links, marginal, sites, correction):
    """Set every site so that smoothing gives the present means moved by `correction`.

    A game pulls on its two skills with the force f = q (y - (s_i - s_j)); the sites (p, p s_i + f) and (p, p s_j - f)
    exert it at the joint means whatever their precisions p, which stay as they are.
    """
    for g in span(begin, end):
        for ends in (first, second):
            fetch(g, end, ends, marginal)
            fetch(g, end, ends, correction)
        i = at(first[g])
        j = at(second[g])
        skill_i = marginal[i, 1] / marginal[i, 0] + correction[i]
        skill_j = marginal[j, 1] / marginal[j, 0] + correction[j]
        force = links[g, 1] - links[g, 0] * (skill_i - skill_j)
        sites[g, 1] = sites[g, 0] * skill_i + force
        sites[g, 3] = sites[g, 2] * skill_j - force
