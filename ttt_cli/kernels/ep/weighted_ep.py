"""Weighted expectation propagation: a site per game that still counts, with a power that may differ between its
players.

Salimans' pseudo-posterior of static skills: prior times the sites, each to the power of its weight for that player. A
game's own weighted site is taken out (the cavity), the whole game updates the skills, and the result, to the power of
the weight, is put back. A Gaussian is a pair (precision, precision times mean), means counted from the prior mean.
Over their n players `marginal` (n, 2) is the pseudo-posterior, `level` (n,) the prior means.
"""

import math

from ttt_cli.kernels.arrays import IndexRows, Rows, Vector
from ttt_cli.kernels.compile import inner, kernel
from ttt_cli.kernels.ep.structures import AllGames, CountedGames, Rule
from ttt_cli.kernels.outcomes import UNKNOWN, game_moments, handicap_of

STEPS = 1000  # of the linear solver, at most


@kernel
def settle(
    counted: CountedGames, games: AllGames, prior_precision: float, level: Vector, marginal: Rows
) -> None:
    """Fill `marginal` with the prior times the weighted sites."""
    active, ends, decay = counted
    _, times, sites, _ = games
    for i in range(len(level)):
        marginal[i, 0] = prior_precision
        marginal[i, 1] = prior_precision * level[i]
    for k in range(len(active)):
        g = active[k]
        for side in range(2):
            i = ends[k, side]
            share = times[g] * decay[k, side]
            marginal[i, 0] += share * sites[g, 2 * side]
            marginal[i, 1] += share * sites[g, 2 * side + 1]


@kernel
def opponents(
    counted: CountedGames, times: Vector, values: Vector, total: Vector, mean: Vector
) -> float:
    """Fill `mean` with the weighted mean of the values that each player's opponents have, and `total` with the weights.

    Returns the mean of these over the players; who has less than the weight of one game counts as much less.
    """
    active, ends, decay = counted
    total[:] = 0.0
    sums = total.copy()
    for k in range(len(active)):
        i = ends[k, 0]
        j = ends[k, 1]
        share_i = times[active[k]] * decay[k, 0]
        share_j = times[active[k]] * decay[k, 1]
        total[i] += share_i
        total[j] += share_j
        sums[i] += share_i * values[j]
        sums[j] += share_j * values[i]
    weight = 0.0
    all_means = 0.0
    for i in range(len(total)):
        if total[i] > 0.0:
            mean[i] = sums[i] / total[i]
            weight += min(total[i], 1.0)
            all_means += min(total[i], 1.0) * mean[i]
    return all_means / weight


@inner
def _play(g, i, j, outcome, powers, times, rule, marginal, sites, links):
    """Update a site with cavities that lack it to these powers, used `times` over; whether it was possible."""
    noise = rule.noise
    margin = rule.margin[g]
    advantage = rule.advantage
    handicap = rule.handicap
    power_i, power_j = powers
    var_i = 1.0 / (marginal[i, 0] - power_i * sites[g, 0])
    var_j = 1.0 / (marginal[j, 0] - power_j * sites[g, 2])
    mean_i = (marginal[i, 1] - power_i * sites[g, 1]) * var_i
    mean_j = (marginal[j, 1] - power_j * sites[g, 3]) * var_j
    scale = 1.0 / math.sqrt(noise + var_i + var_j)
    difference = mean_i - mean_j
    v, w = game_moments(
        (difference + handicap_of(g, handicap)) * scale, advantage * scale, margin * scale, outcome
    )
    if outcome >= UNKNOWN and w < 0.0:  # two peaks: no Gaussian site stands for them
        return False
    shift = v * scale
    shrink = w * scale * scale
    left_i = 1.0 - var_i * shrink
    left_j = 1.0 - var_j * shrink
    part_i = 1.0 / (left_i + power_i * var_i * shrink)
    part_j = 1.0 / (left_j + power_j * var_j * shrink)
    inverse = 1.0 / (1.0 - shrink * (power_i * var_i * part_i + power_j * var_j * part_j))
    links[g, 0] = shrink * inverse
    links[g, 1] = (shift + shrink * difference) * inverse
    links[g, 2] = part_i
    links[g, 3] = part_j
    _replace(
        i, times[0], shrink / left_i, (mean_i * shrink + shift) / left_i, marginal, sites[g, :2]
    )
    _replace(
        j, times[1], shrink / left_j, (mean_j * shrink - shift) / left_j, marginal, sites[g, 2:]
    )
    return True


@inner
def _replace(i, times, precision, weighted, marginal, site):
    """Put a new message in the place of the old one, in the site and `times` over in the marginal."""
    marginal[i, 0] += times * (precision - site[0])
    marginal[i, 1] += times * (weighted - site[1])
    site[0] = precision
    site[1] = weighted


@kernel
def sweep(counted: CountedGames, games: AllGames, rule: Rule, marginal: Rows) -> int:
    """Update the sites of all games in order, one game at most out of its cavity; returns how many were skipped."""
    active, ends, decay = counted
    code, times, sites, links = games
    skipped = 0
    for k in range(len(active)):
        g = active[k]
        removed = min(times[g], 1.0)
        powers = removed * decay[k, 0], removed * decay[k, 1]
        used = times[g] * decay[k, 0], times[g] * decay[k, 1]
        if not _play(
            g, ends[k, 0], ends[k, 1], code[g], powers, used, rule, marginal, sites, links
        ):
            skipped += 1
    return skipped


