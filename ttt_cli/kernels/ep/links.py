"""Games as links of any number of variables: sweeps, joint means, evidence and gradients.

A link says in which interval y + offset + noise lies, where y = sum_v c_v x_v has a row of coefficients and noise is
N(0, `noise`). Where chance decides some games the result has the probability (1 - lapse) P + lapse base, with the P of
the interval. Within the joint Gaussian its site is exp(-q y^2 / 2 + h y); its coupling is w q for weight w. With an
interval of no width a link is an exact observation, and its probability a density. Its messages are exact and need
proper cavities of the other variables only: so it defines variables without a prior, such as a side's performance.

Two players with coefficients 1 and -1 have kernels of their own, `ttt`. Arrays as in `structures`.
"""

import math

from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.compile import at, flat, inner, kernel, rare, span
from ttt_cli.kernels.ep.chains import log_integral, update_message
from ttt_cli.kernels.ep.games import SETTLED, SLOW, STUCK, chain_residual
from ttt_cli.kernels.ep.structures import (
    Chains,
    ExtraStarts,
    LinkRows,
    LinkSites,
    LinkSlopes,
    Messages,
    Part,
)
from ttt_cli.kernels.outcomes import (
    MOST_TAKEN,
    decided_by_skill,
    interval_log_normaliser,
    interval_moments,
    interval_slopes,
    lapse_slope,
    log_with_lapse,
)

AGREED = 1e-10  # relative change of a joint site that equal games share
REPEATS = 50  # of its update, at most
TINY = 1e-300
LEAST = 1e-6  # precision of a surprise's site in a sweep, relative to that of y without the game


@rare
def _moments_with_lapse(
    t: float, low: float, high: float, lapse: float, base: float
) -> tuple[float, float, float]:
    """(v, w, 1 - w) as `interval_moments` where chance decides some games; the last is above 0, whatever w is."""
    v, w, left = interval_moments(t, low, high)
    share = decided_by_skill(interval_log_normaliser(t, low, high), lapse, base)
    by_chance = 1.0 - share
    surprise = share * v * v
    return share * v, share * w - by_chance * surprise, share * left + by_chance * (1.0 + surprise)


@inner
def _tilt(mean, variance, noise, low, high, lapse, base):
    """Slope and minus curvature of log P in the mean of y + offset, and 1 - variance times the latter.

    The last one is the share of the precision of y that the outcome leaves; it is no difference of close numbers.
    """
    total = noise + variance
    scale = 1.0 / math.sqrt(total)
    if lapse == 0.0:
        v, w, left = interval_moments(mean * scale, low * scale, high * scale)
    else:
        v, w, left = _moments_with_lapse(mean * scale, low * scale, high * scale, lapse, base)
    return v * scale, w * scale * scale, (noise + variance * left) / total


@inner
def _log_probability(mean, total, low, high, lapse, base):
    """log P of a link whose sum, with offset and noise, is N(mean, total)."""
    scale = 1.0 / math.sqrt(total)
    log_p = interval_log_normaliser(mean * scale, low * scale, high * scale)
    if low == high:
        return log_p + math.log(scale)
    return log_with_lapse(log_p, lapse, base) if lapse != 0.0 else log_p


@flat
def _cavity_sum(g, rows, marginal, message):
    """Mean and variance of y under the cavities of a link; the variance is -1 where one is improper."""
    mean = 0.0
    variance = 0.0
    for e in span(rows.row[g], rows.row[g + 1]):
        v = at(rows.variable[e])
        precision = marginal[v, 0] - message[e, 0]
        if not precision > 0.0:
            return 0.0, -1.0
        coefficient = rows.coefficient[e]
        mean += coefficient * (marginal[v, 1] - message[e, 1]) / precision
        variance += coefficient * coefficient / precision
    return mean, variance


