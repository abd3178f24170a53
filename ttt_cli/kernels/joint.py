"""The means of the joint Gaussian that the sites stand for, solved over all players and periods at once.

Expectation propagation with one Gaussian per skill passes the exact joint means along only slowly where groups hang
together by few games: each sweep moves a message by one game. But at its fixed point these means are those of the
joint Gaussian with precision A = T + L: T the random walks with their prior, L what the games say about differences
of skills. So A x = b is solved directly, by conjugate gradients preconditioned with the chains, M = T + diag(L).

T itself never appears: (T + S) x = b is a smoothing of the chains with sites (S, b), which also holds without drift.
These kernels are the parts that do not depend on the form of L; vectors have shape (variables,), where a variable is
the skill (or the draw margin) of a node, chained by `previous` and `following` (-1 at the ends).
"""

from __future__ import annotations

from ttt_cli.kernels.compile import kernel

_CHAINS = "int32[::1], int32[::1], float64[::1]"  # previous, following, drift variance


@kernel(f"void({_CHAINS}, float64[::1], float64[::1], float64[::1], float64[::1])")
def factor(previous, following, variance, prior_precision, diagonal, filtered, gain):
    """Prepare M^-1: precisions of the filter at each variable, and the gain towards it from the one before.

    `prior_precision` counts at the first variable of each chain.
    """
    for i in range(len(previous)):
        before = previous[i]
        if before < 0:
            gain[i] = 0.0
            filtered[i] = prior_precision[i] + diagonal[i]
        else:
            gain[i] = 1.0 / (1.0 + variance[i] * filtered[before])
            filtered[i] = filtered[before] * gain[i] + diagonal[i]


@kernel("float64(int32[::1], int32[::1], float64[::1], float64[::1], float64[::1], float64[::1])")
def precondition(previous, following, filtered, gain, residual, out):
    """Fill `out` with M^-1 residual, by filtering forward and substituting backward; returns residual^T out."""
    n = len(previous)
    for i in range(n):
        before = previous[i]
        out[i] = residual[i] if before < 0 else residual[i] + gain[i] * out[before]
    power = 0.0
    for i in range(n - 1, -1, -1):
        mean = out[i] / filtered[i]
        after = following[i]
        out[i] = mean if after < 0 else mean + gain[after] * (out[after] - mean)
        power += residual[i] * out[i]
    return power


@kernel(
    "void(int64, int64, float64, float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[::1])"
)
def turn(begin, end, share, diagonal, residual, z, step, chain_step, image):
    """The next direction, z + share * step, and (T + diag(L)) times it; T z = residual - diag(L) z. Of a range."""
    for i in range(begin, end):
        step[i] = z[i] + share * step[i]
        chain_step[i] = residual[i] - diagonal[i] * z[i] + share * chain_step[i]
        image[i] = chain_step[i] + diagonal[i] * step[i]


@kernel("float64(int64, int64, float64[::1], float64[::1])")
def curvature(begin, end, step, image):
    """step^T image, of a range of variables."""
    total = 0.0
    for i in range(begin, end):
        total += step[i] * image[i]
    return total


@kernel("void(int64, int64, float64, float64[::1], float64[::1], float64[::1], float64[::1])")
def advance(begin, end, length, step, image, correction, residual):
    """Go so far along `step`, with a range of variables."""
    for i in range(begin, end):
        correction[i] += length * step[i]
        residual[i] -= length * image[i]
