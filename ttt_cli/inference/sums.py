"""Games whose sides are sums of skills, as links: of teams, in orders of finish, and in categories beside these.

A side's performance is a sum of c times skill over its members, and of the same c times the offsets in the game's
category. The members' noise counts n = sum of c^2 times where performances add up (`sum`), and once per side where
they are averaged (`mean`). A game of two sides is one link of both sums, with the noise (n_1 + n_2) beta^2 and the
draw margin eps sqrt((n_1 + n_2) / 2).

In an order of finish the performance of each side is a variable, which an exact link defines as the sum with noise
n beta^2. Neighbours in the order are links of two performances without further noise (the factor graph of TrueSkill,
Herbrich, Minka and Graepel, NIPS 2006).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.lineup import NO_MEMBERS, Members
from ttt_cli.games.table import DRAW
from ttt_cli.inference.categories import (
    OffsetPriors,
    PlayerOffsets,
    colours_unknown,
    find_player_offsets,
)
from ttt_cli.inference.links import (
    LinkDesign,
    LinkedGames,
    links_by_period,
    no_extra_variables,
    order_by_period,
)
from ttt_cli.inference.model import Play
from ttt_cli.inference.sides import TeamSkill, member_weights
from ttt_cli.inference.victory import intervals_of, shares_of_intervals
from ttt_cli.kernels.ep.structures import LinkRows
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.timeline import KNOWN, UNKNOWN, Timeline

# Ends of the interval of a loss, a draw and a win, in draw margins
_LOW: Final = np.array([-math.inf, -1.0, 1.0])
_HIGH: Final = np.array([-1.0, 1.0, math.inf])


@dataclass(frozen=True)
class Sums:
    """Games of a timeline whose sides are sums of skills.

    | name | shape | |
    |---|---|---|
    | base | | the timeline with the other games, which are of two players |
    | rows | | the links, their numbers in the units of `design` and without offsets |
    | design | | how their numbers follow from the parameters of play |
    | performances | (periods + 1,) | the first performance of each period, and the number of performances |
    | player_offsets | | offsets of players in categories, None without any |
    """

    base: Timeline
    rows: LinkRows
    design: LinkDesign
    performances: Places
    player_offsets: PlayerOffsets | None

    def links(self, play: Play) -> LinkedGames:
        """The games as links, when they are played so."""
        design = self.design
        rows = self.rows._replace(
            offset=_points_added(design, play),
            noise=design.noise * play.noise,
            low=_ends(design.low, play.margin, design.low_steps, play.offsets.steps),
            high=_ends(design.high, play.margin, design.high_steps, play.offsets.steps),
            lapse=np.where(design.drawn + design.decided > 0.0, play.lapses(design.doubt), 0.0),
            base=play.base_rates(design.drawn, design.decided),
        )
        if self.player_offsets is None:
            extra = replace(no_extra_variables(len(rows.start) - 1), performances=self.performances)
            return LinkedGames(rows, extra, design=design)
        extra = replace(self.player_offsets.extra_variables, performances=self.performances)
        return LinkedGames(
            rows,
            extra,
            self.player_offsets.reported,
            design=design,
            loadings=self.player_offsets.loading_entries(rows),
        )


def _points_added(design: LinkDesign, play: Play) -> Array:
    """What is added to the sums of links, points: White's advantage, handicaps and covariates."""
    points: Array = play.offsets.advantage * design.advantage + play.elo_unit * design.handicap
    if play.offsets.covariates:
        points = points + design.covariates @ np.array(play.offsets.covariates)
    return points


def _ends(in_margins: Array, margin: float, in_steps: Array, steps: tuple[float, ...]) -> Array:
    """Ends of intervals in points, of those in draw margins and in steps between margins of victory."""
    is_finite = np.isfinite(in_margins)
    ends = np.where(is_finite, np.where(is_finite, in_margins, 0.0) * margin, in_margins)
    return ends + in_steps @ np.array(steps) if steps else ends


