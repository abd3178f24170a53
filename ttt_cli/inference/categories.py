"""Categories of games with offsets of their own: the skill in a category is a player's skill plus the offset there.

An offset is N(0, sd^2) at the player's first game of the category and walks from then on. So that the skill in a
category is known wherever that of the player is, its chain has a variable at each of the player's nodes from then on.

With a correlation r the offset is the sum of a part of its own, N(0, (1 - r) sd^2) at first, and of a part that all
categories share: sd / u times a variable N(0, r u^2), which does not change. u, the largest sd, is its unit. So offsets
of two categories have the correlation r where they begin, whatever their sds are, and variances as without it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.offsets import CORRELATION, OffsetSettings, offset_key
from ttt_cli.fitted import CategorySkill, ExpectedSkill, ExtraBeliefs, Walk
from ttt_cli.games.table import DRAW
from ttt_cli.inference.links import (
    UNKNOWN_CODE,
    CategoryGames,
    ExtraVariables,
    LinkedGames,
    LoadingEntries,
    MergedGames,
    SharedParts,
    VariablePairs,
    merge_games,
    points_given,
)
from ttt_cli.inference.model import LinksGradient, Play
from ttt_cli.kernels.ep.structures import LinkRows, Pairings
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.timeline import Timeline

MOST_NAMES: Final = 10  # categories in a hint


class CategoryOffset(NamedTuple):
    """Prior of the offsets of a category: sd at a player's first game in it and of the change over a year, points."""

    name: str
    sd: float
    tau: float


class OffsetPriors(NamedTuple):
    """Priors of the offsets of all categories, and the `correlation` of those of a player in several categories."""

    categories: tuple[CategoryOffset, ...] = ()
    correlation: float = 0.0

    @property
    def are_correlated(self) -> bool:
        """Whether the offsets of a player have a shared part."""
        return self.correlation > 0.0 and len(self.categories) > 1

    @property
    def sds(self) -> Array:
        """Sds of the first variables of chains, points: of the parts of each category, then of the shared part."""
        sds = np.array([category.sd for category in self.categories])
        if not self.are_correlated:
            return sds
        of_shared = math.sqrt(self.correlation) * sds.max()
        return np.append(math.sqrt(1.0 - self.correlation) * sds, of_shared)

    @property
    def drifts(self) -> Array:
        """Sds of the changes over a year, points, as `sds`: the shared part does not change."""
        drifts = [category.tau for category in self.categories]
        return np.array([*drifts, 0.0] if self.are_correlated else drifts)

    @property
    def loadings(self) -> Array:
        """What multiplies the shared part in each category, (categories,)."""
        sds = np.array([category.sd for category in self.categories])
        return np.asarray(sds / sds.max())


NO_OFFSET_PRIORS: Final = OffsetPriors()


def offset_priors(settings: OffsetSettings, correlation: float) -> OffsetPriors:
    """The priors of offsets of a config."""
    categories = [
        CategoryOffset(name, setting["sd"], setting["tau"]) for name, setting in settings.items()
    ]
    return OffsetPriors(tuple(categories), correlation)


class OffsetVariables(NamedTuple):
    """Offsets of players in categories as chained variables, by node, then category; the shared part comes last.

    | name | shape | |
    |---|---|---|
    | node | (variables,) | node of the timeline |
    | category | (variables,) | index of the category; that after all categories: the shared part |
    | previous, following | (variables,) | neighbours in the chain, -1 at its ends |
    | years | (variables,) | since the variable before, 0 at the first |
    | number | (indices, nodes + 1) | variable of each index of `category` at each node, -1: none; the last: node -1 |
    """

    node: Ids
    category: Ids
    previous: Ids
    following: Ids
    years: Array
    number: Ids


