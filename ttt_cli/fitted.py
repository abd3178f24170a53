"""Result of a fit, and the histories derived from it, with a skill in every period from the first game on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.covariates import points_by_term
from ttt_cli.gaussian.precision import SumRows
from ttt_cli.histories import STEADY, Curve, bridge_columns, chain_columns
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.support.arrays import Array, Ids, Places

if TYPE_CHECKING:
    from ttt_cli.timeline import Timeline

Kind = Literal["smoothed", "filtered"]
Nodes = NDArray[np.integer]


class Bridge(NamedTuple):
    """Change of a quantity over the time from nodes to their players' next ones or, after the last, over one year.

    After a share s of that time the mean has changed by `mean_change` s, the variance by `rise` s + `bend` s^2. After
    the last node s may be any number of years.

    | name | shape | unit | |
    |---|---|---|---|
    | mean_change | (bridges,) | points | |
    | rise, bend | (bridges,) | points^2 | |
    | most_sd | | points | largest sd; NaN: no limit |
    | prior_sd | | points | of a prior that is combined with the games: then the variance above is that of the games |
    | | | | alone; NaN: none |
    | prior_mean | | points | of that prior, which the mean approaches as the games lose weight; NaN: the mean stays |
    | curve | | | career at the nodes: s is a share of its clock, and its change of the mean is added |

    Values between are computed by `histories.later_on`.
    """

    mean_change: Array
    rise: Array
    bend: Array
    most_sd: float = math.nan
    prior_sd: float = math.nan
    prior_mean: float = math.nan
    curve: Curve = STEADY


def idle_walk(drift: float | Array, nodes: Nodes, **limits: Any) -> Bridge:
    """Bridge over a year without games after nodes: the variance grows by `drift` squared (scalar or per node).

    `limits`: other fields of the bridge.
    """
    zeros = np.zeros(len(nodes))
    rise = zeros + drift_after(drift, nodes) ** 2
    return Bridge(mean_change=zeros, rise=rise, bend=zeros, **limits)


def drift_after(drift: float | Array, nodes: Nodes) -> float | Array:
    """Sd of the change over one year after nodes."""
    return drift[nodes] if isinstance(drift, np.ndarray) else drift


class VarianceChange(NamedTuple):
    """`rise` and `bend` of a `Bridge`, points^2."""

    rise: Array
    bend: Array


def bridge_of_walk(
    sd: Array, later_sd: Array, covariance: Array, walk_variance: Array
) -> VarianceChange:
    """Change of the variance of a walk between two uncertain ends, which have a covariance.

    With variances v and u of the ends, covariance c and variance w of the walk over all the time, the variance is
    (1 - s)^2 v + s^2 u + 2 s (1 - s) c + s (1 - s) w: the ends interpolated, and the walk between them.
    """
    before = sd**2
    after = later_sd**2
    return VarianceChange(
        rise=walk_variance - 2.0 * (before - covariance),
        bend=before + after - 2.0 * covariance - walk_variance,
    )


@dataclass(frozen=True)
class Walk:
    """Smoothed Gaussian random walk, arrays (nodes,).

    `covariance` is with the player's previous node (undefined at the first), `drift` the sd of the change over one
    year (a scalar or per node: that after it), `curve` the remaining career after each node.
    """

    mean: Array
    sd: Array
    covariance: Array
    drift: float | Array
    curve: Curve = STEADY

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:
        """Bridge between two uncertain ends, `years` apart."""
        curve = self.curve.at(earlier)
        walk_variance = drift_after(self.drift, earlier) ** 2 * curve.clock(years)
        variance = bridge_of_walk(
            self.sd[earlier], self.sd[later], self.covariance[later], walk_variance
        )
        mean_change = self.mean[later] - self.mean[earlier] - curve.change(years)
        return Bridge(mean_change, variance.rise, variance.bend, curve=curve)

    def onward(self, last: Nodes) -> Bridge:
        """Bridge over a year after players' last nodes."""
        return idle_walk(self.drift, last, curve=self.curve.at(last))


@dataclass(frozen=True)
class Line:
    """Ratings at the nodes, linearly interpolated with their sds (NaN in a system without)."""

    mean: Array
    sd: Array

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:  # noqa: ARG002
        """Straight lines of mean and sd between the ends."""
        sd_change = self.sd[later] - self.sd[earlier]
        return Bridge(
            mean_change=self.mean[later] - self.mean[earlier],
            rise=2.0 * self.sd[earlier] * sd_change,
            bend=sd_change**2,
        )

    def onward(self, last: Nodes) -> Bridge:
        """Constant rating after players' last nodes."""
        return idle_walk(0.0, last)


