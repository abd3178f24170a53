"""TTT and TTT-D: from parameters and a timeline to a fit, as a whole or in slices."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Unpack

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.inference.ep.cutting import Cutter, Unplayed
from ttt_cli.inference.ep.inference import Engine, Inference, SitesLost
from ttt_cli.inference.ep.places import Place
from ttt_cli.inference.ep.start import Checkpoint, start_of
from ttt_cli.inference.joint import JointInference
from ttt_cli.inference.links import MergedGames, merge_games
from ttt_cli.inference.params import ESTIMATE, DrawsMove, NewcomersMove, PlayParams
from ttt_cli.inference.posterior import at_fit, infer
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.inference.solver import Given, at_best_advantage, iterate
from ttt_cli.inference.years import Play
from ttt_cli.support.errors import ConfigError
from ttt_cli.timeline import Timeline

# of the margins before any game, points: log Z is flat there and right to 1e-10, or 1e-5 where newcomers' margins move
NOTHING_TOL = 1e-3


class ThroughTimeParams(NewcomersMove, DrawsMove, PlayParams):
    """Parameters of both systems."""

    def play(self, margin: float, unit: float, own_margins: float = 0.0) -> Play:
        """How differences become outcomes, White's advantage aside."""
        moves = {"drift": self.draw_margin_drift, "strength": self.draw_margin_strength}
        return Play(2.0 * self.beta**2, margin, unit, own_margins=own_margins, **moves)


@dataclass(frozen=True)
class ThroughTime:
    """A timeline, what a system believes of its quantities, made anew for each inference, and how games are played."""

    timeline: Timeline
    params: ThroughTimeParams
    priors: Callable[[], Mapping[str, RandomWalk]]
    play: Play

    @property
    def colours(self) -> bool:
        """Whether colours count: with White's advantage."""
        return self.params.white_advantage != 0.0

    @cached_property
    def merged(self) -> MergedGames:
        """The games."""
        return merge_games(self.timeline, colours=self.colours)

    def inference(self, advantage: float, start: Fit | None = None, threads: int | None = None) -> Inference:
        """The inference with White's advantage, points."""
        play = replace(self.play, advantage=advantage)
        return Inference(self.timeline, self.merged, self.priors(), play, start, threads)

    def posterior(self, fit: Fit) -> Inference | JointInference:
        """What a fit of the timeline believes, from its sites."""
        return at_fit(self.inference(fit.params["white_advantage"], fit), fit)

    def without_games(self, tol: float, threads: int | None = None) -> Inference:
        """The fixed point without games, of the factors that keep draw margins positive."""
        timeline = self.timeline.without_games()
        merged = merge_games(timeline, colours=False)
        inference = Inference(timeline, merged, self.priors(), self.play, threads=threads)
        iterate(inference.sweep, SolverConfig(tol=tol), None)
        return inference

    def fit(self, made: Callable[..., Fit], solver: SolverConfig, given: Given, **pace: Any) -> Fit:
        """The fixed point, `made` a Fit; with draw margins its evidence is over that without games."""
        params = self.params
        place = given.get("place")
        if place and solver.posterior == "joint":
            raise ConfigError(
                "the joint posterior is not fitted over a cluster yet",
                hint="solver.posterior=factorised; without a cluster and --memory it is",
            )
        made = partial(made, elo_unit=self.play.unit)
        nothing = 0.0
        if self.play.own_margins and place:
            nothing = evidence_without_games(self, place, NOTHING_TOL)
        elif self.play.own_margins:
            nothing = self.without_games(NOTHING_TOL, solver.threads).log_evidence()[0]

        def whole(advantage: float, warm: Fit | None, solver: SolverConfig, **asked: Unpack[Given]) -> Fit:
            inference = self.inference(advantage, warm, solver.threads)
            return infer(inference, solver, {**given, **asked}, warm, made, **pace)

        def fit_at(advantage: float, *how: Any, **asked: Any) -> Fit:
            found = fitted(advantage, *how, **asked)
            known = {**params.model_dump(), **found.params, "white_advantage": advantage}
            return replace(found, params=known, log_evidence=found.log_evidence - nothing)

        with _sliced_fits(self, place, given, made, pace) if place else nullcontext(whole) as fitted:
            return at_best_advantage(
                fit_at, params, given.get("start"), solver, colours=self.timeline.colours
            )


@contextmanager
def _sliced_fits(
    shared: ThroughTime, place: Place, given: Given, made: Callable[..., Fit], pace: Mapping[str, Any]
) -> Iterator[Callable[..., Fit]]:
    """Factorised fits in slices that are cut once: (advantage, fit before, solver) -> Fit.

    Each starts from the sites of the one before. Skills of `given["start"]`, a fit of the same timeline, are the first
    guess. An interrupted fit continues from the sites saved in the same `place.scratch`.
    """
    timeline = shared.timeline
    start = given.get("start")
    priors = shared.priors()
    guess = start_of(start, priors, timeline)
    warm = guess is not None
    cuts = place.cuts(timeline)
    kept = None
    converged = False
    if place.scratch:
        advantage = shared.params.white_advantage
        play = replace(shared.play, advantage=math.nan if advantage == ESTIMATE else advantage)
        kept = Checkpoint(place.scratch, timeline, list(priors.values()), play)
        cuts = kept.cuts(cuts)
    pieces = Cutter(timeline, cuts, list(priors.values()), colours=shared.colours, guess=guess)
    slices = "1 slice" if len(pieces) == 1 else f"{len(pieces)} slices"
    note = f"the posterior is factorised, from {slices} of time {place.name}"

    def fit_at(advantage: float, start: Fit | None, solver: SolverConfig, **_: Any) -> Fit:
        nonlocal warm, converged
        inference = Engine(holder, pieces, priors, replace(shared.play, advantage=advantage), start)
        inference.warm &= warm
        factorised = solver.model_copy(update={"posterior": "factorised"})
        fit = infer(inference, factorised, given, start, made, **pace)
        warm = True
        converged = fit.status.converged
        return replace(fit, notes=(*fit.notes, note))

    with place.hold(pieces, shared.play, kept.folder if kept else None) as holder:
        yield fit_at
    if kept and converged:
        kept.clear()


def evidence_without_games(shared: ThroughTime, place: Place, tol: float) -> float:
    """The log-evidence of the same nodes if nobody had played a game, in slices."""
    priors = shared.priors()
    timeline = shared.timeline
    pieces = Unplayed(timeline, len(place.cuts(timeline)) - 1, list(priors.values()))
    with place.hold(pieces, shared.play, None) as holder:
        inference = Engine(holder, pieces, priors, shared.play)
        while True:
            iterate(inference.sweep, SolverConfig(tol=tol), None)
            with suppress(SitesLost):
                return inference.log_evidence()[0]
