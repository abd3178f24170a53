"""What a system found, and the histories that follow from it.

They have a skill in every period from the first game on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.histories import STEADY, Bridge, Chain, Curve, Numbers
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.quantities import bridge_columns, chain_columns

if TYPE_CHECKING:
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
class Links:
    """The precision matrix of a joint Gaussian of all nodes: what its games and the steps of its chains bring.

    | name | shape | unit | |
    |---|---|---|---|
    | first, second | (pairs,) | | nodes of those who met, in this order of nodes |
    | precision | (1, pairs) | 1/points^2 | q of the skills' difference s_i - s_j, over all their games there |
    | | (3, pairs) | | with draw margins e: q11, q12, q22 of x1 = s_i - s_j + e_i and x2 = e_j - s_i + s_j |
    | variance | (quantities, nodes) | points^2 | of the step since the player's node before, 0 where both are one; |
    | | | | at first nodes of the prior, around the mean of newcomers then |
    | positive | (nodes,) | 1/points^2 | what keeps draw margins positive; NaN without them |
    """

    first: Ids
    second: Ids
    precision: Array
    variance: Array
    positive: Array


LAST: Final = np.iinfo(np.int32).max  # after all years


@dataclass(frozen=True)
class DrawCurve:
    """Draw margins that follow the year and the strength of the players (`inference/moving_margins.py`).

    | name | shape | unit | |
    |---|---|---|---|
    | year | (years,) | | calendar years with games, in order |
    | margin, sd | (years,) | points | of players of the year's level; of newcomers where players have their own |
    | level | (years,) | points | mean skill of the players of the year's games |
    """

    year: Ids
    margin: Array
    sd: Array
    level: Array

    def at(self, year: int) -> dict[str, float]:
        """The parameters of predictions in a year: those of the last with games, of the first before it."""
        place = max(int(np.searchsorted(self.year, year, side="right")) - 1, 0)
        return {"draw_margin": float(self.margin[place]), "draw_margin_level": float(self.level[place])}


@dataclass(frozen=True)
class NewcomerCurve:
    """How much better than `prior_mean` newcomers are, by year (`inference/newcomers.py`).

    | name | shape | unit | |
    |---|---|---|---|
    | year | (years,) | | calendar years with newcomers, in order |
    | mean, sd | (years,) | points | of what is added to `prior_mean` |
    """

    year: Ids
    mean: Array
    sd: Array


@dataclass(frozen=True)
class Fit:
    """A fitted model. Equal inputs give equal Fits: no clock, no path.

    `params` are the resolved numbers (no `auto` left); `chains` holds at least `skill`;
    `trace` has one row per sweep: (largest change of a mean or sd, estimated remaining error), points;
    `log_evidence` is NaN where the model has none; a filter's is the sum of the log probabilities with which each game
    was predicted. `leave_one_out` is the same sum, each game given all others (a filter: the earlier ones), or NaN;
    `notes` are sentences about what the model left out or could not tell, for the user;
    `posterior` says whose uncertainty it is, where a system has more than one (`inference/joint/posterior.py`);
    `elo_unit` is how many points are one Elo point, of handicaps and of skills shown (`inference/elo_unit.py`);
    `draws` are draw margins that move, if they do, `newcomers` their mean skill, if it does; `links` are those of a
    joint posterior; `state` is what a further fit of the same timeline may start from.
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


OPEN: Final = np.iinfo(np.int32).max  # the end of a span that no game ends


@dataclass(frozen=True)
class Spans:
    """What is believed of players from one period with games on, until the next: arrays of shape (spans,).

    `player` is believed so from `period` to before `until` (`OPEN` at a player's last); `games` is the weighted number
    of games in `period`, with none in the others. `columns` holds, in order, mean and sd in `period` of each chain as
    `chain_columns` names them, then how they go on from there, as `bridge_columns` does.
    """

    player: Ids
    period: Ids
    until: Ids
    games: Array
    columns: dict[str, Array]


def later_on(columns: Mapping[str, Array], chain: str, ahead: Numbers) -> tuple[Array, Array]:
    """Mean and sd of a chain n periods after the beginnings of spans, which have these columns.

    The mean is larger by a n, the variance by b n + c n^2 and the sd at most d. With a prior of sd e this is the
    variance before the prior is taken in; with a mean m of it, too, the mean nears m as the games lose weight. NaN in
    m, d and e: there is none. With a curve n are periods of its clock, and its change of the mean comes on top.
    """
    mean, sd = (columns[name] for name in chain_columns(chain))
    step, centre, rise, bend, most, prior, *curve = (columns[name] for name in bridge_columns(chain))
    change, passed = Curve(*curve).change(ahead), Curve(*curve).clock(ahead)
    known = np.where(np.isnan(prior), 0.0, prior**-2)
    learned = sd**-2 - known
    decay = 1.0 + learned * passed * (rise + passed * bend)
    precision = known + learned / decay
    later, drawn = precision**-0.5, centre + (mean - centre) / (decay * sd * sd * precision)
    return (
        np.where(np.isnan(centre) | (ahead == 0), mean + passed * step + change, drawn),
        np.where(ahead == 0, sd, np.where(later > most, most, later)),
    )


def by_player(timeline: Timeline) -> Places:
    """The nodes in order of player, then period."""
    return np.argsort(timeline.node_player, kind="stable")


def spans(timeline: Timeline, fit: Fit, nodes: Places) -> Spans:
    """The spans that begin at some nodes."""
    following = timeline.next[nodes]
    begin, last = timeline.node_period[nodes], following < 0
    until = np.where(last, OPEN, timeline.node_period[following])
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
        periods = (until - begin)[bridged].astype(np.float64)
        for rows, way, passed in (
            (bridged, bridge, bridge.curve.by(steps).clock(periods)),
            (ended, year, steps),
        ):
            for column, change in zip(names, _by_period(way, passed, steps), strict=True):
                changes[column][rows] = change
    played = timeline.node_games[nodes]
    return Spans(timeline.node_player[nodes], begin, until.astype(np.int32), played, starts | changes)


def parts_by_player(timeline: Timeline) -> list[slice]:
    """Parts of the nodes in order of player, each of whole players."""
    count = np.bincount(timeline.node_player)
    end = np.cumsum(count)
    inner = np.flatnonzero(np.diff((end - count) // (timeline.room.rows or max(timeline.n_nodes, 1)))) + 1
    return [slice(*ends) for ends in pairwise(np.unique([0, *end[inner - 1], timeline.n_nodes]).tolist())]


def _by_period(way: Bridge, passed: Array | float, steps: float) -> tuple[Array | float, ...]:
    """How mean and sd go on by the period, of which so many pass by the clock on a way, as `bridge_columns` has it."""
    changes = way.rise / passed, way.bend / passed**2
    return way.slope / passed, way.centre, *changes, way.most, way.prior, *way.curve.by(steps)


def periods_of_histories(timeline: Timeline) -> Places:
    """The numbers of all periods in which anybody has a skill, in order: from the first game to the last."""
    if not timeline.n_nodes:
        return np.empty(0, np.int64)
    return np.arange(timeline.node_period.min(), timeline.node_period.max() + 1, dtype=np.int64)