@flat
def _move(e, v, times, share, precision, weighted, marginal, message):
    """Move a message by `share` of the way to a new one.

    Returns the whole way of its precision, relative to the new one, and the same in 1/points^2 with its sign.
    """
    precision_change = precision - message[e, 0]
    step = share * precision_change
    weighted_step = share * (weighted - message[e, 1])
    marginal[v, 0] += times * step
    marginal[v, 1] += times * weighted_step
    message[e, 0] += step
    message[e, 1] += weighted_step
    return abs(precision_change) / max(precision, TINY), precision_change


@flat
def _observe(g, rows, marginal, message):
    """The exact messages of an observation, each from the cavities of the others; none where one is improper."""
    begin = rows.row[g]
    end = rows.row[g + 1]
    for target in span(begin, end):
        variance = rows.noise[g]
        mean = rows.low[g] - rows.offset[g]
        proper = True
        for e in span(begin, end):
            if e == target:
                continue
            v = at(rows.variable[e])
            precision = marginal[v, 0] - message[e, 0]
            if not precision > 0.0:
                proper = False
                break
            coefficient = rows.coefficient[e]
            variance += coefficient * coefficient / precision
            mean -= coefficient * (marginal[v, 1] - message[e, 1]) / precision
        precision = 0.0
        weighted = 0.0
        coefficient = rows.coefficient[target]
        if proper:
            precision = coefficient * coefficient / variance
            weighted = coefficient * mean / variance
        # the cavities of the others do not depend on this message
        _move(
            target,
            at(rows.variable[target]),
            rows.weight[g],
            1.0,
            precision,
            weighted,
            marginal,
            message,
        )


@flat
def _play(g, rows, share, marginal, message, site):
    """Move the sites of a link by this share of their update.

    Returns the relative distance of their precisions from their targets, largest of all (0 for a single game, -1 where
    no site exists), and the change of the first one.
    """
    if rows.low[g] == rows.high[g]:
        _observe(g, rows, marginal, message)
        site[g, 0] = 1.0 / rows.noise[g]
        site[g, 1] = (rows.low[g] - rows.offset[g]) / rows.noise[g]
        return 0.0, 0.0
    mean, variance = _cavity_sum(g, rows, marginal, message)
    if variance < 0.0:
        return -1.0, 0.0
    shift, shrink, left = _tilt(
        mean + rows.offset[g],
        variance,
        rows.noise[g],
        rows.low[g],
        rows.high[g],
        rows.lapse[g],
        rows.base[g],
    )
    if rows.lapse[g] != 0.0 and shrink * variance < LEAST:
        # the site of a surprise has the right mean, and next to no precision; a performance needs some for its messages
        shrink = LEAST / variance
        left = 1.0 - LEAST
    site[g, 0] += share * (shrink / left - site[g, 0])
    site[g, 1] += share * ((shift + mean * shrink) / left - site[g, 1])
    times = rows.weight[g]
    change = 0.0
    first_change = 0.0
    for e in span(rows.row[g], rows.row[g + 1]):
        v = at(rows.variable[e])
        coefficient = rows.coefficient[e]
        cavity = marginal[v, 0] - message[e, 0]
        cavity_mean = (marginal[v, 1] - message[e, 1]) / cavity
        part = coefficient * coefficient / cavity
        alone = left + (variance - part) * shrink  # as `left`, of this variable
        precision = coefficient * coefficient * shrink / alone
        weighted = (cavity_mean * coefficient * shrink + shift) * coefficient / alone
        distance, precision_change = _move(
            e, v, times, share, precision, weighted, marginal, message
        )
        change = max(change, distance)
        if e == rows.row[g]:
            first_change = precision_change
    return (change if times > 1.0 and shrink > 0.0 else 0.0), first_change


@flat
def _repeat(g, rows, repeats, change, marginal, message, site):
    """Update the sites of equal games while they converge slowly, as `games` does; returns the last change."""
    share = 1.0
    precision_change = 0.0
    for _ in range(repeats):
        last_change = change
        last_precision_change = precision_change
        change, precision_change = _play(g, rows, share, marginal, message, site)
        if change <= SETTLED:
            break
        turned_back = precision_change * last_precision_change < 0.0
        if turned_back and abs(precision_change) > STUCK * abs(last_precision_change):
            share *= 0.5
        elif share == 1.0 and change < SLOW * last_change:
            break
    return change


