"""Elo's method for the past: performances over five years, smoothed (Edo paper); what was decided is tagged."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Unpack

import numpy as np
from pydantic import Field

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit, Status
from ttt_cli.histories import Line
from ttt_cli.inference.draws import resolve_logistic_margin
from ttt_cli.inference.outcome import ELO_SCALE, logistic, predict_ratings
from ttt_cli.inference.scores.balance import Pairs, balance, level
from ttt_cli.inference.scores.ratings import RatingParams, unknown_sd
from ttt_cli.inference.solver import Given, OnSweep, largest
from ttt_cli.inference.traits import Traits
from ttt_cli.periods import year_of
from ttt_cli.timeline import Timeline

NAME: Final = "elo-historical"
TRAITS: Final = Traits(kind="smoothed", has_evidence=False, draws_apart=True)
predict = predict_ratings

NEAR: Final = 30.0  # points: steps larger than that need not be precise
ROUGHLY: Final = 1e-3  # how far residuals are brought down in one step
PRECISELY: Final = 1e-7
EXACTLY: Final = 1e-10
LEAST_SHARE: Final = 1e-6  # of a step that is tried
# points that a difference may move in a step: where scores are flat Newton's method goes too far
LONGEST: Final = 1000.0
SLACK: Final = 1e-12  # relative: rounding of the likelihood


class Params(RatingParams):
    """Parameters of Elo's historical method."""

    span: float = Field(
        default=5.0, gt=0, description="length of the periods with one performance each, years"
    )
    padding: float = Field(
        default=1.0, gt=0, description="drawn games added to every performance, spread over its opponents"
    )
    smoothing: float = Field(
        default=3.0,
        gt=0,
        description="sd of the Gaussian in time under which performances are averaged, years",
    )


@dataclass(frozen=True)
class Entries:
    """Players in the periods in which they have games, sorted by player, then period; shape (entries,).

    Those of a player are `start[player]` up to `start[player + 1]`. `block`: number of the period. `games`: weighted
    number of games; `time`: their mean time, years. `pairs`: the games, by entry.
    """

    start: Places
    player: Ids
    block: Ids
    games: Array
    time: Array
    pairs: Pairs


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **given: Unpack[Given]) -> Fit:
    """Performances within each period, then the levels of its groups, then curves; a sweep is a round over all."""
    margin = resolve_logistic_margin(params, timeline)
    time = middles(timeline)
    entries = lay_out(timeline, time, params.span)
    within, trace = performances(timeline, entries, params, solver, given.get("on_sweep"))
    levelled, solved = on_one_level(entries, within, solver)
    remaining = trace[-1][1] if solved else np.inf
    return Fit(
        model=NAME,
        kind=TRAITS.kind,
        params={**params.model_dump(), "draw_margin": margin},
        chains={
            "skill": Line(
                mean=params.prior_mean + curves(timeline, time, entries, levelled, params.smoothing),
                sd=unknown_sd(timeline.n_nodes),
            )
        },
        status=Status(remaining < solver.tol, len(trace), remaining),
        trace=tuple(trace),
    )


def middles(timeline: Timeline) -> Array:
    """The middle of each node's period, years of the calendar."""
    return np.asarray(year_of(timeline.node_period.astype(np.float64) + 0.5, timeline.period))


