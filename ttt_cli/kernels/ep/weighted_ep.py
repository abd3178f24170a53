"""Weighted expectation propagation over one pool of games: a site per game whose share in each skill may differ.

Salimans' pseudo-posterior of static skills: prior times the sites, each to the power of its weight for that player. A
game's own weighted site is taken out (the cavity), the whole game is told what it says about the skills, and that, to
the power of the weight, is put back. A Gaussian is a pair (precision, precision times mean), means counted from the
prior mean.

A pool is the games that still count (`active`, indices of games, k of them) between players who are numbered anew
(n of them): `ends` (k, 2) the two players, `fade` (k, 2) the weight of one game for each of them. Over all games:
`code` (see `handicaps`), `times` (so many equal games), `sites` (games, 4) the whole game's messages to
the first's skill and to the second's, and `links` (games, 4): q and q y of its force q (y - (s_i - s_j)) at the means
of the pseudo-posterior, and what multiplies the force for each player (1 at whole weight). `marginal` (n, 2) is the
pseudo-posterior, `level` (n,) the prior means.
"""

from __future__ import annotations

import math

from ttt_cli.kernels.colours import UNKNOWN, game_moments
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.handicaps import handicap_of, outcome_of

STEPS = 1000  # of the linear solver, at most
_POOL = "int64[::1], int32[:, ::1], float64[:, ::1]"  # active, ends, fade


@kernel(
    "UniTuple(int64, 2)(int32[::1], int32[::1], int32[::1], float64[::1], float64[::1], float64, "
    "int64[::1], int32[:, ::1], float64[:, ::1], int32[::1], int32[::1])"
)
def gather(first, second, player, worn, now, least, active, ends, fade, number, roster):
    """Drop the active games of weight below `least` for both players, and number the players of the others.

    The weight of a game at a node is exp(worn[node] - now[player]). `active` is shortened in place; `ends`, `fade` and
    `roster` (player of each number) are filled; `number` must be -1 for every player, and is again afterwards.
    Returns how many games and players there are.
    """
    kept = 0
    players = 0
    for g in active:
        weight_i = math.exp(worn[first[g]] - now[player[first[g]]])
        weight_j = math.exp(worn[second[g]] - now[player[second[g]]])
        if max(weight_i, weight_j) < least:
            continue
        active[kept] = g
        fade[kept, 0] = weight_i
        fade[kept, 1] = weight_j
        for side in range(2):
            who = player[first[g]] if side == 0 else player[second[g]]
            if number[who] < 0:
                number[who] = players
                roster[players] = who
                players += 1
            ends[kept, side] = number[who]
        kept += 1
    for n in range(players):
        number[roster[n]] = -1
    return kept, players


@kernel(f"void({_POOL}, float64[::1], float64[:, ::1], float64, float64[::1], float64[:, ::1])")
def settle(active, ends, fade, times, sites, prior_precision, level, marginal):
    """Fill `marginal` with the prior times the weighted sites."""
    for i in range(len(level)):
        marginal[i, 0] = prior_precision
        marginal[i, 1] = prior_precision * level[i]
    for k in range(len(active)):
        g = active[k]
        for side in range(2):
            i = ends[k, side]
            share = times[g] * fade[k, side]
            marginal[i, 0] += share * sites[g, 2 * side]
            marginal[i, 1] += share * sites[g, 2 * side + 1]


@kernel(f"float64({_POOL}, float64[::1], float64[::1], float64[::1], float64[::1])")
def opponents(active, ends, fade, times, values, total, mean):
    """Fill `mean` with the weighted mean of the values that each player's opponents have, and `total` with the weights.

    Returns the mean of these over the players; who has less than the weight of one game counts as much less. A player
    whose weights have vanished keeps the mean, and counts nothing.
    """
    total[:] = 0.0
    sums = total.copy()
    for k in range(len(active)):
        i = ends[k, 0]
        j = ends[k, 1]
        share_i = times[active[k]] * fade[k, 0]
        share_j = times[active[k]] * fade[k, 1]
        total[i] += share_i
        total[j] += share_j
        sums[i] += share_i * values[j]
        sums[j] += share_j * values[i]
    counted = 0.0
    all_means = 0.0
    for i in range(len(total)):
        if total[i] > 0.0:
            mean[i] = sums[i] / total[i]
            counted += min(total[i], 1.0)
            all_means += min(total[i], 1.0) * mean[i]
    return all_means / counted