@dataclass(frozen=True)
class PlayerOffsets:
    """Offsets of players in categories of games.

    | name | shape | |
    |---|---|---|
    | timeline | | all games |
    | priors | | of the offsets |
    | variables | | the offsets of players |
    """

    timeline: Timeline
    priors: OffsetPriors
    variables: OffsetVariables

    @property
    def extra_variables(self) -> ExtraVariables:
        """The offsets with their chains, without performances."""
        variables = self.variables
        node_start = self.timeline.node_start
        sds = self.priors.sds[variables.category]
        drifts = self.priors.drifts[variables.category]
        variance = np.where(variables.previous < 0, sds**2, drifts**2 * variables.years)
        return ExtraVariables(
            chained=np.searchsorted(variables.node, node_start).astype(np.int64),
            previous=variables.previous,
            following=variables.following,
            mean=np.zeros(len(variance)),
            variance=variance,
            performances=np.zeros(len(node_start), np.int64),
        )

    @property
    def _own(self) -> Places:
        """Variables of a category."""
        return np.flatnonzero(self.variables.category < len(self.priors.categories))

    @property
    def _shared(self) -> Places:
        """Variables of shared parts."""
        return np.flatnonzero(self.variables.category == len(self.priors.categories))

    @property
    def _shared_beside_own(self) -> Places:
        """The shared part at the node of each variable of `_own`."""
        of_shared = self.variables.number[len(self.priors.categories)]
        return np.asarray(of_shared[self.variables.node[self._own]], np.int64)

    @property
    def _later(self) -> Places:
        """Indices among `_own` of variables with one before in their chain."""
        return np.flatnonzero(self.variables.previous[self._own] >= 0)

    @property
    def _before(self) -> Places:
        """The indices among `_own` of the variables before those of `_later`."""
        index = np.full(len(self.variables.node), -1)
        index[self._own] = np.arange(len(self._own))
        return index[self.variables.previous[self._own[self._later]]]

    @property
    def reported(self) -> VariablePairs:
        """Pairs of variables with covariances that `skills` needs.

        Skill and offset at each node; then skill and the offset before, and the skill before and offset. With a shared
        part then skill and shared part at each of its nodes, and offset and shared part at each node.
        """
        nodes = self.timeline.n_nodes
        own = self._own
        node = self.variables.node[own]
        later = self._later
        before = self._before
        first: list[NDArray[np.integer]] = [node, node[later], node[before]]
        second = [nodes + own, nodes + own[before], nodes + own[later]]
        if self.priors.are_correlated:
            first += [self.variables.node[self._shared], nodes + own]
            second += [nodes + self._shared, nodes + self._shared_beside_own]
        return VariablePairs(
            np.concatenate(first).astype(np.int32), np.concatenate(second).astype(np.int32)
        )

    def _beliefs(self, skill: Walk, extra: ExtraBeliefs) -> _SkillBeliefs:
        """Beliefs about the skill in the category of each variable of `_own`."""
        own = self._own
        node = self.variables.node[own]
        later = self._later
        before = self._before
        n_later = len(later)
        at_once, with_before, before_with, *_ = np.split(
            extra.reported, np.cumsum([len(own), n_later, n_later])
        )
        variance = skill.sd[node] ** 2 + extra.sd[own] ** 2 + 2.0 * at_once
        covariance = skill.covariance[node] + extra.covariance[own]
        covariance[later] += with_before + before_with
        mean = skill.mean[node] + extra.mean[own]
        if not self.priors.are_correlated:
            return _SkillBeliefs(mean, variance, covariance)
        # of the skill without the shared part, and of the shared part a c
        loading = self.priors.loadings[self.variables.category[own]]
        shared = self._shared_beside_own
        with_shared = loading * (
            self._covariance_with_skill(extra)[shared] + self._covariance_with_own(extra)
        )
        of_shared = loading**2 * extra.sd[shared] ** 2
        covariance[later] += of_shared[later] + with_shared[later] + with_shared[before]
        return _SkillBeliefs(
            mean=mean + loading * extra.mean[shared],
            variance=variance + of_shared + 2.0 * with_shared,
            covariance=covariance,
        )

    def _covariance_with_skill(self, extra: ExtraBeliefs) -> Array:
        """Covariances of shared parts with the skills beside them, (variables,), 0 of other variables."""
        shared = self._shared
        begin = len(self._own) + 2 * len(self._later)
        covariance = np.zeros(len(self.variables.node))
        covariance[shared] = extra.reported[begin : begin + len(shared)]
        return covariance

    def _covariance_with_own(self, extra: ExtraBeliefs) -> Array:
        """Covariances of the variables of `_own` with the shared parts beside them."""
        begin = len(self._own) + 2 * len(self._later) + len(self._shared)
        return extra.reported[begin : begin + len(self._own)]

    def skills(self, skill: Walk, extra: ExtraBeliefs) -> dict[str, CategorySkill]:
        """Skills in all categories, from beliefs about players and offsets."""
        own = self._own
        beliefs = self._beliefs(skill, extra)
        skills: dict[str, CategorySkill] = {}
        for index, offset in enumerate(self.priors.categories):
            of_category = np.flatnonzero(self.variables.category[own] == index)
            nodes = self.variables.node[own[of_category]].astype(np.int64)
            drift = (
                skill.drift if isinstance(skill.drift, float) else np.asarray(skill.drift)[nodes]
            )
            walk = Walk(
                mean=beliefs.mean[of_category],
                sd=np.sqrt(beliefs.variance[of_category]),
                covariance=beliefs.covariance[of_category],
                drift=np.hypot(drift, offset.tau),
                curve=skill.curve.at(nodes),
            )
            games = self.timeline.with_games_where(
                self.timeline.in_category(offset.name)
            ).node_games
            are_correlated = self.priors.are_correlated
            skills[offset.name] = CategorySkill(
                nodes,
                games[nodes],
                walk,
                own[of_category],
                self._shared_beside_own[of_category] if are_correlated else None,
                self._expected(index, skill, extra),
            )
        return skills

    def _expected(self, index: int, skill: Walk, extra: ExtraBeliefs) -> ExpectedSkill | None:
        """Skills in a category before the player's first game there, by games in others; None without a shared part."""
        if not self.priors.are_correlated:
            return None
        number = self.variables.number[index]
        shared = self._shared[number[self.variables.node[self._shared]] < 0]
        nodes = self.variables.node[shared].astype(np.int64)
        loading = self.priors.loadings[index]
        covariance = loading * self._covariance_with_skill(extra)[shared]
        of_shared = (loading * extra.sd[shared]) ** 2 + self.priors.sds[index] ** 2
        return ExpectedSkill(
            nodes,
            mean=skill.mean[nodes] + loading * extra.mean[shared],
            sd=np.sqrt(skill.sd[nodes] ** 2 + of_shared + 2.0 * covariance),
        )

    def loading_entries(self, rows: LinkRows) -> LoadingEntries | None:
        """Where links have shared parts, None without any; a link is of one category."""
        if not self.priors.are_correlated:
            return None
        category_of_entry = np.full(len(rows.variable), -1)
        offset = rows.variable - self.timeline.n_nodes
        is_offset = (offset >= 0) & (offset < len(self.variables.node))
        category_of_entry[is_offset] = self.variables.category[offset[is_offset]]
        is_shared = category_of_entry == len(self.priors.categories)
        link = np.repeat(np.arange(len(rows.weight)), np.diff(rows.row))
        category_of_link = np.full(len(rows.weight), -1)
        is_own = (category_of_entry >= 0) & ~is_shared
        category_of_link[link[is_own]] = category_of_entry[is_own]
        entries = np.flatnonzero(is_shared)
        return LoadingEntries(
            entries,
            link[entries],
            category_of_link[link[entries]],
            len(self.priors.categories),
        )

    def gradient(self, of_links: LinksGradient) -> dict[str, float]:
        """Gradient of the log-evidence in sd and tau of all categories, and in their correlation, by key."""
        variables = self.variables
        categories = self.priors.categories
        first = variables.previous < 0
        of_extra = of_links.extra
        correlation = self.priors.correlation if self.priors.are_correlated else 0.0
        slopes: dict[str, float] = {}
        by_correlation = 0.0
        unit = max(category.sd for category in categories)
        for index, offset in enumerate(categories):
            here = variables.category == index
            by_variance = of_extra.by_variance[here]
            years = np.where(first, 0.0, variables.years)[here]
            of_first = float(by_variance[first[here]].sum())
            by_sd = 2.0 * (1.0 - correlation) * offset.sd * of_first
            if of_links.loadings is not None:
                by_sd += float(of_links.loadings[index]) / offset.sd
            by_correlation -= offset.sd**2 * of_first
            slopes[offset_key(offset.name, "sd")] = by_sd
            slopes[offset_key(offset.name, "tau")] = 2.0 * offset.tau * float(years @ by_variance)
        if self.priors.are_correlated:
            of_shared = first & (variables.category == len(categories))
            by_correlation += unit**2 * float(of_extra.by_variance[of_shared].sum())
            slopes[CORRELATION] = by_correlation
        return slopes


