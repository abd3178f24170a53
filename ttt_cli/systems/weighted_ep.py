"""Weighted expectation propagation: static skills from games with decaying weights.

T. Salimans' base model, winner of the Deloitte/FIDE Chess Rating Challenge 2011. For each period one ordered probit
is fitted to all games so far. Each likelihood is raised to the power of a weight, which falls with the game's age and
with the number of the player's later games. Prior means are pulled towards the opponents' means.

Departures: the pull is partial and centred, since otherwise levels drift. The means are solved for jointly after each
sweep, which does not change the fixed point. Salimans' regressions on the match schedule are omitted.
"""

import math
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Self, Unpack

import numpy as np

from ttt_cli.config.schema import SolverConfig, key
from ttt_cli.fitted import Filter, Fit, Status
from ttt_cli.inference import outcome
from ttt_cli.inference import params as parameters
from ttt_cli.inference.ep.start import sites_name, sites_of_start
from ttt_cli.inference.filters import filter_fit, games_so_far, prediction_score
from ttt_cli.inference.links import MergedGames, merge_games
from ttt_cli.inference.model import Offsets, Play
from ttt_cli.inference.outcome import normal_unit, resolve_margin
from ttt_cli.inference.params import COMMON_MARGIN, PLAY, Traits
from ttt_cli.inference.solver import Given, OnSweep, Pace, Sweep, iterate, largest
from ttt_cli.kernels.ep.structures import AllGames, CountedGames, Rule
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.support.arrays import Array, Ids
from ttt_cli.timeline import Timeline

NEGLIGIBLE: Final = 1e-8  # a game of less weight for both players is dropped
ROUNDING: Final = 1e-13  # moves below this share of the prior sd are rounding
INNER: Final = 0.1  # of the tolerance: how exactly the joint means are found
RELATIVE: Final = 1e-3  # or by how much their residual shrinks
LEAST_RATE: Final = 0.3  # of sweeps: warm fits end before their rate is measured


class Params(parameters.Params):
    """Parameters of weighted EP; defaults are Salimans' where published (docs/models/weighted_ep.md)."""

    prior_mean: parameters.PriorMean = key(1200.0, "mean skill of a newcomer, points")
    prior_sd: parameters.PriorSd = key(165.0, "sd of skill around its prior mean, points")
    beta: parameters.Beta = 200.0
    white_advantage: parameters.WhiteAdvantage = 0.0
    opponents_pull: float = key(
        0.5, "how far prior means are drawn to the opponents' means, as a share", ge=0, lt=1
    )
    fade_per_year: float = key(0.24, "a game's weight falls by exp(-this) every year", ge=0)
    fade_per_game: float = key(
        0.012, "and by exp(-this) with every game that the player plays in later periods", ge=0
    )
    draw_margin: parameters.DrawMargin = "auto"
    draw_probability: parameters.DrawProbability = None


@dataclass(frozen=True)
class History:
    """Games of a timeline in the order in which they are added; players are numbered by first appearance.

    `log_weight` (nodes,): logarithm of the weight that a game there would have in year 0, before any game.
    """

    timeline: Timeline
    merged: MergedGames
    player: Ids  # (nodes,)
    n_players: int
    years: Array  # (periods,), start of each period
    games_so_far: Array  # (nodes,), weighted games of the player up to and including the node
    log_weight: Array

    @classmethod
    def of(cls, timeline: Timeline, params: Params) -> Self:
        """Merge equal games, and number the players."""
        players, first_node = np.unique(timeline.node_player, return_index=True)
        number = np.empty(len(timeline.players), np.int32)
        number[players[np.argsort(first_node)]] = np.arange(len(players))
        years = timeline.periods / STEPS_PER_YEAR[timeline.period]
        total = games_so_far(timeline)
        year_of_node = np.repeat(years, np.diff(timeline.node_start))
        return cls(
            timeline=timeline,
            merged=merge_games(timeline, colours=params.white_advantage != 0.0),
            player=number[timeline.node_player],
            n_players=len(players),
            years=years,
            games_so_far=total,
            log_weight=params.fade_per_game * total + params.fade_per_year * year_of_node,
        )

    def nodes(self, step: int, stop: int) -> slice:
        """The nodes of periods from index `step` to before `stop`."""
        return slice(int(self.timeline.node_start[step]), int(self.timeline.node_start[stop]))


