"""Fit: what a model found, and the histories that follow from it.

A history has a skill in every period from the first to the last game, those between games as their chain has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ttt_cli.chains import Chain
from ttt_cli.quantities import bridge_columns, chain_columns
from ttt_cli.timeline import Timeline

Kind = Literal["smoothed", "filtered"]


@dataclass(frozen=True)
class Status:
    """How inference ended. `remaining_error`: estimated largest error of a mean or sd, in points."""

    converged: bool
    sweeps: int
    remaining_error: float
    skipped_sites: int = 0


@dataclass(frozen=True)
class Fit:
    """A fitted model. Equal inputs give equal Fits: no clock, no path.

    `params` are the resolved numbers (no `auto` left); `chains` holds at least `skill`;
    `trace` has one row per sweep: (largest change of a mean or sd, estimated remaining error), points;
    `log_evidence` is NaN where the model has none; a filter's is the sum of the log probabilities with which each game
    was foreseen. `leave_one_out` is the same sum, each game given all others (a filter: the earlier ones), or NaN;
    `notes` are sentences about what the model left out or could not tell, for the user;
    `elo_unit` is how many points are one Elo point (`ttt_cli.models.elo_unit`);
    `state` is what a further fit of the same timeline may start from.
    """

    model: str
    kind: Kind
    params: dict[str, Any]
    chains: dict[str, Chain]
    log_evidence: float
    status: Status
    leave_one_out: float = float("nan")
    elo_unit: float = 1.0
    trace: tuple[tuple[float, float], ...] = ()
    notes: tuple[str, ...] = ()
    state: dict[str, NDArray[np.float64]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def mean(self) -> NDArray[np.float64]:
        """Skill per node, points."""
        return self.chains["skill"].mean

    @property
    def sd(self) -> NDArray[np.float64]:
        """Standard deviation of skill per node, points."""
        return self.chains["skill"].sd


@dataclass(frozen=True)
class Spans:
    """What is believed of players from one period with games on, until the next: arrays of shape (spans,).

    `player` is believed so from `period` to before `until`; `games` is the weighted number of games in `period`, with
    none in the others. `columns` holds, in order, mean and sd in `period` of each chain as `chain_columns` names them,
    then how they go on from there, as `bridge_columns` does.
    """

    player: NDArray[np.int32]
    period: NDArray[np.int32]
    until: NDArray[np.int32]
    games: NDArray[np.float64]
    columns: dict[str, NDArray[np.float64]]


def later_on(
    columns: Mapping[str, NDArray[np.float64]], chain: str, ahead: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and sd of a chain n periods after the beginnings of spans, which have these columns.

    The mean is larger by a n, the variance by b n + c n^2 and the sd at most d. With a prior of sd e this is the
    variance before the prior is taken in. NaN in d and e: there is none.
    """
    mean, sd = (columns[name] for name in chain_columns(chain))
    step, rise, bend, most, prior = (columns[name] for name in bridge_columns(chain))
    known = np.where(np.isnan(prior), 0.0, prior**-2)
    told = sd**-2 - known
    later = (known + told / (1.0 + told * ahead * (rise + ahead * bend))) ** -0.5
    return mean + ahead * step, np.where(ahead == 0, sd, np.where(later > most, most, later))


def by_player(timeline: Timeline) -> NDArray[np.int64]:
    """The nodes in order of player, then period."""
    return np.argsort(timeline.node_player, kind="stable")


def spans(timeline: Timeline, fit: Fit, nodes: NDArray[np.int64]) -> Spans:
    """The spans that begin at some nodes."""
    following = timeline.next[nodes]
    begin = timeline.node_period[nodes]
    until = np.where(following >= 0, timeline.node_period[following], begin + 1)
    bridged = np.flatnonzero(until - begin > 1)
    earlier, later = nodes[bridged], following[bridged]
    steps = (until - begin)[bridged].astype(np.float64)
    starts: dict[str, NDArray[np.float64]] = {}
    bridges: dict[str, NDArray[np.float64]] = {}
    for name, chain in fit.chains.items():
        for column, values in zip(chain_columns(name), (chain.mean, chain.sd), strict=True):
            starts[column] = values[nodes]
        bridge = chain.bridge(earlier, later, timeline.gap_years[later])
        changes = bridge.slope / steps, bridge.rise / steps, bridge.bend / steps**2
        *names, most, prior = bridge_columns(name)
        for column, change in zip(names, changes, strict=True):
            bridges[column] = np.zeros(len(nodes))
            bridges[column][bridged] = change
        bridges[most], bridges[prior] = np.full((2, len(nodes)), [[bridge.most], [bridge.prior]])
    played = timeline.node_games[nodes]
    return Spans(timeline.node_player[nodes], begin, until.astype(np.int32), played, starts | bridges)


def periods_of_histories(timeline: Timeline) -> NDArray[np.int64]:
    """The numbers of all periods in which anybody has a skill, in order."""
    if not timeline.n_nodes:
        return np.empty(0, np.int64)
    first = int(timeline.node_period.min())
    later = np.flatnonzero(timeline.previous >= 0)
    span = int(timeline.node_period.max()) - first + 1
    began = np.bincount(timeline.node_period[timeline.previous[later]] - first, minlength=span)
    ended = np.bincount(timeline.node_period[later] - first, minlength=span)
    inside = np.cumsum(began - ended) > 0
    inside[timeline.node_period - first] = True
    return np.flatnonzero(inside) + first
