"""White's advantage: given, or the one that the evidence prefers."""

from collections.abc import Callable
from typing import Final

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.inference.params import PlayParams
from ttt_cli.inference.solver import rough_enough

PRECISION: Final = 1e-4  # of beta: how finely the maximum is found
STEP: Final = 0.1  # of beta: the first step from no advantage
NEAR: Final = 0.02  # of beta: from that of another fit
VERTICES: Final = 20  # of parabolas at most
NONE: Final = 1e-9  # points: at exactly 0 a fit forgets who had White, and can start no other


def at_best_advantage(
    fit_at: Callable[..., Fit], params: PlayParams, start: Fit | None, solver: SolverConfig, *, colours: bool
) -> Fit:
    """The fit at `params.white_advantage`; for `estimate`, at the maximum of the evidence.

    Without `colours`, that is when nobody knows them, there is nothing to estimate and the advantage is 0.
    `fit_at(advantage, warm, solver, **given)` fits with that advantage in points, starting from the fit `warm`, by what
    else is `given` (`ttt_cli.inference.solver.Given`). The maximum is bracketed by steps that grow without bounds, from
    the advantage of `start` on, and found to `PRECISION` by parabolas, for the evidence is nearly one. Where the games
    say nothing of it, it is the best that was tried. On the way fits are as rough as the evidence allows.
    """
    if params.white_advantage != "estimate":
        return fit_at(params.white_advantage, start, solver)
    if not colours:
        return fit_at(0.0, start, solver)
    from scipy.optimize import bracket

    rough, known = rough_enough(solver), start.params.get("white_advantage") if start else None
    tried: dict[float, float] = {}
    best = start

    def cost(advantage: float) -> float:
        nonlocal best
        fit = fit_at(float(advantage), best, rough, evidence_only=True)
        if not tried or fit.log_evidence > max(tried.values()):
            best = fit
        tried[float(advantage)] = fit.log_evidence
        return -fit.log_evidence

    begin, step = (NONE, STEP) if known is None else (known, NEAR)
    try:
        low, _, high, *_ = bracket(cost, begin, begin + step * params.beta)
    except RuntimeError:  # the evidence does not fall to either side
        return fit_at(max(tried, key=lambda at: tried[at]), best, solver)
    low, high = min(low, high), max(low, high)
    for _ in range(VERTICES):
        top = _vertex(tried)
        if not low <= top <= high or min(abs(top - at) for at in tried) < PRECISION * params.beta:
            break
        cost(top)
    return fit_at(min(max(top, low), high), best, solver)


def _vertex(values: dict[float, float]) -> float:
    """Where the parabola through the three highest values is highest; the highest where it bends upwards."""
    (a, f), (b, g), (c, h) = sorted(values.items(), key=lambda item: -item[1])[:3]
    left, right = (g - f) / (b - a), (h - f) / (c - a)
    bend = (right - left) / (c - b)
    return a + 0.5 * ((b - a) - left / bend) if bend < 0.0 else a
