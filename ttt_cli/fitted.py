"""Result of a fit, and the histories derived from it, with a skill in every period from the first game on."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from ttt_cli.histories import STEADY, Chain, bridge_columns, chain_columns
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.support.arrays import Array, Ids, Places

if TYPE_CHECKING:
    from ttt_cli.timeline import Timeline

Kind = Literal["smoothed", "filtered"]


@dataclass(frozen=True)
class Status:
    """How inference ended; `remaining_error`: estimated largest error of a mean or sd, points."""

    converged: bool
    sweeps: int
    remaining_error: float
    skipped_sites: int = 0


@dataclass(frozen=True)
class Links:
    """Precision matrix of the joint Gaussian of all nodes, from games and chain steps.

    | name | shape | unit | |
    |---|---|---|---|
    | first, second | (pairs,) | | nodes that met, the earlier node first |
    | precision | (1, pairs) | 1/points^2 | q of the skills' difference s_i - s_j, over all their games there |
    | | (3, pairs) | | with draw margins e: q11, q12, q22 of x1 = s_i - s_j + e_i and x2 = e_j - s_i + s_j |
    | variance | (quantities, nodes) | points^2 | of the step since the player's previous node, 0 where both are one; |
    | | | | at first nodes of the prior, around the mean of newcomers then |
    | positive | (nodes,) | 1/points^2 | precision of the positivity of draw margins; NaN without them |
    """

    first: Ids
    second: Ids
    precision: Array
    variance: Array
    positive: Array


LAST: Final = np.iinfo(np.int32).max  # after all years


@dataclass(frozen=True)
class DrawCurve:
    """Draw margins that follow the year and the players' strength (`inference/years.py`).

    | name | shape | unit | |
    |---|---|---|---|
    | year | (years,) | | calendar years with games, ascending |
    | margin, sd | (years,) | points | of players of the year's level; of newcomers where players have their own |
    | level | (years,) | points | mean skill of the players of the year's games |
    """

    year: Ids
    margin: Array
    sd: Array
    level: Array

    def at(self, year: int) -> dict[str, float]:
        """Parameters of predictions in a year: those of the last year with games, or of the first."""
        place = max(int(np.searchsorted(self.year, year, side="right")) - 1, 0)
        return {"draw_margin": float(self.margin[place]), "draw_margin_level": float(self.level[place])}


@dataclass(frozen=True)
class NewcomerCurve:
    """Mean skill of newcomers above `prior_mean`, by year (`inference/years.py`).

    | name | shape | unit | |
    |---|---|---|---|
    | year | (years,) | | calendar years with newcomers, ascending |
    | mean, sd | (years,) | points | added to `prior_mean` |
    """

    year: Ids
    mean: Array
    sd: Array


@dataclass(frozen=True)
class Fit:
    """A fitted model. Equal inputs give equal Fits: no clock, no path.

    - `params`: resolved numbers (no `auto`); `chains`: at least `skill`
    - `trace`: per sweep the largest change of a mean or sd and the estimated remaining error, points
    - `log_evidence`: NaN where the model has none; of a filter, the sum of the predictions' log probabilities
    - `leave_one_out`: the same sum, each game given all others (a filter: the earlier ones), or NaN
    - `notes`: sentences for the user about data that the model ignored or could not use
    - `posterior`: kind of posterior, where a system has several (`inference/posterior.py`)
    - `elo_unit`: points per Elo point, for handicaps and skills shown (`inference/outcome.py`)
    - `draws`, `newcomers`: curves of moving draw margins and newcomers' mean; `links`: of a joint posterior
    - `state`: arrays for a warm start on the same timeline
    """

    model: str
    kind: Kind
    params: dict[str, Any]
    chains: dict[str, Chain]
    status: Status
    log_evidence: float = float("nan")
    leave_one_out: float = float("nan")
    elo_unit: float = 1.0
    trace: tuple[tuple[float, float], ...] = ()
    notes: tuple[str, ...] = ()
    posterior: str = ""
    draws: DrawCurve | None = field(default=None, repr=False, compare=False)
    newcomers: NewcomerCurve | None = field(default=None, repr=False, compare=False)
    links: Links | None = field(default=None, repr=False, compare=False)
    state: dict[str, Array] = field(default_factory=dict, repr=False, compare=False)

    @property
    def mean(self) -> Array:
        """Skill per node, points."""
        return self.chains["skill"].mean

    @property
    def sd(self) -> Array:
        """Standard deviation of skill per node, points."""
        return self.chains["skill"].sd


def by_player(timeline: Timeline) -> Places:
    """Nodes in order of player, then period."""
    return np.argsort(timeline.node_player, kind="stable")


def spans(timeline: Timeline, fit: Fit, nodes: Places) -> dict[str, Array]:
    """Skills of players from one period with games until the next: columns of shape (spans,), which start at `nodes`.

    A span is from `period_number` to before `until` (NaN at a player's last); `player` is the id, `games` the weighted
    number of games in the first period. Then come mean and sd there of each chain (`chain_columns`), and their changes
    (`bridge_columns`).
    """
    following = timeline.next[nodes]
    begin, last = timeline.node_period[nodes], following < 0
    until = np.where(last, np.nan, timeline.node_period[following])
    bridged, ended = np.flatnonzero(~last & (until > begin + 1)), np.flatnonzero(last)
    earlier, later = nodes[bridged], following[bridged]
    steps = STEPS_PER_YEAR[timeline.period]
    starts: dict[str, Array] = {}
    changes: dict[str, Array] = {}
    for name, chain in fit.chains.items():
        for column, values in zip(chain_columns(name), (chain.mean, chain.sd), strict=True):
            starts[column] = values[nodes]
        names, year = bridge_columns(name), chain.onward(nodes[ended])
        still = 0.0, np.nan, 0.0, 0.0, year.most, year.prior, *STEADY
        changes |= {column: np.full(len(nodes), value) for column, value in zip(names, still, strict=True)}
        bridge = chain.bridge(earlier, later, timeline.gap_years[later])
        periods = (until - begin)[bridged]
        for rows, way, passed in (
            (bridged, bridge, bridge.curve.by(steps).clock(periods)),
            (ended, year, steps),
        ):
            by_period = way.slope / passed, way.centre, way.rise / passed, way.bend / passed**2
            rest = way.most, way.prior, *way.curve.by(steps)
            for column, change in zip(names, (*by_period, *rest), strict=True):
                changes[column][rows] = change
    found = {"player": timeline.node_player[nodes], "period_number": begin, "until": until}
    return {**found, "games": timeline.node_games[nodes], **starts, **changes}


def parts_by_player(timeline: Timeline) -> list[slice]:
    """Slices of the nodes in order of player, each of whole players."""
    count = np.bincount(timeline.node_player)
    end = np.cumsum(count)
    inner = np.flatnonzero(np.diff((end - count) // (timeline.room.rows or max(timeline.n_nodes, 1)))) + 1
    return [slice(*ends) for ends in pairwise(np.unique([0, *end[inner - 1], timeline.n_nodes]).tolist())]


def periods_of_histories(timeline: Timeline) -> Places:
    """Numbers of all periods from the first game to the last."""
    if not timeline.n_nodes:
        return np.empty(0, np.int64)
    return np.arange(timeline.node_period.min(), timeline.node_period.max() + 1, dtype=np.int64)
