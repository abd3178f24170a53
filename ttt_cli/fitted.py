"""Fit: what a model found, and the histories that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.timeline import Timeline

Kind = Literal["smoothed", "filtered"]


@dataclass(frozen=True)
class Chain:
    """One quantity per node (skill, draw margin) that drifts along each player's chain; arrays of shape (nodes,).

    `mean`, `sd`: what is believed given all the model's games (a filter: the games so far).
    `forward_mean`, `forward_sd`: given the games up to and including the node's own period.
    `drift`: sd of the change over one year.
    """

    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    forward_mean: NDArray[np.float64]
    forward_sd: NDArray[np.float64]
    drift: float


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
    `leave_one_out` is the sum of the games' log probabilities, each given all others (a filter: the earlier ones);
    `state` is what a further fit of the same timeline may start from.
    """

    model: str
    kind: Kind
    params: dict[str, Any]
    chains: dict[str, Chain]
    log_evidence: float
    status: Status
    leave_one_out: float = 0.0
    trace: tuple[tuple[float, float], ...] = ()
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
    """Lay out the skills of all periods, inactive ones interpolated exactly.

    Between two nodes of a Gaussian random walk the skill given both ends is the Rauch-Tung-Striebel
    step from the forward belief at the earlier node; a filter only lets the uncertainty grow.
    """
    order = np.lexsort((timeline.node_period, timeline.node_player))
    period = timeline.node_period[order]
    follows = timeline.previous[order] >= 0
    rows = np.where(follows, np.diff(period, prepend=period[:1]), 1)  # node and the empty periods before it
    node = np.repeat(order, rows)
    ahead = np.repeat(np.cumsum(rows), rows) - 1 - np.arange(len(node))  # periods until the node
    columns: dict[str, NDArray[np.float64]] = {}
    for name, chain in fit.chains.items():
        mean, sd = _interpolate(timeline, chain, fit.kind, node, ahead)
        columns["mean" if name == "skill" else name] = mean
        columns["sd" if name == "skill" else f"{name}_sd"] = sd
    return Histories(
        player=timeline.node_player[node],
        period=(timeline.node_period[node] - ahead).astype(np.int32),
        games=np.where(ahead == 0, timeline.node_games[node], 0.0),
        columns=columns,
    )


def _interpolate(
    timeline: Timeline, chain: Chain, kind: Kind, node: NDArray[np.int64], ahead: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    mean = chain.mean[node]
    variance = chain.sd[node] ** 2
    gap = np.flatnonzero(ahead)
    if len(gap):
        later = node[gap]
        earlier = timeline.previous[later]
        left = ahead[gap] / STEPS_PER_YEAR[timeline.period]
        start = chain.forward_sd[earlier] ** 2
        here = start + chain.drift**2 * (timeline.gap_years[later] - left)
        if kind == "filtered":
            mean[gap] = chain.forward_mean[earlier]
            variance[gap] = here
        else:
            there = here + chain.drift**2 * left  # variance predicted for the later node
            gain = here / there
            mean[gap] = chain.forward_mean[earlier] + gain * (chain.mean[later] - chain.forward_mean[earlier])
            variance[gap] = here + gain**2 * (chain.sd[later] ** 2 - there)
    return mean, np.sqrt(variance)
