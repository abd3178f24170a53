"""The naive model: all players equal, draws as frequent as in the games (TTT paper, section 4)."""

from typing import Any, Final

import numpy as np

from ttt_cli.fitted import Fit
from ttt_cli.inference import outcome
from ttt_cli.inference.filters import RatingParams, filter_fit, one_pass, prediction_score
from ttt_cli.inference.outcome import Side
from ttt_cli.inference.params import EstimatedParams, Traits
from ttt_cli.support.arrays import Array
from ttt_cli.timeline import Timeline

NAME: Final = "naive"
TRAITS: Final = Traits(kind="filtered", has_evidence=True, draws_apart=True, takes_sums=True)


class Params(RatingParams, EstimatedParams):
    """Parameters of the naive model."""


@one_pass
def fit(timeline: Timeline, params: Params, advantage: float) -> Fit:
    """Give all players the same rating; the log-evidence uses the same probabilities for all games."""
    margin = outcome.resolve_logistic_margin(params, timeline)
    rule = {"white_advantage": advantage, "draw_margin": margin}
    chain = params.filtered(timeline, np.full(timeline.n_nodes, params.prior_mean))
    evidence = prediction_score(predict, rule, timeline, chain.mean, chain.sd)
    return filter_fit(NAME, params, rule, {"skill": chain}, evidence)


def predict(params: dict[str, Any], white: Side, black: Side) -> Array:  # noqa: ARG001
    """Probabilities (n, 3) of loss, draw and win for White: the same for all games."""
    advantage = np.full(len(white["mean"]), params["white_advantage"])
    return outcome.logistic_probabilities(advantage, params["draw_margin"])
