"""What Elo's historical method computes most: steps towards the ratings of a group, and curves through ratings."""

import math

from ttt_cli.kernels.compile import kernel


@kernel(
    "float64(int32[::1], int32[::1], float64[::1], float64, float64[::1], float64[::1], float64[::1], float64[::1])"
)
def advance(first, second, weight, rz, p, ap, rating, residual):
    """Move `rating` along `p` as far as the energy falls; `residual` follows. Returns how far. `ap` is scratch."""
    ap[:] = 0.0
    for pair in range(len(first)):
        i, j = first[pair], second[pair]
        difference = weight[pair] * (p[i] - p[j])
        ap[i] += difference
        ap[j] -= difference
    curvature = 0.0
    for i in range(len(p)):
        curvature += p[i] * ap[i]
    alpha = rz / curvature
    for i in range(len(p)):
        rating[i] += alpha * p[i]
        residual[i] -= alpha * ap[i]
    return alpha


@kernel("float64(float64[::1], float64[::1], int32[::1], float64[::1], float64[::1], float64[::1])")
def settle_alone(residual, scale, group, group_weight, mean, z):
    """Fill `z` with what each member would move if the others stayed, groups centred; returns residual^T z.

    `scale` is what a member's pairs weigh together, `group_weight` that of its group; `mean`, of groups, is scratch.
    """
    mean[:] = 0.0
    for i in range(len(residual)):
        mean[group[i]] += residual[i]
    rz = 0.0
    for i in range(len(residual)):
        z[i] = residual[i] / scale[i] - mean[group[i]] / group_weight[group[i]]
        rz += residual[i] * z[i]
    return rz


@kernel(
    "void(int32[::1], float64[::1], int64[::1], float64[::1], float64[::1], float64[::1], float64, float64[::1])"
)
def draw_curves(player, time, start, entry_time, entry_games, entry_rating, width, rating):
    """Fill `rating` per node with the mean of its player's entries, by games and by a Gaussian of sd `width` in time.

    Those are from `start[player]` to `start[player + 1]`; nodes of players without any stay as they are.
    """
    for node in range(len(player)):
        first = start[player[node]]
        last = start[player[node] + 1]
        if first == last:
            continue
        nearest = math.inf
        for entry in range(first, last):
            nearest = min(nearest, abs(time[node] - entry_time[entry]))
        total = 0.0
        mean = 0.0
        for entry in range(first, last):
            apart = time[node] - entry_time[entry]
            share = entry_games[entry] * math.exp(
                -0.5 * (apart * apart - nearest * nearest) / (width * width)
            )
            total += share
            mean += share * (entry_rating[entry] - entry_rating[first])
        rating[node] = entry_rating[first] + mean / total
