"""Reading, fitting and opening runs: what Python users and the command line share."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from ttt_cli.config.document import Document
from ttt_cli.config.load import read_document
from ttt_cli.config.schema import DataConfig, SolverConfig, size_of
from ttt_cli.config.validate import validate
from ttt_cli.errors import DataError
from ttt_cli.files import real_place
from ttt_cli.fitted import Fit
from ttt_cli.games.extend import Extended
from ttt_cli.games.parts.opened import games_for
from ttt_cli.games.read import read_games as read_sources
from ttt_cli.games.table import Games
from ttt_cli.progress import SILENT, Bar, Progress
from ttt_cli.runs.locate import run_place
from ttt_cli.runs.run import Run, memory_run, open_run
from ttt_cli.runs.scale import POINTS
from ttt_cli.runs.start import start_from
from ttt_cli.runs.storing.store import check_destination, check_space, write_run
from ttt_cli.runs.storing.writing import writing
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import Resolved, resolve
from ttt_cli.timeline import Timeline, build_timeline
from ttt_cli.updating import add_games, update_config
from ttt_cli.views.rankings.eligible import eligible
from ttt_cli.views.rankings.top import SEED, ranking

if TYPE_CHECKING:
    from pandas import DataFrame

    from ttt_cli.inference.ep.apart.fit import Place
    from ttt_cli.inference.solver import Given
    from ttt_cli.views.rows import Rows

__all__ = ["Run", "configure", "fit", "leaders", "open_run", "read_games", "top", "update"]

Source = str | os.PathLike[str] | BinaryIO
_PLACES: Final = {"model": ("model", "name"), "period": ("data", "period")}  # of keywords in the config


def read_games(*sources: Source, progress: Progress = SILENT, **data: Any) -> Games:
    """Read games from PGN or CSV files, plain or compressed; `-` is standard input.

    `data` are the keys of the config's data section, e.g. `header=False, columns=[...]`. What was not used is in the
    result's `report`. Raises ConfigError for a wrong key or value, DataError for a file that yields nothing.
    """
    return read_sources(sources, validate(DataConfig, data, Document(), ("data",)), progress=progress)


def configure(
    config: str | os.PathLike[str] | None = None, overrides: Sequence[str] = (), **keys: Any
) -> Resolved:
    """The config in a file, a shipped one by its name, or the defaults; `KEY=VALUE` and `keys` on top.

    `keys` may be `model` (its name), parameters of the model, `period`, and the keys of the solver. Raises
    ConfigError with all that is wrong.
    """
    document = read_document(None if config is None else os.fspath(config), overrides)
    for key, value in keys.items():
        section = "solver" if key in SolverConfig.model_fields else "model"
        document = document.assign(_PLACES.get(key, (section, key)), value, f"{key}={value!r}")
    return resolve(document)


def fit(
    games: Games | Source,
    config: str | os.PathLike[str] | Resolved | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    start: Run | str | os.PathLike[str] | None = None,
    progress: Progress = SILENT,
    **overrides: Any,
) -> Run:
    """Infer every player's skill and store it as a run at `output`, or in memory.

    `games` may be a file, which is read as the config says.
    `config` and `overrides` are those of `configure`: `fit(games, model="ttt", beta=480, tau=60)`. `start`: a run whose
    skills are the first guess for players of the same name; the result does not depend on it. A fit that does not
    converge is stored too; `run.meta.converged` tells. Raises RunError, before the work begins, when `output` cannot be
    written; ConfigError; DataError when there are no games.
    """
    if isinstance(config, Resolved) and overrides:
        raise TypeError("give overrides to configure(), not beside its result")
    resolved = config if isinstance(config, Resolved) else configure(config, **overrides)
    output = None if output is None else run_place(output)
    with writing(output):
        if output is not None:
            check_destination(output)
        if not isinstance(games, Games):
            data, solver = resolved.config.data, resolved.config.solver
            with games_for([games], data, solver, progress=progress) as found:
                return fit(found, resolved, output=output, start=start, progress=progress)
        if not len(games):
            raise DataError("there are no games to fit")
        near = None if start is None else _opened(start)
        return _fitted(games, resolved, near, output, progress)


def update(
    run: Run | str | os.PathLike[str],
    *sources: Source,
    output: str | os.PathLike[str] | None = None,
    overrides: Sequence[str] = (),
    again: bool = False,
    on_read: Callable[[Extended, DataConfig], None] | None = None,
    progress: Progress = SILENT,
) -> Run:
    """Add the games of files to those of a run, fit them all from where it stood, and replace it, or write `output`.

    The result is that of a fresh fit of all games, with the run's config and `KEY=VALUE` overrides on top. `on_read` is
    called with all games, and how they were read, before inference begins. What stands at the place stays as it is
    unless all goes well; a run in memory is not replaced. Raises ConfigError, DataError (for a file that the run was
    made from, too, unless `again`) and RunError, as when another process replaced the run meanwhile.
    """
    before = _opened(run)
    place = before.path if output is None else run_place(output)
    with writing(place):
        before = _opened(run)  # another process may have replaced it until now
        if place is not None:
            check_destination(place)
        resolved = update_config(before, overrides)
        data = resolved.config.data
        extended = add_games(before, sources, data, again=again, progress=progress)
        if on_read:
            on_read(extended, data)
        same = place and before.path and real_place(place) == real_place(before.path)
        ready = before.refuse_replaced if same else lambda: None
        return _fitted(extended.games, resolved, before, place, progress, ready)


def top(
    run: Run | str | os.PathLike[str],
    at: str | None = None,
    number: int | None = 20,
    *,
    seed: int = SEED,
    **limits: Any,
) -> DataFrame:
    """The best players of a period (None: the last) as `ttt top` has them: a pandas DataFrame.

    `number` None: everyone. `seed`: of the samples of a joint posterior. `limits`: `active`, `min_games`,
    `min_opponents`, `max_sd` or `everyone=True` (`ttt_cli.views.rankings.eligible`). Raises LookupFailed when nobody is
    eligible.
    """
    opened = run if isinstance(run, Run) else open_run(run)
    return _frame(ranking(opened, at, eligible(opened, **limits), number, seed))


def leaders(run: Run | str | os.PathLike[str], *, seed: int = SEED, **limits: Any) -> DataFrame:
    """The number one of every period as `ttt top --leaders --each` has it: a pandas DataFrame.

    `seed`, `limits` as in `top`.
    """
    from ttt_cli.views.rankings.leaders import leader_rows

    opened = run if isinstance(run, Run) else open_run(run)
    return _frame(leader_rows(opened, eligible(opened, **limits), seed))


def _frame(rows: Rows) -> DataFrame:
    from pandas import DataFrame

    return DataFrame(rows.rows, columns=list(rows.columns))


def _opened(run: Run | str | os.PathLike[str]) -> Run:
    return run if isinstance(run, Run) else open_run(run, scale=[POINTS])


def _fitted(
    games: Games,
    resolved: Resolved,
    start: Run | None,
    output: str | os.PathLike[str] | None,
    progress: Progress,
    ready: Callable[[], object] = lambda: None,
) -> Run:
    """The run of games; `ready` is called when it is about to be written."""
    from ttt_cli.inference.ep.apart.places import fit_place

    data, solver, model = resolved.config.data, resolved.config.solver, resolved.model
    if resolved.config.model.name == "ttt":
        from ttt_cli.warm import DEFAULT, FEW, warm

        warm(DEFAULT, progress, least=FEW)
    timeline = build_timeline(games, data.period, data.colours)
    if output is not None:
        check_space(output, timeline)
    near = None if start is None else start_from(start, timeline)
    moves = bool(getattr(resolved.params, "prior_mean_drift", 0.0))
    with fit_place(
        solver, timeline, model.NAME, quantities=model.TRAITS.quantities, newcomers=moves
    ) as place:
        fitted = _infer(games, timeline, resolved, near, place, progress)
        fitted = replace(fitted, notes=(*fitted.notes, *timeline.notes), state={})  # a run holds no state
        ready()
        if output is None:
            return memory_run(games, timeline, fitted, resolved.config)
        most = None if solver.run_size is None else size_of(solver.run_size)
        workers = place.workers if place and place.finds(games.room) else None
        write_run(output, games, timeline, fitted, resolved.config, most, workers)
    return open_run(output)


def _infer(
    games: Games,
    timeline: Timeline,
    resolved: Resolved,
    start: Fit | None,
    place: Place | None,
    progress: Progress,
) -> Fit:
    from ttt_cli.inference.joint.levels import level_notes

    solver = resolved.config.solver
    with progress.task("inference", total=1.0) as bar:
        on_sweep = _Sweeps(bar, solver.tol)
        notes = partial(level_notes, games, timeline)
        given: Given = {"on_sweep": on_sweep, "start": start, "notes": notes, "place": place}
        return registry.fit(resolved.model, timeline, resolved.params, solver, **given)


class _Sweeps:
    """Shows sweeps as the share of the way, in logarithms, from the first estimated error to `tol`."""

    def __init__(self, bar: Bar, tol: float) -> None:
        self._bar = bar
        self._tol = tol
        self._first = math.nan
        self._share = 0.0

    def __call__(self, sweep: int, change: float, remaining: float) -> None:
        share = max(self._share, self._reached(remaining))
        self._bar.advance(share - self._share, f"sweep {sweep}, change {change:.2g}, error {remaining:.2g}")
        self._share = share

    def _reached(self, remaining: float) -> float:
        if remaining <= self._tol:
            return 1.0
        if not math.isfinite(remaining):
            return 0.0
        if math.isnan(self._first):
            self._first = remaining
        way = math.log(self._first / self._tol)
        return min(max(math.log(self._first / remaining) / way, 0.0), 1.0) if way > 0 else 0.0
