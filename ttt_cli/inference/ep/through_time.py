"""TTT and TTT-D: from parameters and a timeline to a fit, as one slice of time or as several."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import ValidationInfo, field_validator

from ttt_cli.config.schema import SolverConfig, key
from ttt_cli.fitted import Fit, Walk
from ttt_cli.inference.advantage import fit_with_advantage
from ttt_cli.inference.categories import (
    NO_OFFSET_PRIORS,
    Categories,
    CategoryOffset,
    OffsetPriors,
    find_categories,
)
from ttt_cli.inference.covariates import OffsetFits, Term, find_terms, fit_with_estimates
from ttt_cli.inference.ep.cutting import Cutter, SliceInputs, Unplayed
from ttt_cli.inference.ep.inference import Inference, SlicedInference
from ttt_cli.inference.ep.start import Checkpoint, beliefs_of_start
from ttt_cli.inference.ep.transport import Placement, SitesLost, Slices
from ttt_cli.inference.ep.unsupported import refuse_unsupported
from ttt_cli.inference.joint.choose import PosteriorKind, at_fit, fit_factorised, infer
from ttt_cli.inference.joint.sites import JointInference
from ttt_cli.inference.lapse import DRAWS as LAPSE_DRAWS
from ttt_cli.inference.lapse import NAME as LAPSE
from ttt_cli.inference.links import LinkedGames, MergedGames, merge_games
from ttt_cli.inference.model import USUAL, GamesGradient, Offsets, Play, SweepRates
from ttt_cli.inference.newcomer_groups import fit_with_groups
from ttt_cli.inference.params import CovariateSetting, DrawsMove, NewcomersMove, PlayParams
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.inference.sides import TeamSkill
from ttt_cli.inference.solver import Given, OnSweep, iterate
from ttt_cli.inference.sums import Sums, find_sums
from ttt_cli.inference.victory import WinStep, find_steps
from ttt_cli.support.arrays import Array
from ttt_cli.timeline import Timeline

# Points: how exactly draw margins are found without any game. It is enough for log Z, which is flat there: it is right
# to 1e-10, or to 1e-5 where newcomers' margins move.
TOL_WITHOUT_GAMES: Final = 1e-3


class ThroughTimeParams(NewcomersMove, DrawsMove, PlayParams):
    """Parameters of both systems."""

    covariates: dict[str, CovariateSetting] = key(
        {},
        "points per unit of covariates (data.covariates), or estimate: the most probable with a weak prior; of a "
        "category by value, {surface: {clay: 20}}",
    )

    newcomers_by: list[str] = key(
        [],
        "fields of people (data.people) by whose values the mean of newcomers differs, born by decade: [federation, "
        "born]; the means are shrunk, and their sd is estimated",
    )

    @field_validator("newcomers_by")
    @classmethod
    def _are_alone(cls, fields: list[str], info: ValidationInfo) -> list[str]:
        if fields and info.data.get("prior_mean_drift"):
            raise ValueError(
                "newcomers' mean differs by groups or follows the year (prior_mean_drift), not both"
            )
        if len(set(fields)) < len(fields):
            raise ValueError("a field is named twice")
        return fields

    def play(self, margin: float, elo_unit: float, own_margin_sd: float = 0.0) -> Play:
        """How differences become outcomes, White's advantage aside."""
        return Play(
            noise=2.0 * self.beta**2,
            margin=margin,
            elo_unit=elo_unit,
            own_margin_sd=own_margin_sd,
            margin_drift=self.draw_margin_drift,
            margin_strength=self.draw_margin_strength,
        )