class CountedSoFar:
    """Games that count for skills in a period, added period by period."""

    def __init__(self, history: History, params: Params) -> None:
        self._history = history
        self._fade_per_year = params.fade_per_year
        self._fade_per_game = params.fade_per_game
        self._games = np.empty(0, np.int64)  # indices of merged games
        self._players = np.empty((0, 2), np.int32)  # of their two sides
        self._log_weight = np.empty((0, 2))  # for the two players, as in History
        self._games_so_far = np.zeros(history.n_players)
        self.n_seen = 0  # players who have appeared: the first ones

    def add(self, step: int, stop: int) -> bool:
        """Add the games of periods from `step` to before `stop`; returns whether there are any."""
        history = self._history
        nodes = history.nodes(step, stop)
        players = history.player[nodes]
        # assigned in order: of a player's nodes the last one counts
        self._games_so_far[players] = history.games_so_far[nodes]
        self.n_seen = max(self.n_seen, int(players.max(initial=-1)) + 1)
        merged = history.merged.games
        games = np.arange(merged.start[step], merged.start[stop])
        ends = np.stack([merged.first[games], merged.second[games]], axis=1)
        self._games = np.concatenate([self._games, games])
        self._players = np.concatenate([self._players, history.player[ends]])
        self._log_weight = np.concatenate([self._log_weight, history.log_weight[ends]])
        return len(games) > 0

    def in_year(self, year: float) -> CountedGames:
        """The games with their weights in a year; those that no longer count are dropped for good."""
        now = self._fade_per_year * year + self._fade_per_game * self._games_so_far
        decay = np.exp(self._log_weight - now[self._players])
        counts = (decay[:, 0] >= NEGLIGIBLE) | (decay[:, 1] >= NEGLIGIBLE)
        if not counts.all():
            self._games = self._games[counts]
            self._players = self._players[counts]
            self._log_weight = self._log_weight[counts]
            decay = decay[counts]
        return CountedGames(self._games, self._players, decay)


class StaticFits:
    """One fit after the other to the games so far; each starts from the sites and prior means of the one before."""

    def __init__(
        self,
        history: History,
        params: Params,
        solver: SolverConfig,
        margin: float,
        start: Fit | None,
    ) -> None:
        merged = history.merged
        n_games = len(merged)
        offsets = Offsets(params.white_advantage)
        play = Play(2.0 * params.beta**2, margin, normal_unit(params.beta, margin), offsets)
        self._params = params
        self._solver = solver
        self._rule = play.rule(np.full(n_games, margin), merged.handicap)
        self.sites = sites_of_start((n_games, 4), start, sites_name(merged))
        self._all_games = AllGames(
            merged.games.code, merged.games.weight, self.sites, np.zeros((n_games, 4))
        )
        # prior means of players, from the common prior mean
        self._level = np.zeros(history.n_players)
        self.statuses: list[Status] = []
        self.trace: list[tuple[float, float]] = []  # change and remaining error of all sweeps

    def fit(self, counted: CountedGames, n_players: int, on_sweep: OnSweep | None) -> Array:
        """Fit to games of the first players; returns their means (from the prior mean) and sds, (2, players)."""
        level = self._level[:n_players]  # updated in place
        inference = StaticInference(
            counted, self._all_games, self._rule, self._params, level, self._solver.tol
        )
        if len(counted.active):
            n_earlier = len(self.trace)  # sweeps are numbered across all fits
            report = on_sweep and (lambda sweep, *state: on_sweep(n_earlier + sweep, *state))
            status, trace = iterate(inference.sweep, self._solver, report, LEAST_RATE, warm=True)
            self.statuses.append(status)
            self.trace += trace
        return inference.beliefs()

    @property
    def status(self) -> Status:
        """The sweeps of all fits and the largest error."""
        return Status(
            converged=all(status.converged for status in self.statuses),
            sweeps=sum(status.sweeps for status in self.statuses),
            remaining_error=max((status.remaining_error for status in self.statuses), default=0.0),
            skipped_sites=max((status.skipped_sites for status in self.statuses), default=0),
        )