class _SkillBeliefs(NamedTuple):
    """Means and variances of skills, and covariances with those before, (skills,) each, points and points^2."""

    mean: Array
    variance: Array
    covariance: Array


@dataclass(frozen=True)
class Categories:
    """Games of a timeline between two players in categories with offsets.

    | name | | |
    |---|---|---|
    | player_offsets | | of all games |
    | base | | the timeline with the games that have no offset |
    | merged | | the games with offsets by period, distinct ones; `first` and `second` are variables |
    """

    player_offsets: PlayerOffsets
    base: Timeline
    merged: MergedGames

    @property
    def shared_parts(self) -> SharedParts | None:
        """The shared part beside each offset, None without any."""
        priors = self.player_offsets.priors
        if not priors.are_correlated:
            return None
        variables = self.player_offsets.variables
        loadings = np.append(priors.loadings, 0.0)  # of shared parts themselves
        of_shared = variables.number[len(priors.categories)]
        return SharedParts(of_shared[variables.node], loadings[variables.category])

    def links(self, play: Play) -> LinkedGames:
        """The games as links, when they are played so."""
        variables = self.player_offsets.variables
        nodes = self.player_offsets.timeline.n_nodes
        games = self.merged.games
        links = len(self.merged)
        of_first = variables.node[games.first]
        of_second = variables.node[games.second]
        variable = [of_first, of_second, nodes + games.first, nodes + games.second]
        coefficient = [np.ones(links), -np.ones(links), np.ones(links), -np.ones(links)]
        shared = self.shared_parts
        if shared:
            variable += [
                nodes + shared.variable[games.first],
                nodes + shared.variable[games.second],
            ]
            coefficient += [shared.loading[games.first], -shared.loading[games.first]]
        points = points_given(
            self.merged.handicap, play.elo_unit, play.offsets.advantage, play.offsets.covariates
        )
        offset = np.full(links, play.offsets.advantage)
        offset[: len(points)] += points
        no_ends = np.zeros(links)  # of intervals: draw margins fill them in
        rows = LinkRows(
            start=games.start,
            row=len(variable) * np.arange(links + 1),
            variable=np.column_stack(variable).ravel().astype(np.int32),
            coefficient=np.column_stack(coefficient).ravel(),
            offset=offset,
            noise=np.full(links, play.noise),
            low=no_ends,
            high=no_ends.copy(),
            weight=games.weight,
            lapse=play.lapses(self.merged.doubt if len(self.merged.doubt) else np.zeros(links)),
            base=play.base_rates(games.code == DRAW, games.code != DRAW),
        )
        extra = self.player_offsets.extra_variables
        games_in_categories = CategoryGames(self.merged, variables.node, self.shared_parts)
        return LinkedGames(
            rows,
            extra,
            self.player_offsets.reported,
            games_in_categories,
            loadings=self.player_offsets.loading_entries(rows),
        )


