"""The exact log-evidence of TTT by importance sampling, beside those of both posteriors.

The joint posterior is the proposal: a sample x counts as p(x) P(results | x) / q(x). Where it is close to the truth
these weights are nearly equal, and their mean is the evidence: `effective` tells how many equal ones they are worth.
"""

import time
from collections.abc import Sequence
from typing import Literal

import numpy as np
from measuring import options_of
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp

from ttt_cli import read_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.joint.sites import JointInference
from ttt_cli.systems import ttt
from ttt_cli.timeline import Timeline, build_timeline

Array = NDArray[np.float64]

AT_ONCE = 200  # samples


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(
        __doc__, arguments, file_=str, beta=480.0, tau=60.0, samples=20_000, seed=0
    )
    timeline = build_timeline(read_games(options.file))
    params = ttt.Params(beta=options.beta, tau=options.tau)
    kinds: tuple[Literal["factorised", "joint"], ...] = ("factorised", "joint")
    for kind in kinds:
        begun = time.perf_counter()
        fit = ttt.fit(timeline, params, SolverConfig(posterior=kind))
        print(f"{kind:12} {fit.log_evidence:.4f}  {time.perf_counter() - begun:.1f} s", flush=True)
    posterior = ttt.through_time(timeline, params, fit.params["draw_margin"]).posterior(fit)
    assert isinstance(posterior, JointInference)
    begun, rng = time.perf_counter(), np.random.default_rng(options.seed)
    batches = range(0, options.samples, AT_ONCE)
    weights = np.concatenate([log_weights(timeline, fit.params, posterior, rng) for _ in batches])
    relative = np.exp(weights - weights.max())
    error = relative.std() / relative.mean() / np.sqrt(len(weights))
    found = logsumexp(weights) - np.log(len(weights))
    effective = relative.sum() ** 2 / (relative**2).sum()
    print(
        f"{'exact':12} {found:.4f} +- {error:.4f}  {time.perf_counter() - begun:.1f} s, "
        f"{len(weights):,} samples, effective {effective:,.0f}"
    )


def log_weights(
    timeline: Timeline,
    params: dict[str, float],
    posterior: JointInference,
    rng: np.random.Generator,
) -> Array:
    """Of so many samples at once, (AT_ONCE,)."""
    factor, b, _ = posterior.factor()
    z = rng.standard_normal((timeline.n_nodes, AT_ONCE))
    x = factor.solve(b)[:, None] + factor.solve(z, forward=False)
    first = timeline.previous < 0
    precision = 1.0 / np.where(
        first, params["prior_sd"] ** 2, params["tau"] ** 2 * timeline.gap_years
    )
    step = x - np.where(first[:, None], 0.0, x[timeline.previous])
    log_prior = 0.5 * (np.log(precision).sum() - precision @ step**2)
    log_proposal = 0.5 * (factor.log_determinant - (z**2).sum(axis=0))
    scale = np.sqrt(2.0) * params["beta"]
    lead = (x[timeline.game_white] - x[timeline.game_black] + params["white_advantage"]) / scale
    margin = params["draw_margin"] / scale
    log_win, log_loss = log_ndtr(lead - margin), log_ndtr(-lead - margin)
    log_draw = np.log1p(-np.exp(log_win) - np.exp(log_loss))
    told = np.choose(timeline.outcome[:, None], [log_loss, log_draw, log_win])
    weights: Array = log_prior - log_proposal + timeline.weight @ told
    return weights


if __name__ == "__main__":
    main()