@inner
def _play(
    g, i, j, code, lead, alone_i, alone_j, times_i, times_j, noise, margin, advantage, marginal, sites, links
):
    """Update the site of one game; `alone` is the power of it that the cavity lacks, `times` that it is used with.

    Returns whether it could be done.
    """
    var_i = 1.0 / (marginal[i, 0] - alone_i * sites[g, 0])
    var_j = 1.0 / (marginal[j, 0] - alone_j * sites[g, 2])
    mean_i = (marginal[i, 1] - alone_i * sites[g, 1]) * var_i
    mean_j = (marginal[j, 1] - alone_j * sites[g, 3]) * var_j
    scale = 1.0 / math.sqrt(noise + var_i + var_j)
    apart = mean_i - mean_j
    v, w = game_moments((apart + lead) * scale, advantage * scale, margin * scale, code)
    if code >= UNKNOWN and w < 0.0:  # two peaks: no Gaussian site stands for them
        return False
    shift = v * scale
    shrink = w * scale * scale
    left_i = 1.0 - var_i * shrink
    left_j = 1.0 - var_j * shrink
    part_i = 1.0 / (left_i + alone_i * var_i * shrink)
    part_j = 1.0 / (left_j + alone_j * var_j * shrink)
    spread = 1.0 / (1.0 - shrink * (alone_i * var_i * part_i + alone_j * var_j * part_j))
    links[g, 0] = shrink * spread
    links[g, 1] = (shift + shrink * apart) * spread
    links[g, 2] = part_i
    links[g, 3] = part_j
    _replace(i, times_i, shrink / left_i, (mean_i * shrink + shift) / left_i, marginal, sites[g, :2])
    _replace(j, times_j, shrink / left_j, (mean_j * shrink - shift) / left_j, marginal, sites[g, 2:])
    return True


@inner
def _replace(i, times, precision, weighted, marginal, site):
    """Put a new message in the place of the old one, in the site and `times` over in the marginal."""
    marginal[i, 0] += times * (precision - site[0])
    marginal[i, 1] += times * (weighted - site[1])
    site[0] = precision
    site[1] = weighted


