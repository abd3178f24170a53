"""Probabilities and moments of the difference of two performances, given the outcome of a game.

Ratios of the normal distribution are accurate in both tails, by the Mills ratio R(z) = Q(z) / phi(z), z >= 0. With d
= t + u, u standard normal, a win truncates d to (margin, inf), a draw to [-margin, margin]. Moments are (v, w) where
the truncated d has mean t + v and variance 1 - w (TrueSkill Through Time, section 3.1).

Where any game has a handicap, `handicap` (games,), points, is added to the first player's skill; else it is empty. On
neutral ground it cancels White's advantage.

Where colours are unknown, P is the average over both, (P(advantage) + P(-advantage)) / 2; the outcome is increased by
`UNKNOWN`. With log P of slope v and curvature -w in the mean of the difference under each colouring, and p and 1 - p
their posterior weights, the average has slope v = p v1 + (1 - p) v2 and curvature -w with w = p w1 + (1 - p) w2 - p
(1 - p) (v1 - v2)^2. It has two peaks, with w negative between them, when the advantage is larger than the spread of
the difference.

Where chance decides a share l of the games (`moments_with_lapse`), P is (1 - l) P + l b, b the share of the outcome
among all games. With p the posterior weight of a game that chance did not decide, the slope is p v, and minus the
curvature p w - p (1 - p) v^2: negative where the outcome is a surprise.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.compile import flat, inner, rare

LOG_SQRT_2PI = 0.9189385332046727418
INV_SQRT_2PI = 0.3989422804014326779
# Where chance decides some games the site of a surprise takes precision away: the curvature of log P counts up to this
# many times the precision of the difference without the game, of which a half is left then
MOST_TAKEN = 1.0

_SCALE = 4.0  # R(z) * (z + 4) is smooth in u = 4 / (4 + z), which maps z >= 0 to (0, 1]
_CELLS = 96
_DEGREE = 7


def _mills_exact(z: float) -> float:
    if z < 5.0:
        return math.sqrt(math.pi / 2.0) * math.erfc(z / math.sqrt(2.0)) * math.exp(0.5 * z * z)
    tail = z
    for k in range(80, 0, -1):  # continued fraction, Abramowitz and Stegun 26.2.14
        tail = z + k / tail
    return 1.0 / tail


def _mills_table() -> NDArray[np.float64]:
    """Polynomial coefficients, highest first, of R(z) * (z + 4) over equal cells of u; shape (cells, degree + 1)."""
    nodes = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1)) / 2.0
    table = np.empty((_CELLS, _DEGREE + 1))
    for cell in range(_CELLS):
        z = _SCALE / ((cell + 0.5 + nodes) / _CELLS) - _SCALE
        values = np.array([_mills_exact(max(x, 0.0)) * (x + _SCALE) for x in z])
        table[cell] = np.linalg.solve(np.vander(nodes), values)
    return table


_TABLE = _mills_table()


@flat
def mills(z: float) -> float:
    """Q(z) / phi(z) for z >= 0, relative error below 1e-14."""
    u = _SCALE / (_SCALE + z)
    x = u * _CELLS
    cell = min(int(x), _CELLS - 1)
    x -= cell + 0.5
    row = _TABLE[cell]
    value = row[0]
    for k in range(1, _DEGREE + 1):
        value = value * x + row[k]
    return value * u / _SCALE


@inner
def density(z: float) -> float:
    """phi(z), the standard normal density."""
    return INV_SQRT_2PI * math.exp(-0.5 * z * z)


@inner
def log_cdf(x: float) -> float:
    """log Phi(x), accurate in both tails."""
    if x < 0.0:
        return math.log(mills(-x)) - 0.5 * x * x - LOG_SQRT_2PI
    return math.log1p(-density(x) * mills(x))


FAR = 50.0  # beyond, v + x loses more than 1e-12 by cancellation and the asymptotic series keeps it
FAR_DRAW = 8.0  # the same for intervals, where both ends cancel
NARROW = 3e-2  # an interval narrower than this, relative to the scale on which the density changes
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)


@flat
def win_moments(x: float) -> tuple[float, float]:
    """(v, w) when u is truncated to u > -x."""
    if x >= 0.0:
        density = INV_SQRT_2PI * math.exp(-0.5 * x * x)
        v = density / (1.0 - density * mills(x))
        return v, v * (v + x)
    if x > -FAR:
        v = 1.0 / mills(-x)
        return v, v * (v + x)
    y = 1.0 / (x * x)  # series of 1 / R(z) for large z = -x
    correction = 1.0 + y * (-2.0 + y * (10.0 + y * (-74.0 + y * (706.0 - 8162.0 * y))))
    ratio = 1.0 + y * correction
    return -x * ratio, ratio * correction


@flat
def draw_moments(t: float, margin: float) -> tuple[float, float]:
    """(v, w) when |t + u| <= margin, margin > 0; v is odd and w even in t to the last bit."""
    distance = abs(t)
    low = distance - margin
    high = distance + margin
    if low > FAR_DRAW or margin * (1.0 + distance) < NARROW:
        v, spread, _ = _by_quadrature(low, high)
        w = 1.0 - spread
    elif low >= 0.0:
        shrink = math.exp(-2.0 * distance * margin)  # phi(high) / phi(low)
        mass = mills(low) - shrink * mills(high)  # over phi(low)
        v = (1.0 - shrink) / mass
        w = v * (v - low) + 2.0 * margin * shrink / mass
    else:
        at_low = INV_SQRT_2PI * math.exp(-0.5 * low * low)
        at_high = INV_SQRT_2PI * math.exp(-0.5 * high * high)
        mass = 1.0 - at_low * mills(-low) - at_high * mills(high)
        v = (at_low - at_high) / mass
        w = v * v + (high * at_high - low * at_low) / mass
    if t == 0.0:
        v = 0.0
    return (-v if t > 0.0 else v), w


@inner
def draw_log_normaliser(t: float, margin: float) -> float:
    """log P(|t + u| <= margin), margin > 0."""
    distance = abs(t)
    low = distance - margin
    high = distance + margin
    if low > FAR_DRAW or margin * (1.0 + distance) < NARROW:
        return _by_quadrature(low, high)[2]
    if low >= 0.0:
        mass = mills(low) - math.exp(-2.0 * distance * margin) * mills(high)
        return math.log(mass) - 0.5 * low * low - LOG_SQRT_2PI
    at_low = INV_SQRT_2PI * math.exp(-0.5 * low * low)
    at_high = INV_SQRT_2PI * math.exp(-0.5 * high * high)
    return math.log1p(-at_low * mills(-low) - at_high * mills(high))


@flat
def outcome_moments(t: float, margin: float, outcome: int) -> tuple[float, float]:
    """(v, w) given an outcome: 0 loss, 1 draw, 2 win."""
    if outcome == 2:
        return win_moments(t - margin)
    if outcome == 0:
        v, w = win_moments(-t - margin)
        return -v, w
    return draw_moments(t, margin)


@inner
def outcome_log_normaliser(t: float, margin: float, outcome: int) -> float:
    """log P(outcome): 0 loss, 1 draw, 2 win."""
    if outcome == 2:
        return log_cdf(t - margin)
    if outcome == 0:
        return log_cdf(-t - margin)
    return draw_log_normaliser(t, margin)


@inner
def interval_moments(t: float, low: float, high: float) -> tuple[float, float, float]:
    """(v, w, 1 - w) given low < t + u <= high, where ends may be infinite; or t + u = low where they are equal.

    1 - w, the variance that is left, keeps its digits in narrow intervals.
    """
    if low == high:
        return low - t, 1.0, 0.0
    if high == math.inf:
        v, w = win_moments(t - low)
        return v, w, 1.0 - w
    if low == -math.inf:
        v, w = win_moments(high - t)
        return -v, w, 1.0 - w
    half = 0.5 * (high - low)
    centre = t - 0.5 * (low + high)
    v, w = draw_moments(centre, half)
    distance = abs(centre)
    if distance - half > FAR_DRAW or half * (1.0 + distance) < NARROW:
        return v, w, _by_quadrature(distance - half, distance + half)[1]
    return v, w, 1.0 - w


@inner
def interval_log_normaliser(t: float, low: float, high: float) -> float:
    """log P(low < t + u <= high); the log density of t + u at `low` where both are equal."""
    if low == high:
        return -0.5 * (low - t) ** 2 - LOG_SQRT_2PI
    if high == math.inf:
        return log_cdf(t - low)
    if low == -math.inf:
        return log_cdf(high - t)
    return draw_log_normaliser(t - 0.5 * (low + high), 0.5 * (high - low))


@inner
def interval_slopes(t: float, low: float, high: float, v: float) -> tuple[float, float]:
    """d `interval_log_normaliser` / d low and / d high, where `v` is that in t; both ends move with `low` if equal."""
    if low == -math.inf:
        return 0.0, -v
    if low == high:
        return -v, 0.0
    if high == math.inf:
        return -v, 0.0
    log_p = interval_log_normaliser(t, low, high)
    at_low = math.exp(-0.5 * (low - t) ** 2 - LOG_SQRT_2PI - log_p)
    at_high = math.exp(-0.5 * (high - t) ** 2 - LOG_SQRT_2PI - log_p)
    return -at_low, at_high


@rare
def _by_quadrature(low: float, high: float) -> tuple[float, float, float]:
    """(mean of u, variance of u, log mass) on (low, high), for narrow or remote intervals, free of cancellation."""
    width = high - low
    if low > 0.0:
        width = min(width, 45.0 / low)
    mass = 0.0
    first = 0.0
    for k in range(32):
        x = 0.5 * width * (1.0 + _NODES[k])
        density = _WEIGHTS[k] * math.exp(-x * (low + 0.5 * x))
        mass += density
        first += density * x
    mean = first / mass
    second = 0.0
    for k in range(32):
        x = 0.5 * width * (1.0 + _NODES[k])
        second += _WEIGHTS[k] * math.exp(-x * (low + 0.5 * x)) * (x - mean) ** 2
    log_mass = math.log(0.5 * width * mass) - 0.5 * low * low - LOG_SQRT_2PI
    return low + mean, second / mass, log_mass


LARGEST_LOG = 600.0  # whose exponential is a number
UNKNOWN = 3
_LOG_2 = 0.6931471805599453


@inner
def first_share(log_1: float, log_2: float) -> float:
    """Posterior weight of the first of two colourings with these log probabilities."""
    return 1.0 / (1.0 + math.exp(log_2 - log_1))


@inner
def log_average(log_1: float, log_2: float) -> float:
    """log((exp(log_1) + exp(log_2)) / 2)."""
    return max(log_1, log_2) + math.log1p(math.exp(-abs(log_1 - log_2))) - _LOG_2


@flat
def game_moments(t: float, advantage: float, margin: float, outcome: int) -> tuple[float, float]:
    """(v, w) of a game, all in units of the difference's sd; t is its mean without the advantage."""
    if outcome < UNKNOWN:
        return outcome_moments(t + advantage, margin, outcome)
    return _moments_without_colours(t, advantage, margin, outcome - UNKNOWN)


