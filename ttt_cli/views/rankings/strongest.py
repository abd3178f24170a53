"""Probability of being the strongest of a field (p_best).

It is estimated from joint samples of the candidates; all other players are taken as independent. Without a joint
posterior all are independent, and p_best is an integral.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Places
from ttt_cli.support.errors import ConfigError, RunError
from ttt_cli.support.normal import normal_cdf_of_all

INDEPENDENT: Final = (
    "p_best: probability of being the strongest of them, their skills taken as independent"
)
JOINT: Final = (
    "p_best: probability of being the strongest of them, estimated from {:,} samples of joint skills (seed {}); "
    "Monte Carlo error at most {:.4f}"
)
_UNLIKELY_SHARE: Final = "; {:.1%} at most belong to unlikely players, taken as independent"
SAMPLES: Final = 40_000  # of the skills of one period
LEAST_SAMPLES: Final = 4000  # where the run has many periods
ALL_SAMPLES: Final = 10_000_000
# Sds of the difference to the leader: stronger with a probability of 0.003
_UNLIKELY: Final = -2.75
MOST_CANDIDATES: Final = 64
NAMED: Final = 200  # candidates have one of the highest means
# Tolerance of solutions: sds of differences are exact to its square, where 40,000 samples tell 5e-3.
_TOLERANCE: Final = 1e-3

_REACH: Final = 6.5  # sds: what lies further is below 1e-10
_MATTERS: Final = 7.0  # sds: a player so far below the field's lowest maximum changes nothing
_NEVER: Final = 1e-10  # a probability that counts as none
_CHOICES: Final = 64  # points among which the field's lowest maximum is looked for
_NEAREST: Final = 100  # players whose cdfs are multiplied one by one; the others' product is smooth
_NODES: Final = 32  # Chebyshev nodes for it
_FINENESS: Final = 1.2  # of the steps
_MOST_STEPS: Final = 16_384  # as many as sds need of which one is 400 times another
_FINER: Final = 16  # points a step, of which the nearest is close enough
_CELLS: Final = 512  # of the table of log Phi, per sd
_TABLE_REACH: Final = 9
_CHUNK: Final = 1 << 17  # numbers worked on at a time


class Contenders(NamedTuple):
    """The strongest players of a period by descending mean: those to show, and the candidates for `p_best`.

    | field | shape | content |
    |---|---|---|
    | `period_number` | | number of the period |
    | `players` | (players,) | names |
    | `mean`, `sd` | (players,) | skills and their uncertainty, points |
    | `candidates` | (candidates,) | indices among the players |
    | `x` | (steps,) | skills at equal steps, points |
    | `log_below` | (steps,) | log probability that all players but the candidates are below `x` |
    | `p` | (players,) | probability of being the strongest; empty until it is computed |
    """

    period_number: int
    players: list[str]
    mean: Array
    sd: Array
    candidates: Places
    x: Array
    log_below: Array
    p: Array


class Probabilities(NamedTuple):
    """Contenders of periods with their probabilities, a line on the method, and covariance matrices of groups.

    The covariances are None if skills were taken as independent.
    """

    periods: list[Contenders]
    remark: str
    covariances: list[Array] | None


def find_contenders(
    period_number: int, players: Sequence[str], mean: Array, sd: Array, *, n_shown: int
) -> Contenders:
    """The players who may be the strongest of a period, and the first `n_shown`; without probabilities.

    `mean`, `sd`: of all eligible players, by descending mean. `players`: at least the first `NAMED` names. Raises
    RunError for sds that are too unequal.
    """
    named = slice(min(len(players), NAMED))
    # Independence gives the largest sd of a difference, since nobody's skill falls as another one's rises.
    likely = np.flatnonzero(mean[named] - mean[0] >= _UNLIKELY * np.hypot(sd[named], sd[0]))
    members = np.union1d(np.arange(min(n_shown, len(mean))), likely)
    low = _lowest_maximum(mean, sd)
    matters = mean + _MATTERS * sd > low
    # Steps fine enough for the maximum: that of n equal players is narrower by sqrt(2 log n).
    sds_from_highest = (mean.max() - mean) / sd
    nearest = np.flatnonzero(matters)[np.argsort(sds_from_highest[matters])[:_NEAREST]]
    step = (
        _FINENESS * float(sd[nearest].min()) / (1.0 + math.sqrt(2.0 * math.log(matters.sum() + 1)))
    )
    needed = (float((mean + _REACH * sd)[matters].max()) - low) / step
    if not needed <= _MOST_STEPS:
        raise RunError(
            f"skills of one period are too unequal to compare: sds from {sd.min():.2g} to {sd.max():.2g} points",
            hint="if another program changed the run, fit the games again",
        )
    steps = max(math.ceil(needed), 1)
    # close enough for cubics between them
    x = np.linspace(low, low + step * steps, 3 * (steps + 1))
    matters[likely] = False
    log_below = _log_below(x, mean[matters], sd[matters])
    candidates = np.searchsorted(members, likely)
    names = [players[index] for index in members]
    return Contenders(
        period_number, names, mean[members], sd[members], candidates, x, log_below, p=np.empty(0)
    )


def _lowest_maximum(mean: Array, sd: Array) -> float:
    """A skill that the strongest player exceeds, except with probability `_NEVER`."""
    nearest = np.argpartition(-mean, min(_NEAREST, len(mean)) - 1)[:_NEAREST]
    skills = np.linspace(float((mean - _REACH * sd).max()), float(mean.max()), _CHOICES)
    log_cdfs = _sum_log_cdfs(skills, mean[nearest], sd[nearest])
    possible = int(np.searchsorted(log_cdfs, math.log(_NEVER)))
    return float(skills[max(possible - 1, 0)])


def compute_probabilities(
    run: Run,
    periods: Sequence[Contenders],
    seed: int,
    groups: Sequence[Sequence[tuple[str, int]]] = (),
) -> Probabilities:
    """The probabilities of the contenders of periods, and covariance matrices of groups of skills.

    `groups`: player and period number of each skill. Without a joint posterior, or if it is too large, skills are
    independent. The number of samples depends on the run only, so all views show the same probabilities.
    """
    matrices: list[Array] | None = None
    if run.has_joint:
        periods = [_with_affordable_candidates(run, contenders) for contenders in periods]
        candidates = [
            [
                (contenders.players[index], contenders.period_number)
                for index in contenders.candidates
            ]
            for contenders in periods
        ]
        with suppress(ConfigError):
            matrices = run.joint.within([*candidates, *groups], _TOLERANCE)
    if matrices is None:
        by_integrals = [
            contenders._replace(p=independent_probabilities(contenders)) for contenders in periods
        ]
        return Probabilities(by_integrals, INDEPENDENT, None)
    scaled = [run.scale.slope**2 * covariance for covariance in matrices]
    covariances = scaled[: len(periods)]
    samples = _number_of_samples(run)
    most_candidates = max((len(covariance) for covariance in covariances), default=0)
    # The first rows are the same however many there are.
    normal = np.random.default_rng(seed).standard_normal((most_candidates, samples // 2))
    by_samples = []
    error = 0.0
    unlikely_share = 0.0
    for contenders, covariance in zip(periods, covariances, strict=True):
        p = _sampled_probabilities(contenders, covariance, normal)
        error = max(error, math.sqrt(float((p * (1.0 - p)).max()) / samples))
        unlikely_share = max(unlikely_share, 1.0 - float(p[contenders.candidates].sum()))
        by_samples.append(contenders._replace(p=p))
    remark = JOINT.format(samples, seed, error)
    if unlikely_share >= 5e-4:
        remark += _UNLIKELY_SHARE.format(unlikely_share)
    return Probabilities(by_samples, remark, scaled[len(periods) :])


def _number_of_samples(run: Run) -> int:
    """The number of samples of the skills of each period of a run."""
    ((periods,),) = run.select("SELECT count(*) FROM periods")[1]
    samples: int = max(min(SAMPLES, ALL_SAMPLES // max(periods, 1)), LEAST_SAMPLES)
    return samples


def _with_affordable_candidates(run: Run, contenders: Contenders) -> Contenders:
    """At most `MOST_CANDIDATES` candidates: the players most likely to be stronger than the leader."""
    if len(contenders.candidates) <= MOST_CANDIDATES:
        return contenders
    skills = [
        (contenders.players[index], contenders.period_number) for index in contenders.candidates
    ]
    mean = contenders.mean[contenders.candidates]
    sd = contenders.sd[contenders.candidates]
    (shared,) = run.joint.shared(skills[:1], [skills], _TOLERANCE)
    shared *= run.scale.slope**2
    difference_sd = np.sqrt(np.maximum(sd**2 + sd[0] ** 2 - 2.0 * shared, 1e-12 * sd**2))
    order = np.argsort((mean[0] - mean) / difference_sd, kind="stable")
    remaining = np.sort(order[:MOST_CANDIDATES])
    dropped = np.sort(order[MOST_CANDIDATES:])
    log_below = contenders.log_below + _sum_log_cdfs(contenders.x, mean[dropped], sd[dropped])
    return contenders._replace(candidates=contenders.candidates[remaining], log_below=log_below)


def _sampled_probabilities(contenders: Contenders, covariance: Array, normal: Array) -> Array:
    """The probability of each contender to be the strongest, (players,), from samples of the candidates.

    `covariance`: of the candidates. `normal` (candidates or more, samples / 2): standard normal numbers, each used with
    both signs. The error is at most that of independent samples.
    """
    value, vector = np.linalg.eigh(covariance)
    # This root changes no faster than the covariance matrix.
    noise = (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T @ normal[: len(value)]
    means = contenders.mean[contenders.candidates]
    best = np.zeros(2 * noise.shape[1], np.intp)
    highest = means[0] + np.concatenate([noise[0], -noise[0]])
    for index in range(1, len(means)):  # one by one: faster than the maximum of columns
        skill = means[index] + np.concatenate([noise[index], -noise[index]])
        best[skill > highest] = index
        np.maximum(highest, skill, out=highest)
    log_below = _finer(contenders.log_below)
    x = np.linspace(contenders.x[0], contenders.x[-1], len(log_below))
    position = np.clip((highest - x[0]) / (x[1] - x[0]), 0, len(x) - 1)
    # a sample counts as much as it is probable that all players who are not candidates are below its highest skill
    weight = np.exp(log_below)[np.rint(position).astype(np.intp)]
    p = np.empty(len(contenders.players))
    p[contenders.candidates] = np.bincount(best, weight, len(value)) / len(weight)
    is_unlikely = np.ones(len(contenders.players), bool)
    is_unlikely[contenders.candidates] = False
    if is_unlikely.any():
        counts = np.bincount(np.ceil(position).astype(np.intp), minlength=len(x))
        candidates_below = np.cumsum(counts) / len(weight)
        with np.errstate(divide="ignore"):
            log_all_below = log_below + np.log(candidates_below)
            p[is_unlikely] = _probability_of_highest(
                x, log_all_below, contenders.mean[is_unlikely], contenders.sd[is_unlikely]
            )
    return p


def _finer(values: Array) -> Array:
    """Values at equal steps interpolated to `_FINER` points a step, by cubics through the four values around."""
    position = np.arange(_FINER * (len(values) - 1) + 1) / _FINER
    before = np.clip(position.astype(np.intp), 1, len(values) - 3)
    u = position - before
    weights = (
        (u - 1) * (u - 2) * -u / 6,
        (u * u - 1) * (u - 2) / 2,
        (u + 1) * u * (2 - u) / 2,
        (u * u - 1) * u / 6,
    )
    terms = [weight * values[before + offset] for offset, weight in enumerate(weights, -1)]
    total: Array = np.sum(terms, axis=0)
    return total


def independent_probabilities(contenders: Contenders) -> Array:
    """The probability of each contender to be the strongest, (players,), with all skills independent."""
    mean = contenders.mean[contenders.candidates]
    sd = contenders.sd[contenders.candidates]
    log_below = contenders.log_below + _sum_log_cdfs(contenders.x, mean, sd)
    return _probability_of_highest(contenders.x, log_below, contenders.mean, contenders.sd)


def _probability_of_highest(x: Array, log_below: Array, mean: Array, sd: Array) -> Array:
    """The probability of each player to be above all others, (players,).

    It is the integral over `x` of the player's density times the product of the others' cdfs. `log_below` is the log
    of the product of all cdfs; the player's own is subtracted. `x` has equal steps, which for Gaussians converge
    faster than any power of the step.
    """
    step = float(x[1] - x[0])
    probability = np.empty(len(mean))
    rows = max(_CHUNK // len(x), 1)
    for start in range(0, len(mean), rows):
        part = slice(start, start + rows)
        z = (x - mean[part, None]) / sd[part, None]
        density = np.exp(log_below - log_cdf(z) - 0.5 * z * z) / (
            math.sqrt(2.0 * math.pi) * sd[part, None]
        )
        probability[part] = step * density.sum(axis=1)
    return np.minimum(probability, 1.0)


def _log_below(x: Array, mean: Array, sd: Array) -> Array:
    """The log probability that all players are below x, shape of x.

    For all but the nearest players, log(-log cdf) is smooth and is interpolated.
    """
    if not len(mean):
        return np.zeros(len(x))
    order = np.argsort((mean.max() - mean) / sd)
    nearest = order[:_NEAREST]
    distant = order[_NEAREST:]
    total = _sum_log_cdfs(x, mean[nearest], sd[nearest])
    end = float((mean[distant] + _REACH * sd[distant]).max(initial=x[0]))
    if end > x[0]:
        from numpy.polynomial import Chebyshev

        def exponent(skill: Array) -> Array:
            return np.log(-_sum_log_cdfs(skill, mean[distant], sd[distant]))

        smooth = Chebyshev.interpolate(exponent, _NODES, domain=[x[0], min(end, x[-1])])
        reached = x < end
        total[reached] -= np.exp(smooth(x[reached]))
    return total


def _sum_log_cdfs(x: Array, mean: Array, sd: Array) -> Array:
    """The sum of log Phi((x - mean) / sd) over all players, at every x."""
    total = np.zeros(len(x))
    rows = max(_CHUNK // len(x), 1)
    for start in range(0, len(mean), rows):
        part = slice(start, start + rows)
        total += log_cdf((x - mean[part, None]) / sd[part, None]).sum(axis=0)
    return total


def log_cdf(z: Array) -> Array:
    """log Phi(z) from a table with slopes and curvatures; relative error below 1e-7, constant beyond 9 sds."""
    table = _log_cdf_table()
    cells = np.clip(z, -_TABLE_REACH, _TABLE_REACH) * _CELLS
    nearest = np.rint(cells)
    index = nearest.astype(np.intp) + _TABLE_REACH * _CELLS
    off = (cells - nearest) / _CELLS
    result: Array = table.value[index] + off * (
        table.slope[index] + off * table.half_curvature[index]
    )
    return result


class _LogCdfTable(NamedTuple):
    """log Phi, its slope, and half its curvature on the table's points, shape (points,) each."""

    value: Array
    slope: Array
    half_curvature: Array


@cache
def _log_cdf_table() -> _LogCdfTable:
    """The table, `_CELLS` points per sd from `-_TABLE_REACH` to `_TABLE_REACH`."""
    z = np.arange(-_TABLE_REACH * _CELLS, _TABLE_REACH * _CELLS + 1) / _CELLS
    tail = normal_cdf_of_all(-np.abs(z))
    value = np.where(z < 0.0, np.log(tail), np.log1p(-tail))
    slope = np.exp(-0.5 * z * z - value) / math.sqrt(2.0 * math.pi)
    return _LogCdfTable(value, slope, -0.5 * slope * (z + slope))