def find_player_offsets(timeline: Timeline, priors: OffsetPriors) -> PlayerOffsets:
    """The offsets of players. Raises ConfigError for categories that the games do not have."""
    _check_names(timeline, priors.categories)
    of_categories = [
        timeline.with_games_where(timeline.in_category(offset.name)) for offset in priors.categories
    ]
    has_games = [part.node_games > 0.0 for part in of_categories]
    if priors.are_correlated:
        has_games.append(np.any(has_games, axis=0))
    return PlayerOffsets(timeline, priors, _offset_variables(timeline, has_games))


def find_categories(
    timeline: Timeline, priors: OffsetPriors, *, colours: bool, terms: tuple[str, ...]
) -> Categories | None:
    """The games of categories with offsets, None where there are none; `colours` and `terms` as in `merge_games`.

    Raises ConfigError for categories that the games do not have, and where colours count and are unknown.
    """
    _check_names(timeline, priors.categories)
    masks = [timeline.in_category(offset.name) for offset in priors.categories]
    has_offset = np.zeros(timeline.n_games, np.bool_)
    for mask in masks:
        has_offset |= mask
    if not has_offset.any():
        return None
    player_offsets = find_player_offsets(timeline, priors)
    merged = [
        merge_games(timeline.with_games_where(mask), colours=colours, terms=terms) for mask in masks
    ]
    if any(np.any(games.games.code >= UNKNOWN_CODE) for games in merged):
        raise colours_unknown("games of categories with offsets")
    return Categories(
        player_offsets,
        timeline.with_games_where(~has_offset),
        _joined(merged, player_offsets.variables),
    )


