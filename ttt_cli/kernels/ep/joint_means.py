"""The means of the joint Gaussian of all sites, solved over all players and periods at once.

Expectation propagation with one Gaussian per skill passes the exact joint means along slowly where few games link
groups: each sweep moves a message by one game. But at its fixed point these means are those of the joint Gaussian
with precision A = T + L: T the chains with their prior, L from the games on differences of skills. So A x = b is
solved directly, by conjugate gradients preconditioned with the chains, M = T + diag(L).

T itself never appears: where M z = r, A z = r + (L - diag(L)) z, also without drift. M is eliminated from both ends
of time towards a period in the middle and substituted back from there (a two-filter join), so that two threads can
share it. These kernels do not depend on the form of L; vectors have shape (variables,). Memory bandwidth takes the
time, so each array is read once; z and A z may be interleaved.
"""

from ttt_cli.kernels.arrays import Index, Strided, Vector
from ttt_cli.kernels.compile import at, kernel, span
from ttt_cli.kernels.ep.structures import Chains, Descent, Way


@kernel
def before_games(previous: Index, variance: Vector) -> None:
    """Turn variances of steps into those of the variables before a game is seen, points squared."""
    for i in span(0, len(variance)):
        if previous[i] >= 0:
            variance[i] += variance[at(previous[i])]


@kernel
def largest_sum(previous: Index, diagonal: Vector, variance: Vector, sums: Vector) -> float:
    """The largest sum over a chain of diag(L) times the variance before games; fills the sums so far."""
    largest = 0.0
    for i in span(0, len(sums)):
        sums[i] = diagonal[i] * variance[i]
        if previous[i] >= 0:
            sums[i] += sums[at(previous[i])]
        largest = max(largest, sums[i])
    return largest


@kernel
def factor(
    way: Way, chains: Chains, diagonal: Vector, filtered: Vector, scale: Vector, gain: Vector,
    gain_away: Vector,
) -> None:  # fmt: skip
    """Eliminate a range: `filtered` precisions, and what M^-1 takes.

    `gain` is how much of its source reaches a variable, and `gain_away` how much of it reaches the next one `away`. In
    the substitution a variable is `scale` times what was eliminated into it, plus `gain_away` times the one away;
    without that one, `scale` is the inverse of its precision.
    """
    begin, end, back, source, away = way
    for count in range(end - begin):
        i = at(end - 1 - count if back else begin + count)
        s = source[i]
        precision = diagonal[i]
        gain[i] = 0.0
        if begin <= s < end:
            kept = 1.0 / (1.0 + filtered[at(s)] * chains.variance[at(s) if back else i])
            gain[i] = kept
            precision += filtered[at(s)] * kept
        if chains.previous[i] < 0:
            precision += 1.0 / chains.variance[i]
        filtered[i] = precision
    for i in span(begin, end):
        a = away[i]
        if begin <= a < end:
            gain_away[i] = gain[at(a)]
            scale[i] = gain[at(a)] * chains.variance[i if back else at(a)]
        else:
            scale[i] = 1.0 / filtered[i]


@kernel
def join_factors(later: Index, chains: Chains, filtered: Vector, scale: Vector, gain_away: Vector) -> None:
    """Complete the factors where eliminated ranges meet: between the variables of `later` and those before them."""
    for k in range(len(later)):
        i = later[k]
        before = chains.previous[i]
        gain_away[before] = 1.0 / (1.0 + chains.variance[i] * filtered[before])
        gain_away[i] = 1.0 / (1.0 + chains.variance[i] * filtered[i])
        scale[i] = 1.0 / (filtered[i] + gain_away[before] * filtered[before])
        scale[before] = 1.0 / (filtered[before] + gain_away[i] * filtered[i])


@kernel
def eliminate(
    way: Way, gain: Vector, beta: float, alpha: float, z: Strided, az: Strided, descent: Descent
) -> None:
    """Move by `alpha` along the next direction, z + `beta` p; eliminate the new residual, `az`, into `z`."""
    begin, end, back, source, _ = way
    p, ap, correction, residual = descent
    for count in range(end - begin):
        i = at(end - 1 - count if back else begin + count)
        direction = z[i] + beta * p[i]
        image = az[i] + beta * ap[i]
        p[i] = direction
        ap[i] = image
        correction[i] += alpha * direction
        left = residual[i] - alpha * image
        residual[i] = left
        az[i] = left
        s = source[i]
        z[i] = left + gain[i] * z[at(s)] if begin <= s < end else left


@kernel
def join(later: Index, previous: Index, gain_away: Vector, z: Strided) -> None:
    """Exchange what was eliminated between the variables of `later` and those before them."""
    for k in range(len(later)):
        i = later[k]
        before = previous[i]
        here, there = z[i], z[before]
        z[i] = here + gain_away[before] * there
        z[before] = there + gain_away[i] * here


@kernel
def substitute(way: Way, gain_away: Vector, scale: Vector, z: Strided, residual: Strided) -> float:
    """Back-substitution through a range: `z` becomes M^-1 residual; returns their product."""
    begin, end, back, source, _ = way
    rz = 0.0
    for count in range(end - begin):
        i = at(end - 1 - count if back else begin + count)
        s = source[i]
        value = scale[i] * z[i]
        if begin <= s < end:
            value += gain_away[i] * z[at(s)]
        z[i] = value
        rz += value * residual[i]
    return rz


@kernel
def finish(
    begin: int, end: int, beta: float, alpha: float, z: Strided, p: Vector, correction: Vector
) -> None:
    """The last step of a solution: `correction` moves by `alpha` along z + `beta` p."""
    for i in span(begin, end):
        correction[i] += alpha * (z[i] + beta * p[i])
