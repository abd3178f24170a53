"""White's advantage: given, or the one that the evidence prefers."""

from collections.abc import Callable

from ttt_cli.fitted import Fit
from ttt_cli.inference.params import PlayParams

PRECISION = 1e-4  # of beta: how finely the maximum is found
FIRST_GUESS = 0.1  # of beta: the far end of the first bracket


def at_best_advantage(
    fit_at: Callable[[float, Fit | None], Fit], params: PlayParams, start: Fit | None, *, colours: bool
) -> Fit:
    """The fit at `params.white_advantage`; for `estimate`, at the maximum of the evidence (by Brent's method).

    Without `colours`, that is when nobody knows them, there is nothing to estimate and the advantage is 0.
    `fit_at(advantage, warm)` fits with that advantage in points, starting from the fit `warm`. The maximum is bracketed
    by steps that grow without bounds, then closed in on to `PRECISION`. Where the games say nothing of it, it is the
    best that was tried.
    """
    if params.white_advantage != "estimate":
        return fit_at(params.white_advantage, start)
    if not colours:
        return fit_at(0.0, start)
    from scipy.optimize import bracket, minimize_scalar

    best: list[Fit] = [fit_at(0.0, start)]

    def cost(advantage: float) -> float:
        fit = fit_at(float(advantage), best[0])
        if fit.log_evidence > best[0].log_evidence:
            best[0] = fit
        return -fit.log_evidence

    try:
        low, _, high, *_ = bracket(cost, 0.0, FIRST_GUESS * params.beta)
    except RuntimeError:  # the evidence does not fall to either side
        return best[0]
    bounds = min(low, high), max(low, high)
    minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": PRECISION * params.beta})
    return best[0]
