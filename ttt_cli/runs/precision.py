"""The precision matrix of a run's joint posterior, read from its tables of links and steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from ttt_cli.config.offsets import CORRELATION
from ttt_cli.gaussian.precision import Entries, Precision, SumRows, link_entries, sums_of_games
from ttt_cli.periods import calendar_year
from ttt_cli.runs.schema import RUN
from ttt_cli.support.arrays import Array, Mask, Places

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period
    from ttt_cli.runs.meta import RunMeta

_NODES: Final = f'SELECT "until" IS NULL AS last, period_number FROM {RUN}.spans'
# The rows of skills beside offsets, whether an offset is a player's last in the category, its player and category
_OFFSETS: Final = f"""
SELECT s.rowid AS skill, o."until" IS NULL AS last, n.id AS player, o.category AS category
FROM {RUN}.category_spans o JOIN {RUN}.spans s ON s.player = o.player AND s.period_number = o.period_number
JOIN {RUN}.names n ON n.player = o.player
ORDER BY o.rowid
"""
# Points^2: years between which newcomers' mean walks less are one, as digits would be lost.
STIFF: Final = 1e-8

Arrays = Callable[..., dict[str, Any]]  # a query of a run and its parameters; columns as arrays


class ChainBlock(NamedTuple):
    """The variables of a chain, and their block of the precision matrix."""

    variables: slice
    matrix: Array


class RunPrecision(Precision):
    """Precision matrix A of a run's joint posterior. Raises ValueError for impossible numbers.

    The run has rows of these quantities, in this order:

    | rows | |
    |---|---|
    | nodes | skills, by the rows of `spans` |
    | nodes or 0 | their draw margins, if players have their own |
    | years or 0 | newcomers' mean, if it moves |
    | offsets | of players in categories of games, by the rows of `category_spans` |
    | players or 0 | what offsets in several categories share, of the players with offsets |
    | performances | of sides of games |

    Consecutive rows of a player that never differ are one variable of the matrix: without drift a player has one skill.

    | name | shape | unit | |
    |---|---|---|---|
    | variable_of_row | (rows,) | | |
    | step_variance | (rows,) | points^2 | of the step from the player's row before, 0 where both are one variable; of |
    | | | | first rows of the prior; infinite for performances, which have none |
    | skill_of_offset | (offsets,) | | the row of the skill beside each offset |
    | first_offset | | | the first row of an offset |
    | shared_of_offset | (offsets,) | | the row of what each offset shares; none where they are independent |
    | loading_of_offset | (offsets,) | | what multiplies the latter |
    | variance | (variables,) | points^2 | of the step of each variable from the previous one, or of the prior |
    """

    def __init__(self, arrays: Arrays, meta: RunMeta) -> None:
        nodes = _read_nodes(arrays)
        newcomers = _read_newcomers(arrays, meta, nodes)
        offsets = _read_offsets(arrays, meta)
        of_players = nodes.n_nodes + len(offsets.skill) + len(offsets.shared_variance)
        sums = read_sums(arrays, of_players)
        no_prior = np.full(sums.performances, math.inf)
        self.skill_of_offset = offsets.skill
        self.first_offset = len(nodes.step_variance) + len(newcomers.step_variance)
        self.shared_of_offset = self.first_offset + len(offsets.skill) + offsets.shared
        self.loading_of_offset = offsets.loading
        parts = [nodes.step_variance, newcomers.step_variance, offsets.step_variance]
        self.step_variance = np.concatenate([*parts, offsets.shared_variance, no_prior])
        is_first = np.concatenate(
            [
                nodes.is_first,
                newcomers.is_first,
                offsets.is_first,
                offsets.shared_variance > 0.0,
                no_prior > 0.0,
            ]
        )
        begins_variable = is_first | (self.step_variance > 0.0)
        self.variable_of_row: Places = np.cumsum(begins_variable) - 1
        self.variance = self.step_variance[begins_variable]
        if not (self.variance > 0.0).all():
            raise ValueError("a first step without variance")
        previous = np.where(is_first[begins_variable], -1, np.arange(len(self.variance)) - 1)
        entries = [
            *self._entries_of_pairs(arrays, nodes),
            *self._entries_of_categories(arrays),
            *self._entries_of_sums(sums, nodes.n_nodes),
            *self._entries_of_newcomers(newcomers),
            *self._entries_of_positivity(nodes),
        ]
        super().__init__(previous, step_precision=1.0 / self.variance, entries=entries)

    def chain_of(self, variable: int) -> ChainBlock:
        """The chain of a variable, with the other chains left out."""
        begin = variable
        while self._previous[begin] >= 0:
            begin -= 1
        end = variable + 1
        while end < len(self._previous) and self._previous[end] >= 0:
            end += 1
        step_precision = 1.0 / self.variance[begin + 1 : end]
        matrix = (
            np.diag(self.diagonal[begin:end])
            - np.diag(step_precision, 1)
            - np.diag(step_precision, -1)
        )
        return ChainBlock(slice(begin, end), matrix)

    def sums_in_variables(self, sums: StoredSums, nodes: int) -> SumRows:
        """The sums over the variables of the matrix, of a run with so many nodes."""
        stored = sums.rows.variable.astype(np.int64)
        row = np.where(stored < nodes, stored, self.first_offset + stored - nodes)
        return sums.rows._replace(variable=self.variable_of_row[row])

    def _entries_of_pairs(self, arrays: Arrays, nodes: _StoredNodes) -> list[Entries]:
        """Entries of the games of two players, of differences of skills or, with draw margins, of two sums."""
        names = ("q11", "q12", "q22") if nodes.first_margin else ("q11",)
        links = arrays(f'SELECT "first", "second", {", ".join(names)} FROM links')
        ends, u = sums_of_games(links["first"], links["second"], nodes.first_margin)
        q = np.array([links[name] for name in names], np.float64)
        return link_entries([self.variable_of_row[end] for end in ends], u, q)

    def _entries_of_categories(self, arrays: Arrays) -> list[Entries]:
        """Entries of the games in categories, of differences of skills and offsets."""
        if not len(self.skill_of_offset):
            return []
        links = arrays('SELECT "first", "second", q11 FROM category_links')
        first = links["first"].astype(np.int64)
        second = links["second"].astype(np.int64)
        skills = [self.skill_of_offset[first], self.skill_of_offset[second]]
        ends = [*skills, self.first_offset + first, self.first_offset + second]
        u = np.array([[1.0, -1.0, 1.0, -1.0]])
        q = np.array([links["q11"]], np.float64)
        return link_entries([self.variable_of_row[end] for end in ends], u, q)

    def _entries_of_sums(self, sums: StoredSums, nodes: int) -> list[Entries]:
        """Entries of the games whose sides are sums."""
        rows = self.sums_in_variables(sums, nodes)
        return rows.entries(sums.precision, rows.pairs())

    def _entries_of_newcomers(self, newcomers: _NewcomersMean) -> list[Entries]:
        """Entries of the first steps of players, from newcomers' mean in their year.

        The chains of players begin with a prior around a constant: what is missing are the entries with the mean.
        """
        mean = self.variable_of_row[newcomers.row_of_mean]
        skill = self.variable_of_row[newcomers.first_node]
        precision = newcomers.precision
        return [Entries(mean, mean, precision), Entries(skill, mean, -precision)]

    def _entries_of_positivity(self, nodes: _StoredNodes) -> list[Entries]:
        """Entries of the sites that keep players' draw margins positive."""
        if not nodes.first_margin:
            return []
        margins = self.variable_of_row[nodes.first_margin : 2 * nodes.first_margin]
        return [Entries(margins, margins, nodes.positivity_precision)]


