"""Elo's historical method: performances of each period, brought to one level, smoothed over time (Elo 1978)."""

from dataclasses import dataclass, replace
from typing import Final, Unpack

import numpy as np

from ttt_cli.config.schema import SolverConfig, key
from ttt_cli.fitted import Fit
from ttt_cli.gaussian.precision import conjugate_gradients
from ttt_cli.inference.bradley_terry import Comparisons, LogDensity, Maximum, maximise
from ttt_cli.inference.filters import RatingParams, rating_fit
from ttt_cli.inference.outcome import ELO_SCALE, predict_ratings
from ttt_cli.inference.params import ExpectedParams, Traits
from ttt_cli.inference.solver import Given, OnSweep
from ttt_cli.periods import year_of
from ttt_cli.support.arrays import Array, Ids, Places
from ttt_cli.timeline import Timeline

NAME: Final = "elo-historical"
TRAITS: Final = Traits(kind="smoothed", has_evidence=False, draws_apart=True)
predict = predict_ratings

ADDED: Final = 2.0  # error of levels, which add errors of performances, relative to these
EXACTLY: Final = 1e-10  # of levels: their residual, relative
LEAST: Final = 1e-7  # of a step: how exactly it is found at most


class Params(RatingParams, ExpectedParams):
    """Parameters of Elo's historical method."""

    span: float = key(5.0, "length of the periods with one performance each, years", gt=0)
    padding: float = key(
        1.0, "drawn games added to every performance, spread over its opponents", gt=0
    )
    smoothing: float = key(
        3.0, "sd of the Gaussian in time under which performances are averaged, years", gt=0
    )


@dataclass(frozen=True)
class PlayerPeriods:
    """Players in the periods with their games, sorted by player, then period; shape (entries,).

    Entries of a player are `start[player]` up to `start[player + 1]`. `block`: number of the period. `games`:
    weighted number of games; `time`: their mean time, years. `first` and `second` (games,): entries of White and Black.
    `group`: connected component of the games.
    """

    start: Places
    player: Ids
    block: Ids
    games: Array
    time: Array
    first: Ids
    second: Ids
    group: Ids


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **options: Unpack[Given]) -> Fit:
    """Compute performances within periods, then the levels of groups, then curves."""
    time = middles(timeline)
    entries = lay_out(timeline, time, params.span)
    within = performances(timeline, entries, params, solver, options.get("on_sweep"))
    levelled, on_level = on_one_level(entries, within.rating * ELO_SCALE)
    converged = within.status.converged and on_level
    rating = params.prior_mean + curves(timeline, time, entries, levelled, params.smoothing)
    remaining = ADDED * within.status.remaining_error
    status = replace(within.status, converged=converged, remaining_error=remaining)
    return rating_fit(NAME, timeline, params, rating, status, within.trace)


def middles(timeline: Timeline) -> Array:
    """Middle of each node's period, calendar years."""
    return np.asarray(year_of(timeline.node_period.astype(np.float64) + 0.5, timeline.period))