def fit_through_time(
    through_time_of: "Callable[[Timeline], ThroughTime]",
    timeline: Timeline,
    params: ThroughTimeParams,
    make_fit: Callable[..., Fit],
    solver: SolverConfig,
    options: Given,
    rates: SweepRates = USUAL,
) -> Fit:
    """The fit of a timeline, with newcomers' mean by groups if it is to be; `through_time_of` is that of a timeline.

    Raises ConfigError for features that slices do not support, and for fields of people that nobody has.
    """
    if not params.newcomers_by:
        return through_time_of(timeline).fit(make_fit, solver, options, rates)

    def fit_at(grouped: Timeline, start: Fit | None) -> Fit:
        of_round: Given = {**options, "start": start, "evidence_only": False}
        return through_time_of(grouped).fit(make_fit, solver, of_round, rates)

    def covariance_at(grouped: Timeline, fit: Fit, contrasts: Array) -> Array | None:
        if fit.posterior != PosteriorKind.JOINT:
            return None
        posterior = through_time_of(grouped).posterior(fit)
        assert isinstance(posterior, JointInference)
        return posterior.covariance(contrasts)

    return fit_with_groups(
        fit_at,
        covariance_at,
        timeline,
        params.newcomers_by,
        params.prior_mean,
        params.prior_sd,
        options.get("start"),
    )