@flat
def _update_range(begin, end, back, source, mean, variance, messages):
    """Pass messages to a range of variables from their sources."""
    forward, backward, marginal = messages
    for i in span(begin, end):
        update_message(i, source[i], back, mean, variance, forward, backward, marginal)


@kernel
def sweep(
    part: Part, back: bool, repeats: int, chains: Chains, extra: ExtraStarts, rows: LinkRows, messages: Messages,
    sites: LinkSites,
) -> int:  # fmt: skip
    """One pass through a part, or `back`; returns the number of skipped sites.

    Sites of equal games that converge slowly are updated up to `repeats` times more.
    """
    skipped = 0
    source = chains.following if back else chains.previous
    marginal = messages.marginal
    mean = chains.mean
    variance = chains.variance
    for count in range(part.period_end - part.period):
        p = part.period_end - 1 - count if back else part.period + count
        _update_range(
            chains.node_start[p], chains.node_start[p + 1], back, source, mean, variance, messages
        )
        _update_range(
            extra.chained[p], extra.chained[p + 1], back, source, mean, variance, messages
        )
        for g in span(rows.start[p], rows.start[p + 1]):
            change, _ = _play(g, rows, 1.0, marginal, sites.message, sites.site)
            if change > SETTLED:
                change = _repeat(g, rows, repeats, change, marginal, sites.message, sites.site)
            if change < 0.0:
                skipped += 1
    return skipped


@flat
def _links_of(part, rows):
    """The links of a part."""
    return span(rows.start[part.period], rows.start[part.period_end])


@kernel
def gather(
    part: Part, extra: ExtraStarts, rows: LinkRows, sites: LinkSites, marginal: Rows
) -> None:
    """Add the messages of a part's links to `marginal`, which is filled for extra variables."""
    for v in span(extra.chained[part.period], extra.chained[part.period_end]):
        marginal[v, 0] = 0.0
        marginal[v, 1] = 0.0
    for v in span(extra.performances[part.period], extra.performances[part.period_end]):
        marginal[v, 0] = 0.0
        marginal[v, 1] = 0.0
    for g in _links_of(part, rows):
        times = rows.weight[g]
        for e in span(rows.row[g], rows.row[g + 1]):
            v = at(rows.variable[e])
            marginal[v, 0] += times * sites.message[e, 0]
            marginal[v, 1] += times * sites.message[e, 1]


@kernel
def cavities(rows: LinkRows, marginal: Rows, sites: LinkSites, cavity: Rows) -> None:
    """Fill `cavity` (links, 2): mean and variance of y without one such game; -1 where it is improper."""
    for g in span(0, len(rows.weight)):
        cavity[g, 0], cavity[g, 1] = _cavity_sum(g, rows, marginal, sites.message)


@kernel
def evidence(
    part: Part, extra: ExtraStarts, rows: LinkRows, marginal: Rows, sites: LinkSites
) -> tuple[float, float]:
    """The sites' contribution to log Z in a part, and the log probabilities of its links, each without its site.

    That of performances, which have no prior, is part of the former. Exact observations are no forecasts, and left out
    of the latter.
    """
    total = 0.0
    predicted = 0.0
    for v in span(extra.performances[part.period], extra.performances[part.period_end]):
        precision = marginal[v, 0]
        total += 0.5 * (
            marginal[v, 1] * marginal[v, 1] / precision + math.log(2.0 * math.pi / precision)
        )
    for g in _links_of(part, rows):
        mean, variance = _cavity_sum(g, rows, marginal, sites.message)
        if variance < 0.0:
            continue
        absorbed = 0.0
        for e in span(rows.row[g], rows.row[g + 1]):
            v = at(rows.variable[e])
            precision = sites.message[e, 0]
            weighted = sites.message[e, 1]
            absorbed += log_integral(
                marginal[v, 0] - precision, marginal[v, 1] - weighted, precision, weighted
            )
        log_p = _log_probability(
            mean + rows.offset[g],
            variance + rows.noise[g],
            rows.low[g],
            rows.high[g],
            rows.lapse[g],
            rows.base[g],
        )
        if rows.low[g] < rows.high[g]:
            predicted += rows.weight[g] * log_p
        total += rows.weight[g] * (log_p - absorbed)
    return total, predicted


