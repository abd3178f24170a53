"""What TTT and TTT-D share: from what a system says of a timeline to its fit, as a whole or in slices held apart."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Unpack

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.inference.advantage import at_best_advantage
from ttt_cli.inference.ep.apart.fit import FitsApart, refuse_joint
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.ep.merged import MergedGames, merge_games
from ttt_cli.inference.joint.inference import JointInference
from ttt_cli.inference.joint.posterior import at_fit, infer
from ttt_cli.inference.params import DrawsMove, NewcomersMove, PlayParams
from ttt_cli.inference.play import Play
from ttt_cli.inference.prior import Prior
from ttt_cli.inference.solver import Given, iterate
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
    priors: Callable[[], Mapping[str, Prior]]
    play: Play

    @cached_property
    def merged(self) -> MergedGames:
        """The games; with White's advantage colours count."""
        return merge_games(self.timeline, colours=self.params.white_advantage != 0.0)

    def inference(self, advantage: float, start: Fit | None = None, threads: int | None = None) -> Inference:
        """The inference with White's advantage, points."""
        play = replace(self.play, advantage=advantage)
        return Inference(self.timeline, self.merged, self.priors(), play, start, threads)

    def posterior(self, fit: Fit) -> Inference | JointInference:
        """What a fit of the timeline believes, from its sites."""
        return at_fit(self.inference(fit.params["white_advantage"], fit), fit)

    def without_games(self, tol: float, threads: int | None = None) -> Inference:
        """The fixed point without games, of the factors that keep draw margins positive."""
        inference = Inference(self.timeline, self.merged.none(), self.priors(), self.play, threads=threads)
        iterate(inference.sweep, SolverConfig(tol=tol), None)
        return inference

    def fit(self, made: Callable[..., Fit], solver: SolverConfig, given: Given, **pace: Any) -> Fit:
        """The fixed point, `made` a Fit; with draw margins its evidence is over that without games."""
        timeline, params, place = self.timeline, self.params, given.get("place")
        apart, nothing = None, 0.0
        if place:
            refuse_joint(solver)
            apart = FitsApart(timeline, self.priors, place, given, **pace)
        if self.play.own_margins:
            nothing = (
                apart.without_games(self.play, NOTHING_TOL)
                if apart
                else self.without_games(NOTHING_TOL, solver.threads).log_evidence()[0]
            )

        def fit_at(advantage: float, warm: Fit | None, solver: SolverConfig, **asked: Unpack[Given]) -> Fit:
            of = partial(made, elo_unit=self.play.unit)
            if apart:
                found = apart(replace(self.play, advantage=advantage), warm, solver, of)
            else:
                found = infer(
                    self.inference(advantage, warm, solver.threads),
                    solver,
                    {**given, **asked},
                    warm,
                    of,
                    **pace,
                )
            known = {**params.model_dump(), **found.params, "white_advantage": advantage}
            return replace(found, params=known, log_evidence=found.log_evidence - nothing)

        with apart or nullcontext():
            return at_best_advantage(fit_at, params, given.get("start"), solver, colours=timeline.colours)
