"""Newton's step for ratings of players over time: conjugate gradients, preconditioned with the players' chains.

The matrix is A = diag(diagonal) + links - pulls. A link of stiffness k joins a node to the one before, with k on the
diagonal of both; `diagonal` holds everything else there, and a comparison of weight `pull` has -pull beside it.
"""

from __future__ import annotations

import numpy as np

from ttt_cli.kernels.compile import inner, kernel

DELAY = 8  # steps over which the error that is left is estimated (Hestenes and Stiefel 1952)


@inner
def _filter(previous, stiffness, diagonal, filtered):
    """What the nodes up to each one know of it, without comparisons' other ends."""
    for i in range(len(previous)):
        before = previous[i]
        filtered[i] = diagonal[i]
        if before >= 0 and filtered[before] > 0.0:
            filtered[i] += stiffness[i] * filtered[before] / (stiffness[i] + filtered[before])


@inner
def _precondition(previous, following, stiffness, filtered, residual, out):
    """Fill `out` with the solution for the chains alone; returns residual^T out."""
    n = len(previous)
    for i in range(n):
        before = previous[i]
        out[i] = residual[i]
        if before >= 0:
            out[i] += stiffness[i] / (stiffness[i] + filtered[before]) * out[before]
    power = 0.0
    for i in range(n - 1, -1, -1):
        after = following[i]
        if after < 0:
            out[i] /= filtered[i]
        else:
            out[i] = (out[i] + stiffness[after] * out[after]) / (filtered[i] + stiffness[after])
        power += residual[i] * out[i]
    return power


@inner
def _multiply(previous, stiffness, diagonal, first, second, pull, step, image):
    """Fill `image` with A step; returns step^T A step."""
    for i in range(len(previous)):
        image[i] = diagonal[i] * step[i]
    for i in range(len(previous)):
        before = previous[i]
        if before >= 0:
            force = stiffness[i] * (step[i] - step[before])
            image[i] += force
            image[before] -= force
    for g in range(len(first)):
        image[first[g]] -= pull[g] * step[second[g]]
        image[second[g]] -= pull[g] * step[first[g]]
    curvature = 0.0
    for i in range(len(previous)):
        curvature += step[i] * image[i]
    return curvature


@kernel(
    "int64(int32[::1], int32[::1], float64[::1], float64[::1], int32[::1], int32[::1], float64[::1], float64, int64, "
    "float64[::1], float64[::1])"
)
def solve(previous, following, stiffness, diagonal, first, second, pull, relative, most, residual, out):
    """Fill `out` with A^-1 residual, whose error is `relative` to it in the norm of A; returns the steps it took.

    After `most` steps it ends anyway. `residual` is used up.
    """
    n = len(previous)
    filtered, z, step, image = np.empty(n), np.empty(n), np.zeros(n), np.empty(n)
    recent = np.zeros(DELAY)
    energy, before = 0.0, 1.0
    out[:] = 0.0
    _filter(previous, stiffness, diagonal, filtered)
    for count in range(most):
        power = _precondition(previous, following, stiffness, filtered, residual, z)
        share = power / before if count else 0.0
        for i in range(n):
            step[i] = z[i] + share * step[i]
        curvature = _multiply(previous, stiffness, diagonal, first, second, pull, step, image)
        if power <= 0.0 or curvature <= 0.0:
            return count
        length = power / curvature
        for i in range(n):
            out[i] += length * step[i]
            residual[i] -= length * image[i]
        before = power
        energy += length * power
        recent[count % DELAY] = length * power
        if count >= DELAY and recent.sum() < relative * relative * energy:
            return count + 1
    return most
