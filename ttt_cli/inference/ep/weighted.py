"""Weighted EP period by period: the games that still count and their players' skills (`systems/weighted_ep.py`)."""

from typing import Final

import numpy as np
from pydantic import Field

from ttt_cli.arrays import Array
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit, Status, by_player
from ttt_cli.inference.draws import resolve_margin
from ttt_cli.inference.elo_unit import normal_unit
from ttt_cli.inference.ep.merged import merge_games
from ttt_cli.inference.ep.warm_start import sites_name, started_sites
from ttt_cli.inference.params import (
    Beta,
    DrawMargin,
    DrawProbability,
    Params,
    PriorMean,
    PriorSd,
    WhiteAdvantage,
)
from ttt_cli.inference.play import Play
from ttt_cli.inference.solver import OnSweep, Pace, Sweep, iterate, largest
from ttt_cli.kernels.ep.structures import AllGames, CountedGames, Rule
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.timeline import Timeline

NEGLIGIBLE: Final = 1e-8  # a game of less weight for both players is dropped
ROUNDING: Final = 1e-13  # moves below this share of the prior sd are rounding
INNER: Final = 0.1  # of the tolerance: how exactly the joint means are found
RELATIVE: Final = 1e-3  # or by how much their residual shrinks
LEAST_RATE: Final = 0.3  # of sweeps: fits that start next to their end are over before their rate is known


class WeightedParams(Params):
    """The numbers of the model, points and years."""

    prior_mean: PriorMean = Field(default=1200.0, description="mean skill of a newcomer, points")
    prior_sd: PriorSd = Field(default=165.0, description="sd of skill around its prior mean, points")
    beta: Beta = 200.0
    white_advantage: WhiteAdvantage = 0.0
    opponents_pull: float = Field(
        default=0.5,
        ge=0,
        lt=1,
        description="how far prior means are drawn to the opponents' means, as a share",
    )
    fade_per_year: float = Field(
        default=0.24, ge=0, description="a game's weight falls by exp(-this) every year"
    )
    fade_per_game: float = Field(
        default=0.012,
        ge=0,
        description="and by exp(-this) with every game that the player plays in later periods",
    )
    draw_margin: DrawMargin = "auto"
    draw_probability: DrawProbability = None


