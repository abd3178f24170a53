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

INDEPENDENT: Final = "p_best: probability of being the strongest of them, their skills taken as independent"
JOINT: Final = (
    "p_best: probability of being the strongest of them, estimated from {:,} samples of joint skills (seed {}); "
    "Monte Carlo error at most {:.4f}"
)
_UNLIKELY_SHARE: Final = "; {:.1%} at most belong to unlikely players, taken as independent"
SAMPLES: Final = 40_000  # of the skills of one period
LEAST_SAMPLES: Final = 4000  # where the run has many periods
ALL_SAMPLES: Final = 10_000_000
_UNLIKELY: Final = -2.75  # sds of the difference to the leader: stronger with a probability of 0.003
MOST_CANDIDATES: Final = 64
NAMED: Final = 200  # candidates have one of the highest means
# Tolerance of solutions: sds of differences are exact to its square, where 40,000 samples tell 5e-3.
_TOLERANCE: Final = 1e-3

_REACH: Final = 6.5  # sds: what lies further is below 1e-10
_MATTERS: Final = 7.0  # sds: a player so far below the field's lowest maximum changes nothing
_NEVER: Final = 1e-10
_CHOICES: Final = 64  # points among which the field's lowest maximum is looked for
_NEAREST: Final = 100  # players whose cdfs are multiplied one by one; the others' product is smooth
_NODES: Final = 32  # Chebyshev nodes for it
_FINENESS: Final = 1.2  # of the steps
_MOST_STEPS: Final = 16_384  # as many as sds need of which one is 400 times another
_FINER: Final = 16  # points a step, of which the nearest is close enough
_CELLS: Final = 512  # of the table of log Phi, per sd
_TABLE_REACH: Final = 9
_CHUNK: Final = 1 << 17  # numbers worked on at a time


class Contest(NamedTuple):
    """The strongest players of a period by descending mean: those to show, and the candidates for `p_best`.

    | field | shape | content |
    |---|---|---|
    | `number` | | number of the period |
    | `players` | (players,) | names |
    | `mean`, `sd` | (players,) | skills and their uncertainty, points |
    | `candidates` | (candidates,) | indices among the players |
    | `x` | (steps,) | skills at equal steps, points |
    | `below` | (steps,) | log probability that all players but the candidates are below `x` |
    | `p` | (players,) | probability of being the strongest; empty until it is computed |
    """

    number: int
    players: list[str]
    mean: Array
    sd: Array
    candidates: Places
    x: Array
    below: Array
    p: Array


class Decided(NamedTuple):
    """Contests with their probabilities, a line on the method, and covariance matrices of the groups asked for.

    The covariances are None if skills were taken as independent.
    """

    contests: list[Contest]
    remark: str
    covariances: list[Array] | None


def contest(number: int, players: Sequence[str], mean: Array, sd: Array, first: int) -> Contest:
    """The contest of a period; `first`: the number of players to show.

    `mean`, `sd`: of all eligible players, by descending mean. `players`: at least the first `NAMED` names. Raises
    RunError for sds that are too unequal.
    """
    named = slice(min(len(players), NAMED))
    # Independence gives the largest sd of a difference, since nobody's skill falls as another one's rises.
    likely = np.flatnonzero(mean[named] - mean[0] >= _UNLIKELY * np.hypot(sd[named], sd[0]))
    members = np.union1d(np.arange(min(first, len(mean))), likely)
    low = _lowest_maximum(mean, sd)
    matters = mean + _MATTERS * sd > low
    # Steps fine enough for the maximum: that of n equal players is narrower by sqrt(2 log n).
    nearest = np.flatnonzero(matters)[np.argsort(((mean.max() - mean) / sd)[matters])[:_NEAREST]]
    step = _FINENESS * float(sd[nearest].min()) / (1.0 + math.sqrt(2.0 * math.log(matters.sum() + 1)))
    needed = (float((mean + _REACH * sd)[matters].max()) - low) / step
    if not needed <= _MOST_STEPS:
        raise RunError(
            f"skills of one period are too unequal to compare: sds from {sd.min():.2g} to {sd.max():.2g} points",
            hint="if another program changed the run, fit the games again",
        )
    steps = max(math.ceil(needed), 1)
    x = np.linspace(low, low + step * steps, 3 * (steps + 1))  # close enough for cubics between them
    matters[likely] = False
    below = _log_below(x, mean[matters], sd[matters])
    candidates = np.searchsorted(members, likely)
    names = [players[index] for index in members]
    return Contest(number, names, mean[members], sd[members], candidates, x, below, np.empty(0))


def _lowest_maximum(mean: Array, sd: Array) -> float:
    """A skill that the strongest player exceeds, except with probability `_NEVER`."""
    nearest = np.argpartition(-mean, min(_NEAREST, len(mean)) - 1)[:_NEAREST]
    skills = np.linspace(float((mean - _REACH * sd).max()), float(mean.max()), _CHOICES)
    log_cdfs = _sum_log_cdfs(skills, mean[nearest], sd[nearest])
    possible = int(np.searchsorted(log_cdfs, math.log(_NEVER)))
    return float(skills[max(possible - 1, 0)])