def lay_out(timeline: Timeline, time: Array, span: float) -> Entries:
    """Nodes with games gathered by player and period of `span` years; `time` of the nodes, years."""
    ends = np.concatenate([timeline.game_white, timeline.game_black])
    games = np.bincount(ends, np.tile(timeline.weight, 2), timeline.n_nodes)
    played = np.unique(ends)
    block = np.floor(time[played] / span).astype(np.int64)
    block -= block.min(initial=0)
    n_blocks = int(block.max(initial=0)) + 1
    keys, place = np.unique(timeline.node_player[played] * n_blocks + block, return_inverse=True)
    entry = np.zeros(timeline.n_nodes, np.int32)
    entry[played] = place
    n = len(keys)
    weights = np.bincount(place, games[played], n).astype(np.float64)
    total = np.bincount(place, games[played] * time[played], n)
    return Entries(
        start=np.searchsorted(keys // n_blocks, np.arange(len(timeline.players) + 1)).astype(np.int64),
        player=(keys // n_blocks).astype(np.int32),
        block=(keys % n_blocks).astype(np.int32),
        games=weights,
        time=total / weights,
        pairs=Pairs.among(n, entry[timeline.game_white], entry[timeline.game_black], timeline.weight.copy()),
    )


def performances(
    timeline: Timeline,
    entries: Entries,
    params: Params,
    solver: SolverConfig,
    on_sweep: OnSweep | None = None,
) -> tuple[Array, list[tuple[float, float]]]:
    """Ratings at which everybody's expected score is the score, within each group of a period, and the trace.

    All are moved at once, by Newton's method with steps halved until the likelihood grows; the error left is taken to
    be no larger than the last move. Decision: the score is expected from each opponent, where Elo took their mean.
    Decision: every entry has `padding` drawn games more, half by its own measure and half by its opponents'.
    Odds and White's advantage are strength of whoever has them.
    """
    first, second, weight = entries.pairs.first, entries.pairs.second, entries.pairs.weight
    drawn = weight * params.padding / 2.0 * (1.0 / entries.games[first] + 1.0 / entries.games[second])
    score = weight * timeline.outcome / 2.0 + drawn / 2.0
    total = weight + drawn
    ahead = timeline.ahead(params.white_advantage)
    rating = np.zeros(len(entries.games))
    trace: list[tuple[float, float]] = []
    change = np.inf
    while change >= solver.tol and len(trace) < solver.max_sweeps:
        difference = rating[first] - rating[second] + ahead
        expected = logistic(difference)
        pairs = entries.pairs.weighing(total * expected * (1.0 - expected) / ELO_SCALE)
        gradient = pairs.to_members(score - total * expected)
        step, solved = balance(pairs, gradient, ROUGHLY if change > NEAR else PRECISELY, solver.max_sweeps)
        step *= LONGEST / max(LONGEST, largest(step[first] - step[second]))
        gain = step[first] - step[second]
        rating = rating + step * _share(lambda s: _log_likelihood(difference + s * gain, score, total))  # noqa: B023
        change = largest(step) if solved else np.inf
        trace.append((largest(step), change))
        if on_sweep:
            on_sweep(len(trace), *trace[-1])
    return rating, trace


def on_one_level(entries: Entries, within: Array, solver: SolverConfig) -> tuple[Array, bool]:
    """Performances whose groups are moved until players keep theirs from one of their periods to the next.

    Decision: the moves are the weighted least squares solution over all players and neighbouring periods, so that no
    direction of time is preferred. A link of n and m games over k periods weighs n m / (n + m) / k. Groups that hang
    together have a mean of 0, each entry counted once. Returns whether the moves were found.
    """
    group = entries.pairs.group
    earlier = np.flatnonzero(np.diff(entries.player) == 0)
    later = earlier + 1
    n, m = entries.games[earlier], entries.games[later]
    weight = n * m / (n + m) / (entries.block[later] - entries.block[earlier])
    links = Pairs.among(int(group.max(initial=-1)) + 1, group[earlier], group[later], weight)
    excess = links.to_members(weight * (within[later] - within[earlier]))
    moves, solved = balance(links, excess, EXACTLY, solver.max_sweeps)
    moved = within + moves[group]
    return level(moved, np.ones(len(moved)), links.group[group]), solved


def curves(timeline: Timeline, time: Array, entries: Entries, performance: Array, width: float) -> Array:
    """Each node's rating on the smooth curve through its player's performances; 0 for who has none.

    Decision: their mean, weighted by games and by a Gaussian of sd `width` years in the time to the mean of the games.
    """
    from ttt_cli.kernels.scores.elo_historical import draw_curves

    rating = np.zeros(timeline.n_nodes)
    draw_curves(
        timeline.node_player.copy(), time, entries.start, entries.time, entries.games, performance,
        width, rating,
    )  # fmt: skip
    return rating


def _log_likelihood(difference: Array, score: Array, total: Array) -> float:
    """Of scores out of totals, with differences in points."""
    natural = difference / ELO_SCALE
    return float(np.einsum("i,i->", score, natural) - np.einsum("i,i->", total, np.logaddexp(0.0, natural)))


def _share(likelihood: Callable[[float], float]) -> float:
    """How much of a step to take: all, or half as often as the likelihood falls."""
    share, before = 1.0, likelihood(0.0)
    while share > LEAST_SHARE and likelihood(share) < before - SLACK * abs(before):
        share /= 2.0
    return share