class GamesSoFar:
    """All games of a timeline, taken in period by period; arrays as in `kernels/ep/weighted_ep.py`."""

    def __init__(
        self,
        timeline: Timeline,
        params: WeightedParams,
        solver: SolverConfig,
        on_sweep: OnSweep | None = None,
        start: Fit | None = None,
    ) -> None:
        self._timeline, self._params, self._solver, self._on_sweep = timeline, params, solver, on_sweep
        self._merged = merge_games(timeline, colours=params.white_advantage != 0.0)
        self._games = AllGames(
            self._merged.games.code,
            self._merged.games.weight,
            started_sites((len(self._merged), 4), start, sites_name(self._merged.colours)),
            np.zeros((len(self._merged), 4)),
        )
        margin = resolve_margin(params, timeline)
        self.resolved = {**params.model_dump(), "draw_margin": margin}
        self.elo_unit = normal_unit(params.beta, margin)
        play = Play(2.0 * params.beta**2, margin, self.elo_unit, params.white_advantage)
        self._rule = play.rule(np.full(len(self._merged), margin), self._merged.handicap)
        self._player = timeline.node_player.copy()
        players = len(timeline.players)
        self._years = timeline.periods / STEPS_PER_YEAR[timeline.period]
        self._totals = _games_up_to(timeline)
        self._decayed = params.fade_per_game * self._totals
        self._decayed += params.fade_per_year * np.repeat(self._years, np.diff(timeline.node_start))
        self._active, self._kept = np.empty(len(self._merged), np.int64), 0
        self._played = np.zeros(players)
        self._number = np.full(players, -1, np.int32)
        self._level = np.zeros(players)
        self._beliefs = np.stack([self._level, np.full(players, params.prior_sd)])
        self._ended: list[Status] = []
        self.trace: list[tuple[float, float]] = []

    def run(self) -> tuple[Array, Array]:
        """Beliefs (mean from the prior mean, sd) of all nodes before and after their games; shape (2, nodes)."""
        before, after = np.empty((2, self._timeline.n_nodes)), np.empty((2, self._timeline.n_nodes))
        for step, year in enumerate(self._years.tolist()):
            nodes = self._nodes(step, step + 1)
            self._believe(year, nodes, before)
            if self._take_in(step, step + 1):
                self._infer(year)
            after[:, nodes] = self._beliefs[:, self._player[nodes]]
        return before, after

    def predict(self, first: int) -> Array:
        """The beliefs of nodes from the period at index `first` on before their games, fitted then; else NaN."""
        before = np.full((2, self._timeline.n_nodes), np.nan)
        self._take_in(0, first)
        for step, year in enumerate(self._years[first:].tolist(), first):
            self._believe(year, self._nodes(step, step + 1), before)
            self._take_in(step, step + 1)
        return before

    @property
    def state(self) -> dict[str, Array]:
        """What a further fit of the same games, or of more, may start from."""
        return {sites_name(self._merged.colours): self._games.sites}

    def _nodes(self, step: int, stop: int) -> slice:
        return slice(int(self._timeline.node_start[step]), int(self._timeline.node_start[stop]))

    def _believe(self, year: float, nodes: slice, beliefs: Array) -> None:
        """Fill in what the games taken in say of nodes of that year."""
        self._infer(year)
        beliefs[:, nodes] = self._beliefs[:, self._player[nodes]]

    def _take_in(self, step: int, stop: int) -> bool:
        """Add the games of the periods from `step` to before `stop`; whether there are any."""
        nodes = self._nodes(step, stop)
        self._played[self._player[nodes]] = self._totals[nodes]  # of a player's nodes the last one counts
        games = np.arange(self._merged.games.start[step], self._merged.games.start[stop])
        self._active[self._kept : self._kept + len(games)] = games
        self._kept += len(games)
        return len(games) > 0

    def status(self) -> Status:
        """How all fits together ended: the sweeps of all, the worst of the rest."""
        return Status(
            converged=all(status.converged for status in self._ended),
            sweeps=sum(status.sweeps for status in self._ended),
            remaining_error=max((status.remaining_error for status in self._ended), default=0.0),
            skipped_sites=max((status.skipped_sites for status in self._ended), default=0),
        )

    def _decay(self, year: float) -> Array:
        """By how much the log weights of the players' games have fallen, from the year 0 and the first game on."""
        return self._params.fade_per_year * year + self._params.fade_per_game * self._played

    def _infer(self, year: float) -> None:
        """Fit the games taken in, as they count in that year."""
        from ttt_cli.kernels.ep.weighted_ep import gather

        merged = self._merged.games
        counted = CountedGames(
            self._active[: self._kept], np.empty((self._kept, 2), np.int32), np.empty((self._kept, 2))
        )
        roster = np.empty(len(self._number), np.int32)
        self._kept, players = gather(
            merged.first, merged.second, self._player, self._decayed, self._decay(year), NEGLIGIBLE, counted,
            self._number, roster,
        )  # fmt: skip
        kept, roster = self._kept, roster[:players]
        counted = CountedGames(counted.active[:kept], counted.ends[:kept], counted.decay[:kept])
        level = self._level[roster]
        inference = Inference(counted, self._games, self._rule, self._params, level, self._solver.tol)
        if kept:
            status, trace = iterate(inference.sweep, self._solver, self._report(), LEAST_RATE, warm=True)
            self._ended.append(status)
            self.trace += trace
        self._level[roster] = inference.level
        self._beliefs[0], self._beliefs[1] = self._level, self._params.prior_sd
        self._beliefs[:, roster] = inference.beliefs()

    def _report(self) -> OnSweep | None:
        """Reports the sweeps of one fit as going on from those of the others."""
        on_sweep, earlier = self._on_sweep, len(self.trace)
        return on_sweep and (lambda sweep, change, remaining: on_sweep(earlier + sweep, change, remaining))


class Inference:
    """Weighted EP for the games that still count, with prior means to start from."""

    def __init__(
        self,
        counted: CountedGames,
        games: AllGames,
        rule: Rule,
        params: WeightedParams,
        level: Array,
        tol: float,
    ) -> None:
        from ttt_cli.kernels.ep import weighted_ep

        self._kernels, self._counted, self._games, self._rule = weighted_ep, counted, games, rule
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
        """Update all sites once and the prior means with them, then move to the joint means if asked for."""
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
        """Set the prior means from what the opponents' means are, relative to the mean of these."""
        centre = self._kernels.opponents(
            self._counted, self._games.times, self.beliefs()[0], self._total, self._drawn
        )
        drawn = self._total > 0.0
        self.level[drawn] = self._pull * (self._drawn[drawn] - centre)

    def _solve(self) -> float:
        """Find how far the joint means are, as if prior means were not centred, then centred; a bound on its error."""
        kernels, counted, games, pull = self._kernels, self._counted, self._games, self._pull
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


def _games_up_to(timeline: Timeline) -> Array:
    """How many games players have played up to each node and at it: none where a forecast is asked for."""
    ends = np.concatenate([timeline.game_white, timeline.game_black])
    played = np.bincount(ends, np.tile(timeline.weight, 2), minlength=timeline.n_nodes)
    order = by_player(timeline)
    totals = np.cumsum(played[order])
    first = np.flatnonzero(timeline.previous[order] < 0)
    earlier = totals[first] - played[order[first]]
    found: Array = np.empty(timeline.n_nodes)
    found[order] = totals - np.repeat(earlier, np.diff(np.append(first, len(order))))
    return found
