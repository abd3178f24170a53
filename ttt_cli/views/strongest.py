"""Probability of being the strongest of a field (p_best), and lead over the best others (dominance).

p_best is estimated from joint samples of the candidates; all other players are taken as independent. Without a joint
posterior all are independent, and p_best is an integral.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Places
from ttt_cli.support.errors import ConfigError, RunError

OTHERS: Final = 10
LEAST: Final = 5
_WHAT: Final = f"the lead over the mean of the {OTHERS} best others who are eligible ({LEAST} at least)"
DOMINANCE_REMARK: Final = f"dominance: {_WHAT}, sd_dominance {{}}"
JOINT_SD: Final = "from the joint posterior"
INDEPENDENT_SD: Final = "with skills taken as independent"
INDEPENDENT: Final = "p_best: probability of being the strongest of them, their skills taken as independent"
JOINT: Final = (
    "p_best: probability of being the strongest of them, estimated from {:,} samples of joint skills (seed {}); "
    "Monte Carlo error at most {:.4f}"
)
_REST: Final = "; {:.1%} at most belong to unlikely players, taken as independent"
SAMPLES: Final = 40_000  # of the skills of one period
LEAST_SAMPLES: Final = 4000  # where the run has many periods
ALL_SAMPLES: Final = 10_000_000
_UNLIKELY: Final = -2.75  # sds of the difference to the leader: stronger with a probability of 0.003
MOST_CANDIDATES: Final = 64
NAMED: Final = 200  # candidates have one of the highest means
# Of solutions: sds of differences are exact to 2e-4 then, where 40,000 samples tell 5e-3.
_LOOSE: Final = 1e-3  # solutions are exact to the square of it

_REACH: Final = 6.5  # sds: what lies further is below 1e-10
_MATTERS: Final = 7.0  # sds: a player so far below the field's lowest maximum changes nothing
_NEVER: Final = 1e-10
_CHOICES: Final = 64  # points among which the field's lowest maximum is looked for
_NEAR: Final = 100  # players whose cdfs are multiplied one by one; the others' product is smooth
_NODES: Final = 32  # Chebyshev nodes for it
_FINENESS: Final = 1.2  # of the steps
_MOST_STEPS: Final = 16_384  # as many as sds need of which one is 400 times another
_FINER: Final = 16  # points a step, of which the nearest is close enough
_CELLS: Final = 512  # of the table of log Phi, per sd
_TABLE_REACH: Final = 9
_CHUNK: Final = 1 << 17  # numbers worked on at a time


class Contest(NamedTuple):
    """The strongest players of a period by descending mean, points: those to show, and the candidates for `p_best`.

    `p`: the probability of being the strongest, empty until it is computed. `candidates`: their indices among the
    players. `x`, `below`, (steps,): points, and the log probability that all other players are below x.
    """

    number: int
    players: list[str]
    mean: Array
    sd: Array
    candidates: Places
    x: Array
    below: Array
    p: Array


def contest(number: int, players: Sequence[str], mean: Array, sd: Array, first: int) -> Contest:
    """The contest of a period; `first`: the number of players to show.

    `mean`, `sd`: of all eligible players, by descending mean. `players`: at least the first `NAMED` names. Raises
    RunError for sds that are too unequal.
    """
    named = slice(min(len(players), NAMED))
    # Independence gives the largest sd of a difference, since nobody's skill falls as another one's rises.
    near = np.flatnonzero(mean[named] - mean[0] >= _UNLIKELY * np.hypot(sd[named], sd[0]))
    shown = np.union1d(np.arange(min(first, len(mean))), near)
    # From a value that the strongest skill exceeds, except with probability `_NEVER`
    nearest = np.argpartition(-mean, min(_NEAR, len(mean)) - 1)[:_NEAR]
    x = np.linspace(float((mean - _REACH * sd).max()), float(mean.max()), _CHOICES)
    possible = int(np.searchsorted(_log_cdfs(x, mean[nearest], sd[nearest]), math.log(_NEVER)))
    low = float(x[max(possible - 1, 0)])
    matters = mean + _MATTERS * sd > low
    # Steps fine enough for the maximum: that of n equal players is narrower by sqrt(2 log n).
    nearest = np.flatnonzero(matters)[np.argsort(((mean.max() - mean) / sd)[matters])[:_NEAR]]
    step = _FINENESS * float(sd[nearest].min()) / (1.0 + math.sqrt(2.0 * math.log(matters.sum() + 1)))
    needed = (float((mean + _REACH * sd)[matters].max()) - low) / step
    if not needed <= _MOST_STEPS:
        raise RunError(
            f"skills of one period are too unequal to compare: sds from {sd.min():.2g} to {sd.max():.2g} points",
            hint="if another program changed the run, fit the games again",
        )
    steps = max(math.ceil(needed), 1)
    x = np.linspace(low, low + step * steps, 3 * (steps + 1))  # close enough for cubics between them
    matters[near] = False
    below = _log_below(x, mean[matters], sd[matters])
    candidates = np.searchsorted(shown, near)
    names = [players[k] for k in shown]
    return Contest(number, names, mean[shown], sd[shown], candidates, x, below, np.empty(0))


def settled(
    run: Run, contests: Sequence[Contest], seed: int, further: Sequence[Sequence[tuple[str, int]]] = ()
) -> tuple[list[Contest], str, list[Array] | None]:
    """Each contest with its probabilities, a line on the method, and covariance matrices of `further` groups.

    Without a joint posterior, or if it is too large, skills are independent and the covariances None. The number of
    samples depends on the run only, so all views show the same probabilities.
    """
    found = None
    if run.has_joint:
        contests = [_narrowed(run, one) if len(one.candidates) > MOST_CANDIDATES else one for one in contests]
        groups = [[(one.players[k], one.number) for k in one.candidates] for one in contests]
        with suppress(ConfigError):
            found = run.joint.within([*groups, *further], _LOOSE)
    if found is None:
        return [one._replace(p=independent(one)) for one in contests], INDEPENDENT, None
    every = [run.scale.slope**2 * covariance for covariance in found]
    covariances = every[: len(contests)]
    others = every[len(contests) :]
    ((periods,),) = run.select("SELECT count(*) FROM periods")[1]
    samples = max(min(SAMPLES, ALL_SAMPLES // max(periods, 1)), LEAST_SAMPLES)
    most = max(map(len, covariances), default=0)
    # The first rows are the same whatever `most` is.
    normal = np.random.default_rng(seed).standard_normal((most, samples // 2))
    decided = []
    error = 0.0
    rest = 0.0
    for one, covariance in zip(contests, covariances, strict=True):
        p = _sampled(one, covariance, normal)
        error = max(error, math.sqrt(float((p * (1.0 - p)).max()) / samples))
        rest = max(rest, 1.0 - float(p[one.candidates].sum()))
        decided.append(one._replace(p=p))
    remark = JOINT.format(samples, seed, error) + (_REST.format(rest) if rest >= 5e-4 else "")
    return decided, remark, others


def _narrowed(run: Run, one: Contest) -> Contest:
    """The contest with at most `MOST_CANDIDATES`: the players most likely to be stronger than the leader."""
    skills = [(one.players[k], one.number) for k in one.candidates]
    mean = one.mean[one.candidates]
    sd = one.sd[one.candidates]
    (shared,) = run.joint.shared(skills[:1], [skills], _LOOSE)
    shared *= run.scale.slope**2
    spread = np.sqrt(np.maximum(sd**2 + sd[0] ** 2 - 2.0 * shared, 1e-12 * sd**2))
    order = np.argsort((mean[0] - mean) / spread, kind="stable")
    left = np.sort(order[MOST_CANDIDATES:])
    below = one.below + _log_cdfs(one.x, mean[left], sd[left])
    return one._replace(candidates=one.candidates[np.sort(order[:MOST_CANDIDATES])], below=below)


def _sampled(one: Contest, covariance: Array, normal: Array) -> Array:
    """The probabilities of a contest, from samples of its candidates.

    `normal` (candidates, samples / 2): standard normal numbers, each used with both signs. The error is at most that
    of independent samples.
    """
    value, vector = np.linalg.eigh(covariance)
    # This root changes no faster than the covariance matrix.
    noise = (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T @ normal[: len(value)]
    drawn = one.mean[one.candidates, None] + np.hstack([noise, -noise])
    best = drawn.argmax(axis=0)
    highest = drawn.max(axis=0)
    below = _finer(one.below)
    x = np.linspace(one.x[0], one.x[-1], len(below))
    at = np.clip((highest - x[0]) / (x[1] - x[0]), 0, len(x) - 1)
    weight = np.exp(below)[np.rint(at).astype(np.intp)]
    p = np.empty(len(one.players))
    unlikely = np.ones(len(one.players), bool)
    p[one.candidates] = np.bincount(best, weight, len(value)) / len(weight)
    unlikely[one.candidates] = False
    if unlikely.any():
        reached = np.cumsum(np.bincount(np.ceil(at).astype(np.intp), minlength=len(x))) / len(weight)
        with np.errstate(divide="ignore"):
            p[unlikely] = _highest(x, below + np.log(reached), one.mean[unlikely], one.sd[unlikely])
    return p


def _finer(values: Array) -> Array:
    """Values at equal steps interpolated to `_FINER` points a step, by cubics through the four values around."""
    at = np.arange(_FINER * (len(values) - 1) + 1) / _FINER
    before = np.clip(at.astype(np.intp), 1, len(values) - 3)
    u = at - before
    shares = (
        (u - 1) * (u - 2) * -u / 6,
        (u * u - 1) * (u - 2) / 2,
        (u + 1) * u * (2 - u) / 2,
        (u * u - 1) * u / 6,
    )
    found: Array = np.sum([share * values[before + k] for k, share in enumerate(shares, -1)], axis=0)
    return found


def independent(one: Contest) -> Array:
    """The probabilities of a contest with all skills independent."""
    below = one.below + _log_cdfs(one.x, one.mean[one.candidates], one.sd[one.candidates])
    return _highest(one.x, below, one.mean, one.sd)


def _highest(x: Array, below: Array, mean: Array, sd: Array) -> Array:
    """The probability of each player to be above all others, (players,).

    It is the integral over `x` of the player's density times the product of the others' cdfs. `below` is the log of
    the product of all cdfs; the player's own is subtracted. `x` has equal steps, which for Gaussians converge faster
    than any power of the step.
    """
    step = float(x[1] - x[0])
    found = np.empty(len(mean))
    rows = max(_CHUNK // len(x), 1)
    for start in range(0, len(mean), rows):
        part = slice(start, start + rows)
        z = (x - mean[part, None]) / sd[part, None]
        density = np.exp(below - log_cdf(z) - 0.5 * z * z) / (math.sqrt(2.0 * math.pi) * sd[part, None])
        found[part] = step * density.sum(axis=1)
    return np.minimum(found, 1.0)


def _log_below(x: Array, mean: Array, sd: Array) -> Array:
    """The log probability that all players are below x, shape of x.

    For all but the nearest players, log(-log cdf) is smooth and is interpolated.
    """
    if not len(mean):
        return np.zeros(len(x))
    order = np.argsort((mean.max() - mean) / sd)
    near = order[:_NEAR]
    far = order[_NEAR:]
    total = _log_cdfs(x, mean[near], sd[near])
    end = float((mean[far] + _REACH * sd[far]).max(initial=x[0]))
    if end > x[0]:
        from numpy.polynomial import Chebyshev

        def exponent(at: Array) -> Array:
            return np.log(-_log_cdfs(at, mean[far], sd[far]))

        smooth = Chebyshev.interpolate(exponent, _NODES, domain=[x[0], min(end, x[-1])])
        here = x < end
        total[here] -= np.exp(smooth(x[here]))
    return total


def _log_cdfs(x: Array, mean: Array, sd: Array) -> Array:
    """The sum of log Phi((x - mean) / sd) over all players, at every x."""
    total = np.zeros(len(x))
    rows = max(_CHUNK // len(x), 1)
    for start in range(0, len(mean), rows):
        part = slice(start, start + rows)
        total += log_cdf((x - mean[part, None]) / sd[part, None]).sum(axis=0)
    return total


def log_cdf(z: Array) -> Array:
    """log Phi(z) from a table with slopes and curvatures; relative error below 1e-7, constant beyond 9 sds."""
    value, slope, curvature = _table()
    cells = np.clip(z, -_TABLE_REACH, _TABLE_REACH) * _CELLS
    nearest = np.rint(cells)
    index = nearest.astype(np.intp) + _TABLE_REACH * _CELLS
    off = (cells - nearest) / _CELLS
    result: Array = value[index] + off * (slope[index] + off * curvature[index])
    return result


@cache
def _table() -> tuple[Array, Array, Array]:
    """log Phi, its slope, and half its curvature on the table's points."""
    z = np.arange(-_TABLE_REACH * _CELLS, _TABLE_REACH * _CELLS + 1) / _CELLS
    tail = np.array([0.5 * math.erfc(x * math.sqrt(0.5)) for x in np.abs(z).tolist()])
    value = np.where(z < 0.0, np.log(tail), np.log1p(-tail))
    slope = np.exp(-0.5 * z * z - value) / math.sqrt(2.0 * math.pi)
    return value, slope, -0.5 * slope * (z + slope)


