"""What the part of a chain that lies in one slice of time makes of what arrives at its two ends.

A segment is the nodes of one player in a slice. As a factor of its first and last node it takes a message (p, h),
precision and precision times mean, to ((A p + B) / (C p + 1), (K h + E p + F) / (C p + 1)) from the first to beyond the
last, and to ((p + B) / (C p + A), (K h + E' p + F') / (C p + A)) the other way. Steps without variance are no
exception, and no precision is a difference of others, so that nothing cancels.
"""

from ttt_cli.kernels.arrays import Index, Rows, Strided, Vector
from ttt_cli.kernels.compile import at, kernel, span
from ttt_cli.kernels.ep.structures import Chains


@kernel
def summarise(
    begin: int, end: int, segment: Index, chains: Chains, precision: Strided, weighted: Strided, maps: Rows
) -> None:
    """Fill `maps` (segments, 8), A, B, C, K, E, F, E' and F', of those variables from `begin` on.

    `segment` (variables,) is -1 or less where nothing is wanted; `precision` and `weighted` are the sites. Priors of
    chains that begin here are taken in.
    """
    maps[:, :] = 0.0
    for i in span(begin, end):
        if segment[i] < 0:
            continue
        s = at(segment[i])
        added, added_weighted = precision[i], weighted[i]
        a, b, c, k = maps[s, 0], maps[s, 1], maps[s, 2], maps[s, 3]
        e, f, e_back, f_back = maps[s, 4], maps[s, 5], maps[s, 6], maps[s, 7]
        scale = 1.0
        if a == 0.0:
            a = k = 1.0
            if chains.previous[i] < 0:
                added += 1.0 / chains.variance[i]
                added_weighted += chains.mean[i] / chains.variance[i]
        else:
            mean, variance = chains.mean[i], chains.variance[i]
            c += variance * a
            scale = 1.0 / (1.0 + variance * b)
            e += mean * a
            f += mean * b
            e_back += variance * f_back - mean * k
        whole = 1.0 / scale
        maps[s, 0] = (a + added * c) * scale
        maps[s, 1] = (b + added * whole) * scale
        maps[s, 2] = c * scale
        maps[s, 3] = k * scale
        maps[s, 4] = (e + added_weighted * c) * scale
        maps[s, 5] = (f + added_weighted * whole) * scale
        maps[s, 6] = e_back * scale
        maps[s, 7] = (f_back + k * added_weighted + e_back * added) * scale


@kernel
def answer(
    begin: int,
    end: int,
    segment: Index,
    first: Vector,
    last: Vector,
    arrived: Rows,
    z: Strided,
    residual: Strided,
) -> float:
    """Add to `z` what follows from what `arrived` (segments, 2) at the ends; returns the product of z and `residual`.

    `first` and `last` (variables,) are the columns of the inverse for the first and last variable of each segment.
    """
    product = 0.0
    for i in span(begin, end):
        if segment[i] >= 0:
            s = at(segment[i])
            z[i] += first[i] * arrived[s, 0] + last[i] * arrived[s, 1]
        product += z[i] * residual[i]
    return product