@rare
def _moments_without_colours(
    t: float, advantage: float, margin: float, result: int
) -> tuple[float, float]:
    """(v, w) of a game with unknown colours; arguments as in `outcome_moments`."""
    v1, w1 = outcome_moments(t + advantage, margin, result)
    v2, w2 = outcome_moments(t - advantage, margin, result)
    log_1 = outcome_log_normaliser(t + advantage, margin, result)
    share_1 = first_share(log_1, outcome_log_normaliser(t - advantage, margin, result))
    share_2 = 1.0 - share_1
    return share_1 * v1 + share_2 * v2, share_1 * w1 + share_2 * w2 - share_1 * share_2 * (
        v1 - v2
    ) ** 2


@inner
def game_log_normaliser(t: float, advantage: float, margin: float, outcome: int) -> float:
    """log P(outcome) of a game; arguments as in `game_moments`."""
    if outcome < UNKNOWN:
        return outcome_log_normaliser(t + advantage, margin, outcome)
    log_1 = outcome_log_normaliser(t + advantage, margin, outcome - UNKNOWN)
    return log_average(log_1, outcome_log_normaliser(t - advantage, margin, outcome - UNKNOWN))


@flat
def base_rate(outcome: int, draws: float) -> float:
    """Probability of an outcome of a game that chance decides, where a share `draws` of such games is drawn."""
    return draws if outcome % UNKNOWN == 1 else 0.5 * (1.0 - draws)