@kernel
def linearise(
    counted: CountedGames, games: AllGames, prior_precision: float, pull: float, marginal: Rows, total: Vector,
    level: Vector, couplings: Rows, diagonal: Vector, residual: Vector,
) -> None:  # fmt: skip
    """The linear equations of the means at fixed links: D s_i - sum of couplings s_j = b_i for every player i.

    Fills D in `diagonal`, `couplings` (k, 2) divided by it, and b - A s at the present means in `residual`. They
    contain the games' scores and the prior, with a mean that follows the opponents' (`total` as `opponents` leaves
    it).
    """
    active, ends, decay = counted
    _, times, _, links = games
    for i in range(len(diagonal)):
        diagonal[i] = prior_precision
        residual[i] = prior_precision * (level[i] - marginal[i, 1] / marginal[i, 0])
    for k in range(len(active)):
        g = active[k]
        i = ends[k, 0]
        j = ends[k, 1]
        difference = marginal[i, 1] / marginal[i, 0] - marginal[j, 1] / marginal[j, 0]
        score = links[g, 1] - links[g, 0] * difference
        for side in range(2):
            n = ends[k, side]
            share = times[g] * decay[k, side]
            information = share * links[g, 2 + side] * links[g, 0]
            residual[n] += (1.0 - 2.0 * side) * share * links[g, 2 + side] * score
            diagonal[n] += information
            drawn = share / total[n] if total[n] > 0.0 else 0.0
            couplings[k, side] = information + prior_precision * pull * drawn
    for k in range(len(active)):
        couplings[k, 0] /= diagonal[ends[k, 0]]
        couplings[k, 1] /= diagonal[ends[k, 1]]


@inner
def _apply(ends, couplings, x, out):
    """out = x less the couplings, rows divided by their diagonal."""
    for k in range(len(x)):
        out[k] = x[k]
    for k in range(len(ends)):
        i = ends[k, 0]
        j = ends[k, 1]
        out[i] -= couplings[k, 0] * x[j]
        out[j] -= couplings[k, 1] * x[i]


@inner
def _dot(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@inner
def _bound(diagonal, residual, least_sum):
    """How far a solution can be off, points: no row of the matrix, diagonal aside negative, sums to less."""
    most = 0.0
    for i in range(len(residual)):
        most = max(most, abs(diagonal[i] * residual[i]))
    return most / least_sum


@kernel
def solve(
    ends: IndexRows, couplings: Rows, diagonal: Vector, residual: Vector, least_sum: float, tol: float,
    relative: float, x: Vector,
) -> float:  # fmt: skip
    """Solve A x = residual (van der Vorst's BiCGSTAB, scaled by the diagonal); `residual` is used up.

    Stops when every entry is within `tol` points, or the residual `relative` to what it was. Returns a bound on the
    error, points; where the iteration fails x is 0.
    """
    x[:] = 0.0
    r = residual / diagonal
    shadow = r.copy()
    start = bound = _bound(diagonal, r, least_sum)
    p = r.copy()
    ap = x.copy()
    ar = x.copy()
    rz = _dot(shadow, r)
    for _ in range(STEPS):
        if bound <= tol or bound <= relative * start:
            return bound
        _apply(ends, couplings, p, ap)
        projection = _dot(shadow, ap)
        if projection == 0.0:
            break
        alpha = rz / projection
        for i in range(len(x)):
            r[i] -= alpha * ap[i]
            x[i] += alpha * p[i]
        _apply(ends, couplings, r, ar)
        size = _dot(ar, ar)
        omega = _dot(ar, r) / size if size > 0.0 else 0.0
        for i in range(len(x)):
            x[i] += omega * r[i]
            r[i] -= omega * ar[i]
        bound = _bound(diagonal, r, least_sum)
        last_rz = rz
        rz = _dot(shadow, r)
        if omega == 0.0 or rz == 0.0:
            break
        beta = rz / last_rz * alpha / omega
        for i in range(len(x)):
            p[i] = r[i] + beta * (p[i] - omega * ap[i])
    if not bound < start:
        x[:] = 0.0
        return start
    return bound


@kernel
def move_sites(counted: CountedGames, games: AllGames, correction: Vector, marginal: Rows) -> None:
    """Move the means by `correction`, and set every site so that it exerts its score at the new ones."""
    active, ends, _ = counted
    _, _, sites, links = games
    for i in range(len(correction)):
        marginal[i, 1] += marginal[i, 0] * correction[i]
    for k in range(len(active)):
        g = active[k]
        mean_i = marginal[ends[k, 0], 1] / marginal[ends[k, 0], 0]
        mean_j = marginal[ends[k, 1], 1] / marginal[ends[k, 1], 0]
        score = links[g, 1] - links[g, 0] * (mean_i - mean_j)
        sites[g, 1] = sites[g, 0] * mean_i + links[g, 2] * score
        sites[g, 3] = sites[g, 2] * mean_j - links[g, 3] * score