@dataclass(frozen=True)
class Filter:
    """Filtered marginals after each node's games; arrays (nodes,).

    `before_mean`, `before_sd`: predictions before the node's games. In an idle year the variance grows by `drift`
    squared (a scalar or per node: that after it), the sd to at most `ceiling`; `curve` as in `Walk`. `sd` is NaN in a
    system without.
    """

    mean: Array
    sd: Array
    before_mean: Array
    before_sd: Array
    drift: float | Array
    ceiling: float = math.inf
    curve: Curve = STEADY

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:  # noqa: ARG002
        """Bridge from the earlier ends, independent of the later ones."""
        one_year = self.onward(earlier)
        return one_year._replace(rise=one_year.rise * one_year.curve.clock(years))

    def onward(self, last: Nodes) -> Bridge:
        """Bridge over a year after nodes, without later games."""
        return idle_walk(self.drift, last, most_sd=self.ceiling, curve=self.curve.at(last))


Chain = Walk | Line | Filter


@dataclass(frozen=True)
class Status:
    """How inference ended; `remaining_error`: estimated largest error of a mean or sd, points."""

    converged: bool
    sweeps: int
    remaining_error: float
    skipped_sites: int = 0


class SumLinks(NamedTuple):
    """Games whose sides are sums in the joint Gaussian, and what defines performances.

    | name | shape | unit | |
    |---|---|---|---|
    | sums | | | rows over variables: nodes, then offsets and shared parts by number, then performances |
    | precision | (rows,) | 1/points^2 | q of each sum, all equal games together |
    """

    sums: SumRows
    precision: Array


class OffsetLinks(NamedTuple):
    """Offsets of categories in the joint Gaussian, from games of two players there and chain steps.

    | name | shape | unit | |
    |---|---|---|---|
    | first, second | (pairs,) | | offsets of players who met, the smaller number first |
    | precision | (pairs,) | 1/points^2 | q of the difference of their skills and offsets, over all their games there |
    | variance | (offsets,) | points^2 | of the step since the offset before, 0 where both are one; first of the prior |
    | | | | (shared parts among them) |
    """

    first: Ids
    second: Ids
    precision: Array
    variance: Array


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
    | offsets | | | those of categories of games, if there are any |
    | sums | | | games of teams and in orders of finish, and of correlated offsets, if there are any |
    """

    first: Ids
    second: Ids
    precision: Array
    variance: Array
    positive: Array
    offsets: OffsetLinks | None = None
    sums: SumLinks | None = None


class ExtraBeliefs(NamedTuple):
    """Beliefs about the extra variables of links (`inference/links.py`), points.

    | name | shape | |
    |---|---|---|
    | mean, sd | (extra variables,) | |
    | covariance | (extra variables,) | with the variable before |
    | reported | (pairs,) | covariances of `LinkedGames.reported`, 0 in a factorised posterior |
    """

    mean: Array
    sd: Array
    covariance: Array
    reported: Array


class ExpectedSkill(NamedTuple):
    """Skills in a category at nodes before the player's first game there, (nodes,) each, points."""

    nodes: Places
    mean: Array
    sd: Array


class CategorySkill(NamedTuple):
    """Skill in a category of games: the sum of skill and the offset of the category.

    | name | shape | unit | |
    |---|---|---|---|
    | nodes | (n,) | | nodes of each player from the first game in the category on, ascending |
    | games | (n,) | games | weighted number of games in the category |
    | walk | (n,) | points | its chain |
    | offset | (n,) | | number of the offset among those of all categories |
    | shared | (n,) | | number of the part that the offset shares with others, None if they are independent |
    | expected | | | skills before the first game in it, by offsets in other categories; None if these are independent |
    """

    nodes: Places
    games: Array
    walk: Walk
    offset: Places
    shared: Places | None = None
    expected: ExpectedSkill | None = None


AFTER_ALL_YEARS: Final = np.iinfo(np.int32).max


