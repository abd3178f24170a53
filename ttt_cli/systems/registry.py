"""Registry of rating systems by name; a model's module is imported on first use.

Other packages add systems as entry points (`ttt_cli.plugins`).
"""

from __future__ import annotations

from importlib import import_module
from threading import Event
from typing import TYPE_CHECKING, Any, Final, Protocol, Unpack, cast

from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.support.installed import SYSTEMS, entry_points_of, load_entry_point

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ttt_cli.config.schema import SolverConfig
    from ttt_cli.fitted import Fit
    from ttt_cli.inference.params import Params, Traits
    from ttt_cli.inference.solver import Given
    from ttt_cli.timeline import Timeline

MODULES: Final[dict[str, str]] = {
    "ttt": "ttt_cli.systems.ttt",
    "ttt-d": "ttt_cli.systems.ttt_d",
    "trueskill": "ttt_cli.systems.trueskill",
    "glicko": "ttt_cli.systems.glicko",
    "glicko2": "ttt_cli.systems.glicko2",
    "chessmetrics": "ttt_cli.systems.chessmetrics",
    "weighted-ep": "ttt_cli.systems.weighted_ep",
    "naive": "ttt_cli.systems.naive",
    "elo": "ttt_cli.systems.elo",
    "elo-historical": "ttt_cli.systems.elo_historical",
    "spinrad": "ttt_cli.systems.spinrad",
    "edo": "ttt_cli.systems.edo",
    "whr": "ttt_cli.systems.whr",
}


LARGE: Final = 50_000  # games; kernels go through so many in less than a tenth of a second


class Model(Protocol):
    """Interface of a model's module."""

    NAME: str
    TRAITS: Traits
    Params: type[Params]

    def fit(
        self, timeline: Timeline, params: Any, solver: SolverConfig, **options: Unpack[Given]
    ) -> Fit:
        """Infer the skills of every node; nodes without games get the predictions of a smoothed model."""

    def fit_before(
        self,
        timeline: Timeline,
        params: Any,
        solver: SolverConfig,
        first: int,
        start: Fit | None = None,
    ) -> Fit:
        """Predictions before each period from `first` on, NaN elsewhere; only with `traits.fits_periods`."""

    def gradient(self, timeline: Timeline, params: Any, fit: Fit) -> dict[str, float]:
        """Gradient of the log-evidence in each numeric parameter, per unit, at a converged fit of the timeline.

        Parameters left at their default or `auto` follow those they derive from. Only for systems with
        `traits.exact_gradient`.
        """

    def predict(
        self,
        params: dict[str, Any],
        white: dict[str, NDArray[np.float64]],
        black: dict[str, NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Probabilities (n, 3) of loss, draw and win for White.

        `white` and `black` have the players' `mean`, `sd` and the model's further columns, each (n,).
        """


def fit(
    model: Model, timeline: Timeline, params: Params, solver: SolverConfig, **options: Unpack[Given]
) -> Fit:
    """Run `model.fit` with signals handled immediately. Raises ConfigError for games that the system does not take."""
    check_games(model, timeline)
    if timeline.n_games < LARGE:
        return model.fit(timeline, params, solver, **options)
    from ttt_cli.parallel.processes import end_if_unwanted, interruptible

    interrupted = Event()

    def on_sweep(sweep: int, change: float, remaining: float) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        end_if_unwanted()
        if callback := options.get("on_sweep"):
            callback(sweep, change, remaining)

    with_signals: Given = {**options, "on_sweep": on_sweep}

    def run() -> Fit:
        return model.fit(timeline, params, solver, **with_signals)

    try:
        return interruptible(run)
    finally:
        interrupted.set()


def check_games(model: Model, timeline: Timeline) -> None:
    """Raise ConfigError for games of teams and orders of finish with a system for two players."""
    if timeline.members is not None and not model.TRAITS.takes_sums:
        raise ConfigError(
            f"{model.NAME} rates games of two players, not those of teams or orders of finish",
            hint="fit them with -c ttt, ttt-career or ttt-white",
        )


def names() -> list[str]:
    """All systems, those of other packages last."""
    return list(dict.fromkeys((*MODULES, *entry_points_of(SYSTEMS))))


def load(name: str) -> Model:
    """Import a model by name. Raises ConfigError with the nearest name for an unknown one."""
    if name in MODULES:
        return cast("Model", import_module(MODULES[name]))
    if name not in entry_points_of(SYSTEMS):
        hint = suggested(name, names(), f"models are {', '.join(names())}")
        raise ConfigError(f"unknown model {name!r}", hint=hint)
    model = cast("Model", load_entry_point(SYSTEMS, name))
    if getattr(model, "NAME", None) != name:
        raise ConfigError(
            f"the entry point {name!r} of {SYSTEMS} is not a module with NAME = {name!r}"
        )
    return model
