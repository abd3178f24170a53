"""The means of the joint Gaussian that the sites stand for, solved over all players and periods at once.

Expectation propagation with one Gaussian per skill passes the exact joint means along only slowly where groups hang
together by few games: each sweep moves a message by one game. But at its fixed point these means are those of the
joint Gaussian with precision A = T + L: T the random walks with their prior, L = sum of w q (e_i - e_j)(e_i - e_j)^T
over the games, where q is the precision that a game gives to the difference of two skills. So A is solved directly,
by conjugate gradients preconditioned with the chains, M = T + diag(L).

T itself never appears: (T + S) x = b is a smoothing of the chains with sites (S, b), which also holds without drift.
"""

from __future__ import annotations

import math

import numpy as np

from ttt_cli.kernels.compile import inner, kernel

_DELAY = 8
_CHAINS = "int32[::1], int32[::1], float64[::1]"  # previous, next, drift variance
_ENDS = "int32[::1], int32[::1]"  # first, second
_PAIRS = "int32[::1], int32[::1], float64[::1]"  # first, second, precision of the difference times weight


@inner
def _factor(previous, following, variance, prior_precision, diagonal, filtered, gain):
    """Precisions of the filter through M: `filtered` at the nodes, `gain` towards each node from the one before."""
    for i in range(len(previous)):
        before = previous[i]
        if before < 0:
            gain[i] = 0.0
            filtered[i] = prior_precision + diagonal[i]
        else:
            gain[i] = 1.0 / (1.0 + variance[i] * filtered[before])
            filtered[i] = filtered[before] * gain[i] + diagonal[i]


@inner
def _precondition(previous, following, filtered, gain, residual, out):
    """out = M^-1 residual, by filtering forward and substituting backward along the chains."""
    n = len(previous)
    for i in range(n):
        before = previous[i]
        out[i] = residual[i] if before < 0 else residual[i] + gain[i] * out[before]
    for i in range(n - 1, -1, -1):
        mean = out[i] / filtered[i]
        after = following[i]
        out[i] = mean if after < 0 else mean + gain[after] * (out[after] - mean)


@kernel(
    f"void({_ENDS}, float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[::1], float64[::1])"
)
def residual(first, second, weight, links, forward, backward, marginal, pull, out):
    """out = b - A s at the present marginal means s, shape (nodes,); `pull` gets w q per game.

    The means come from smoothing the sites (S, h), so T s = h - S s and T itself is not needed.
    """
    for i in range(len(out)):
        precision = marginal[i, 0] - forward[i, 0] - backward[i, 0]
        weighted = marginal[i, 1] - forward[i, 1] - backward[i, 1]
        out[i] = precision * marginal[i, 1] / marginal[i, 0] - weighted
    for g in range(len(first)):
        i = first[g]
        j = second[g]
        pull[g] = weight[g] * links[g, 0]
        difference = marginal[i, 1] / marginal[i, 0] - marginal[j, 1] / marginal[j, 0]
        force = weight[g] * links[g, 1] - pull[g] * difference
        out[i] += force
        out[j] -= force


@kernel(f"void({_ENDS}, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1])")
def spread(first, second, links, marginal, sites, correction):
    """Set every site so that smoothing gives the present means moved by `correction`.

    A game pulls on its two skills with the force f = q (y - (s_i - s_j)); the sites (p, p s_i + f) and (p, p s_j - f)
    exert it at the joint means whatever their precisions p, which stay as they are.
    """
    for g in range(len(first)):
        i = first[g]
        j = second[g]
        skill_i = marginal[i, 1] / marginal[i, 0] + correction[i]
        skill_j = marginal[j, 1] / marginal[j, 0] + correction[j]
        force = links[g, 1] - links[g, 0] * (skill_i - skill_j)
        sites[g, 1] = sites[g, 0] * skill_i + force
        sites[g, 3] = sites[g, 2] * skill_j - force


@inner
def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@inner
def _add_games(first, second, pull, step, image):
    """image += (L - diag(L)) step."""
    for g in range(len(first)):
        i = first[g]
        j = second[g]
        image[i] -= pull[g] * step[j]
        image[j] -= pull[g] * step[i]


@kernel(
    f"Tuple((int64, float64))({_CHAINS}, {_PAIRS}, float64, float64[::1], float64[::1], float64, float64, int64, "
    "float64[:, ::1])"
)
def solve(
    previous, following, variance, first, second, pull, prior_precision,
    residual, correction, tol, relative, most, work,
):  # fmt: skip
    """Solve A d = r for the correction d of the node means, given the residual r (overwritten), shapes (nodes,).

    `work` (7, nodes) is scratch. Stops when the energy norm of the error, sqrt(e^T A e), is estimated to be below
    `tol` or below `relative` times that of the correction, or after `most` steps. The estimate sums the last few
    steps (Hestenes and Stiefel 1952). Returns the number of steps and the estimate.
    """
    n = len(previous)
    diagonal, filtered, gain, z, step, chain_step, image = (
        work[0], work[1], work[2], work[3], work[4], work[5], work[6],
    )  # fmt: skip
    diagonal[:] = 0.0
    correction[:] = 0.0
    step[:] = 0.0
    chain_step[:] = 0.0
    for g in range(len(first)):
        diagonal[first[g]] += pull[g]
        diagonal[second[g]] += pull[g]
    _factor(previous, following, variance, prior_precision, diagonal, filtered, gain)
    recent = np.zeros(_DELAY)
    energy = 0.0
    error = math.inf
    before = math.inf
    for steps in range(most):
        _precondition(previous, following, filtered, gain, residual, z)
        power = _dot(residual, z)
        if power <= 0.0:
            return steps, 0.0
        turn = power / before
        before = power
        for i in range(n):
            step[i] = z[i] + turn * step[i]
            chain_step[i] = (
                residual[i] - diagonal[i] * z[i] + turn * chain_step[i]
            )  # T step, as T z = r - diag(L) z
            image[i] = chain_step[i] + diagonal[i] * step[i]
        _add_games(first, second, pull, step, image)
        length = power / _dot(step, image)
        for i in range(n):
            correction[i] += length * step[i]
            residual[i] -= length * image[i]
        recent[steps % _DELAY] = length * power
        energy += length * power
        if steps + 1 >= _DELAY:
            error = math.sqrt(recent.sum())
            if error < tol or error < relative * math.sqrt(energy):
                return steps + 1, error
    return most, error
