"""Weighted expectation propagation: static skills from games with decaying weights.

T. Salimans' base model, winner of the Deloitte/FIDE Chess Rating Challenge 2011. For each period one ordered probit
is fitted to all games so far. Each likelihood is raised to the power of a weight, which falls with the game's age and
with the number of the player's later games. Prior means are pulled towards the opponents' means.

Departures: the pull is partial and centred, since otherwise levels drift. The means are solved for jointly after each
sweep, which does not change the fixed point. Salimans' regressions on the match schedule are omitted.
"""

import math
from dataclasses import replace
from typing import Final, Unpack

import numpy as np

from ttt_cli.config.schema import SolverConfig, key
from ttt_cli.fitted import Filter, Fit, Status
from ttt_cli.inference import outcome
from ttt_cli.inference import params as parameters
from ttt_cli.inference.ep.start import sites_name, sites_of_start
from ttt_cli.inference.filters import filter_fit, games_so_far, prediction_score
from ttt_cli.inference.links import merge_games
from ttt_cli.inference.model import Play
from ttt_cli.inference.outcome import normal_unit, resolve_margin
from ttt_cli.inference.params import COMMON_MARGIN, PLAY, Traits
from ttt_cli.inference.solver import Given, OnSweep, Pace, Sweep, iterate, largest
from ttt_cli.kernels.ep.structures import AllGames, CountedGames, Rule
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.support.arrays import Array
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


class GamesSoFar:
    """Games of a timeline added period by period; arrays as in `kernels/ep/weighted_ep.py`."""

    def __init__(
        self,
        timeline: Timeline,
        params: Params,
        solver: SolverConfig,
        on_sweep: OnSweep | None = None,
        start: Fit | None = None,
    ) -> None:
        self._timeline = timeline
        self._params = params
        self._solver = solver
        self._on_sweep = on_sweep
        self._merged = merge_games(timeline, colours=params.white_advantage != 0.0)
        self._games = AllGames(
            self._merged.games.code,
            self._merged.games.weight,
            sites_of_start((len(self._merged), 4), start, sites_name(self._merged.colours)),
            np.zeros((len(self._merged), 4)),
        )
        margin = resolve_margin(params, timeline)
        self._resolved = {**params.model_dump(), "draw_margin": margin}
        self._unit = normal_unit(params.beta, margin)
        play = Play(2.0 * params.beta**2, margin, self._unit, params.white_advantage)
        self._rule = play.rule(np.full(len(self._merged), margin), self._merged.handicap)
        present, appeared = np.unique(timeline.node_player, return_index=True)
        number = np.empty(
            len(timeline.players), np.int32
        )  # by first appearance: those seen are the first ones
        number[present[np.argsort(appeared)]] = np.arange(len(present))
        self._player = number[timeline.node_player]
        self._seen = 0
        self._years = timeline.periods / STEPS_PER_YEAR[timeline.period]
        self._totals = games_so_far(timeline)
        self._decayed = params.fade_per_game * self._totals
        self._decayed += params.fade_per_year * np.repeat(self._years, np.diff(timeline.node_start))
        # of the games that count; logarithms of the weights are those in year 0, before any game
        self._active = np.empty(0, np.int64)
        self._ends = np.empty((0, 2), np.int32)
        self._log_weight = np.empty((0, 2))
        self._played, self._level = np.zeros((2, len(present)))
        self._beliefs = np.stack([self._level, np.full(len(present), params.prior_sd)])
        self._ended: list[Status] = []
        self._trace: list[tuple[float, float]] = []

    def run(self, first: int = 0, *, filtered: bool = True) -> Array:
        """Means (from the prior mean) and sds before and after the nodes' games, (2, 2, nodes); NaN before `first`."""
        found: Array = np.full((2, 2, self._timeline.n_nodes), np.nan)
        self._add_games(0, first)
        for step, year in enumerate(self._years[first:].tolist(), first):
            nodes = self._nodes(step, step + 1)
            player = self._player[nodes]
            self._infer(year)
            found[0, :, nodes] = self._beliefs[:, player]
            if self._add_games(step, step + 1) and filtered:
                self._infer(year)
            found[1, :, nodes] = self._beliefs[:, player] if filtered else np.nan
        return found

    def fitted(self, chain: Filter, *, scored: bool = True) -> Fit:
        """A fit with this chain; its status has the sweeps of all fits and the largest error."""
        evidence = math.nan
        if scored:
            before = chain.before_mean, chain.before_sd
            evidence = prediction_score(predict, self._resolved, self._timeline, *before, self._unit)
        ended = self._ended
        status = Status(
            converged=all(status.converged for status in ended),
            sweeps=sum(status.sweeps for status in ended),
            remaining_error=max((status.remaining_error for status in ended), default=0.0),
            skipped_sites=max((status.skipped_sites for status in ended), default=0),
        )
        state = {sites_name(self._merged.colours): self._games.sites}  # also for a start with more games
        found = filter_fit(NAME, self._params, self._resolved, {"skill": chain}, evidence, status)
        return replace(found, elo_unit=self._unit, trace=tuple(self._trace), state=state)

    def _nodes(self, step: int, stop: int) -> slice:
        return slice(int(self._timeline.node_start[step]), int(self._timeline.node_start[stop]))

    def _add_games(self, step: int, stop: int) -> bool:
        """Add the games of periods from `step` to before `stop`; returns whether there are any."""
        nodes = self._nodes(step, stop)
        self._played[self._player[nodes]] = self._totals[nodes]  # of a player's nodes the last one counts
        self._seen = max(self._seen, int(self._player[nodes].max(initial=-1)) + 1)
        merged = self._merged.games
        games = np.arange(merged.start[step], merged.start[stop])
        ends = np.stack([merged.first[games], merged.second[games]], axis=1)
        self._active = np.concatenate([self._active, games])
        self._ends = np.concatenate([self._ends, self._player[ends]])
        self._log_weight = np.concatenate([self._log_weight, self._decayed[ends]])
        return len(games) > 0

    def _infer(self, year: float) -> None:
        """Fit the games added, with their weights in a year; drop those that no longer count."""
        params = self._params
        seen = slice(self._seen)
        now = params.fade_per_year * year + params.fade_per_game * self._played
        decay = np.exp(self._log_weight - now[self._ends])
        kept = (decay[:, 0] >= NEGLIGIBLE) | (decay[:, 1] >= NEGLIGIBLE)
        if not kept.all():
            self._active = self._active[kept]
            self._ends = self._ends[kept]
            self._log_weight = self._log_weight[kept]
            decay = decay[kept]
        counted = CountedGames(self._active, self._ends, decay)
        level = self._level[seen]  # updated in place
        inference = StaticInference(counted, self._games, self._rule, params, level, self._solver.tol)
        if len(decay):
            # sweeps are numbered across all fits
            on_sweep = self._on_sweep
            earlier = len(self._trace)
            report = on_sweep and (lambda sweep, *state: on_sweep(earlier + sweep, *state))
            status, trace = iterate(inference.sweep, self._solver, report, LEAST_RATE, warm=True)
            self._ended.append(status)
            self._trace += trace
        self._beliefs[:, seen] = inference.beliefs()


