"""What the filters share: a fit in one cheap pass, games piece by piece, and gradients by differences."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from itertools import pairwise
from typing import Any, Final, TypeVar, Unpack

import numpy as np

from ttt_cli.arrays import Array, Mask
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit, Status
from ttt_cli.histories import Filter
from ttt_cli.inference.draws import logistic_margin_slope
from ttt_cli.inference.params import ExpectedParams, Params
from ttt_cli.inference.solver import Given
from ttt_cli.kernels.scores.structures import Games, Piece
from ttt_cli.timeline import UNKNOWN, Timeline

_Params = TypeVar("_Params", bound=ExpectedParams)

ONCE: Final = Status(converged=True, sweeps=1, remaining_error=0.0)


def one_pass(filtered: Callable[[Timeline, Any], Fit]) -> Callable[..., Fit]:
    """`fit` of a system that goes through the games once: nothing is left to converge, no start is of use."""

    @wraps(filtered)
    def fit(timeline: Timeline, params: Any, solver: SolverConfig, **given: Unpack[Given]) -> Fit:  # noqa: ARG001
        fitted = filtered(timeline, params)
        if on_sweep := given.get("on_sweep"):
            on_sweep(1, 0.0, 0.0)
        return fitted

    return fit


def filter_fit(
    model: str,
    params: Params,
    worked_out: Mapping[str, float],
    chains: Mapping[str, Filter],
    log_evidence: float,
    status: Status = ONCE,
) -> Fit:
    """The fit of a filter; `worked_out` are the parameters that were left open, as numbers."""
    return Fit(
        model=model,
        kind="filtered",
        params={**params.model_dump(), **worked_out},
        chains=dict(chains),
        log_evidence=log_evidence,
        leave_one_out=log_evidence,
        status=status,
    )


_STEPS: Final = 400_000  # updates in one call of a kernel: an interrupt is heard between two calls


def rows_of(timeline: Timeline, advantage: float = 0.0) -> Games:
    """The games as kernels take them, who has White's advantage the stronger by it, points."""
    joined = np.zeros(timeline.n_games, np.bool_) if timeline.joined is None else timeline.joined.copy()
    ends = timeline.game_white.copy(), timeline.game_black.copy()
    either = advantage * (timeline.sides == UNKNOWN)
    return Games(
        *ends, timeline.outcome.copy(), timeline.weight.copy(), timeline.ahead(advantage), either, joined
    )


def pieces(timeline: Timeline, games: Games, steps: int | None = None) -> Iterator[Piece]:
    """A timeline's games, in this order, in pieces that a filter takes in a moment; matches stay whole."""
    begun, start = 0, timeline.game_start
    for first, last in pairwise(_cuts(games.weight, games.joined, steps or _STEPS)):
        goes_on = begun > 0 and bool(start[begun] > first)
        begin = begun - goes_on
        begun = len(start) - 1 if last == len(games.weight) else int(np.searchsorted(start[:-1], last))
        part = slice(begin, begun + 1)
        yield Piece(goes_on, timeline.node_start[part].copy(), np.clip(start[part], first, last))


def whole_periods(timeline: Timeline) -> Iterator[Piece]:
    """Consecutive periods in pieces of about as many games."""
    start = timeline.game_start
    cuts = np.searchsorted(start, np.arange(_STEPS, start[-1], _STEPS))
    for begin, end in pairwise(np.unique([0, *cuts, len(start) - 1]).tolist()):
        part = slice(begin, end + 1)
        yield Piece(False, timeline.node_start[part].copy(), start[part].copy())


def _cuts(weight: Array, joined: Mask, steps: int) -> list[int]:
    """Where pieces of about so many updates begin, and the end."""
    from ttt_cli.kernels.scores.matches import GROWTH, SINGLY

    n = len(weight)
    work = np.ceil(np.minimum(weight, SINGLY)) + np.log(np.maximum(weight / SINGLY, 1.0)) / GROWTH
    done = np.cumsum(work)
    cuts = np.searchsorted(done, np.arange(steps, done[-1] if n else 0, steps))
    begins = np.append(np.flatnonzero(~joined), n)
    whole = begins[np.searchsorted(begins, cuts)]
    return [0, *(cut for cut in np.unique(whole).tolist() if 0 < cut < n), n]


def gradient_by_differences(
    filtered: Callable[[Timeline, _Params], Fit], *keys: str
) -> Callable[[Timeline, _Params, Fit], dict[str, float]]:
    """`gradient` of a system that fits a timeline so: in the parameters `keys` and in those of its outcomes."""

    def gradient(timeline: Timeline, params: _Params, fit: Fit) -> dict[str, float]:
        known = params.model_copy(update={"draw_margin": fit.params["draw_margin"]})

        def evidence(key: str, value: float) -> float:
            return filtered(timeline, known.model_copy(update={key: value})).log_evidence

        names = (*keys, "draw_margin", "white_advantage")
        slopes = {key: central_slope(partial(evidence, key), float(fit.params[key]), 1.0) for key in names}
        slope = logistic_margin_slope(params, timeline)
        return {**slopes, "draw_probability": slopes["draw_margin"] * slope}

    return gradient


def central_slope(function: Callable[[float], float], at: float, unit: float) -> float:
    """The slope of a function by differences over a small part of `unit`; one-sided where it would turn negative."""
    step = 1e-4 * max(unit, abs(at))
    low = at - step if at >= step or at < 0.0 or at == 0.0 else at
    return (function(at + step) - function(low)) / (at + step - low)
