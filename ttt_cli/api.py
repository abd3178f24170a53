"""Reading, fitting and opening runs: what Python users and the command line share."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, BinaryIO

from ttt_cli.config.document import Document
from ttt_cli.config.load import read_document
from ttt_cli.config.schema import DataConfig, SolverConfig
from ttt_cli.config.validate import validate
from ttt_cli.errors import DataError
from ttt_cli.fitted import Fit
from ttt_cli.games.read import read_games as read_sources
from ttt_cli.games.table import Games
from ttt_cli.models.elo_unit import elo_unit
from ttt_cli.models.resolve import Resolved, resolve
from ttt_cli.progress import SILENT, Bar, Progress
from ttt_cli.runs.destination import check_destination
from ttt_cli.runs.run import Run, memory_run, open_run
from ttt_cli.runs.store import write_run
from ttt_cli.timeline import Timeline, build_timeline

__all__ = ["Run", "configure", "fit", "open_run", "read_games"]

Source = str | os.PathLike[str] | BinaryIO


def read_games(*sources: Source, progress: Progress = SILENT, **data: Any) -> Games:
    """Read games from PGN or CSV files, plain or compressed; `-` is standard input.

    `data` are the keys of the config's data section, e.g. `header=False, columns=[...]`. What was not used
    is in the result's `report`. Raises ConfigError for a wrong key or value, DataError for a file that yields
    nothing.
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
        document = document.assign(_path(key), value, f"{key}={value!r}")
    return resolve(document)


def fit(
    games: Games,
    config: str | os.PathLike[str] | Resolved | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    progress: Progress = SILENT,
    **overrides: Any,
) -> Run:
    """Infer every player's skill and store it as a run at `output`, or in memory.

    `config` and `overrides` are those of `configure`: `fit(games, model="ttt", beta=480, tau=60)`. A fit that
    does not converge is stored too; `run.meta.converged` tells. Raises RunError, before the work begins, when
    `output` cannot be written; ConfigError; DataError when there are no games.
    """
    if isinstance(config, Resolved) and overrides:
        raise TypeError("give overrides to configure(), not beside its result")
    resolved = config if isinstance(config, Resolved) else configure(config, **overrides)
    if output is not None:
        check_destination(output)
    if not len(games):
        raise DataError("there are no games to fit")
    data = resolved.config.data
    timeline = build_timeline(games, data.period, data.colours)
    fitted = _infer(timeline, resolved, progress)
    fitted = replace(fitted, elo_unit=elo_unit(resolved.model, fitted))
    if output is None:
        return memory_run(games, timeline, fitted, resolved.config)
    write_run(output, games, timeline, fitted, resolved.config)
    return open_run(output)


def _path(key: str) -> tuple[str, ...]:
    """Where a Python keyword stands in the config."""
    if key == "model":
        return ("model", "name")
    if key == "period":
        return ("data", "period")
    return ("solver" if key in SolverConfig.model_fields else "model", key)


def _infer(timeline: Timeline, resolved: Resolved, progress: Progress) -> Fit:
    solver = resolved.config.solver
    with progress.task("inference", total=1.0) as bar:
        return resolved.model.fit(timeline, resolved.params, solver, on_sweep=_Sweeps(bar, solver.tol))


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