@kernel
def log_probabilities(rows: LinkRows, cavity: Rows, log_p: Vector) -> None:
    """Fill `log_p` (links,) with the log probability of one such game; NaN where the cavity is improper."""
    for g in span(0, len(rows.weight)):
        log_p[g] = math.nan
        if cavity[g, 1] >= 0.0:
            mean = cavity[g, 0] + rows.offset[g]
            log_p[g] = _log_probability(
                mean,
                cavity[g, 1] + rows.noise[g],
                rows.low[g],
                rows.high[g],
                rows.lapse[g],
                rows.base[g],
            )


@kernel
def gradient(rows: LinkRows, cavity: Rows, slopes: LinkSlopes) -> None:
    """Fill the gradient of the log-evidence in the numbers of each link, at a fixed point of the sites.

    A Gaussian integral obeys the heat equation: with v the slope of log P in the mean and w minus its curvature, that
    in the variance is (v^2 - w) / 2. An exact observation is moved by `low`. Others without a proper cavity have 0.
    """
    for g in span(0, len(rows.weight)):
        slopes.offset[g] = 0.0
        slopes.noise[g] = 0.0
        slopes.low[g] = 0.0
        slopes.high[g] = 0.0
        slopes.lapse[g] = 0.0
        if rows.low[g] == rows.high[g] and cavity[g, 1] < 0.0:
            total = cavity[g, 1] + rows.noise[g]  # below 0, of which there is no root
            residual = (rows.low[g] - rows.offset[g] - cavity[g, 0]) / total
            slopes.offset[g] = rows.weight[g] * residual
            slopes.noise[g] = rows.weight[g] * 0.5 * (residual * residual - 1.0 / total)
            slopes.low[g] = -slopes.offset[g]
            continue
        if cavity[g, 1] < 0.0:
            continue
        scale = 1.0 / math.sqrt(cavity[g, 1] + rows.noise[g])
        t = (cavity[g, 0] + rows.offset[g]) * scale
        low = rows.low[g] * scale
        high = rows.high[g] * scale
        v, w, _ = interval_moments(t, low, high)
        by_low, by_high = interval_slopes(t, low, high, v)
        times = rows.weight[g]
        if rows.base[g] > 0.0:
            log_p = interval_log_normaliser(t, low, high)
            slopes.lapse[g] = times * lapse_slope(log_p, rows.lapse[g], rows.base[g])
            if rows.lapse[g] != 0.0:  # the slopes of log P count as far as skill decided the game
                times *= decided_by_skill(log_p, rows.lapse[g], rows.base[g])
        slopes.offset[g] = times * v * scale
        slopes.noise[g] = times * 0.5 * (v * v - w) * scale * scale
        slopes.low[g] = times * by_low * scale
        slopes.high[g] = times * by_high * scale


@flat
def _sum_of(g, rows, x):
    """y of a link at x."""
    total = 0.0
    for e in span(rows.row[g], rows.row[g + 1]):
        total += rows.coefficient[e] * x[at(rows.variable[e])]
    return total


@kernel
def residual_of_chains(
    part: Part,
    extra: ExtraStarts,
    messages: Messages,
    means: Vector,
    diagonal: Vector,
    residual: Vector,
) -> None:
    """As `games.residual_of_chains`, of extra variables."""
    for v in span(extra.chained[part.period], extra.chained[part.period_end]):
        chain_residual(v, messages, means, diagonal, residual)
    for v in span(extra.performances[part.period], extra.performances[part.period_end]):
        chain_residual(v, messages, means, diagonal, residual)