def settled(
    run: Run, contests: Sequence[Contest], seed: int, groups: Sequence[Sequence[tuple[str, int]]] = ()
) -> Decided:
    """Compute the probabilities of contests, and covariance matrices of `groups` of skills (player, period number).

    Without a joint posterior, or if it is too large, skills are independent. The number of samples depends on the run
    only, so all views show the same probabilities.
    """
    matrices: list[Array] | None = None
    if run.has_joint:
        contests = [
            _narrowed(run, contest) if len(contest.candidates) > MOST_CANDIDATES else contest
            for contest in contests
        ]
        candidates = [
            [(contest.players[index], contest.number) for index in contest.candidates] for contest in contests
        ]
        with suppress(ConfigError):
            matrices = run.joint.within([*candidates, *groups], _TOLERANCE)
    if matrices is None:
        decided = [contest._replace(p=independent(contest)) for contest in contests]
        return Decided(decided, INDEPENDENT, None)
    scaled = [run.scale.slope**2 * covariance for covariance in matrices]
    covariances = scaled[: len(contests)]
    samples = _samples(run)
    most = max((len(covariance) for covariance in covariances), default=0)
    # The first rows are the same whatever `most` is.
    normal = np.random.default_rng(seed).standard_normal((most, samples // 2))
    decided = []
    error = 0.0
    unlikely_share = 0.0
    for contest, covariance in zip(contests, covariances, strict=True):
        p = _sampled(contest, covariance, normal)
        error = max(error, math.sqrt(float((p * (1.0 - p)).max()) / samples))
        unlikely_share = max(unlikely_share, 1.0 - float(p[contest.candidates].sum()))
        decided.append(contest._replace(p=p))
    remark = JOINT.format(samples, seed, error)
    if unlikely_share >= 5e-4:
        remark += _UNLIKELY_SHARE.format(unlikely_share)
    return Decided(decided, remark, scaled[len(contests) :])


def _samples(run: Run) -> int:
    """The number of samples of the skills of each period of a run."""
    ((periods,),) = run.select("SELECT count(*) FROM periods")[1]
    samples: int = max(min(SAMPLES, ALL_SAMPLES // max(periods, 1)), LEAST_SAMPLES)
    return samples


def _narrowed(run: Run, contest: Contest) -> Contest:
    """The contest with at most `MOST_CANDIDATES`: the players most likely to be stronger than the leader."""
    skills = [(contest.players[index], contest.number) for index in contest.candidates]
    mean = contest.mean[contest.candidates]
    sd = contest.sd[contest.candidates]
    (shared,) = run.joint.shared(skills[:1], [skills], _TOLERANCE)
    shared *= run.scale.slope**2
    difference_sd = np.sqrt(np.maximum(sd**2 + sd[0] ** 2 - 2.0 * shared, 1e-12 * sd**2))
    order = np.argsort((mean[0] - mean) / difference_sd, kind="stable")
    dropped = np.sort(order[MOST_CANDIDATES:])
    below = contest.below + _sum_log_cdfs(contest.x, mean[dropped], sd[dropped])
    return contest._replace(candidates=contest.candidates[np.sort(order[:MOST_CANDIDATES])], below=below)


def _sampled(contest: Contest, covariance: Array, normal: Array) -> Array:
    """The probabilities of a contest, from samples of its candidates.

    `normal` (candidates, samples / 2): standard normal numbers, each used with both signs. The error is at most that
    of independent samples.
    """
    value, vector = np.linalg.eigh(covariance)
    # This root changes no faster than the covariance matrix.
    noise = (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T @ normal[: len(value)]
    drawn = contest.mean[contest.candidates, None] + np.hstack([noise, -noise])
    best = drawn.argmax(axis=0)
    highest = drawn.max(axis=0)
    below = _finer(contest.below)
    x = np.linspace(contest.x[0], contest.x[-1], len(below))
    position = np.clip((highest - x[0]) / (x[1] - x[0]), 0, len(x) - 1)
    weight = np.exp(below)[np.rint(position).astype(np.intp)]
    p = np.empty(len(contest.players))
    unlikely = np.ones(len(contest.players), bool)
    p[contest.candidates] = np.bincount(best, weight, len(value)) / len(weight)
    unlikely[contest.candidates] = False
    if unlikely.any():
        counts = np.bincount(np.ceil(position).astype(np.intp), minlength=len(x))
        candidates_below = np.cumsum(counts) / len(weight)
        with np.errstate(divide="ignore"):
            all_below = below + np.log(candidates_below)
            p[unlikely] = _highest(x, all_below, contest.mean[unlikely], contest.sd[unlikely])
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


def independent(contest: Contest) -> Array:
    """The probabilities of a contest with all skills independent."""
    mean = contest.mean[contest.candidates]
    sd = contest.sd[contest.candidates]
    below = contest.below + _sum_log_cdfs(contest.x, mean, sd)
    return _highest(contest.x, below, contest.mean, contest.sd)


def _highest(x: Array, below: Array, mean: Array, sd: Array) -> Array:
    """The probability of each player to be above all others, (players,).

    It is the integral over `x` of the player's density times the product of the others' cdfs. `below` is the log of
    the product of all cdfs; the player's own is subtracted. `x` has equal steps, which for Gaussians converge faster
    than any power of the step.
    """
    step = float(x[1] - x[0])
    probability = np.empty(len(mean))
    rows = max(_CHUNK // len(x), 1)
    for start in range(0, len(mean), rows):
        part = slice(start, start + rows)
        z = (x - mean[part, None]) / sd[part, None]
        density = np.exp(below - log_cdf(z) - 0.5 * z * z) / (math.sqrt(2.0 * math.pi) * sd[part, None])
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
    result: Array = table.value[index] + off * (table.slope[index] + off * table.half_curvature[index])
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
    tail = np.array([0.5 * math.erfc(x * math.sqrt(0.5)) for x in np.abs(z).tolist()])
    value = np.where(z < 0.0, np.log(tail), np.log1p(-tail))
    slope = np.exp(-0.5 * z * z - value) / math.sqrt(2.0 * math.pi)
    return _LogCdfTable(value, slope, -0.5 * slope * (z + slope))
