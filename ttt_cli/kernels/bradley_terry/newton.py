"""Newton's step for ratings of players over time: conjugate gradients, preconditioned with the players' chains.

The matrix is A = diag(diagonal) + links - couplings. A link of precision k joins a node to the one before, with k on
the diagonal of both; `diagonal` holds everything else there, and a comparison has its -`coupling` beside it.
"""

import numpy as np

from ttt_cli.kernels.compile import inner, kernel

DELAY = 8  # steps over which the error that is left is estimated (Hestenes and Stiefel 1952)


@inner
def _filter(previous, link_precision, diagonal, filtered):
    """What the nodes up to each one know of it, without comparisons' other ends."""
    for i in range(len(previous)):
        before = previous[i]
        filtered[i] = diagonal[i]
        if before >= 0 and filtered[before] > 0.0:
            filtered[i] += link_precision[i] * filtered[before] / (link_precision[i] + filtered[before])


@inner
def _precondition(previous, following, link_precision, filtered, residual, out):
    """Fill `out` with the solution for the chains alone; returns residual^T out."""
    n = len(previous)
    for i in range(n):
        before = previous[i]
        out[i] = residual[i]
        if before >= 0:
            out[i] += link_precision[i] / (link_precision[i] + filtered[before]) * out[before]
    rz = 0.0
    for i in range(n - 1, -1, -1):
        after = following[i]
        if after < 0:
            out[i] /= filtered[i]
        else:
            out[i] = (out[i] + link_precision[after] * out[after]) / (filtered[i] + link_precision[after])
        rz += residual[i] * out[i]
    return rz


@inner
def _multiply(previous, link_precision, diagonal, first, second, coupling, p, ap):
    """Fill `ap` with A p; returns p^T A p."""
    for i in range(len(previous)):
        ap[i] = diagonal[i] * p[i]
    for i in range(len(previous)):
        before = previous[i]
        if before >= 0:
            score = link_precision[i] * (p[i] - p[before])
            ap[i] += score
            ap[before] -= score
    for g in range(len(first)):
        ap[first[g]] -= coupling[g] * p[second[g]]
        ap[second[g]] -= coupling[g] * p[first[g]]
    curvature = 0.0
    for i in range(len(previous)):
        curvature += p[i] * ap[i]
    return curvature


@kernel(
    "int64(int32[::1], int32[::1], float64[::1], float64[::1], int32[::1], int32[::1], float64[::1], float64, int64, "
    "float64[::1], float64[::1])"
)
def solve(
    previous, following, link_precision, diagonal, first, second, coupling, relative, most, residual, out
):
    """Fill `out` with A^-1 residual to a `relative` error in the norm of A; returns the steps. Uses up `residual`."""
    n = len(previous)
    filtered, z, p, ap = np.empty(n), np.empty(n), np.zeros(n), np.empty(n)
    recent = np.zeros(DELAY)
    energy, before = 0.0, 1.0
    out[:] = 0.0
    _filter(previous, link_precision, diagonal, filtered)
    for count in range(most):
        rz = _precondition(previous, following, link_precision, filtered, residual, z)
        beta = rz / before if count else 0.0
        for i in range(n):
            p[i] = z[i] + beta * p[i]
        curvature = _multiply(previous, link_precision, diagonal, first, second, coupling, p, ap)
        if rz <= 0.0 or curvature <= 0.0:
            return count
        alpha = rz / curvature
        for i in range(n):
            out[i] += alpha * p[i]
            residual[i] -= alpha * ap[i]
        before = rz
        energy += alpha * rz
        recent[count % DELAY] = alpha * rz
        if count >= DELAY and recent.sum() < relative * relative * energy:
            return count + 1
    return most