@kernel
def add_residual(
    part: Part,
    rows: LinkRows,
    sites: LinkSites,
    means: Vector,
    coupling: Vector,
    diagonal: Vector,
    residual: Vector,
) -> None:
    """Fill `coupling`; add scores at `means` to `residual`, and precisions to `diagonal`, of a part's links."""
    for g in _links_of(part, rows):
        times = rows.weight[g]
        coupling[g] = times * sites.site[g, 0]
        score = times * sites.site[g, 1] - coupling[g] * _sum_of(g, rows, means)
        for e in span(rows.row[g], rows.row[g + 1]):
            v = at(rows.variable[e])
            coefficient = rows.coefficient[e]
            diagonal[v] += coefficient * coefficient * coupling[g]
            residual[v] += coefficient * score


@kernel
def add_couplings(part: Part, rows: LinkRows, coupling: Vector, z: Vector, az: Vector) -> float:
    """Add (L - diag(L)) z of a part's links to `az`; returns the product of z and what was added."""
    product = 0.0
    for g in _links_of(part, rows):
        total = _sum_of(g, rows, z)
        for e in span(rows.row[g], rows.row[g + 1]):
            v = at(rows.variable[e])
            coefficient = rows.coefficient[e]
            added = coefficient * coupling[g] * (total - coefficient * z[v])
            az[v] += added
            product += added * z[v]
    return product


@kernel
def move_sites(part: Part, rows: LinkRows, sites: LinkSites, means: Vector) -> None:
    """Set every message so that smoothing gives these means: (p, p x_v + c_v score), p as it is."""
    for g in _links_of(part, rows):
        score = sites.site[g, 1] - sites.site[g, 0] * _sum_of(g, rows, means)
        for e in span(rows.row[g], rows.row[g + 1]):
            v = at(rows.variable[e])
            sites.message[e, 1] = sites.message[e, 0] * means[v] + rows.coefficient[e] * score


@kernel
def joint_cavities(
    rows: LinkRows, mean: Vector, variance: Vector, covariance: Vector, site: Rows, cavity: Rows
) -> None:
    """Fill `cavity` (links, 2) from the joint Gaussian: mean and variance of y without one such game; -1: improper.

    Without an exact observation there may be less than nothing about a performance, if surprises take precision away
    from it. The variance is below 0 then, and what is computed from it is right still.

    `covariance` has an entry for each pair of variables of each link, those with its first variable first.
    """
    pair = at(0)
    for g in span(0, len(rows.weight)):
        total = 0.0
        for e in span(rows.row[g], rows.row[g + 1]):
            coefficient = rows.coefficient[e]
            total += coefficient * coefficient * variance[at(rows.variable[e])]
            for f in span(e + 1, rows.row[g + 1]):
                total += 2.0 * coefficient * rows.coefficient[f] * covariance[pair]
                pair += at(1)
        precision = 1.0 / total
        times = min(rows.weight[g], 1.0)  # of a fraction of a game there is no more to leave out
        cavity_precision = precision - times * site[g, 0]
        cavity[g, 1] = -1.0
        if rows.low[g] == rows.high[g] and abs(cavity_precision) < TINY:
            cavity_precision = TINY
        if cavity_precision > 0.0 or rows.low[g] == rows.high[g]:
            weighted = _sum_of(g, rows, mean) * precision - times * site[g, 1]
            cavity[g, 0] = weighted / cavity_precision
            cavity[g, 1] = 1.0 / cavity_precision


