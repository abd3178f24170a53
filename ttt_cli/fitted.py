"""Fit: what a model found, and the histories that follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ttt_cli.chains import Chain
from ttt_cli.periods import STEPS_PER_YEAR
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
    leave_one_out: float = 0.0
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
class Histories:
    """Every player's skill in every period from the first to the last game; sorted by player, then period.

    `games` is the weighted number of games in the period, 0 in the inactive ones. `columns` holds, in order,
    `mean`, `sd` and two more per further chain (`draw_margin`, `draw_margin_sd`), all of shape (rows,).
    """

    player: NDArray[np.int32]
    period: NDArray[np.int32]
    games: NDArray[np.float64]
    columns: dict[str, NDArray[np.float64]]


def histories(timeline: Timeline, fit: Fit) -> Histories:
    """Lay out the skills of all periods, inactive ones as their chain has them (`ttt_cli.chains`)."""
    order, rows = _chains_in_order(timeline)
    return _laid_out(timeline, fit, order, rows)


def parts_of_histories(timeline: Timeline, fit: Fit, most: int) -> Iterator[Histories]:
    """The same in parts, each of whole players and of at most so many rows, if one player has no more."""
    order, rows = _chains_in_order(timeline)
    player = timeline.node_player[order]
    ends = np.append(np.flatnonzero(np.diff(player)) + 1, len(order))[: len(order)]
    until = np.cumsum(rows)[ends - 1]
    begin = done = 0
    while begin < len(order):
        last = max(
            np.searchsorted(until, done + most, side="right") - 1, np.searchsorted(ends, begin, side="right")
        )
        end, done = int(ends[last]), int(until[last])
        yield _laid_out(timeline, fit, order[begin:end], rows[begin:end])
        begin = end


def histories_at_nodes(timeline: Timeline, fit: Fit) -> Histories:
    """The same in periods with games only."""
    order, rows = _chains_in_order(timeline)
    return _laid_out(timeline, fit, order, np.ones_like(rows))


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


def _chains_in_order(timeline: Timeline) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nodes by player, then period; and the rows that each stands for: itself and the empty periods before it."""
    order = np.lexsort((timeline.node_period, timeline.node_player))
    period = timeline.node_period[order].astype(np.int64)
    follows = timeline.previous[order] >= 0
    return order, np.where(follows, np.diff(period, prepend=period[:1]), 1)


def _laid_out(timeline: Timeline, fit: Fit, order: NDArray[np.int64], rows: NDArray[np.int64]) -> Histories:
    node = np.repeat(order, rows)
    ahead = np.repeat(np.cumsum(rows), rows) - 1 - np.arange(len(node))  # periods until the node
    columns: dict[str, NDArray[np.float64]] = {}
    for name, chain in fit.chains.items():
        mean, sd = _at(timeline, chain, node, ahead)
        columns["mean" if name == "skill" else name] = mean
        columns["sd" if name == "skill" else f"{name}_sd"] = sd
    return Histories(
        player=timeline.node_player[node],
        period=(timeline.node_period[node] - ahead).astype(np.int32),
        games=np.where(ahead == 0, timeline.node_games[node], 0.0),
        columns=columns,
    )


def _at(
    timeline: Timeline, chain: Chain, node: NDArray[np.int64], ahead: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and sd so many periods ahead of nodes."""
    mean, sd = chain.mean[node], chain.sd[node]
    idle = np.flatnonzero(ahead)
    if len(idle):
        later = node[idle]
        left = ahead[idle] / STEPS_PER_YEAR[timeline.period]
        gone = timeline.gap_years[later] - left
        mean[idle], sd[idle] = chain.between(timeline.previous[later], later, gone, left)
    return mean, sd
