"""Fits games and stores or keeps the run: the steps of `ttt fit` after reading."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ttt_cli.config.documents import Document
from ttt_cli.games.table import Games
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import check_space, memory_run, write_run
from ttt_cli.support.progress import SILENT, Bar, Progress, waiting
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import Resolved, resolve
from ttt_cli.timeline import Timeline, build_timeline
from ttt_cli.updating import start_from

if TYPE_CHECKING:
    from ttt_cli.inference.solver import Given

# Share of the progress of inference; uncertainties and log-evidence are the rest
_OF_SWEEPS: Final = 0.9


def refit_of(run: Run, progress: Progress = SILENT) -> Callable[[Games], Run]:
    """A function that fits games in memory by the config of a run, and starts from its skills."""
    resolved = resolve(Document(values=run.meta.config))

    def refit(games: Games) -> Run:
        return fitted_run(games, resolved, run, None, progress)

    return refit


def fitted_run(
    games: Games,
    resolved: Resolved,
    start: Run | None,
    output: str | os.PathLike[str] | None,
    progress: Progress,
    ready: Callable[[], object] | None = None,
) -> Run:
    """The run of games, written to `output` or in memory; `ready` is called before writing."""
    from ttt_cli.inference.covariates import explain_covariates, with_computed
    from ttt_cli.inference.ep.placement import placement_of
    from ttt_cli.inference.joint.loose_groups import level_notes

    data = resolved.config.data
    solver = resolved.config.solver
    model = resolved.model
    if resolved.config.model.name == "ttt":
        from ttt_cli.kernels.warm import DEFAULT, FEW, warm

        warm(DEFAULT, progress, least=FEW)
    timeline = build_timeline(games, data.period, data.colours)
    timeline = with_computed(timeline, resolved.params)  # once for the fit, its shares and the run
    if output is not None:
        check_space(output, timeline)
    start_state = None if start is None else start_from(start, timeline)
    newcomers_move = bool(getattr(resolved.params, "prior_mean_drift", 0.0))
    with placement_of(
        solver, timeline, model.NAME, quantities=model.TRAITS.quantities, newcomers=newcomers_move
    ) as placement:
        with progress.task("inference", total=1.0) as bar:
            on_sweep = Sweeps(bar, solver.tol)
            notes = partial(level_notes, games, timeline)
            options: Given = {
                "on_sweep": on_sweep,
                "start": start_state,
                "notes": notes,
                "placement": placement,
            }
            fitted = registry.fit(model, timeline, resolved.params, solver, **options)
            bar.advance(1.0 - on_sweep.share)
        further_notes = (
            *timeline.notes,
            *_career_notes(resolved.params, timeline),
            *_doubt_notes(model.NAME, timeline),
        )
        # a run holds no state
        fitted = replace(fitted, notes=(*fitted.notes, *further_notes), state={})
        fitted = explain_covariates(fitted, timeline)
        if ready:
            ready()
        if output is None:
            return memory_run(games, timeline, fitted, resolved.config)
        with waiting(f"writing {output}"):
            write_run(output, games, timeline, fitted, resolved.config)
    return open_run(output)


def _doubt_notes(system: str, timeline: Timeline) -> tuple[str, ...]:
    """A note if records may be wrong, and the system does not know."""
    if timeline.doubt is None or system == "ttt":
        return ()
    return (f"p_true counts for ttt only: {system} takes all records as right",)


def _career_notes(params: object, timeline: Timeline) -> tuple[str, ...]:
    """A note if careers are to begin at an age, and nobody's birth is known."""
    by_age = getattr(params, "career_by", "debut") == "age"
    if by_age and not timeline.has_births:
        return ("no births are known (data.people), so all careers begin with the debut",)
    return ()


class Sweeps:
    """Reports sweeps as a fraction, on a log scale from the first error estimate to `tol`; `share` is that so far."""

    def __init__(self, bar: Bar, tol: float) -> None:
        self._bar = bar
        self._tol = tol
        self._first = math.nan
        self.share = 0.0

    def __call__(self, sweep: int, change: float, remaining: float) -> None:
        """Report a sweep with the largest change and the estimated error, points."""
        if math.isnan(self._first) and math.isfinite(remaining):
            self._first = remaining
        error = f", error about {remaining:.2g}" if math.isfinite(remaining) else ""
        note = f"sweep {sweep}: largest change {change:.2g} points{error}"
        reached = self.share
        if remaining <= self._tol:
            note = f"{note}: converged; computing uncertainties"
            reached = _OF_SWEEPS
        elif self._tol < self._first and math.isfinite(remaining):
            reached = (
                _OF_SWEEPS * math.log(self._first / remaining) / math.log(self._first / self._tol)
            )
        share = max(self.share, reached)
        self._bar.advance(share - self.share, note)
        self.share = share