class _StoredNodes(NamedTuple):
    """Skills of a run at nodes, and draw margins if players have their own.

    | name | shape | unit | |
    |---|---|---|---|
    | n_nodes | | | number of nodes |
    | first_margin | | | row of the first draw margin, after all skills; 0: players have none |
    | begins_player | (nodes,) | | whether a node is a player's first |
    | period | (nodes,) | | its number |
    | step_variance | (nodes or 2 nodes,) | points^2 | of the step from the node before, or of the prior |
    | is_first | as that | | `begins_player` of skills, then of margins |
    | positivity_precision | (nodes,) | 1/points^2 | of the sites that keep draw margins positive, NaN without these |
    """

    n_nodes: int
    first_margin: int
    begins_player: Mask
    period: Places
    step_variance: Array
    is_first: Mask
    positivity_precision: Array


def _read_nodes(arrays: Arrays) -> _StoredNodes:
    """The nodes of a joint posterior."""
    steps = arrays("FROM steps")
    spans = arrays(_NODES)
    n_nodes = len(spans["last"])
    has_margins = n_nodes > 0 and not np.isnan(steps["draw_margin_variance"]).any()
    begins_player = np.append(True, spans["last"][:-1])[:n_nodes]
    step_variance = steps["variance"]
    is_first = begins_player
    if has_margins:
        step_variance = np.concatenate([step_variance, steps["draw_margin_variance"]])
        is_first = np.tile(begins_player, 2)
    return _StoredNodes(
        n_nodes=n_nodes,
        first_margin=n_nodes if has_margins else 0,
        begins_player=begins_player,
        period=spans["period_number"],
        step_variance=step_variance,
        is_first=is_first,
        positivity_precision=steps["draw_margin_precision"],
    )


class StoredSums(NamedTuple):
    """Games whose sides are sums, and what defines performances, by the rows of sum_links.

    | name | shape | unit | |
    |---|---|---|---|
    | rows | | | their sums, over the rows of spans, those of category_spans, and performances |
    | precision | (links,) | 1/points^2 | of each sum |
    | performances | | | number of performances |
    """

    rows: SumRows
    precision: Array
    performances: int