class NodeBeliefs(NamedTuple):
    """Means (from the prior mean) and sds before and after the games of nodes, (nodes,)."""

    before_mean: Array
    before_sd: Array
    mean: Array
    sd: Array


def fit_periods(
    history: History,
    params: Params,
    fits: StaticFits,
    *,
    first: int = 0,
    filtered: bool = True,
    on_sweep: OnSweep | None = None,
) -> NodeBeliefs:
    """Fit the games so far before each period from `first` on, and after it if `filtered`; NaN for other nodes."""
    n_nodes = history.timeline.n_nodes
    before = np.full((2, n_nodes), np.nan)
    after = np.full((2, n_nodes), np.nan)
    beliefs = np.stack([np.zeros(history.n_players), np.full(history.n_players, params.prior_sd)])
    counted = CountedSoFar(history, params)
    counted.add(0, first)
    for step, year in enumerate(history.years[first:].tolist(), first):
        nodes = history.nodes(step, step + 1)
        players = history.player[nodes]
        seen = slice(counted.n_seen)
        beliefs[:, seen] = fits.fit(counted.in_year(year), counted.n_seen, on_sweep)
        before[:, nodes] = beliefs[:, players]
        has_games = counted.add(step, step + 1)
        if not filtered:
            continue
        if has_games:
            seen = slice(counted.n_seen)
            beliefs[:, seen] = fits.fit(counted.in_year(year), counted.n_seen, on_sweep)
        after[:, nodes] = beliefs[:, players]
    return NodeBeliefs(before[0], before[1], after[0], after[1])


class StaticInference:
    """Weighted EP on games with a positive weight, from given prior means."""

    def __init__(
        self,
        counted: CountedGames,
        games: AllGames,
        rule: Rule,
        params: Params,
        level: Array,
        tol: float,
    ) -> None:
        from ttt_cli.kernels.ep import weighted_ep

        self._kernels = weighted_ep
        self._counted = counted
        self._games = games
        self._rule = rule
        self._pull = params.opponents_pull
        self._tol = INNER * tol
        self._prior = params.prior_sd**-2
        self.level = level
        self._marginal = np.empty((len(level), 2))
        self._total, self._drawn = np.empty((2, len(level)))
        self._diagonal, self._residual, self._correction = np.empty((3, len(level)))
        self._couplings = np.empty((len(counted.active), 2))
        self._settle()

    def beliefs(self) -> Array:
        """Means (from the common prior mean) and sds of the players, points; shape (2, players)."""
        precision, weighted = self._marginal.T
        return np.stack([weighted / precision, 1.0 / np.sqrt(precision)])

    def sweep(self, pace: Pace) -> Sweep:
        """Update all sites and prior means, then move to the joint means unless the pace is PLAIN."""
        before = self.beliefs()
        skipped = self._kernels.sweep(self._counted, self._games, self._rule, self._marginal)
        self._draw_levels()
        swept = self.beliefs()
        unsolved = self._solve()
        if pace is Pace.PLAIN:
            unsolved += largest(self._correction)
        else:
            self._kernels.move_sites(self._counted, self._games, self._correction, self._marginal)
            self._draw_levels()
        self._settle()
        change = max(largest(swept - before), largest(self.beliefs() - before))
        return Sweep(
            change if change > ROUNDING * self._prior**-0.5 else 0.0, unsolved, int(skipped)
        )

    def _settle(self) -> None:
        self._kernels.settle(self._counted, self._games, self._prior, self.level, self._marginal)

    def _draw_levels(self) -> None:
        """Set prior means from the opponents' means, centred."""
        centre = self._kernels.opponents(
            self._counted, self._games.times, self.beliefs()[0], self._total, self._drawn
        )
        drawn = self._total > 0.0
        self.level[drawn] = self._pull * (self._drawn[drawn] - centre)

    def _solve(self) -> float:
        """Compute the step to the joint means, centred after it is solved for, and return a bound on its error."""
        kernels = self._kernels
        counted = self._counted
        games = self._games
        pull = self._pull
        kernels.linearise(
            counted, games, self._prior, pull, self._marginal, self._total, self.level,
            self._couplings, self._diagonal, self._residual,
        )  # fmt: skip
        bound = kernels.solve(
            counted.ends, self._couplings, self._diagonal, self._residual, (1.0 - pull) * self._prior,
            self._tol, RELATIVE, self._correction,
        )  # fmt: skip
        centre = kernels.opponents(counted, games.times, self._correction, self._total, self._drawn)
        self._correction -= pull * centre
        return (1.0 + pull) * float(bound)