@flat
def lapse_of(g, rule):
    """Probability that game g says nothing about skills: chance decided it, or its record is wrong."""
    if len(rule.doubt) == 0:
        return rule.lapse
    return 1.0 - (1.0 - rule.lapse) * (1.0 - rule.doubt[g])


@inner
def decided_by_skill(log_p: float, lapse: float, base: float) -> float:
    """Posterior probability that chance did not decide a game with this outcome.

    `log_p`: of the outcome by skill; `lapse`: the share of games that chance decides; `base`: `base_rate`.
    """
    by_chance = lapse * base
    if by_chance == 0.0:
        return 1.0
    by_skill = (1.0 - lapse) * math.exp(log_p)
    return by_skill / (by_skill + by_chance)


@rare
def moments_with_lapse(
    t: float, advantage: float, margin: float, outcome: int, lapse: float, draws: float
) -> tuple[float, float]:
    """(v, w) of a game where chance decides some; arguments as in `game_moments`, and of `base_rate`."""
    v, w = game_moments(t, advantage, margin, outcome)
    log_p = game_log_normaliser(t, advantage, margin, outcome)
    share = decided_by_skill(log_p, lapse, base_rate(outcome, draws))
    return share * v, share * (w - (1.0 - share) * v * v)


@inner
def log_with_lapse(log_p: float, lapse: float, base: float) -> float:
    """log P of an outcome where chance decides some games; arguments as in `decided_by_skill`."""
    by_chance = lapse * base
    if by_chance == 0.0:
        return log_p + math.log1p(-lapse)
    return math.log((1.0 - lapse) * math.exp(log_p) + by_chance)


@inner
def lapse_slope(log_p: float, lapse: float, base: float) -> float:
    """Derivative of `log_with_lapse` in the share of games that chance decides."""
    if base == 0.0:
        return -1.0 / (1.0 - lapse)
    log_mixed = log_with_lapse(log_p, lapse, base)
    return base * math.exp(min(-log_mixed, LARGEST_LOG)) - math.exp(log_p - log_mixed)


@flat
def handicap_of(g, handicap):
    """Points added to the first player's skill in game g."""
    return handicap[g] if len(handicap) > 0 else 0.0
