"""Edo: hypothetical drawn matches between neighbouring years of one player (Edwards, "How Edo ratings work")."""

from ttt_cli.kernels.bradley_terry.likelihood import log_logistic, logistic
from ttt_cli.kernels.compile import kernel


@kernel(
    "float64(int32[::1], float64[::1], float64, float64[::1], float64[::1], float64[::1], float64[::1], float64[::1])"
)
def drawn_matches(previous, steps, ties, ground, rating, gradient, link_precision, own):
    """Add that of the log-likelihood of the drawn matches to `gradient`; returns the log-likelihood.

    There are `steps` periods between a node and the one before, so as many matches of `ties` games; at the maximum the
    ratings between lie on a straight line, and are left out. Fills `link_precision` with the curvature between a node
    and the one before. `ground` holds fast the level of a connected group at one node, and is copied to `own`.
    """
    value = 0.0
    for i in range(len(previous)):
        own[i] = ground[i]
        value -= 0.5 * ground[i] * rating[i] * rating[i]
        gradient[i] -= ground[i] * rating[i]
        before = previous[i]
        if before < 0:
            link_precision[i] = 0.0
            continue
        step = (rating[i] - rating[before]) / steps[i]
        expected = logistic(step)
        value += 0.5 * ties * steps[i] * (log_logistic(step) + log_logistic(-step))
        score = ties * (0.5 - expected)
        gradient[i] += score
        gradient[before] -= score
        link_precision[i] = ties / steps[i] * expected * (1.0 - expected)
    return value
