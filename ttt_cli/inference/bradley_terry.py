"""Bradley-Terry models: comparisons, maximum by Newton's method, Laplace evidence, rated groups."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ttt_cli.fitted import Fit, Status
from ttt_cli.games.table import LOSS, WIN
from ttt_cli.gaussian.factor import Factor, Pattern, require_affordable
from ttt_cli.gaussian.precision import Entries, Precision, dot
from ttt_cli.inference.outcome import ELO_SCALE, log_score, margin_probabilities
from ttt_cli.inference.solver import OnSweep, largest
from ttt_cli.kernels.ep.structures import Chains, Messages
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.timeline import Timeline

Draws = Literal["halves", "margin"]


class Comparisons(NamedTuple):
    """Rows (rows,): node `first` won `won` and lost `lost` comparisons against `second` (weights).

    `shift` is added to the rating of `first`, natural units (400 / ln 10 Elo points).
    """

    first: Ids
    second: Ids
    shift: Array
    won: Array
    lost: Array


def compare_games(timeline: Timeline, white_advantage: float, draws: Draws) -> Comparisons:
    """Games as comparisons, with White's advantage (points) where colours are known.

    A draw counts as half a win and half a loss (`halves`), or as one of each (`margin`).
    """
    white = timeline.game_white.astype(np.int64)
    black = timeline.game_black.astype(np.int64)
    swap = white > black
    shift_of_game = np.where(swap, -1, 1) * timeline.ahead(white_advantage)
    shifts, shift_index = np.unique(shift_of_game, return_inverse=True)
    # games of a pair with equal shifts are one row; its key is made of first, second and the index of the shift
    nodes = max(timeline.n_nodes, 1)
    n_shifts = max(len(shifts), 1)
    pair_key = np.minimum(white, black) * nodes + np.maximum(white, black)
    keys, row_of_game = np.unique(pair_key * n_shifts + shift_index, return_inverse=True)
    pair_of_row, shift_of_row = np.divmod(keys, n_shifts)
    first, second = np.divmod(pair_of_row, nodes)
    share_won = np.array([0.0, 0.5 if draws == "halves" else 1.0, 1.0])  # by outcome
    won_by_white = timeline.weight * share_won[timeline.outcome]
    won_by_black = timeline.weight * share_won[2 - timeline.outcome]
    won = np.where(swap, won_by_black, won_by_white)
    lost = np.where(swap, won_by_white, won_by_black)
    return Comparisons(
        first=first.astype(np.int32),
        second=second.astype(np.int32),
        shift=shifts[shift_of_row] / ELO_SCALE,
        won=np.bincount(row_of_game, won, len(keys)).astype(np.float64),
        lost=np.bincount(row_of_game, lost, len(keys)).astype(np.float64),
    )


# Probabilities are integrated over a difference at `POINTS` evenly spaced points up to `REACH` sds from its mean. They
# are right to 1e-7 up to a sd of 600 points, and to one in a thousand up to 1,500; there a Gauss-Hermite rule with as
# many points is wrong by a quarter of the probability of a draw.
POINTS: Final = 32
REACH: Final = 5.5


def leave_one_out(
    timeline: Timeline, rating: Array, information: Factor, margin: float, white_advantage: float
) -> float:
    """Sum of log probabilities of games, each removed from the Gaussian of its difference."""
    from scipy.special import expit

    white = timeline.game_white
    black = timeline.game_black
    shift = timeline.ahead(white_advantage)
    difference = rating[white] - rating[black] + shift / ELO_SCALE
    won = (timeline.outcome > 0).astype(np.float64)
    lost = (timeline.outcome < 2).astype(np.float64)
    removed_weight = np.minimum(timeline.weight, 1.0)
    # A draw is a win and a loss at once: with the margin m, its probability, no_loss - win, is
    # (e^(2 m) - 1) win (1 - no_loss).
    win = expit(difference - margin / ELO_SCALE)  # probability
    no_loss = expit(difference + margin / ELO_SCALE)
    score = won * (1.0 - win) - lost * no_loss
    curvature = -won * win * (1.0 - win) - lost * no_loss * (1.0 - no_loss)
    variance: Array = information.variances[white] + information.variances[black]
    variance -= 2.0 * information.covariances(white, black)
    # A game of weight w, with slope s and curvature c (negative) of its log probability at the difference d, whose
    # variance is v: without it 1 / v' = 1 / v + w c, and d' = d - v' w s.
    cavity_variance = variance / (1.0 + removed_weight * curvature * variance)
    cavity_mean = difference - cavity_variance * removed_weight * score
    points = np.linspace(-REACH, REACH, POINTS)
    densities = np.exp(-0.5 * points**2)
    probabilities = np.zeros((len(cavity_mean), 3))
    for point, share in zip(points, densities / densities.sum(), strict=True):
        elo_difference = ELO_SCALE * (cavity_mean + point * np.sqrt(cavity_variance))
        probabilities += share * margin_probabilities(elo_difference, margin)
    return log_score(probabilities, timeline.outcome, timeline.weight)


# When a maximum is reached (`_has_converged`):
#
# | tolerance | largest slope | next step |
# |---|---|---|
# | up to COARSE_TOL | at most GRADIENT_TOL | below the tolerance |
# | larger | any | below COARSE_STEP_TOL |
GRADIENT_TOL: Final = 1e-8  # games: expected scores are right to this
COARSE_TOL: Final = 0.1  # points
COARSE_STEP_TOL: Final = 0.01  # points: so few that different starts agree to 1e-7 nats a game
# Relative accuracy of the first Newton steps; later ones are as accurate as the slopes are small.
NEWTON_ACCURACY: Final = 1e-2
HALVINGS: Final = 40  # of a step, at most
ROUNDING: Final = 1e-9  # of a log density
LONGEST_STEP: Final = 5.0  # natural units, the logistic scale
SAFETY: Final = 1.1  # factor on the length of the next step, which is computed to 1 %

# (rating, gradient, link_precision, node_precision) -> log density of each player's history. Adds to the gradient and
# fills the precisions.
Histories = Callable[[Array, Array, Array, Array], float]


class LogDensity:
    """Log density of ratings in natural units, with gradient and curvature at the last evaluated point."""

    def __init__(
        self, comparisons: Comparisons, margin: float, previous: Ids, histories: Histories
    ) -> None:
        from ttt_cli.kernels import bradley_terry

        n = len(previous)
        self._kernels = bradley_terry
        self._histories = histories
        self._margin = margin
        self.comparisons = comparisons
        self.previous = previous
        self.gradient, self.diagonal, self.link_precision, self._node_precision = np.zeros((4, n))
        self.coupling = np.zeros(len(comparisons.first))

    def at(self, rating: Array) -> float:
        """Log density at ratings (nodes,)."""
        self.gradient.fill(0.0)
        self.diagonal.fill(0.0)
        value = self._kernels.compare(
            *self.comparisons, self._margin, rating, self.gradient, self.coupling, self.diagonal
        )
        value += self._histories(rating, self.gradient, self.link_precision, self._node_precision)
        self.diagonal += self._node_precision
        return float(value)

    def step(self, relative: float) -> Array:
        """Newton's step to a relative accuracy in the energy norm.

        Far from the maximum, where curvatures vanish and there is none, the gradient.
        """
        try:
            return self._information().solve(self.gradient, energy=relative)[0]
        except ValueError:
            return self.gradient.copy()

    def _information(self) -> Precision:
        every = np.arange(len(self.previous))
        rows = self.comparisons
        between = Entries(rows.first, rows.second, -self.coupling)
        entries = [Entries(every, every, self.diagonal), between]
        return Precision(self.previous, self.link_precision, entries)

    @cached_property
    def pattern(self) -> Pattern:
        """Sparsity pattern of the information."""
        matrix = self._information()
        return Pattern(matrix.low, matrix.high, len(self.previous))

    def require_information(self) -> None:
        """Raise ConfigError where `information` would."""
        require_affordable(
            self.pattern, "exact deviations", "-s model.deviations=own, or longer periods"
        )

    def information(self) -> Factor:
        """Factor of the negative Hessian at the last point."""
        matrix = self._information()
        return Factor(self.pattern, matrix.above, matrix.diagonal)


@dataclass(frozen=True)
class Maximum:
    """Ratings (nodes,) at the maximum, natural units, the log density there, and the status of the optimiser."""

    rating: Array
    value: float
    status: Status
    trace: tuple[tuple[float, float], ...]


def maximise(
    posterior: LogDensity, start: Array, tol: float, max_sweeps: int, on_sweep: OnSweep | None
) -> Maximum:
    """Optimise from `start` until all slopes are below `GRADIENT_TOL` and the next step below `tol` points.

    With a `tol` above `COARSE_TOL` only the step counts, against `COARSE_STEP_TOL`: a step so short is nearly all that
    remains, since no curvature changes by more than a factor of e over one natural unit. Steps are limited to
    `LONGEST_STEP`, since the density is flat far from its maximum.
    """
    rating = start
    value = posterior.at(start)
    step = posterior.step(NEWTON_ACCURACY)
    trace: list[tuple[float, float]] = []
    converged = False
    remaining = np.inf
    while not converged and len(trace) < max_sweeps:
        moved = _line_search(posterior, rating, value, _shortened(step))
        rating = moved.rating
        value = moved.value
        slope = largest(posterior.gradient)
        step = posterior.step(min(NEWTON_ACCURACY, slope))
        remaining = SAFETY * largest(step) * ELO_SCALE
        converged = _has_converged(slope, remaining, tol)
        trace.append((largest(moved.step) * ELO_SCALE, remaining))
        if on_sweep:
            on_sweep(len(trace), *trace[-1])
        if not np.isfinite(remaining):
            break
    return Maximum(rating, value, Status(converged, len(trace), remaining), tuple(trace))


def _has_converged(slope: float, remaining: float, tol: float) -> bool:
    """Whether a maximum is reached: by the largest slope and the length of the next step, `remaining`, points."""
    if tol > COARSE_TOL:
        return remaining < COARSE_STEP_TOL
    return slope <= GRADIENT_TOL and remaining < tol


def _shortened(step: Array) -> Array:
    """The step, scaled down to `LONGEST_STEP` where it is longer."""
    length = largest(step)
    return step * (LONGEST_STEP / length) if length > LONGEST_STEP else step


class _Moved(NamedTuple):
    """Ratings after a step, the log density there, and the step."""

    rating: Array
    value: float
    step: Array


def _line_search(posterior: LogDensity, start: Array, value: float, step: Array) -> _Moved:
    """Halve the step until it ends no lower than it began and not far beyond the maximum along it.

    The density is concave; `value` is that at `start`. Not far: at the end it falls at most half as steeply as it rose.
    The gradient of the posterior is then that at the new ratings.
    """
    least = value - ROUNDING * abs(value)
    rise = dot(posterior.gradient, step)
    for _ in range(HALVINGS):
        rating = start + step
        moved = _Moved(rating, posterior.at(rating), step)
        if dot(posterior.gradient, step) >= -0.5 * rise and moved.value >= least:
            break
        rise = 0.5 * rise
        step = 0.5 * step
    return moved


@dataclass(frozen=True)
class PlayerYears:
    """Nodes of rated players: `nodes` their numbers in the timeline, `index` the inverse (-1: not rated).

    Arrays (nodes here,): `previous`, `group` (largest first), `active` (has games inside the group).
    """

    nodes: Ids
    index: Ids
    previous: Ids
    group: Ids
    active: Mask

    @classmethod
    def of(cls, timeline: Timeline) -> "PlayerYears":
        """Rated nodes of a timeline; all nodes of a player belong together."""
        group = rated_groups(timeline)[timeline.node_player]
        nodes = np.flatnonzero(group >= 0).astype(np.int32)
        index = np.full(timeline.n_nodes + 1, -1, np.int32)  # the last entry is for node -1
        index[nodes] = np.arange(len(nodes), dtype=np.int32)
        games = np.zeros(timeline.n_nodes, bool)
        used = group[timeline.game_white] == group[timeline.game_black]
        games[timeline.game_white[used]] = games[timeline.game_black[used]] = True
        return cls(
            nodes=nodes,
            index=index[:-1],
            previous=index[timeline.previous[nodes]],
            group=group[nodes],
            active=games[nodes],
        )

    def select(self, comparisons: Comparisons) -> Comparisons:
        """Comparisons inside groups."""
        first = self.index[comparisons.first]
        second = self.index[comparisons.second]
        inside = (first >= 0) & (second >= 0)
        inside[inside] = self.group[first[inside]] == self.group[second[inside]]
        return Comparisons(
            first=first[inside],
            second=second[inside],
            shift=comparisons.shift[inside],
            won=comparisons.won[inside],
            lost=comparisons.lost[inside],
        )

    def everywhere(self, values: Array) -> Array:
        """Values (nodes here,) at the nodes of the timeline, 0 at the others."""
        at_all_nodes = np.zeros(len(self.index))
        at_all_nodes[self.nodes] = values
        return at_all_nodes

    def firsts(self) -> Places:
        """First node of each group."""
        return np.unique(self.group, return_index=True)[1]

    def mean_weights(self) -> Array:
        """Weight of each node in its group's mean: equal for all active ones."""
        return self.active / self.group_sums(self.active)

    def group_sums(self, values: Array | Mask) -> Array:
        """Sum of `values` (nodes here,) over the group of each node."""
        return np.bincount(self.group, values, minlength=1).astype(np.float64)[self.group]

    def across_gaps(self, values: Array, timeline: Timeline) -> Array:
        """Interpolate `values` (nodes here,) linearly in time over inactive nodes."""
        player = timeline.node_player[self.nodes]
        order = np.argsort(player, kind="stable")  # by player, then time
        player = player[order]
        active = self.active[order]
        # players of the active nodes, with nobody before the first and after the last
        player_of_active = np.concatenate([[-1], player[active], [-1]])
        n_active_before = np.cumsum(active)
        is_same_before = player_of_active[n_active_before] == player
        is_same_after = player_of_active[n_active_before + 1] == player
        is_gap = ~active & is_same_before & is_same_after
        # time runs on from player to player: one interpolation serves all, since gaps have active nodes on both sides
        time = np.cumsum(timeline.gap_years[self.nodes][order])
        interpolated = values.copy()
        if is_gap.any():
            interpolated[order[is_gap]] = np.interp(
                time[is_gap], time[active], values[order][active]
            )
        return interpolated

    def notes(self, timeline: Timeline) -> tuple[str, ...]:
        """Notes on unrated players and unconnected groups."""
        present = np.unique(timeline.node_player)
        missing = np.setdiff1d(present, timeline.node_player[self.nodes])
        notes = []
        if len(missing):
            names = "; ".join(timeline.players[player] for player in missing.tolist())
            notes.append(
                "not rated, for lack of a positive or a negative score against rated players: "
                f"{len(missing)} of {len(present)} ({names})"
            )
        if self.group.any():
            notes.append(
                f"{int(self.group.max()) + 1} groups of players are not connected by games that went both ways: "
                "each has the same mean"
            )
        return tuple(notes)


