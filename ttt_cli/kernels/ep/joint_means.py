"""The means of the joint Gaussian of all sites, solved over all players and periods at once.

Expectation propagation with one Gaussian per skill passes the exact joint means along slowly where few games link
groups: each sweep moves a message by one game. But at its fixed point these means are those of the joint Gaussian
with precision A = T + L: T the chains with their prior, L from the games on differences of skills. So A x = b is
solved directly, by conjugate gradients preconditioned with the chains, M = T + diag(L).

T itself never appears: where M z = r, A z = r + (L - diag(L)) z, also without drift. M is eliminated onward in
time and substituted back. These kernels do not depend on the form of L; vectors have shape (variables,). Memory
bandwidth takes the time, so each array is read once.
"""

from ttt_cli.kernels.arrays import Vector
from ttt_cli.kernels.compile import at, kernel, span
from ttt_cli.kernels.ep.structures import Chains, Descent


@kernel
def factor(
    begin: int, end: int, chains: Chains, diagonal: Vector, filtered: Vector, scale: Vector, gain: Vector,
    gain_away: Vector,
) -> None:  # fmt: skip
    """Eliminate a range: `filtered` precisions, and what M^-1 takes.

    `gain` is how much of the variable before reaches a variable, and `gain_away` how much of it reaches the next one.
    In the substitution a variable is `scale` times what was eliminated into it, plus `gain_away` times the next one;
    without that one, `scale` is the inverse of its precision.
    """
    _, previous, following, _, variance = chains
    for i in span(begin, end):
        s = previous[i]
        precision = diagonal[i]
        gain[i] = 0.0
        if begin <= s < end:
            share = 1.0 / (1.0 + filtered[at(s)] * variance[i])
            gain[i] = share
            precision += filtered[at(s)] * share
        if s < 0:
            precision += 1.0 / variance[i]
        filtered[i] = precision
    for i in span(begin, end):
        a = following[i]
        if begin <= a < end:
            gain_away[i] = gain[at(a)]
            scale[i] = gain[at(a)] * variance[at(a)]
        else:
            scale[i] = 1.0 / filtered[i]


@kernel
def solve(
    begin: int, end: int, chains: Chains, gain: Vector, gain_away: Vector, scale: Vector, beta: float, alpha: float,
    z: Vector, az: Vector, descent: Descent,
) -> float:  # fmt: skip
    """Move by `alpha` along the next direction, z + `beta` p; then `z` is M^-1 r and `az` the new residual r.

    Returns r^T z.
    """
    p, ap, correction, residual = descent
    for i in span(begin, end):
        direction = z[i] + beta * p[i]
        image = az[i] + beta * ap[i]
        p[i] = direction
        ap[i] = image
        correction[i] += alpha * direction
        left = residual[i] - alpha * image
        residual[i] = left
        az[i] = left
        s = chains.previous[i]
        z[i] = left + gain[i] * z[at(s)] if begin <= s < end else left
    rz = 0.0
    for count in range(end - begin):
        i = at(end - 1 - count)
        s = chains.following[i]
        value = scale[i] * z[i]
        if begin <= s < end:
            value += gain_away[i] * z[at(s)]
        z[i] = value
        rz += value * az[i]
    return rz


@kernel
def finish(
    begin: int, end: int, beta: float, alpha: float, z: Vector, p: Vector, correction: Vector
) -> None:
    """The last step of a solution: `correction` moves by `alpha` along z + `beta` p."""
    for i in span(begin, end):
        correction[i] += alpha * (z[i] + beta * p[i])