@kernel(
    f"int64({_POOL}, uint8[::1], float64[::1], float64[::1], float64, float64, float64, "
    "float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def sweep(active, ends, fade, code, times, odds, noise, margin, advantage, marginal, sites, links):
    """Update the sites of all games of the pool in order; returns how many had to be skipped.

    `noise` is 2 beta^2. Of equal games that share a site the cavity lacks one, or the fraction that they are of one.
    """
    skipped = 0
    for k in range(len(active)):
        g = active[k]
        alone = min(times[g], 1.0)
        done = _play(
            g, ends[k, 0], ends[k, 1], outcome_of(code[g]), handicap_of(code[g], odds),
            alone * fade[k, 0], alone * fade[k, 1], times[g] * fade[k, 0], times[g] * fade[k, 1],
            noise, margin, advantage, marginal, sites, links,
        )  # fmt: skip
        if not done:
            skipped += 1
    return skipped


@kernel(
    f"void({_POOL}, float64[::1], float64[:, ::1], float64, float64, float64[:, ::1], float64[::1], float64[::1], "
    "float64[:, ::1], float64[::1], float64[::1])"
)
def tie(
    active, ends, fade, times, links, prior_precision, pull, marginal, total, level, ties, diagonal, residual
):
    """The linear equations of the means at fixed links: D s_i - sum of ties s_j = b_i for every player i.

    Fills D in `diagonal`, `ties` (k, 2) divided by it, and b - A s at the present means in `residual`. They hold the
    games' forces and the prior, whose mean follows the opponents' (`total` and `level` as `draw_levels` leaves them).
    """
    for i in range(len(diagonal)):
        diagonal[i] = prior_precision
        residual[i] = prior_precision * (level[i] - marginal[i, 1] / marginal[i, 0])
    for k in range(len(active)):
        g = active[k]
        i = ends[k, 0]
        j = ends[k, 1]
        apart = marginal[i, 1] / marginal[i, 0] - marginal[j, 1] / marginal[j, 0]
        force = links[g, 1] - links[g, 0] * apart
        for side in range(2):
            n = ends[k, side]
            share = times[g] * fade[k, side]
            stiffness = share * links[g, 2 + side] * links[g, 0]
            residual[n] += (1.0 - 2.0 * side) * share * links[g, 2 + side] * force
            diagonal[n] += stiffness
            drawn = share / total[n] if total[n] > 0.0 else 0.0
            ties[k, side] = stiffness + prior_precision * pull * drawn
    for k in range(len(active)):
        ties[k, 0] /= diagonal[ends[k, 0]]
        ties[k, 1] /= diagonal[ends[k, 1]]


@inner
def _apply(ends, ties, x, out):
    """out = x less the ties, rows divided by their diagonal."""
    out[:] = x
    for k in range(len(ends)):
        i = ends[k, 0]
        j = ends[k, 1]
        out[i] -= ties[k, 0] * x[j]
        out[j] -= ties[k, 1] * x[i]


@inner
def _dot(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@inner
def _bound(diagonal, residual, least_sum):
    """How far a solution can be off, points.

    The matrix has a positive diagonal, no other positive entries, and rows that sum to `least_sum` at least.
    """
    most = 0.0
    for i in range(len(residual)):
        most = max(most, abs(diagonal[i] * residual[i]))
    return most / least_sum


@kernel(
    "float64(int32[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64, float64, float64, float64[::1])"
)
def solve(ends, ties, diagonal, residual, least_sum, tol, relative, x):
    """Solve A x = residual (van der Vorst's BiCGSTAB, scaled by the diagonal); `residual` is used up.

    Stops when every entry is known within `tol` points, or the residual is `relative` to what it was. Returns a bound
    on the error of an entry, points; where the iteration fails x is 0.
    """
    x[:] = 0.0
    rest = residual / diagonal
    shadow = rest.copy()
    start = bound = _bound(diagonal, rest, least_sum)
    direction = rest.copy()
    image = x.copy()
    turned = x.copy()
    power = _dot(shadow, rest)
    for _ in range(STEPS):
        if bound <= tol or bound <= relative * start:
            return bound
        _apply(ends, ties, direction, image)
        along = _dot(shadow, image)
        if along == 0.0:
            break
        alpha = power / along
        for i in range(len(x)):
            rest[i] -= alpha * image[i]
            x[i] += alpha * direction[i]
        _apply(ends, ties, rest, turned)
        size = _dot(turned, turned)
        omega = _dot(turned, rest) / size if size > 0.0 else 0.0
        for i in range(len(x)):
            x[i] += omega * rest[i]
            rest[i] -= omega * turned[i]
        bound = _bound(diagonal, rest, least_sum)
        before = power
        power = _dot(shadow, rest)
        if omega == 0.0 or power == 0.0:
            break
        beta = power / before * alpha / omega
        for i in range(len(x)):
            direction[i] = rest[i] + beta * (direction[i] - omega * image[i])
    if not bound < start:
        x[:] = 0.0
        return start
    return bound


@kernel(f"void({_POOL}, float64[:, ::1], float64[::1], float64[:, ::1], float64[:, ::1])")
def spread(active, ends, fade, links, correction, marginal, sites):
    """Move the means by `correction`, and set every site so that it exerts its force at the new ones."""
    for i in range(len(correction)):
        marginal[i, 1] += marginal[i, 0] * correction[i]
    for k in range(len(active)):
        g = active[k]
        mean_i = marginal[ends[k, 0], 1] / marginal[ends[k, 0], 0]
        mean_j = marginal[ends[k, 1], 1] / marginal[ends[k, 1], 0]
        force = links[g, 1] - links[g, 0] * (mean_i - mean_j)
        sites[g, 1] = sites[g, 0] * mean_i + links[g, 2] * force
        sites[g, 3] = sites[g, 2] * mean_j - links[g, 3] * force