NAME: Final = "weighted-ep"
TRAITS: Final = Traits(
    kind="filtered", has_evidence=True, fits_periods=True, tunable=PLAY | COMMON_MARGIN
)
predict = outcome.predict


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **options: Unpack[Given]) -> Fit:
    """Fit the games so far before and after each period.

    The first fit starts from the sites of `start`, a fit of the same timeline or its first periods. The status has
    the sweeps of all fits and the largest error; `solver` applies to each. Raises ConfigError when the draw margin
    and the games exclude each other.
    """
    history = History.of(timeline, params)
    margin = resolve_margin(params, timeline)
    fits = StaticFits(history, params, solver, margin, options.get("start"))
    beliefs = fit_periods(history, params, fits, on_sweep=options.get("on_sweep"))
    chain = Filter(
        params.prior_mean + beliefs.mean,
        beliefs.sd,
        params.prior_mean + beliefs.before_mean,
        beliefs.before_sd,
        _drift(timeline, params, beliefs.sd, beliefs.before_sd),
        params.prior_sd,
    )
    return _as_fit(history, params, margin, fits, chain, is_scored=True)


def fit_before(
    timeline: Timeline, params: Params, solver: SolverConfig, first: int, start: Fit | None = None
) -> Fit:
    """Predictions before each period from `first` on, one fit each; the log-evidence is NaN unless `first` is 0."""
    history = History.of(timeline, params)
    margin = resolve_margin(params, timeline)
    fits = StaticFits(history, params, solver, margin, start)
    beliefs = fit_periods(history, params, fits, first=first, filtered=False)
    unknown = beliefs.mean
    chain = Filter(
        unknown, unknown, params.prior_mean + beliefs.before_mean, beliefs.before_sd, unknown
    )
    return _as_fit(history, params, margin, fits, chain, is_scored=first == 0)


def _as_fit(
    history: History,
    params: Params,
    margin: float,
    fits: StaticFits,
    chain: Filter,
    *,
    is_scored: bool,
) -> Fit:
    """The fit with this chain, and with the log-evidence of its predictions."""
    resolved = {**params.model_dump(), "draw_margin": margin}
    unit = normal_unit(params.beta, margin)
    evidence = math.nan
    if is_scored:
        before = chain.before_mean, chain.before_sd
        evidence = prediction_score(predict, resolved, history.timeline, *before, unit)
    state = {sites_name(history.merged): fits.sites}  # also for a start with more games
    fit_of_chain = filter_fit(NAME, params, resolved, {"skill": chain}, evidence, fits.status)
    return replace(fit_of_chain, elo_unit=unit, trace=tuple(fits.trace), state=state)


def _drift(timeline: Timeline, params: Params, sd: Array, before_sd: Array) -> Array:
    """Sd of the change of skill in the year after each node, from the growth of its sd as games lose weight."""
    prior = params.prior_sd**-2
    grown = 1.0 / (prior + (sd**-2 - prior) * np.exp(-params.fade_per_year)) - sd**2
    follows = timeline.previous >= 0
    last = timeline.previous[follows]
    grown[last] = (before_sd[follows] ** 2 - sd[last] ** 2) / timeline.gap_years[follows]
    return np.asarray(np.sqrt(np.maximum(grown, 0.0)))