@dataclass(frozen=True)
class ThroughTime:
    """What both systems fit: a timeline, priors, and how games are played.

    | name | |
    |---|---|
    | timeline | all games of two players |
    | params | as configured |
    | priors | makes the prior of each quantity of a node, by name; a factory, since an inference changes priors |
    | play | how games are played; its offsets are replaced for each inference |
    | links | games of other kinds than two players, if there are any |
    | offset_priors | of players' offsets in categories (`Offsets` are what is added in all games) |
    | team | how the skills of members make that of a team |
    """

    timeline: Timeline
    params: ThroughTimeParams
    priors: Callable[[], Mapping[str, RandomWalk]]
    play: Play
    links: LinkedGames | None = None
    offset_priors: OffsetPriors = NO_OFFSET_PRIORS
    team: TeamSkill = "sum"

    @property
    def category_offsets(self) -> tuple[CategoryOffset, ...]:
        """The categories in which players have offsets."""
        return self.offset_priors.categories

    @property
    def colours(self) -> bool:
        """Whether colours count: with White's advantage, be it given or estimated."""
        advantage = self.params.given_advantage
        is_estimated = advantage is None
        return is_estimated or advantage != 0.0

    @cached_property
    def sums(self) -> Categories | Sums | None:
        """Games whose sides are sums: of teams, in orders of finish, in categories with offsets; None without any."""
        # a site of two players has no base rate of its own for each margin of victory: then all games are sums
        has_lapses = self.params.given_lapse != 0.0 or self.timeline.doubt is not None
        lapses_of_margins = has_lapses and bool(self.steps)
        offsets_with_margins = bool(self.category_offsets and self.steps)
        if self.timeline.members is not None or lapses_of_margins or offsets_with_margins:
            return find_sums(
                self.timeline,
                self.offset_priors,
                self.team,
                colours=self.colours,
                terms=self.term_names,
                thresholds=self.thresholds,
                all_games=lapses_of_margins,
            )
        if not self.category_offsets:
            return None
        return find_categories(
            self.timeline, self.offset_priors, colours=self.colours, terms=self.term_names
        )

    @cached_property
    def steps(self) -> tuple[WinStep, ...]:
        """Steps between margins of victory. Raises ConfigError where the games have no margins."""
        return find_steps(self.params.step_settings, self.timeline)

    @property
    def thresholds(self) -> tuple[int, ...]:
        """Margins of victory at which intervals begin."""
        return tuple(step.margin for step in self.steps)

    @cached_property
    def merged(self) -> MergedGames:
        """The games, but for those whose sides are sums."""
        timeline = self.sums.base if self.sums else self.timeline
        return merge_games(
            timeline, colours=self.colours, terms=self.term_names, thresholds=self.thresholds
        )

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the covariates that count."""
        return tuple(term.name for term in self.counting_terms)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Coefficients of covariates. Raises ConfigError for covariates that the games do not have."""
        return find_terms(self.params, self.timeline)

    @property
    def counting_terms(self) -> tuple[Term, ...]:
        """Those of `terms` that are not 0."""
        return tuple(term for term in self.terms if term.points != 0.0)

    @property
    def given_offsets(self) -> Offsets:
        """Offsets as configured, NaN for those that are estimated."""
        advantage = self.params.given_advantage
        points = [math.nan if term.points is None else term.points for term in self.counting_terms]
        lapse = self.params.given_lapse
        return Offsets(
            math.nan if advantage is None else advantage,
            tuple(points),
            math.nan if lapse is None else lapse,
            tuple(math.nan if step.points is None else step.points for step in self.steps),
        )

    def offsets_of(self, fit: Fit) -> Offsets:
        """The offsets of a fit."""
        points = tuple(fit.params[term.key] for term in self.counting_terms)
        steps = tuple(fit.params[step.key] for step in self.steps)
        return Offsets(fit.params["white_advantage"], points, fit.params.get(LAPSE, 0.0), steps)

    def covariate_slopes(self, of_games: GamesGradient) -> dict[str, float]:
        """Slopes of the log-evidence in points per unit of the covariates that count, by key."""
        return dict(
            zip((term.key for term in self.counting_terms), of_games.covariates, strict=False)
        )

    def step_slopes(self, of_games: GamesGradient) -> dict[str, float]:
        """Slopes of the log-evidence in the steps between margins of victory, by key."""
        return dict(zip((step.key for step in self.steps), of_games.steps, strict=False))

    def resolved(self, offsets: Offsets) -> dict[str, Any]:
        """Parameters with these offsets as numbers."""
        params = self.params.model_dump(
            exclude={"covariates", "offsets", "newcomers_by", "margin_steps", "team"}
        )
        if self.timeline.members is not None:
            params["team"] = self.team
        points = {term.key: 0.0 for term in self.terms}
        points |= zip((term.key for term in self.counting_terms), offsets.covariates, strict=True)
        steps = zip((step.key for step in self.steps), offsets.steps, strict=True)
        resolved = {**params, **points, "white_advantage": offsets.advantage, **dict(steps)}
        if LAPSE in resolved:
            resolved[LAPSE] = offsets.lapse
        if offsets.lapse or self.timeline.doubt is not None:
            resolved[LAPSE_DRAWS] = self.play.lapse_draws
        return resolved

    def inference(
        self, offsets: Offsets, start: Fit | None = None, threads: int | None = None
    ) -> Inference:
        """The inference with these offsets."""
        play = replace(self.play, offsets=offsets)
        links = self.sums.links(play) if self.sums else self.links
        return Inference(self.timeline, self.merged, self.priors(), play, start, threads, links)

    def posterior(self, fit: Fit) -> Inference | JointInference:
        """What a fit of the timeline believes, from its sites."""
        return at_fit(self.inference(self.offsets_of(fit), fit), fit)

    def without_games(self, tol: float, threads: int | None = None) -> Inference:
        """The fixed point without games, of the factors that keep draw margins positive, in memory."""
        timeline = self.timeline.without_games()
        merged = merge_games(timeline, colours=False)
        inference = Inference(timeline, merged, self.priors(), self.play, threads=threads)
        iterate(inference.sweep, SolverConfig(tol=tol), None)
        return inference

    def empty_evidence(
        self, placement: Placement | None, threads: int | None, tol: float = TOL_WITHOUT_GAMES
    ) -> float:
        """The log-evidence if nobody had played a game: of the factors that keep draw margins positive."""
        if placement:
            return _empty_evidence_in_slices(self, placement, tol)
        return self.without_games(tol, threads).log_evidence().log_evidence

    def fit(
        self,
        make_fit: Callable[..., Fit],
        solver: SolverConfig,
        options: Given,
        rates: SweepRates = USUAL,
    ) -> Fit:
        """The fixed point, as the Fit that `make_fit` makes of it.

        With draw margins of players, its log-evidence is that above the one without any games.

        Raises ConfigError for parts of a model that cannot be fitted together (`unsupported.py`).
        """
        options = options.copy()
        start = options.pop("start", None)  # of the first fit; further ones start from another
        placement: Placement | None = options.get("placement")
        refuse_unsupported(self, solver, placement)
        make_fit = partial(make_fit, elo_unit=self.play.elo_unit)
        empty_evidence = 0.0
        if self.play.own_margins:
            empty_evidence = self.empty_evidence(placement, solver.threads)

        fits: AbstractContextManager[OffsetFits] = nullcontext(
            FitsInMemory(self, options, make_fit, rates)
        )
        if placement:
            fits = _sliced_fits(self, placement, options, start, make_fit, rates)
        with fits as fits_of_games:
            return self._fit_with_offsets(
                FitsAboveEmpty(self, fits_of_games, empty_evidence), start, solver
            )

    def _fit_with_offsets(self, fits: OffsetFits, start: Fit | None, solver: SolverConfig) -> Fit:
        """The fit with configured or estimated offsets."""
        terms = self.counting_terms
        estimates_terms = any(term.points is None for term in terms)
        estimates_steps = any(step.points is None for step in self.steps)
        if self.params.estimates_lapse or estimates_terms or estimates_steps:
            return fit_with_estimates(
                fits, self.params, terms, self.steps, self.timeline, start, solver
            )
        given = self.given_offsets

        def fit_at(
            advantage: float, warm: Fit | None, solver: SolverConfig, *, evidence_only: bool = False
        ) -> Fit:
            offsets = given._replace(advantage=advantage)
            return fits.fit(offsets, warm, solver, evidence_only=evidence_only)

        return fit_with_advantage(fit_at, self.params, start, solver, colours=self.timeline.colours)