def colours_unknown(games: str) -> ConfigError:
    """The error that games need known colours."""
    return ConfigError(
        f"{games} need known colours where White's advantage counts",
        hint="model.white_advantage: 0",
    )


def _check_names(timeline: Timeline, offsets: Sequence[CategoryOffset]) -> None:
    """Raise ConfigError for an offset of a category that the games do not have."""
    if timeline.category is None:
        raise ConfigError(
            "model.offsets: the games have no categories",
            hint="data.category: COLUMN reads them; data.category: chess finds them by time control and event",
        )
    names = [name for name in timeline.category.values if name]
    for offset in offsets:
        if offset.name not in names:
            hint = suggested(offset.name, names, f"categories are {', '.join(names[:MOST_NAMES])}")
            raise ConfigError(
                f"model.offsets: no game is of the category {offset.name!r}", hint=hint
            )


def _offset_variables(timeline: Timeline, has_games: Sequence[Mask]) -> OffsetVariables:
    """The offsets of players; `has_games` (nodes,) of each index of `category`: whether the node has games of it."""
    nodes = timeline.n_nodes
    all_nodes = np.arange(nodes)
    has_variable = np.zeros((len(has_games), nodes), np.bool_)
    for index, mask in enumerate(has_games):
        with_games = np.flatnonzero(mask)
        first_node = np.full(len(timeline.players), nodes)
        np.minimum.at(first_node, timeline.node_player[with_games], with_games)
        has_variable[index] = first_node[timeline.node_player] <= all_nodes
    node, category = np.nonzero(has_variable.T)
    number = np.full((len(has_games), nodes + 1), -1, np.int32)
    number[category, node] = np.arange(len(node), dtype=np.int32)
    previous = number[category, timeline.previous[node]]
    years = np.where(previous < 0, 0.0, timeline.gap_years[node])
    return OffsetVariables(
        node.astype(np.int32),
        category.astype(np.int32),
        previous,
        number[category, timeline.next[node]],
        years,
        number,
    )


def _joined(merged: Sequence[MergedGames], variables: OffsetVariables) -> MergedGames:
    """The games of all categories by period, then category, between variables instead of nodes."""
    number = variables.number
    periods = len(merged[0].games.start) - 1
    period = np.concatenate(
        [np.repeat(np.arange(periods), np.diff(games.games.start)) for games in merged]
    )
    order = np.argsort(period, kind="stable")
    first = np.concatenate([number[index, games.games.first] for index, games in enumerate(merged)])
    second = np.concatenate(
        [number[index, games.games.second] for index, games in enumerate(merged)]
    )
    pairings = Pairings(
        start=np.append(0, np.cumsum(np.bincount(period, minlength=periods))).astype(np.int64),
        first=first[order],
        second=second[order],
        code=np.concatenate([games.games.code for games in merged])[order],
        weight=np.concatenate([games.games.weight for games in merged])[order],
    )
    have_handicaps = any(len(games.handicap) for games in merged)
    handicaps = [
        games.handicap if len(games.handicap) or not have_handicaps
        else np.zeros((len(games), games.handicap.shape[1]))
        for games in merged
    ]  # fmt: skip
    handicap = np.concatenate(handicaps)
    return MergedGames(
        pairings,
        balance=np.concatenate([games.balance for games in merged])[order],
        handicap=handicap[order] if have_handicaps else handicap,
        colours=merged[0].colours,
        terms=merged[0].terms,
        doubt=np.concatenate([games.doubt for games in merged])[order]
        if any(len(games.doubt) for games in merged)
        else np.empty(0),
    )
