"""The probability of being the strongest of a period: from a run's joint posterior, else as if skills were independent.

Those who are likely enough if skills were independent share what they have there by samples of their joint skills.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.arrays import Array, Places
from ttt_cli.errors import ConfigError
from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.contention import best_probabilities

INDEPENDENT: Final = "p_best: probability of being the strongest of them, their skills taken as independent"
JOINT: Final = (
    "p_best: probability of being the strongest of them, by joint skills of {}: "
    "{:,} samples (seed {}), standard error up to {:.4f}"
)
SAMPLES: Final = 40_000  # of the skills of one period
LEAST_SAMPLES: Final = 1000  # of many
ALL_SAMPLES: Final = 10_000_000
LIKELY: Final = 1e-3  # of being the strongest, if skills were independent
MOST_LIKELY: Final = 50
NAMED: Final = 200  # of the highest means: others are not likely
_SURPASSED: Final = -3.1  # sds: who is so far below another is not likely
# Of solutions: sds of differences are exact to 2e-4 then, where 40,000 samples tell 5e-3.
_LOOSE: Final = 1e-3  # solutions are exact to the square of it


class Contest(NamedTuple):
    """Some of those who are eligible in a period, from the highest mean on, and their probabilities; points."""

    number: int
    players: list[str]
    mean: Array
    p: Array


def contest(number: int, players: Sequence[str], mean: Array, sd: Array, first: int) -> Contest:
    """The `first` of a field, and whoever else is likely to be its strongest, as if skills were independent.

    `mean`, `sd`: of all who are eligible, from the highest mean on; `players`: the names of as many as are needed.
    """
    named = min(len(players), NAMED)
    spread = np.hypot(sd[:named], sd[0])
    near = np.flatnonzero(mean[:named] - mean[0] >= _SURPASSED * spread)
    asked = np.union1d(np.arange(min(first, len(mean))), near)
    p = best_probabilities(mean, sd, asked)
    kept = (asked < first) | (p >= LIKELY)
    asked = asked[kept]
    return Contest(number, [players[k] for k in asked], mean[asked], p[kept])


def settled(
    run: Run, contests: Sequence[Contest], seed: int, further: Sequence[Sequence[tuple[str, int]]] = ()
) -> tuple[list[Contest], str, list[Array] | None]:
    """The same with probabilities by the joint skills of those who are likely, and a line on how these were found.

    Also the covariance matrices of `further` groups of skills. None, and all as it was, without a joint posterior or
    where it is out of reach.
    """
    groups = [[(one.players[k], one.number) for k in _likely(one.p)] for one in contests]
    try:
        found = run.joint.within([*groups, *further], _LOOSE) if run.has_joint else None
    except ConfigError:
        found = None
    if found is None:
        return list(contests), INDEPENDENT, None
    every = [run.scale.slope**2 * covariance for covariance in found]
    covariances, others = every[: len(contests)], every[len(contests) :]
    samples = max(min(SAMPLES, ALL_SAMPLES // max(len(contests), 1)), LEAST_SAMPLES)
    most = max(map(len, covariances), default=0)
    normal = np.random.default_rng(seed).standard_normal((most, samples))  # the first rows whatever most is
    decided, errors = [], [0.0]
    for one, covariance in zip(contests, covariances, strict=True):
        some = _likely(one.p)
        won = _won(one.mean[some], covariance, normal[: len(some)])
        errors.append(math.sqrt(float((won * (1.0 - won)).max(initial=0.0)) / samples))
        p = one.p.copy()
        p[some] = won * p[some].sum()
        decided.append(one._replace(p=p))
    who = f"the {most} likeliest" if len(contests) == 1 else f"up to {most} likely ones a period"
    return decided, JOINT.format(who, samples, seed, max(errors)), others


def _likely(p: Array) -> Places:
    """Who shares by samples: nobody where there is only one."""
    first = np.argsort(-p, kind="stable")[:MOST_LIKELY]
    some = first[p[first] >= LIKELY]
    return some if len(some) > 1 else some[:0]


def _won(mean: Array, covariance: Array, normal: Array) -> Array:
    """The shares of samples, made of normal numbers (players, samples), in which each is the highest."""
    if not len(mean):
        return np.empty(0)
    value, vector = np.linalg.eigh(covariance)
    # This root changes no faster than the covariance matrix.
    root = (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T
    drawn = mean[:, None] + root @ normal
    shares: Array = np.bincount(drawn.argmax(axis=0), minlength=len(mean)) / normal.shape[1]
    return shares