def rated_groups(timeline: Timeline) -> Ids:
    """Group of each player, largest first, -1 for unrated players; shape (players,).

    Groups are the strongly connected components of the graph of scores, from each player to those against whom he
    scored: inside a group a path of scores leads from each to each other. A component of a single player is unrated:
    no path leads back to him, so no finite maximum rates him.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    white = timeline.node_player[timeline.game_white]
    black = timeline.node_player[timeline.game_black]
    scored = timeline.outcome != LOSS
    conceded = timeline.outcome != WIN
    ends = (
        np.concatenate([white[scored], black[conceded]]),
        np.concatenate([black[scored], white[conceded]]),
    )
    size = len(timeline.players)
    points = coo_array((np.ones(len(ends[0])), ends), shape=(size, size))
    _, label = connected_components(points, directed=True, connection="strong")
    members = np.bincount(label)
    order = np.argsort(-members, kind="stable")
    rank = np.empty(len(members), np.int32)
    rank[order] = np.arange(len(members), dtype=np.int32)
    rank[members < 2] = -1
    return rank[label] if size else np.zeros(0, np.int32)


Deviations = Annotated[
    Literal["exact", "own"],
    Field(description="exact, or own: opponents taken as known, which is quicker and too sure"),
]


def initial_ratings(timeline: Timeline, start: Fit | None) -> Array:
    """Initial ratings (nodes,) from an earlier fit, natural units; the player's last rating at new nodes, else 0."""
    rating = np.zeros(timeline.n_nodes)
    earlier = None if start is None else start.state.get("rating")
    if earlier is not None and len(earlier) <= len(rating):
        rating[: len(earlier)] = earlier
        for i, before in enumerate(timeline.previous[len(earlier) :].tolist(), len(earlier)):
            rating[i] = rating[before] if before >= 0 else 0.0
    return rating


def own_deviations(posterior: LogDensity, diagonal: Array) -> tuple[Array, Array]:
    """Variances (nodes,) and covariances with the previous node, other players fixed.

    `diagonal` (nodes,): information on each node without that of the links to the player's other nodes.
    """
    from ttt_cli.kernels.ep.chains import smooth, smoothed

    with np.errstate(divide="ignore"):
        link_variance = 1.0 / posterior.link_precision
    n = len(diagonal)
    previous = posterior.previous
    following = np.full(len(diagonal), -1, np.int32)
    later = np.flatnonzero(previous >= 0)
    following[previous[later]] = later
    chains = Chains(np.zeros(0, np.int64), previous, following, np.zeros(n), link_variance)
    messages = Messages(*np.zeros((3, n, 2)))
    mean, sd, covariance = np.empty((3, n))
    # `smooth` takes the precisions of the sites in `marginal`, and makes marginals of them; `smoothed` reads sds and
    # covariances off these
    messages.marginal[:, 0] = diagonal
    smooth(0, n, chains, messages)
    smoothed(0, chains, messages, mean, sd, covariance)
    return sd**2, covariance
