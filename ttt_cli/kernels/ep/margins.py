"""Draw margins in games: gradients of the probabilities of outcomes, scores, information."""

import math

from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.compile import inner, kernel, span
from ttt_cli.kernels.ep.structures import Pairings, Rule
from ttt_cli.kernels.outcomes import (
    LOG_SQRT_2PI,
    UNKNOWN,
    base_rate,
    decided_by_skill,
    density,
    draw_log_normaliser,
    first_share,
    handicap_of,
    lapse_of,
    log_average,
    log_with_lapse,
    mills,
    outcome_log_normaliser,
    outcome_moments,
)

FAINT = 1e-280  # probabilities below are taken by their logarithms
NEAR_NONE = 1e-6  # so are those of draws that are what is left of 1


@inner
def by_bound(t, bound, outcome, slope):
    """d log P(outcome) / d bound, where `slope` is d log P / d t."""
    if outcome != 1:
        return -abs(slope)
    log_mass = draw_log_normaliser(t, bound)
    upper = math.exp(-0.5 * (bound - t) ** 2 - LOG_SQRT_2PI - log_mass)
    return upper + math.exp(-0.5 * (bound + t) ** 2 - LOG_SQRT_2PI - log_mass)


@inner
def _margin_slope(t, advantage, bound, outcome):
    """(log P, d log P / d bound) of an outcome, also with unknown colours."""
    result = outcome % UNKNOWN
    log_1 = outcome_log_normaliser(t + advantage, bound, result)
    slope_1 = by_bound(
        t + advantage, bound, result, outcome_moments(t + advantage, bound, result)[0]
    )
    if outcome < UNKNOWN:
        return log_1, slope_1
    log_2 = outcome_log_normaliser(t - advantage, bound, result)
    slope_2 = by_bound(
        t - advantage, bound, result, outcome_moments(t - advantage, bound, result)[0]
    )
    share = first_share(log_1, log_2)
    return log_average(log_1, log_2), share * slope_1 + (1.0 - share) * slope_2


@inner
def _margin_information(t, advantage, bound, outcome, lapse, lapse_draws):
    """(score, Fisher information) of the logarithm of a margin; all in units of the difference's sd."""
    if outcome < UNKNOWN and lapse == 0.0:
        at_win = bound - t - advantage
        at_loss = bound + t + advantage
        by_win = density(at_win)
        by_loss = density(at_loss)
        win = by_win * mills(abs(at_win))
        loss = by_loss * mills(abs(at_loss))
        if at_win < 0.0:
            win = 1.0 - win
        if at_loss < 0.0:
            loss = 1.0 - loss
        draw = 1.0 - win - loss
        if min(win, loss) > FAINT and draw > NEAR_NONE:
            by_win *= bound
            by_loss *= bound
            by_draw = by_win + by_loss
            information = (
                by_win * by_win / win + by_loss * by_loss / loss + by_draw * by_draw / draw
            )
            if outcome == 1:
                return by_draw / draw, information
            return (-by_win / win if outcome == 2 else -by_loss / loss), information
    score = 0.0
    information = 0.0
    for possible in range(outcome - outcome % UNKNOWN, outcome - outcome % UNKNOWN + 3):
        log_p, slope = _margin_slope(t, advantage, bound, possible)
        slope *= bound
        if lapse > 0.0:
            base = base_rate(possible, lapse_draws)
            slope *= decided_by_skill(log_p, lapse, base)
            log_p = log_with_lapse(log_p, lapse, base)
        information += math.exp(log_p) * slope * slope
        if possible == outcome:
            score = slope
    return score, information


@kernel
def margin_information(
    begin: int,
    end: int,
    games: Pairings,
    rule: Rule,
    cavity: Rows,
    score: Vector,
    information: Vector,
) -> None:
    """Fill the scores and Fisher information of the logarithms of the draw margins of some games, (games,).

    With s_o = d log P_o / d log margin these are s of the outcome there was, and the sum of P_o s_o^2; both of all
    equal games. `cavity` as in `gradient`.
    """
    for g in span(begin, end):
        score[g] = 0.0
        information[g] = 0.0
        difference = cavity[g, 0]
        variance = cavity[g, 1]
        if variance < 0.0:
            continue
        scale = 1.0 / math.sqrt(rule.noise + variance)
        t = (difference + handicap_of(g, rule.handicap)) * scale
        scored = _margin_information(
            t,
            rule.advantage * scale,
            rule.margin[g] * scale,
            games.code[g],
            lapse_of(g, rule),
            rule.lapse_draws,
        )
        score[g] = games.weight[g] * scored[0]
        information[g] = games.weight[g] * scored[1]