class Lead(NamedTuple):
    """A player's dominance in a period; `skills` are the player's and those of the others, `sds` theirs."""

    value: float
    skills: list[tuple[str, int]]
    sds: list[float | None]


def lead_of(number: int, place: int, players: Sequence[str], mean: Any, sd: Any) -> Lead | None:
    """The dominance of the player at index `place` among all eligible players, by descending mean.

    None if there are too few others.
    """
    if len(mean) <= LEAST:
        return None
    group = [place, *[other for other in range(min(OTHERS + 1, len(mean))) if other != place][:OTHERS]]
    value = float(_weights(len(group)) @ [mean[k] for k in group])
    return Lead(value, [(players[k], number) for k in group], [sd[k] for k in group])


def deviations(run: Run, leads: Sequence[Lead | None]) -> tuple[list[float | None], str]:
    """The sds of leads, and how they were found."""
    known = [lead.skills for lead in leads if lead and None not in lead.sds]
    if not (run.has_joint and known):
        return spreads(leads)
    found = iter(run.joint.deviations(known, [_weights(len(group)) for group in known]))
    return [next(found) if lead else None for lead in leads], JOINT_SD


def spreads(
    leads: Sequence[Lead | None], covariances: Sequence[Array] | None = None
) -> tuple[list[float | None], str]:
    """The sds of leads from covariance matrices of their skills (None: independent), and how they were found."""
    sds: list[float | None] = []
    for k, lead in enumerate(leads):
        if lead is None or None in lead.sds:
            sds.append(None)
            continue
        weights = _weights(len(lead.sds))
        independent = np.diag(np.square(np.array(lead.sds, np.float64)))
        covariance = independent if covariances is None else covariances[k]
        sds.append(math.sqrt(max(float(weights @ covariance @ weights), 0.0)))
    return sds, INDEPENDENT_SD if covariances is None else JOINT_SD


def _weights(skills: int) -> Array:
    return np.append(1.0, np.full(skills - 1, -1.0 / (skills - 1)))