@dataclass(frozen=True)
class DrawCurve:
    """Draw margins that follow the year and the players' strength (`inference/ep/moving_margins.py`).

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
        index = max(int(np.searchsorted(self.year, year, side="right")) - 1, 0)
        return {
            "draw_margin": float(self.margin[index]),
            "draw_margin_level": float(self.level[index]),
        }


@dataclass(frozen=True)
class NewcomerCurve:
    """Mean skill of newcomers above `prior_mean`, by year (`inference/newcomers.py`).

    | name | shape | unit | |
    |---|---|---|---|
    | year | (years,) | | calendar years with newcomers, ascending |
    | mean, sd | (years,) | points | added to `prior_mean` |
    """

    year: Ids
    mean: Array
    sd: Array


class GroupMean(NamedTuple):
    """How much better the newcomers of a group are than all whose field is known, points, and their number."""

    value: str
    newcomers: int
    mean: float
    sd: float


class GroupsOfField(NamedTuple):
    """Newcomers' means by a field of people.

    `mean`: of all whose field is known, above `prior_mean`, points. `sd`: of the means over groups.
    """

    field: str
    mean: float
    sd: float
    groups: tuple[GroupMean, ...]


@dataclass(frozen=True)
class Fit:
    """A fitted model. Equal inputs give equal Fits: no clock, no path.

    - `params`: resolved numbers (no `auto`); `chains`: at least `skill`
    - `trace`: per sweep the largest change of a mean or sd and the estimated remaining error, points
    - `log_evidence`: NaN where the model has none; of a filter, the sum of the predictions' log probabilities
    - `leave_one_out`: the same sum, each game given all others (a filter: the earlier ones), or NaN
    - `standard_errors`: of parameters that were estimated from the games, by their keys
    - `explained`: of covariates that count, the share that follows from who plays, by key
    - `groups`: newcomers' means by fields of people (`inference/newcomer_groups.py`)
    - `notes`: sentences for the user about data that the model ignored or could not use
    - `posterior`: kind of posterior, where a system has several (`inference/joint/choose.py`)
    - `elo_unit`: points per Elo point, for handicaps and skills shown (`inference/outcome.py`)
    - `draws`, `newcomers`: curves of moving draw margins and newcomers' mean; `links`: of a joint posterior
    - `categories`: skills in categories of games that have offsets, by name
    - `extra`: beliefs about extra variables, before `categories` are made of them
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
    standard_errors: dict[str, float] = field(default_factory=dict)
    explained: dict[str, float] = field(default_factory=dict)
    groups: tuple[GroupsOfField, ...] = ()
    notes: tuple[str, ...] = ()
    posterior: str = ""
    draws: DrawCurve | None = field(default=None, repr=False, compare=False)
    newcomers: NewcomerCurve | None = field(default=None, repr=False, compare=False)
    links: Links | None = field(default=None, repr=False, compare=False)
    categories: dict[str, CategorySkill] = field(default_factory=dict, repr=False, compare=False)
    extra: ExtraBeliefs | None = field(default=None, repr=False, compare=False)
    state: dict[str, Array] = field(default_factory=dict, repr=False, compare=False)

    @property
    def mean(self) -> Array:
        """Skill per node, points."""
        return self.chains["skill"].mean

    @property
    def sd(self) -> Array:
        """Standard deviation of skill per node, points."""
        return self.chains["skill"].sd


def points_added(params: Mapping[str, Any], timeline: Timeline) -> Array:
    """Points (games,) that covariates add to the strength of the side named first."""
    points = points_by_term(params)
    columns = timeline.covariate_columns([*points], mean_of_teams=params.get("team") == "mean")
    added: Array = columns @ np.array([*points.values()], np.float64)
    return added


class NodeSkills(NamedTuple):
    """Mean and sd of a skill at all nodes, (nodes,), points."""

    mean: Array
    sd: Array


def skills_in_category(fit: Fit, category: str, offset_sd: float) -> NodeSkills:
    """Skills in a category with offsets; those of players without a game in it yet by its prior N(0, `offset_sd`^2).

    Of these, players with games in other categories have what their offsets there predict, if offsets are correlated.
    """
    mean = fit.mean.copy()
    sd = np.hypot(fit.sd, offset_sd)
    skill = fit.categories.get(category)
    if skill is not None and skill.expected is not None:
        mean[skill.expected.nodes] = skill.expected.mean
        sd[skill.expected.nodes] = skill.expected.sd
    if skill is not None:
        mean[skill.nodes] = skill.walk.mean
        sd[skill.nodes] = skill.walk.sd
    return NodeSkills(mean, sd)


def by_player(timeline: Timeline) -> Places:
    """Nodes in order of player, then period."""
    return np.argsort(timeline.node_player, kind="stable")