def read_sums(arrays: Arrays, of_players: int) -> StoredSums:
    """The sums of a joint posterior, in which so many variables are those of players."""
    links = arrays("FROM sum_links")
    terms = arrays("FROM sum_terms")
    count = len(links["q11"])
    start = np.append(0, np.cumsum(np.bincount(terms["link"], minlength=count)))
    rows = SumRows(start, terms["variable"], terms["coefficient"])
    performances = max(int(terms["variable"].max(initial=-1)) + 1 - of_players, 0)
    return StoredSums(rows, links["q11"].astype(np.float64), performances)


class _StoredOffsets(NamedTuple):
    """Offsets of players in categories of games, (offsets,) each, by the rows of category_spans; none without any.

    | name | unit | |
    |---|---|---|
    | step_variance | points^2 | of the step from the offset before, or of the prior |
    | is_first | | whether it is a player's first in the category |
    | skill | | the row of the skill beside it |
    | shared | | number of the part that it shares with others, one a player; none where offsets are independent |
    | loading | | what multiplies that part |
    | shared_variance | points^2 | of the parts before any game, (players,) |
    """

    step_variance: Array
    is_first: Mask
    skill: Places
    shared: Places
    loading: Array
    shared_variance: Array


def _read_offsets(arrays: Arrays, meta: RunMeta) -> _StoredOffsets:
    """The offsets of a joint posterior. Raises ValueError for impossible numbers."""
    step_variance = arrays("SELECT variance FROM category_steps")["variance"]
    nothing = np.empty(0, np.int64)
    if not len(step_variance):
        return _StoredOffsets(
            np.empty(0), np.empty(0, np.bool_), nothing, nothing, np.empty(0), np.empty(0)
        )
    offsets = arrays(_OFFSETS)
    is_first = np.append(True, offsets["last"][:-1])
    skill = offsets["skill"].astype(np.int64)
    if not meta.has_shared_offsets:
        return _StoredOffsets(step_variance, is_first, skill, nothing, np.empty(0), np.empty(0))
    categories = arrays("SELECT name FROM categories ORDER BY id")["name"]
    sds = np.array([meta.offset_sds.get(name, math.nan) for name in categories])
    sd = sds[offsets["category"]]
    if np.isnan(sd).any():
        raise ValueError("a category without the sd of its offsets")
    unit = max(meta.offset_sds.values())
    players, shared = np.unique(offsets["player"], return_inverse=True)
    variance = meta.params[CORRELATION] * unit**2
    return _StoredOffsets(
        step_variance, is_first, skill, shared, sd / unit, np.full(len(players), variance)
    )


class _NewcomersMean(NamedTuple):
    """The mean of newcomers, which walks from year to year, and first skills around it; nothing if it does not move.

    | name | shape | unit | |
    |---|---|---|---|
    | step_variance | (years,) | points^2 | of the step from the year before |
    | is_first | (years,) | | whether it is the first year |
    | first_node | (players,) | | row of a player's first skill |
    | row_of_mean | (players,) | | row of newcomers' mean in that year |
    | precision | (players,) | 1/points^2 | of the first skill around that mean |
    """

    step_variance: Array
    is_first: Mask
    first_node: Places
    row_of_mean: Places
    precision: Array


def _read_newcomers(arrays: Arrays, meta: RunMeta, nodes: _StoredNodes) -> _NewcomersMean:
    """The mean of newcomers. Raises ValueError for impossible numbers."""
    years = arrays('SELECT "year" FROM newcomers ORDER BY "year"')["year"].astype(np.int64)
    if not len(years):
        nowhere = np.empty(0, np.int64)
        return _NewcomersMean(np.empty(0), np.empty(0, np.bool_), nowhere, nowhere, np.empty(0))
    drift = meta.params.get("prior_mean_drift")
    first_node = np.flatnonzero(nodes.begins_player)
    period = nodes.period[first_node].astype(np.int64)
    year = calendar_year(period, cast("Period", meta.period))
    first_variance = nodes.step_variance[first_node]
    if not isinstance(drift, float) or not np.isin(year, years).all():
        raise ValueError("newcomers without a mean")
    if not (first_variance > 0.0).all():
        raise ValueError("newcomers as certain as their mean")
    # of the first year the prior variance, of others that of the step (`inference.walk.step_variances`)
    variance = np.append(1.0, drift**2 * np.diff(years))
    return _NewcomersMean(
        step_variance=np.where(variance > STIFF, variance, 0.0),
        is_first=np.arange(len(years)) == 0,
        first_node=first_node,
        row_of_mean=len(nodes.step_variance) + np.searchsorted(years, year),
        precision=1.0 / first_variance,
    )