@flat
def _agreed(g, rows, cavity, q, h):
    """Whether a joint site exists, and q and h of that which equal games share, from those before.

    The cavity of one such game has the sites of its copies. So these are taken out, as they were when the cavity was
    computed, and put back as they are now, until the site of a game is that of its copies. Where chance decides some
    games, that of a surprise takes away at most half of the cavity's precision.
    """
    copies = max(rows.weight[g] - 1.0, 0.0)
    base_precision = 1.0 / cavity[g, 1] - copies * q
    base_weighted = cavity[g, 0] / cavity[g, 1] - copies * h
    last_change = math.inf
    damping = 1.0
    for _ in range(REPEATS if copies > 0.0 else 1):
        cavity_precision = base_precision + copies * q
        if not cavity_precision > 0.0:
            return False, q, h
        mean = (base_weighted + copies * h) / cavity_precision
        shift, shrink, left = _tilt(
            mean + rows.offset[g],
            1.0 / cavity_precision,
            rows.noise[g],
            rows.low[g],
            rows.high[g],
            rows.lapse[g],
            rows.base[g],
        )
        if shrink < 0.0:
            shrink = max(shrink, -cavity_precision * MOST_TAKEN)
            left = 1.0 - shrink / cavity_precision
        new_q = shrink / left
        new_h = (shift + mean * shrink) / left
        change = abs(new_q - q) / max(abs(new_q), TINY)
        if change > last_change:
            damping *= 0.5
        q += damping * (new_q - q)
        h += damping * (new_h - h)
        if q < 0.0:  # where all equal games take away the most, this is what agrees with itself
            q = max(q, -base_precision / (copies + 2.0))
        last_change = change
        if change < AGREED:
            break
    return True, q, h


@kernel
def joint_update(rows: LinkRows, cavity: Rows, share: float, site: Rows) -> int:
    """Move all joint sites by `share` towards their targets; returns the number of sites not moved.

    Those of exact observations are what they are.
    """
    skipped = 0
    for g in span(0, len(rows.weight)):
        if rows.low[g] == rows.high[g]:
            site[g, 0] = 1.0 / rows.noise[g]
            site[g, 1] = (rows.low[g] - rows.offset[g]) / rows.noise[g]
            continue
        exists = cavity[g, 1] >= 0.0
        q = site[g, 0]
        h = site[g, 1]
        if exists:
            exists, q, h = _agreed(g, rows, cavity, q, h)
        if not exists:
            skipped += 1
            continue
        site[g, 0] += share * (q - site[g, 0])
        site[g, 1] += share * (h - site[g, 1])
    return skipped


@kernel
def joint_evidence(rows: LinkRows, cavity: Rows, site: Rows) -> tuple[float, float]:
    """Contribution of the joint sites to log Z beside the integral, and the log probabilities of links without theirs.

    The site of an exact observation is its density but for a factor; it is no forecast.
    """
    total = 0.0
    predicted = 0.0
    for g in span(0, len(rows.weight)):
        noise = rows.noise[g]
        if rows.low[g] == rows.high[g]:
            seen = rows.low[g] - rows.offset[g]
            total -= rows.weight[g] * (
                0.5 * seen * seen / noise + 0.5 * math.log(2.0 * math.pi * noise)
            )
            continue
        variance = cavity[g, 1]
        if variance < 0.0:
            continue
        mean = cavity[g, 0]
        absorbed = log_integral(1.0 / variance, mean / variance, site[g, 0], site[g, 1])
        log_p = _log_probability(
            mean + rows.offset[g],
            variance + noise,
            rows.low[g],
            rows.high[g],
            rows.lapse[g],
            rows.base[g],
        )
        predicted += rows.weight[g] * log_p
        total += rows.weight[g] * (log_p - absorbed)
    return total, predicted


@kernel
def pull(rows: LinkRows, site: Rows, x: Vector, z: Vector, out: Vector) -> None:
    """Add the noisy sites of all links, minus their pull on x, to `out`; `z` (links,) is standard normal."""
    for g in span(0, len(rows.weight)):
        precision = rows.weight[g] * site[g, 0]
        force = math.sqrt(precision) * z[g] - precision * _sum_of(g, rows, x)
        for e in span(rows.row[g], rows.row[g + 1]):
            out[at(rows.variable[e])] += rows.coefficient[e] * force
