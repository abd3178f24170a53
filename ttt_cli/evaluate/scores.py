"""How well games are foreseen from earlier ones only: the prequential scores (Dawid 1984) of a model and a naive one.

Predict, score, then learn: before a period's games are looked at, the model is fitted to the games of earlier periods,
and what it believes of the players then gives the probabilities of the outcomes. Numbers of the config are taken as
given; whatever the model would work out from all games (`draw_margin: auto`, `white_advantage: estimate`) is worked
out from the earlier ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.chains import Filter
from ttt_cli.config.document import Document
from ttt_cli.config.schema import SolverConfig
from ttt_cli.errors import ConfigError, LookupFailed
from ttt_cli.fitted import Fit
from ttt_cli.games.table import DRAW, LOSS, WIN
from ttt_cli.models.expected import ExpectedParams
from ttt_cli.models.params import Params, PlayParams, SkillParams
from ttt_cli.models.registry import Model
from ttt_cli.models.resolve import resolve
from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.run import Run
from ttt_cli.timeline import Timeline, build_timeline

Array = NDArray[np.float64]

EQUAL: Final = 1e-9  # probabilities closer than this are equal but for rounding
LOOSER: Final = 50.0  # times the solver's tolerance: a finer one does not pay for predictions
ESTIMATED_FROM: Final = 100  # games: with fewer White's advantage counts as 0
GROWTH: Final = 1.25  # of the games seen, after which White's advantage is estimated anew


@dataclass(frozen=True)
class Scores:
    """How good probabilities of `games` (weighted) outcomes were.

    `log_score`: sum of log probabilities of what happened, nats. Means over games: `brier`, the squared distance
    between the probabilities and what happened, from 0 to 2; `accuracy`, how often the most probable outcome
    happened (one of k equally probable ones counts 1 / k).
    """

    games: float
    log_score: float
    brier: float
    accuracy: float

    @property
    def per_game(self) -> float:
        """The mean log probability of what happened, nats."""
        return self.log_score / self.games


@dataclass(frozen=True)
class Forecast:
    """Probabilities of the last n games of a timeline, in its order, each from games of earlier periods only.

    `model` and `naive` have shape (n, 3): loss, draw and win for White. `converged`: whether all fits did.
    """

    model: Array
    naive: Array
    converged: bool


@dataclass(frozen=True)
class Prequential:
    """The scores of a run's games from the period `first` on, and those of the naive model for the same games.

    `every`: after how many periods the games seen were added to.
    """

    first: str
    every: int
    model: Scores
    naive: Scores
    converged: bool


def prequential(
    run: Run, since: str | None = None, every: int = 1, *, progress: Progress = SILENT
) -> Prequential:
    """The prequential scores of a run's games under its config.

    `since`: the first period to be scored, as it is written or its year; None for the run's first. `every`: fit again
    after so many periods only. Raises LookupFailed when there are no games from `since` on, ConfigError, RunError.
    """
    resolved = resolve(Document(values=run.meta.config))
    data = resolved.config.data
    timeline = build_timeline(run.stored_games(), data.period, data.colours)
    first = find_step(timeline, since) if since else 0
    found = forecast(
        timeline,
        resolved.model,
        resolved.params,
        resolved.config.solver,
        first=first,
        every=every,
        progress=progress,
    )
    scored = slice(int(timeline.game_start[first]), None)
    outcome, weight = timeline.outcome[scored], timeline.weight[scored]
    return Prequential(
        first=timeline.label(int(timeline.periods[first])),
        every=every,
        model=score(found.model, outcome, weight),
        naive=score(found.naive, outcome, weight),
        converged=found.converged,
    )


def find_step(timeline: Timeline, since: str) -> int:
    """The index of the first period with games that is not before `since`.

    Raises ConfigError when `since` does not begin with a year, LookupFailed when it is after the last period.
    """
    if not re.match(r"\d{4}(-|$)", since):
        raise ConfigError(f"{since!r} is no period", hint="give a year, for instance 1900")
    labels = [timeline.label(number) for number in timeline.periods.tolist()]
    steps = [step for step, label in enumerate(labels) if label >= since]
    if not steps:
        last = f"the last ones are of {labels[-1]}" if labels else None
        raise LookupFailed(f"there are no games from {since} on", hint=last)
    return steps[0]


def score(probabilities: Array, outcome: NDArray[np.int8], weight: Array) -> Scores:
    """Score probabilities (n, 3) of loss, draw and win by what happened; n > 0, weights > 0."""
    games = float(weight.sum())
    foreseen = probabilities[np.arange(len(outcome)), outcome]
    happened = np.eye(3)[outcome]
    most = probabilities > probabilities.max(axis=1, keepdims=True) - EQUAL
    hit = (most & (happened > 0.0)).any(axis=1) / most.sum(axis=1)
    with np.errstate(divide="ignore"):
        logs = np.log(foreseen)
    return Scores(
        games=games,
        log_score=float(weight @ logs),
        brier=float(weight @ np.square(probabilities - happened).sum(axis=1)) / games,
        accuracy=float(weight @ hit) / games,
    )


def forecast(
    timeline: Timeline,
    model: Model,
    params: Params,
    solver: SolverConfig,
    *,
    first: int = 0,
    every: int = 1,
    progress: Progress = SILENT,
) -> Forecast:
    """Foresee the games from the period at index `first` on; the model learns the games seen every `every` periods.

    A smoothing model is fitted to the games seen, starting from the fit before, and its players drift on until it is
    fitted again. A filter learns game by game anyway; only what is worked out from the games seen waits.
    """
    end = len(timeline.periods)
    loose = solver.model_copy(update={"tol": LOOSER * solver.tol})
    forecaster = _Forecaster(timeline, model, params, loose)
    model_parts, naive_parts = [], []
    with progress.task("predicting", total=end - first, unit="periods") as bar:
        for step in range(first, end, every):
            stop = min(step + every, end)
            probabilities = forecaster.foresee(step, stop)
            model_parts.append(probabilities)
            naive_parts.append(np.tile(naive_probabilities(timeline.until(step)), (len(probabilities), 1)))
            bar.advance(stop - step, timeline.label(int(timeline.periods[stop - 1])))
    return Forecast(np.concatenate(model_parts), np.concatenate(naive_parts), forecaster.converged)


def naive_probabilities(seen: Timeline) -> Array:
    """Loss, draw and win, shape (3,): the share of draws as if one game of each outcome had been seen before."""
    drawn = float(seen.weight[seen.outcome == DRAW].sum())
    share = (drawn + 1.0) / (float(seen.weight.sum()) + 3.0)
    return np.array([(1.0 - share) / 2.0, share, (1.0 - share) / 2.0])


def known_before(timeline: Timeline, step: int, stop: int) -> Timeline:
    """The games before the period at index `step`, with all nodes before that at `stop`.

    The nodes from `step` on have no games: what a fit believes there is what it foresees.
    """
    nodes = timeline.until(stop)
    games = timeline.until(step)
    return replace(
        nodes,
        game_start=np.minimum(nodes.game_start, games.n_games),
        game_white=games.game_white,
        game_black=games.game_black,
        outcome=games.outcome,
        weight=games.weight,
        offset=games.offset,
    )


@dataclass
class _Forecaster:
    """Fits to longer and longer beginnings of a timeline, each starting from the last."""

    timeline: Timeline
    model: Model
    params: Params
    solver: SolverConfig
    converged: bool = True
    last: Fit | None = field(default=None, repr=False)
    advantage: float = 0.0
    enough: float = ESTIMATED_FROM  # games for the next estimate of White's advantage

    def foresee(self, step: int, stop: int) -> Array:
        """Probabilities (games, 3) of the games of the periods from `step` to before `stop`."""
        nodes = slice(int(self.timeline.node_start[step]), int(self.timeline.node_start[stop]))
        games = slice(int(self.timeline.game_start[step]), int(self.timeline.game_start[stop]))
        params = self._as_known(self.timeline.until(step))
        filtered = self.model.KIND == "filtered"
        known = self.timeline.until(stop) if filtered else known_before(self.timeline, step, stop)
        fit = self._fit(known, params)
        beliefs = _expected(fit, nodes)
        white, black = (
            {name: column[ends[games] - nodes.start] for name, column in beliefs.items()}
            for ends in (self.timeline.game_white, self.timeline.game_black)
        )
        probabilities = self.model.predict(fit.params, white, black)
        if not self.timeline.colours:
            probabilities = (probabilities + self.model.predict(fit.params, black, white)[:, ::-1]) / 2.0
        return np.maximum(probabilities, 0.0)  # rounding takes a vanishing chance of a draw below

    def _fit(self, timeline: Timeline, params: Params) -> Fit:
        same_sites = self.last is not None and _coloured(self.last.params) == _coloured(params.model_dump())
        start = self.last if same_sites else None
        self.last = self.model.fit(timeline, params, self.solver, start=start)
        self.converged &= self.last.status.converged
        return self.last

    def _as_known(self, seen: Timeline) -> Params:
        """The parameters, with nothing left to be worked out but from the games seen."""
        known: dict[str, Any] = {}
        params = self.params
        if (
            isinstance(params, SkillParams | ExpectedParams)
            and params.draw_margin == "auto"
            and params.draw_probability is None
        ):
            known["draw_probability"] = float(naive_probabilities(seen)[DRAW])
        if isinstance(params, PlayParams) and params.white_advantage == "estimate":
            held = params.model_copy(update=known)
            self._estimate_advantage(seen, held)
            known["white_advantage"] = self.advantage
        return params.model_copy(update=known)

    def _estimate_advantage(self, seen: Timeline, params: Params) -> None:
        """Take the advantage that the evidence of the games seen prefers, when they are enough."""
        games = float(seen.weight.sum())
        decided_both_ways = bool(np.any(seen.outcome == WIN) and np.any(seen.outcome == LOSS))
        if decided_both_ways and games >= self.enough:
            self.advantage = self._fit(seen, params).params["white_advantage"]
            self.enough = GROWTH * games


def _coloured(params: dict[str, Any]) -> bool:
    """Whether White is told from Black, on which the layout of a fit's sites depends."""
    return bool(params.get("white_advantage"))


def _expected(fit: Fit, nodes: slice) -> dict[str, Array]:
    """The columns that `predict` takes, at nodes: of a filter what it believed before their games."""
    columns = {}
    for name, chain in fit.chains.items():
        mean, sd = (
            (chain.before_mean, chain.before_sd) if isinstance(chain, Filter) else (chain.mean, chain.sd)
        )
        columns["mean" if name == "skill" else name] = mean[nodes]
        columns["sd" if name == "skill" else f"{name}_sd"] = sd[nodes]
    return columns