class _IdleSpans(NamedTuple):
    """Which of some spans have periods without games: those between two nodes, and those after a player's last.

    | name | shape | |
    |---|---|---|
    | bridged | (bridged,) | indices of spans from a node to the next one, with other periods between |
    | earlier, later | (bridged,) | their two nodes |
    | periods | (bridged,) | from the one to the other |
    | ended | (ended,) | indices of spans after a player's last node |
    | last | (ended,) | these nodes |
    """

    bridged: Places
    earlier: Places
    later: Ids
    periods: NDArray[Any]
    ended: Places
    last: Places


def spans(timeline: Timeline, fit: Fit, nodes: Places) -> dict[str, Array]:
    """Skills of players from one period with games until the next: columns of shape (spans,), which start at `nodes`.

    | column | |
    |---|---|
    | player | its id |
    | period_number | the first period, which has games |
    | until | the player's next period with games, which is not in the span; NaN at the last |
    | games | weighted number of games in the first period |
    | `chain_columns` | mean and sd of each chain in the first period |
    | `bridge_columns` | their change afterwards, from period to period |
    """
    following = timeline.next[nodes]
    begin = timeline.node_period[nodes]
    is_last = following < 0
    until = np.where(is_last, np.nan, timeline.node_period[following])
    bridged = np.flatnonzero(~is_last & (until > begin + 1))
    ended = np.flatnonzero(is_last)
    idle = _IdleSpans(
        bridged=bridged,
        earlier=nodes[bridged],
        later=following[bridged],
        periods=(until - begin)[bridged],
        ended=ended,
        last=nodes[ended],
    )
    starts: dict[str, Array] = {}
    changes: dict[str, Array] = {}
    for name, chain in fit.chains.items():
        mean, sd = chain_columns(name)
        starts |= {mean: chain.mean[nodes], sd: chain.sd[nodes]}
        changes |= _change_columns(timeline, name, chain, idle, len(nodes))
    return {
        "player": timeline.node_player[nodes],
        "period_number": begin,
        "until": until,
        "games": timeline.node_games[nodes],
        **starts,
        **changes,
    }


def _change_columns(
    timeline: Timeline, name: str, chain: Chain, idle: _IdleSpans, n_spans: int
) -> dict[str, Array]:
    """The `bridge_columns` of a chain, (spans,). Spans of a single period have no change, but the same limits."""
    steps = STEPS_PER_YEAR[timeline.period]
    bridge = chain.bridge(idle.earlier, idle.later, timeline.gap_years[idle.later])
    after_last = chain.onward(idle.last)
    of_bridged = _change_in_a_period(bridge, bridge.curve.by(steps).clock(idle.periods), steps)
    of_ended = _change_in_a_period(after_last, steps, steps)
    nothing = Bridge(np.zeros(1), np.zeros(1), np.zeros(1), after_last.most_sd, after_last.prior_sd)
    of_others = _change_in_a_period(nothing, 1.0, 1.0)
    columns = {}
    for number, column in enumerate(bridge_columns(name)):
        columns[column] = np.full(n_spans, of_others[number])
        columns[column][idle.bridged] = of_bridged[number]
        columns[column][idle.ended] = of_ended[number]
    return columns


def _change_in_a_period(bridge: Bridge, periods: float | Array, steps: float) -> tuple[Any, ...]:
    """The values of `bridge_columns`: what changes in one of the `periods` of a bridge, by the clock of its curve.

    A year has `steps` periods.
    """
    change = (
        bridge.mean_change / periods,
        bridge.prior_mean,
        bridge.rise / periods,
        bridge.bend / periods**2,
    )
    return *change, bridge.most_sd, bridge.prior_sd, *bridge.curve.by(steps)


def parts_by_player(timeline: Timeline) -> list[slice]:
    """Slices of the nodes in order of player (`by_player`), each of whole players.

    A slice has about as many nodes as `timeline.storage` takes rows at once.
    """
    most = timeline.storage.rows or max(timeline.n_nodes, 1)
    nodes_of_player = np.bincount(timeline.node_player)
    end = np.cumsum(nodes_of_player)
    begin = end - nodes_of_player
    # The players whose first nodes are between two multiples of `most` are in the same part.
    part_of_player = begin // most
    last_of_part = np.flatnonzero(np.diff(part_of_player))
    bounds = np.unique([0, *end[last_of_part], timeline.n_nodes]).tolist()
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def periods_of_histories(timeline: Timeline) -> Places:
    """Numbers of all periods from the first game to the last."""
    if not timeline.n_nodes:
        return np.empty(0, np.int64)
    return np.arange(timeline.node_period.min(), timeline.node_period.max() + 1, dtype=np.int64)