@dataclass(frozen=True)
class FitsInMemory:
    """Fits of a timeline as one slice of time in memory (`OffsetFits`)."""

    shared: ThroughTime
    options: Given
    make_fit: Callable[..., Fit]
    rates: SweepRates

    def fit(
        self,
        offsets: Offsets,
        start: Fit | None,
        solver: SolverConfig,
        *,
        evidence_only: bool = False,
    ) -> Fit:
        """Fit with these offsets."""
        inference = self.shared.inference(offsets, start, solver.threads)
        evidence_only |= self.options.get("evidence_only", False)
        options: Given = {**self.options, "evidence_only": evidence_only}
        fit = infer(inference, solver, options, start, self.make_fit, self.rates)
        return self._with_categories(fit)

    def _with_categories(self, fit: Fit) -> Fit:
        """The fit with the skills in categories in place of its beliefs about extra variables, if it has any."""
        sums = self.shared.sums
        skill = fit.chains["skill"]
        if sums is None or fit.extra is None or not isinstance(skill, Walk):
            return fit
        player_offsets = sums.player_offsets
        categories = player_offsets.skills(skill, fit.extra) if player_offsets else {}
        return replace(fit, categories=categories, extra=None)

    def slopes(self, offsets: Offsets, fit: Fit) -> Array:
        """Slopes of the log-evidence at a fit."""
        of_games = at_fit(self.shared.inference(offsets, fit), fit).gradient().games
        return np.array([of_games.advantage, *of_games.covariates, of_games.lapse, *of_games.steps])


@dataclass(frozen=True)
class FitsAboveEmpty:
    """The `fits`, with all parameters as numbers, and their log-evidence less `empty_evidence` (`OffsetFits`).

    `empty_evidence`: the log-evidence if nobody had played a game, nats (`ThroughTime.empty_evidence`).
    """

    shared: ThroughTime
    fits: OffsetFits
    empty_evidence: float

    def fit(
        self,
        offsets: Offsets,
        start: Fit | None,
        solver: SolverConfig,
        *,
        evidence_only: bool = False,
    ) -> Fit:
        """Fit with these offsets."""
        fit = self.fits.fit(offsets, start, solver, evidence_only=evidence_only)
        resolved = {**self.shared.resolved(offsets), **fit.params}
        return replace(fit, params=resolved, log_evidence=fit.log_evidence - self.empty_evidence)

    def slopes(self, offsets: Offsets, fit: Fit) -> Array:
        """Slopes of the log-evidence at the last fit."""
        return self.fits.slopes(offsets, fit)