def lay_out(timeline: Timeline, time: Array, span: float) -> PlayerPeriods:
    """Collect nodes with games by player and period of `span` years; `time` of the nodes in years."""
    games = timeline.node_games
    played = np.flatnonzero(timeline.node_games > 0.0)
    block = np.floor(time[played] / span).astype(np.int64)
    block -= block.min(initial=0)
    n_blocks = int(block.max(initial=0)) + 1
    keys, entry_of_played = np.unique(
        timeline.node_player[played] * n_blocks + block, return_inverse=True
    )
    entry = np.zeros(timeline.n_nodes, np.int32)
    entry[played] = entry_of_played
    n = len(keys)
    weights = np.bincount(entry_of_played, games[played], n).astype(np.float64)
    total_time = np.bincount(entry_of_played, games[played] * time[played], n)
    return PlayerPeriods(
        start=np.searchsorted(keys // n_blocks, np.arange(len(timeline.players) + 1)).astype(
            np.int64
        ),
        player=(keys // n_blocks).astype(np.int32),
        block=(keys % n_blocks).astype(np.int32),
        games=weights,
        time=total_time / weights,
        first=entry[timeline.game_white],
        second=entry[timeline.game_black],
        group=connected(n, entry[timeline.game_white], entry[timeline.game_black]),
    )


def connected(members: int, first: Ids, second: Ids) -> Ids:
    """Connected component of each member by pairs (pairs,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not members:
        return np.zeros(0, np.int32)
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(members, members))
    return connected_components(graph, directed=False)[1].astype(np.int32)


def balance(
    first: Ids, second: Ids, weight: Array, group: Ids, score: Array, accuracy: float
) -> tuple[Array, bool]:
    """Solve for ratings r: for each member i, the sum of weight (r_i - r_j) over i's pairs equals i's `score`.

    `group` (members,): connected component of the pairs; scores are centred within each. `accuracy`: relative size of
    the residuals. The second value is whether it was reached.
    """
    from scipy.sparse import coo_array

    n = len(group)
    members = np.append(first, second)
    opponents = np.append(second, first)
    both_weights = np.append(weight, weight)
    couplings = coo_array((both_weights, (members, opponents)), shape=(n, n)).tocsr()
    total: Array = np.bincount(members, both_weights, n).astype(np.float64)
    scale = np.where(total > 0.0, total, 1.0)
    group_scale = np.bincount(group, scale)

    def laplacian(ratings: Array) -> Array:
        return np.asarray(total * ratings - couplings @ ratings)

    def jacobi_step(residual: Array) -> Array:
        """The move of each member with the others fixed, centred within groups."""
        return residual / scale - (np.bincount(group, residual) / group_scale)[group]

    centred = score - scale * (np.bincount(group, score) / group_scale)[group]
    result = conjugate_gradients(laplacian, jacobi_step, centred, residual=accuracy)
    return result.x, result.converged


class GroupDensity(LogDensity):
    """Log density of performances; adding a constant to all of a group does not change it."""

    def __init__(self, games: Comparisons, group: Ids) -> None:
        super().__init__(games, 0.0, np.full(len(group), -1, np.int32), lambda *_: 0.0)
        self._group = group

    def step(self, relative: float) -> Array:
        """Newton's step to a relative accuracy, groups centred; less exact it is still a step upwards."""
        games = self.comparisons
        accuracy = max(relative, LEAST)
        return balance(
            games.first, games.second, self.coupling, self._group, self.gradient, accuracy
        )[0]


def performances(
    timeline: Timeline,
    entries: PlayerPeriods,
    params: Params,
    solver: SolverConfig,
    on_sweep: OnSweep | None,
) -> Maximum:
    """Ratings, natural units, with expected scores equal to the scores within each group of a period.

    Decision: expected scores are computed for each opponent; Elo used the opponents' mean. Decision: each entry gets
    `padding` additional drawn games, half in proportion to its own number of games, half to its opponents'. Odds and
    White's advantage are added to the ratings.
    """
    first = entries.first
    second = entries.second
    weight = timeline.weight
    drawn = (
        weight * params.padding / 2.0 * (1.0 / entries.games[first] + 1.0 / entries.games[second])
    )
    won = weight * timeline.outcome / 2.0 + drawn / 2.0
    shift = timeline.ahead(params.white_advantage) / ELO_SCALE
    games = Comparisons(first, second, shift, won, weight + drawn - won)
    density = GroupDensity(games, entries.group)
    return maximise(
        density, np.zeros(len(entries.games)), solver.tol / ADDED, solver.max_sweeps, on_sweep
    )


def on_one_level(entries: PlayerPeriods, within: Array) -> tuple[Array, bool]:
    """Shift the groups' performances so that players keep theirs from one period to the next, and say whether exactly.

    Decision: the shifts are the weighted least squares solution over all players and neighbouring periods, symmetric
    in time. A link of n and m games over k periods weighs n m / (n + m) / k. Connected groups have a mean of 0,
    entries weighted equally.
    """
    earlier = np.flatnonzero(np.diff(entries.player) == 0)
    later = earlier + 1
    n = entries.games[earlier]
    m = entries.games[later]
    weight = n * m / (n + m) / (entries.block[later] - entries.block[earlier])
    groups = int(entries.group.max(initial=-1)) + 1
    earlier_group = entries.group[earlier]
    later_group = entries.group[later]
    excess = weight * (within[later] - within[earlier])
    score: Array = np.bincount(earlier_group, excess, groups).astype(np.float64)
    score -= np.bincount(later_group, excess, groups)
    component_of_group = connected(groups, earlier_group, later_group)
    shift, exact = balance(earlier_group, later_group, weight, component_of_group, score, EXACTLY)
    shifted = within + shift[entries.group]
    component = component_of_group[entries.group]
    mean = np.bincount(component, shifted) / np.bincount(component)
    return np.asarray(shifted - mean[component]), exact


def curves(
    timeline: Timeline, time: Array, entries: PlayerPeriods, performance: Array, width: float
) -> Array:
    """Rating of each node on the smooth curve through its player's performances; 0 without any.

    Decision: the mean weighted by games and by a Gaussian of sd `width` years in the time to the mean of the games.
    """
    player = timeline.node_player
    n = timeline.n_nodes
    count = np.diff(entries.start)[player]
    node = np.repeat(np.arange(n), count)
    entry = np.arange(len(node)) + np.repeat(
        entries.start[player] - (np.cumsum(count) - count), count
    )
    squared = (time[node] - entries.time[entry]) ** 2
    nearest = np.full(n, np.inf)
    np.minimum.at(nearest, node, squared)
    share = entries.games[entry] * np.exp((nearest[node] - squared) / (2.0 * width**2))
    total = np.bincount(node, share, n)
    sums = np.bincount(node, share * performance[entry], n)
    return np.divide(sums, total, out=np.zeros(n), where=total > 0.0)