class StaticInference:
    """Weighted EP on games with a positive weight, from given prior means."""

    def __init__(
        self, counted: CountedGames, games: AllGames, rule: Rule, params: Params, level: Array, tol: float
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
            self._kernels.spread(self._counted, self._games, self._correction, self._marginal)
            self._draw_levels()
        self._settle()
        change = max(largest(swept - before), largest(self.beliefs() - before))
        return Sweep(change if change > ROUNDING * self._prior**-0.5 else 0.0, unsolved, int(skipped))

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
TRAITS: Final = Traits(kind="filtered", has_evidence=True, fits_periods=True, tunable=PLAY | COMMON_MARGIN)
predict = outcome.predict


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **given: Unpack[Given]) -> Fit:
    """Fit the games so far before and after each period.

    The first fit starts from the sites of `start`, a fit of the same timeline or its first periods. The status has
    the sweeps of all fits and the largest error; `solver` applies to each. Raises ConfigError when the draw margin
    and the games exclude each other.
    """
    games = GamesSoFar(timeline, params, solver, given.get("on_sweep"), given.get("start"))
    (before_mean, before_sd), (mean, sd) = games.run()
    drift = _drift(timeline, params, sd, before_sd)
    level = params.prior_mean
    return games.fitted(Filter(level + mean, sd, level + before_mean, before_sd, drift, params.prior_sd))


def fit_before(
    timeline: Timeline, params: Params, solver: SolverConfig, first: int, start: Fit | None = None
) -> Fit:
    """Predictions before each period from `first` on, one fit each; the log-evidence is NaN unless `first` is 0."""
    games = GamesSoFar(timeline, params, solver, start=start)
    (mean, sd), (unknown, _) = games.run(first, filtered=False)
    return games.fitted(Filter(unknown, unknown, params.prior_mean + mean, sd, unknown), scored=first == 0)


def _drift(timeline: Timeline, params: Params, sd: Array, before_sd: Array) -> Array:
    """Sd of the change of skill in the year after each node, from the growth of its sd as games lose weight."""
    prior = params.prior_sd**-2
    grown = 1.0 / (prior + (sd**-2 - prior) * np.exp(-params.fade_per_year)) - sd**2
    follows = timeline.previous >= 0
    last = timeline.previous[follows]
    grown[last] = (before_sd[follows] ** 2 - sd[last] ** 2) / timeline.gap_years[follows]
    return np.asarray(np.sqrt(np.maximum(grown, 0.0)))