def find_sums(
    timeline: Timeline,
    offset_priors: OffsetPriors,
    team: TeamSkill,
    *,
    colours: bool,
    terms: tuple[str, ...],
    thresholds: tuple[int, ...] = (),
    all_games: bool = False,
) -> Sums | None:
    """The games that are sums of skills: with teams, in orders of finish, in categories with offsets; None without any.

    `colours`, `terms` and `thresholds` as in `merge_games`; with `all_games` those of two players are among them.
    Raises ConfigError for categories that the games do not have, and where colours count and are unknown.
    """
    offsets = offset_priors.categories
    player_offsets = find_player_offsets(timeline, offset_priors) if offsets else None
    of_teams = timeline.members or NO_MEMBERS
    is_sum = of_teams.mask_of_games(timeline.n_games)
    is_of_two = np.full(timeline.n_games, all_games)
    for offset in offsets:
        is_of_two |= timeline.in_category(offset.name)
    is_of_two &= ~is_sum
    is_sum |= is_of_two
    if not is_sum.any():
        return None
    if colours and np.any(is_sum & (timeline.advantage_owner == UNKNOWN)):
        games_of = "of categories with offsets" if timeline.members is None else "between teams"
        if all_games:
            games_of = "with lapses and margins of victory"
        raise colours_unknown(f"games {games_of}")
    members = _members_of_sums(timeline, of_teams, is_of_two)
    sides = _sides_as_sums(timeline, members, player_offsets, team)
    periods = np.arange(len(timeline.game_start) - 1, dtype=np.int32)
    period = np.repeat(periods, np.diff(timeline.game_start))
    n_offsets = len(player_offsets.variables.node) if player_offsets else 0
    performances = _find_performances(
        timeline, sides, period, first_variable=timeline.n_nodes + n_offsets
    )
    games = np.flatnonzero(is_sum)
    entries = _link_entries(games, sides, performances)
    design = _design(timeline, games, sides, performances, terms, thresholds)
    period_of_link = np.concatenate([period[games], period[performances.side // 2]])
    weight = np.concatenate([timeline.weight[games], np.ones(len(performances.side))])
    order = order_by_period(period_of_link)
    return Sums(
        base=timeline.with_games_where(~is_sum),
        rows=_rows(entries, design, weight, period_of_link, len(performances.start) - 1),
        design=LinkDesign(*[column[order] for column in design]),
        performances=performances.start,
        player_offsets=player_offsets,
    )


def _members_of_sums(timeline: Timeline, members: Members, is_of_two: Mask) -> Members:
    """The members of sides, with the players of some games of two (mask `is_of_two`) as the only ones of theirs."""
    game = np.flatnonzero(is_of_two)
    joined = Members(
        game=np.concatenate([members.game, game, game]),
        is_black=np.concatenate([members.is_black, np.repeat([False, True], len(game))]),
        node=np.concatenate([members.node, timeline.game_white[game], timeline.game_black[game]]),
        share=np.concatenate([members.share, np.ones(2 * len(game))]),
    )
    if not len(game):
        return joined
    order = np.argsort(2 * joined.game + joined.is_black, kind="stable")
    return Members(
        joined.game[order], joined.is_black[order], joined.node[order], joined.share[order]
    )


class _LinkEntries(NamedTuple):
    """Entries of links, (entries,) each. Links are numbered games first, then what defines performances."""

    link: Places
    variable: NDArray[np.integer]
    coefficient: Array


class _SidesAsSums(NamedTuple):
    """The strengths of the sides of games as sums of variables.

    Side 2 g is White's in game g of the timeline, side 2 g + 1 Black's.

    | name | shape | |
    |---|---|---|
    | start | (2 games + 1,) | the first term of each side, and the number of terms |
    | variable, coefficient | (terms,) | of the sum, by side |
    | players | (2 games,) | how many players' noise the side has, n |
    | first_node | (2 games,) | node of the first member |
    """

    start: Places
    variable: Ids
    coefficient: Array
    players: Array
    first_node: Ids

    def entries(self, side: Places, link: Places, sign: float) -> _LinkEntries:
        """The terms of sides, each of its link, with this sign; `side` and `link` (sides,)."""
        length = self.start[side + 1] - self.start[side]
        before = np.cumsum(length) - length
        term = np.arange(length.sum()) + np.repeat(self.start[side] - before, length)
        return _LinkEntries(
            np.repeat(link, length), self.variable[term], sign * self.coefficient[term]
        )


def _sides_as_sums(
    timeline: Timeline, members: Members, player_offsets: PlayerOffsets | None, team: TeamSkill
) -> _SidesAsSums:
    """The sides of games by their members; those of other games have no terms.

    A member adds the skill at its node and, in a category with offsets, the offset there, with the same coefficient. It
    adds the shared part of offsets, if there is any, with this coefficient times the loading of the category.
    """
    n_sides = 2 * timeline.n_games
    side = 2 * members.game + members.is_black
    coefficient, players = member_weights(members, timeline.n_games, team)
    first_node = np.full(n_sides, -1, np.int32)
    first_node[side[::-1]] = members.node[::-1]
    variable = members.node
    if player_offsets is not None:
        terms = _offset_terms(timeline, members, player_offsets)
        side = np.concatenate([side, side[terms.member]])
        variable = np.concatenate([variable, timeline.n_nodes + terms.variable])
        coefficient = np.concatenate([coefficient, terms.loading * coefficient[terms.member]])
        order = np.argsort(side, kind="stable")
        side = side[order]
        variable = variable[order]
        coefficient = coefficient[order]
    start = np.append(0, np.cumsum(np.bincount(side, minlength=n_sides))).astype(np.int64)
    return _SidesAsSums(start, variable.astype(np.int32), coefficient, players, first_node)


class _OffsetTerms(NamedTuple):
    """Offsets of members and their shared parts, (terms,) each: the member, the variable, and what multiplies it."""

    member: Places
    variable: Ids
    loading: Array


def _offset_terms(
    timeline: Timeline, members: Members, player_offsets: PlayerOffsets
) -> _OffsetTerms:
    """The offsets of members in the game's category."""
    priors = player_offsets.priors
    number = player_offsets.variables.number
    category = np.full(timeline.n_games, -1)
    for index, offset in enumerate(priors.categories):
        category[timeline.in_category(offset.name)] = index
    of_member = category[members.game]
    member = np.flatnonzero(of_member >= 0)
    node = members.node[member]
    variable = number[of_member[member], node]
    loading = np.ones(len(member))
    if priors.are_correlated:
        variable = np.concatenate([variable, number[len(priors.categories), node]])
        loading = np.concatenate([loading, priors.loadings[of_member[member]]])
        member = np.concatenate([member, member])
    return _OffsetTerms(member, variable, loading)


class _SidePerformances(NamedTuple):
    """Performances of sides in orders of finish, by period.

    | name | shape | |
    |---|---|---|
    | first_variable | | the variable of the first performance |
    | of_side | (2 games,) | the number of each side's performance, -1: none |
    | side | (performances,) | a side of each performance |
    | start | (periods + 1,) | the first of each period, and the number of performances |
    """

    first_variable: int
    of_side: NDArray[np.integer]
    side: Places
    start: Places

    def entries(self, side: Places, link: Places, sign: float) -> _LinkEntries:
        """The performances of sides, each in its link, with this sign; `side` and `link` (sides,)."""
        variable = self.first_variable + self.of_side[side]
        return _LinkEntries(link, variable, np.full(len(side), sign))


def _find_performances(
    timeline: Timeline, sides: _SidesAsSums, period: Ids, first_variable: int
) -> _SidePerformances:
    """The performances of sides; a side with two neighbours in an order of finish has one. `period`: of games."""
    of_side = np.full(2 * timeline.n_games, -1)
    n_periods = len(timeline.game_start) - 1
    if timeline.race is None:
        nothing = np.empty(0, np.int64)
        return _SidePerformances(
            first_variable, of_side, nothing, np.zeros(n_periods + 1, np.int64)
        )
    # sides of the same race with the same first member are one side
    in_race = np.flatnonzero(np.repeat(timeline.race > 0, 2))
    race = timeline.race[in_race // 2]
    race_and_node = race * np.int64(timeline.n_nodes) + sides.first_node[in_race]
    _, first, number = np.unique(race_and_node, return_index=True, return_inverse=True)
    side = in_race[first]
    period_of_performance = period[side // 2]
    order = order_by_period(period_of_performance)
    new_number = np.empty(len(order), np.int64)
    new_number[order] = np.arange(len(order))
    of_side[in_race] = new_number[number]
    count = np.bincount(period_of_performance, minlength=n_periods)
    start = np.append(0, np.cumsum(count)).astype(np.int64)
    return _SidePerformances(first_variable, of_side, side[order], start)


def _link_entries(
    games: Places, sides: _SidesAsSums, performances: _SidePerformances
) -> _LinkEntries:
    """The entries of all links, by link.

    | link | entries |
    |---|---|
    | a game of teams, or with offsets | the terms of White, and those of Black with the other sign |
    | a game of neighbours in an order of finish | the performance of White, and that of Black with the other sign |
    | the definition of a performance | the terms of the side, and the performance with the other sign |
    """
    white = 2 * games
    black = white + 1
    is_race = performances.of_side[white] >= 0
    of_teams = np.flatnonzero(~is_race)
    of_race = np.flatnonzero(is_race)
    definitions = len(games) + np.arange(len(performances.side))
    parts = [
        sides.entries(white[of_teams], of_teams, 1.0),
        sides.entries(black[of_teams], of_teams, -1.0),
        performances.entries(white[of_race], of_race, 1.0),
        performances.entries(black[of_race], of_race, -1.0),
        sides.entries(performances.side, definitions, 1.0),
        performances.entries(performances.side, definitions, -1.0),
    ]
    link = np.concatenate([part.link for part in parts])
    order = np.argsort(link, kind="stable")
    variable = np.concatenate([part.variable for part in parts])
    coefficient = np.concatenate([part.coefficient for part in parts])
    return _LinkEntries(link[order], variable[order], coefficient[order])


def _design(
    timeline: Timeline,
    games: Places,
    sides: _SidesAsSums,
    performances: _SidePerformances,
    terms: tuple[str, ...],
    thresholds: tuple[int, ...],
) -> LinkDesign:
    """The numbers of all links, in the order of `_LinkEntries`."""
    white = 2 * games
    players = sides.players[white] + sides.players[white + 1]
    is_race = performances.of_side[white] >= 0
    margin = np.sqrt(0.5 * players)
    ends = _ends_of_results(timeline, games, thresholds)
    zeros = np.zeros(len(performances.side))
    no_steps = np.zeros((len(zeros), len(thresholds)))
    noise_of_performances = 0.5 * sides.players[performances.side]
    covariates = timeline.covariate_columns(terms)[games]
    doubt = np.zeros(len(games)) if timeline.doubt is None else timeline.doubt[games]
    is_draw = timeline.outcome[games] == DRAW
    decided = np.where(is_draw, 0.0, shares_of_intervals(timeline, thresholds)[games])
    return LinkDesign(
        noise=np.concatenate([np.where(is_race, 0.0, 0.5 * players), noise_of_performances]),
        low=np.concatenate([ends.low * margin, zeros]),
        high=np.concatenate([ends.high * margin, zeros]),
        low_steps=np.concatenate([ends.low_steps * margin[:, np.newaxis], no_steps]),
        high_steps=np.concatenate([ends.high_steps * margin[:, np.newaxis], no_steps]),
        advantage=np.concatenate([1.0 * (timeline.advantage_owner[games] == KNOWN), zeros]),
        handicap=np.concatenate([timeline.offset[games], zeros]),
        covariates=np.concatenate([covariates, np.zeros((len(zeros), len(terms)))]),
        drawn=np.concatenate([1.0 * is_draw, zeros]),
        decided=np.concatenate([decided, zeros]),
        doubt=np.concatenate([doubt, zeros]),
    )


class _ResultEnds(NamedTuple):
    """Ends of the intervals of results between single players, as in `LinkDesign`."""

    low: Array
    high: Array
    low_steps: Array
    high_steps: Array


def _ends_of_results(timeline: Timeline, games: Places, thresholds: tuple[int, ...]) -> _ResultEnds:
    """The ends for the results of games. A win in the interval k (`victory.intervals_of`) is above k - 1 steps.

    It is below k steps but for the last interval. Losses mirror wins.
    """
    outcome = timeline.outcome[games]
    low = _LOW[outcome]
    high = _HIGH[outcome]
    if not thresholds:
        none = np.zeros((len(games), 0))
        return _ResultEnds(low, high, none, none)
    interval = intervals_of(timeline, thresholds)[games].astype(np.int64)
    number = np.abs(interval)[:, np.newaxis]
    is_win = interval[:, np.newaxis] > 0
    is_between = (number > 0) & (number <= len(thresholds))
    step = np.arange(1, len(thresholds) + 1)
    nearer = np.where(step < number, 1.0, 0.0)  # of the end that is nearer to a draw
    farther = np.where((step <= number) & is_between, 1.0, 0.0)
    return _ResultEnds(
        low=np.where(is_between[:, 0] & ~is_win[:, 0], -1.0, low),
        high=np.where(is_between[:, 0] & is_win[:, 0], 1.0, high),
        low_steps=np.where(is_win, nearer, -farther),
        high_steps=np.where(is_win, farther, -nearer),
    )


def _rows(
    entries: _LinkEntries, design: LinkDesign, weight: Array, period: Ids, periods: int
) -> LinkRows:
    """The links by period, their numbers in the units of the design; `period`: of each link."""
    rows = LinkRows(
        start=np.empty(0, np.int64),
        row=np.append(0, np.cumsum(np.bincount(entries.link, minlength=len(weight)))).astype(
            np.int64
        ),
        variable=entries.variable.astype(np.int32),
        coefficient=entries.coefficient,
        offset=np.zeros(len(weight)),
        noise=design.noise,
        low=design.low,
        high=design.high,
        weight=weight,
        lapse=np.zeros(len(weight)),
        base=np.zeros(len(weight)),
    )
    return links_by_period(period, periods, rows)
