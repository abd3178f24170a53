"""Categories of games with offsets of their own: the skill in a category is a player's skill plus the offset there.

An offset is N(0, sd^2) at the player's first game of the category and walks from then on. So that the skill in a
category is known wherever that of the player is, its chain has a variable at each of the player's nodes from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.config.offsets import OffsetSettings, offset_key
from ttt_cli.fitted import CategorySkill, ExtraBeliefs, Walk
from ttt_cli.inference.links import (
    UNKNOWN_CODE,
    CategoryGames,
    ExtraVariables,
    LinkedGames,
    MergedGames,
    VariablePairs,
    merge_games,
    points_given,
)
from ttt_cli.inference.model import ChainSlopes, Play
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


def category_offsets(settings: OffsetSettings) -> tuple[CategoryOffset, ...]:
    """The offsets of a config."""
    return tuple(
        CategoryOffset(name, setting["sd"], setting["tau"]) for name, setting in settings.items()
    )


class OffsetVariables(NamedTuple):
    """Offsets of players in categories as chained variables, by node, then category.

    | name | shape | |
    |---|---|---|
    | node | (variables,) | node of the timeline |
    | category | (variables,) | index of the category |
    | previous, following | (variables,) | neighbours in the chain, -1 at its ends |
    | years | (variables,) | since the variable before, 0 at the first |
    | number | (categories, nodes + 1) | variable of each category at each node, -1: none; the last is for node -1 |
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
    | offsets | (categories,) | their priors |
    | variables | | the offsets of players |
    """

    timeline: Timeline
    offsets: tuple[CategoryOffset, ...]
    variables: OffsetVariables

    @property
    def extra_variables(self) -> ExtraVariables:
        """The offsets with their chains, without performances."""
        variables = self.variables
        node_start = self.timeline.node_start
        sds = np.array([of.sd for of in self.offsets])[variables.category]
        drifts = np.array([of.tau for of in self.offsets])[variables.category]
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
    def _later(self) -> Places:
        """Variables with one before in their chain."""
        return np.flatnonzero(self.variables.previous >= 0)

    @property
    def reported(self) -> VariablePairs:
        """Skill and offset at each node; then skill and the offset before, and the skill before and offset."""
        nodes = self.timeline.n_nodes
        node = self.variables.node
        later = self._later
        before = self.variables.previous[later]
        first = np.concatenate([node, node[later], node[before]])
        second = nodes + np.concatenate([np.arange(len(node)), before, later])
        return VariablePairs(first.astype(np.int32), second.astype(np.int32))

    def skills(self, skill: Walk, extra: ExtraBeliefs) -> dict[str, CategorySkill]:
        """Skills in all categories, from beliefs about players and offsets."""
        variables = self.variables
        node = variables.node
        later = self._later
        at_once, with_before, before_with = np.split(
            extra.reported, [len(node), len(node) + len(later)]
        )
        of_offsets = slice(len(node))  # performances come after them
        variance = skill.sd[node] ** 2 + extra.sd[of_offsets] ** 2 + 2.0 * at_once
        covariance = skill.covariance[node] + extra.covariance[of_offsets]
        covariance[later] += with_before + before_with
        mean = skill.mean[node] + extra.mean[of_offsets]
        skills: dict[str, CategorySkill] = {}
        for index, offset in enumerate(self.offsets):
            of_category = np.flatnonzero(variables.category == index)
            nodes = node[of_category].astype(np.int64)
            drift = (
                skill.drift if isinstance(skill.drift, float) else np.asarray(skill.drift)[nodes]
            )
            walk = Walk(
                mean=mean[of_category],
                sd=np.sqrt(variance[of_category]),
                covariance=covariance[of_category],
                drift=np.hypot(drift, offset.tau),
                curve=skill.curve.at(nodes),
            )
            games = self.timeline.with_games_where(
                self.timeline.in_category(offset.name)
            ).node_games
            skills[offset.name] = CategorySkill(nodes, games[nodes], walk, of_category)
        return skills

    def gradient(self, of_extra: ChainSlopes) -> dict[str, float]:
        """Gradient of the log-evidence in sd and tau of all categories, by key."""
        variables = self.variables
        first = variables.previous < 0
        slopes: dict[str, float] = {}
        for index, offset in enumerate(self.offsets):
            here = variables.category == index
            by_variance = of_extra.by_variance[here]
            years = np.where(first, 0.0, variables.years)[here]
            slopes[offset_key(offset.name, "sd")] = (
                2.0 * offset.sd * float(by_variance[first[here]].sum())
            )
            slopes[offset_key(offset.name, "tau")] = 2.0 * offset.tau * float(years @ by_variance)
        return slopes


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

    def links(self, play: Play) -> LinkedGames:
        """The games as links, when they are played so."""
        variables = self.player_offsets.variables
        nodes = self.player_offsets.timeline.n_nodes
        games = self.merged.games
        links = len(self.merged)
        of_first = variables.node[games.first]
        of_second = variables.node[games.second]
        entries = [of_first, of_second, nodes + games.first, nodes + games.second]
        points = points_given(
            self.merged.handicap, play.elo_unit, play.offsets.advantage, play.offsets.covariates
        )
        offset = np.full(links, play.offsets.advantage)
        offset[: len(points)] += points
        no_ends = np.zeros(links)  # of intervals: draw margins fill them in
        rows = LinkRows(
            start=games.start,
            row=4 * np.arange(links + 1),
            variable=np.column_stack(entries).ravel().astype(np.int32),
            coefficient=np.tile([1.0, -1.0, 1.0, -1.0], links),
            offset=offset,
            noise=np.full(links, play.noise),
            low=no_ends,
            high=no_ends.copy(),
            weight=games.weight,
        )
        extra = self.player_offsets.extra_variables
        games_in_categories = CategoryGames(self.merged, variables.node)
        return LinkedGames(rows, extra, self.player_offsets.reported, games_in_categories)


def find_player_offsets(timeline: Timeline, offsets: Sequence[CategoryOffset]) -> PlayerOffsets:
    """The offsets of players. Raises ConfigError for categories that the games do not have."""
    _check_names(timeline, offsets)
    of_categories = [
        timeline.with_games_where(timeline.in_category(offset.name)) for offset in offsets
    ]
    variables = _offset_variables(timeline, [part.node_games > 0.0 for part in of_categories])
    return PlayerOffsets(timeline, tuple(offsets), variables)


def find_categories(
    timeline: Timeline, offsets: Sequence[CategoryOffset], *, colours: bool, terms: tuple[str, ...]
) -> Categories | None:
    """The games of categories with offsets, None where there are none; `colours` and `terms` as in `merge_games`.

    Raises ConfigError for categories that the games do not have, and where colours count and are unknown.
    """
    _check_names(timeline, offsets)
    masks = [timeline.in_category(offset.name) for offset in offsets]
    has_offset = np.zeros(timeline.n_games, np.bool_)
    for mask in masks:
        has_offset |= mask
    if not has_offset.any():
        return None
    player_offsets = find_player_offsets(timeline, offsets)
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
    """The offsets of players; `has_games` (nodes,) of each category: whether the node has games of it."""
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
    )
