"""The means of the joint Gaussian that the sites stand for, solved over all players and periods at once.

Expectation propagation with one Gaussian per skill passes the exact joint means along only slowly where groups hang
together by few games: each sweep moves a message by one game. But at its fixed point these means are those of the
joint Gaussian with precision A = T + L: T the random walks with their prior, L what the games say about differences
of skills. So A x = b is solved directly, by conjugate gradients preconditioned with the chains, M = T + diag(L).

T itself never appears: where M z = r, A z = r + (L - diag(L)) z, which also holds without drift. M is eliminated from
both ends of time towards a period in the middle and substituted back from there, so that two threads can share it.
These kernels are the parts that do not depend on the form of L; vectors have shape (variables,), where a variable is
the skill (or the draw margin) of a node. Each goes through a range of variables, up or `back`; the `source` of a
variable is the one that was eliminated into it (the one before, or the one after if `back`; -1 at the ends). All
memory is gone through once: this is what the time is spent on. z and A z may stand side by side in memory.
"""

from __future__ import annotations

from ttt_cli.kernels.compile import kernel
from ttt_cli.kernels.indices import at, span

_RANGE = "int64, int64, boolean, int32[::1]"  # begin, end, back, source
_VECTOR = "float64[::1]"
_PAIRED = "float64[:], float64[:]"  # z and A z


@kernel(
    f"void({_RANGE}, {_VECTOR}, {_VECTOR}, int32[::1], {_VECTOR}, {_VECTOR}, "
    f"{_VECTOR}, {_VECTOR}, {_VECTOR}, {_VECTOR})"
)
def factor(
    begin, end, back, source, variance, prior_precision, away, variance_away, diagonal,
    filtered, scale, gain, gain_away,
):  # fmt: skip
    """Eliminate a range: `filtered` precisions, and what M^-1 takes.

    `gain` is how much of its source, a step of `variance` away, reaches a variable, and `gain_away` how much of it
    reaches the next one `away`. In the substitution a variable is `scale` times what was eliminated into it, plus
    `gain_away` times the one away; without that one, `scale` is the inverse of its precision.
    `prior_precision` counts at the first variable of each chain.
    """
    for step in range(end - begin):
        i = at(end - 1 - step if back else begin + step)
        s = source[i]
        precision = diagonal[i]
        gain[i] = 0.0
        if begin <= s < end:
            share = 1.0 / (1.0 + filtered[at(s)] * variance[i])
            gain[i] = share
            precision += filtered[at(s)] * share
        if (away[i] if back else s) < 0:
            precision += prior_precision[i]
        filtered[i] = precision
    for i in span(begin, end):
        a = away[i]
        if begin <= a < end:
            gain_away[i] = gain[at(a)]
            scale[i] = gain[at(a)] * variance_away[i]
        else:
            scale[i] = 1.0 / filtered[i]


@kernel(f"void(int32[::1], int32[::1], {_VECTOR}, {_VECTOR}, {_VECTOR}, {_VECTOR})")
def join(later, previous, variance, filtered, scale, gain_away):
    """Complete the factors where eliminated ranges meet: between the variables of `later` and those before them."""
    for k in range(len(later)):
        i = later[k]
        before = previous[i]
        gain_away[before] = 1.0 / (1.0 + variance[i] * filtered[before])
        gain_away[i] = 1.0 / (1.0 + variance[i] * filtered[i])
        scale[i] = 1.0 / (filtered[i] + gain_away[before] * filtered[before])
        scale[before] = 1.0 / (filtered[before] + gain_away[i] * filtered[i])


@kernel(f"void({_RANGE}, {_VECTOR}, float64, float64, {_PAIRED}, {_VECTOR}, {_VECTOR}, {_VECTOR}, {_VECTOR})")
def inward(begin, end, back, source, gain, share, length, z, az, step, image, correction, residual):
    """Go on by `length` along the next direction, z + `share` step, and eliminate the residual left into `z`.

    `image` is A step; `az` is A z on entry, the residual afterwards.
    """
    for count in range(end - begin):
        i = at(end - 1 - count if back else begin + count)
        ahead = z[i] + share * step[i]
        pull = az[i] + share * image[i]
        step[i] = ahead
        image[i] = pull
        correction[i] += length * ahead
        left = residual[i] - length * pull
        residual[i] = left
        az[i] = left
        s = source[i]
        z[i] = left + gain[i] * z[at(s)] if begin <= s < end else left


@kernel(f"void(int32[::1], int32[::1], {_VECTOR}, float64[:])")
def meet(later, previous, gain_away, z):
    """Exchange what was eliminated between the variables of `later` and those before them."""
    for k in range(len(later)):
        i = later[k]
        before = previous[i]
        here, there = z[i], z[before]
        z[i] = here + gain_away[before] * there
        z[before] = there + gain_away[i] * here


@kernel(f"float64({_RANGE}, {_VECTOR}, {_VECTOR}, {_PAIRED})")
def outward(begin, end, back, source, gain_away, scale, z, residual):
    """Substitute: `z` becomes M^-1 residual; returns their product.

    In the other direction than `inward`, and with the other neighbour as `source`.
    """
    power = 0.0
    for count in range(end - begin):
        i = at(end - 1 - count if back else begin + count)
        s = source[i]
        value = scale[i] * z[i]
        if begin <= s < end:
            value += gain_away[i] * z[at(s)]
        z[i] = value
        power += value * residual[i]
    return power


@kernel(f"void(int64, int64, float64, float64, float64[:], {_VECTOR}, {_VECTOR})")
def finish(begin, end, share, length, z, step, correction):
    """The last step of a solution: `correction` moves by `length` along z + `share` step."""
    for i in span(begin, end):
        correction[i] += length * (z[i] + share * step[i])