class _SlicedFits:
    """Factorised fits in slices that are cut once (`OffsetFits`), each from the sites of the one before.

    `cold`: whether the first one starts from no beliefs. `converged`: whether the last one has.
    """

    def __init__(
        self,
        shared: ThroughTime,
        slices: Slices,
        slice_inputs: SliceInputs,
        priors: Mapping[str, RandomWalk],
        on_sweep: OnSweep | None,
        make_fit: Callable[..., Fit],
        rates: SweepRates,
        note: str,
        *,
        cold: bool,
    ) -> None:
        self.converged = False
        self._inference: SlicedInference | None = None
        self._shared = shared
        self._slices = slices
        self._pieces = slice_inputs
        self._priors = priors
        self._on_sweep = on_sweep
        self._make_fit = make_fit
        self._rates = rates
        self._note = note
        self._cold = cold

    def fit(
        self,
        offsets: Offsets,
        start: Fit | None,
        solver: SolverConfig,
        *,
        evidence_only: bool = False,  # noqa: ARG002
    ) -> Fit:
        """The fit with these offsets. Sites go on from where they are; `start` is where margins that move begin."""
        play = replace(self._shared.play, offsets=offsets)
        inference = SlicedInference(
            self._slices, self._pieces, self._priors, play, margins_from=start, cold=self._cold
        )
        fit = fit_factorised(inference, solver, self._on_sweep, self._make_fit, self._rates)
        self._cold = False
        self.converged = fit.status.converged
        self._inference = inference
        return replace(fit, notes=(*fit.notes, self._note))

    def slopes(self, offsets: Offsets, fit: Fit) -> Array:  # noqa: ARG002
        """Slopes of the log-evidence at the last fit. Raises SitesLost."""
        assert self._inference
        return self._inference.offset_slopes()


@contextmanager
def _sliced_fits(
    shared: ThroughTime,
    placement: Placement,
    options: Given,
    start: Fit | None,
    make_fit: Callable[..., Fit],
    rates: SweepRates,
) -> Iterator[OffsetFits]:
    """Fits in slices where they are placed.

    The skills of `start` are the first guess. An interrupted fit continues from the sites saved in the same
    `placement.scratch`.
    """
    timeline = shared.timeline
    priors = shared.priors()
    guess = beliefs_of_start(start, priors, timeline)
    cuts = placement.cuts(timeline)
    checkpoint = None
    if placement.scratch:
        checkpoint = _checkpoint(shared, placement.scratch, priors)
        cuts = checkpoint.cuts(cuts)
    slice_inputs = Cutter(
        timeline,
        cuts,
        list(priors.values()),
        colours=shared.colours,
        terms=shared.term_names,
        thresholds=shared.thresholds,
        guess=guess,
    )
    count = "1 slice" if len(slice_inputs) == 1 else f"{len(slice_inputs)} slices"
    note = f"the posterior is factorised, from {count} of time {placement.name}"
    with placement.hold(
        slice_inputs, shared.play, checkpoint.folder if checkpoint else None
    ) as slices:
        fits = _SlicedFits(
            shared,
            slices,
            slice_inputs,
            priors,
            options.get("on_sweep"),
            make_fit,
            rates,
            note,
            cold=guess is None,
        )
        yield fits
    if checkpoint and fits.converged:
        checkpoint.clear()


def _checkpoint(shared: ThroughTime, scratch: Path, priors: Mapping[str, RandomWalk]) -> Checkpoint:
    """The saved sites of a fit.

    A fit that estimates offsets has one checkpoint for all their values: the offsets in its key are NaN.
    """
    play = replace(shared.play, offsets=shared.given_offsets)
    return Checkpoint(
        scratch, shared.timeline, list(priors.values()), play, shared.term_names, shared.thresholds
    )


def _empty_evidence_in_slices(shared: ThroughTime, placement: Placement, tol: float) -> float:
    """`ThroughTime.empty_evidence` where slices are placed; where sites are lost, sweeps find them again."""
    priors = shared.priors()
    timeline = shared.timeline
    slice_inputs = Unplayed(timeline, len(placement.cuts(timeline)) - 1, list(priors.values()))
    with placement.hold(slice_inputs, shared.play, None) as slices:
        inference = SlicedInference(slices, slice_inputs, priors, shared.play)
        while True:
            iterate(inference.sweep, SolverConfig(tol=tol), None)
            with suppress(SitesLost):
                return inference.log_evidence().log_evidence
