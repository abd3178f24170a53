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
from ttt_cli.views.entrants import EntrantRows, find_entrants
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import run_line

_POINTS: Final = 2000  # of the integral over a performance
_REACH: Final = 9.0  # sds on both sides of its mean


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


def place_rows(run: Run, names: Sequence[str], at: str | int | None) -> EntrantRows:
    """Probabilities of places of players by name: columns `player,period,mean,sd,p_1,p_2,...,place`.

    `place` is the one to be expected. Equal performances have no width: within the draw margin the one ahead is ahead.
    Raises LookupFailed, also in systems without normal performances.
    """
    params = run.meta.params
    if not is_gaussian(params):
        raise LookupFailed(
            f"{run.meta.model} has no distribution of performances, so no probabilities of places"
        )
    with run:
        entrants = find_entrants(run, names, at)
    skills = [run.scale.points(entrant.skill) for entrant in entrants.players]
    mean = np.array([skill["mean"] for skill in skills])
    variance = np.array([skill["sd"] ** 2 for skill in skills])
    probabilities = place_probabilities(mean, np.sqrt(variance + params["beta"] ** 2))
    heads = [f"p_{place}" for place in range(1, len(mean) + 1)]
    rows: list[tuple[Any, ...]] = []
    for entrant, of_player in zip(entrants.players, probabilities.tolist(), strict=True):
        expected = math.fsum(place * p for place, p in enumerate(of_player, 1))
        cells = (entrant.player, entrant.period, entrant.skill["mean"], entrant.skill["sd"])
        rows.append((*cells, *of_player, expected))
    columns = ("player", "period", "mean", "sd", *heads, "place")
    decimals = {"mean": 0, "sd": 0, "place": 2} | dict.fromkeys(heads, 3)
    title = (
        "Probabilities of places in one game of all",
        "their skills taken as independent",
        run_line(run),
    )
    return EntrantRows(Rows(columns, rows, title, decimals), entrants.notes)
