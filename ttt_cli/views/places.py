"""In which place each of several players would finish, if all met in one game or race."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ttt_cli.inference.outcome import is_gaussian
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.entrants import EntrantRows, covariance_of, find_entrants
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import run_line
from ttt_cli.views.versus import TAKEN

_POINTS: Final = 2000  # of the integral over a performance
_REACH: Final = 9.0  # sds on both sides of its mean
_SAMPLES: Final = 2**18  # of correlated performances: standard errors are at most 0.001

PLACE_COLUMNS: Final = (
    Described("player", "", "name"),
    Described("period", "", "the period of the skill"),
    Described("mean", "points", "skill in the period"),
    Described("sd", "points", "uncertainty of the skill, one sd"),
    Described("p_1", "probability", "of the place with this number", pattern="p_[0-9]+"),
    Described("place", "", "the place to be expected", value_type="number"),
)


def place_probabilities(mean: Array, sd: Array) -> Array:
    """Probabilities (players, players) that the player of a row finishes in the place of a column, the first first.

    Performances are independent normal ones. Given his own, t, the number of players ahead is a sum of independent
    indicators, with the probabilities P(theirs > t); the average over t is a sum over equally spaced ones.
    """
    from scipy.special import ndtr

    n = len(mean)
    offset = np.linspace(-_REACH, _REACH, _POINTS)
    weight = np.exp(-0.5 * offset**2)
    weight /= weight.sum()
    places = np.empty((n, n))
    for player in range(n):
        performance = mean[player] + sd[player] * offset
        ahead = np.zeros((n, _POINTS))  # probabilities of numbers of players ahead
        ahead[0] = 1.0
        for other in np.delete(np.arange(n), player).tolist():
            p = ndtr((mean[other] - performance) / sd[other])
            ahead[1:] = ahead[1:] * (1.0 - p) + ahead[:-1] * p
            ahead[0] *= 1.0 - p
        places[player] = ahead @ weight
    return places


def sampled_place_probabilities(mean: Array, covariance: Array) -> Array:
    """`place_probabilities` of correlated performances, by samples, half of which are mirror images of the others."""
    n = len(mean)
    halves = np.random.default_rng(0).multivariate_normal(
        np.zeros(n), covariance, _SAMPLES // 2, check_valid="ignore", method="eigh"
    )
    samples = np.concatenate([mean + halves, mean - halves])
    order = np.argsort(-samples, axis=1)  # the player in each place
    counts = [np.bincount(in_place, minlength=n) for in_place in order.T]
    return np.array(counts).T / len(samples)


def place_rows(run: Run, names: Sequence[str], at: str | int | None) -> EntrantRows:
    """Probabilities of places of players by name: `PLACE_COLUMNS`, with a `p_1`, `p_2`, ... for each place.

    Equal performances have no width: within the draw margin the one ahead is ahead.
    Raises LookupFailed, also in systems without normal performances.
    """
    params = run.meta.params
    if not is_gaussian(params):
        raise LookupFailed(
            f"{run.meta.model} has no distribution of performances, so no probabilities of places"
        )
    with run:
        entrants = find_entrants(run, names, at)
        covariance = covariance_of(run, entrants)
    mean = np.array([run.scale.points(entrant.skill)["mean"] for entrant in entrants.players])
    performances = covariance + params["beta"] ** 2 * np.eye(len(mean))
    if run.has_joint:
        probabilities = sampled_place_probabilities(mean, performances)
        method = f"their joint skills, by {_SAMPLES:,} samples"
    else:
        probabilities = place_probabilities(mean, np.sqrt(np.diag(performances)))
        method = TAKEN["independent"]
    heads = [f"p_{place}" for place in range(1, len(mean) + 1)]
    rows: list[tuple[Any, ...]] = []
    for entrant, of_player in zip(entrants.players, probabilities.tolist(), strict=True):
        expected = math.fsum(place * p for place, p in enumerate(of_player, 1))
        cells = (entrant.player, entrant.period, entrant.skill["mean"], entrant.skill["sd"])
        rows.append((*cells, *of_player, expected))
    *of_player, _, expected_place = column_names(PLACE_COLUMNS)
    columns = (*of_player, *heads, expected_place)
    decimals = {"mean": 0, "sd": 0, "place": 2} | dict.fromkeys(heads, 3)
    title = ("Probabilities of places in one game of all", method, run_line(run))
    return EntrantRows(Rows(columns, rows, title, decimals), entrants.notes)
