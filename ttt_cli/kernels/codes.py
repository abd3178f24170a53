"""Codes of games: the outcome, whether colours are known, and the handicap.

The low bits of a code are the outcome, the others a place in `handicap`, in points, which is added to the first
player's skill; place 0 is none. Few different handicaps were ever given, so a game needs no number of its own. A game
on neutral ground is one at White's advantage taken back.

Where colours are unknown, P is the average over both, (P(advantage) + P(-advantage)) / 2. An outcome plus `UNKNOWN`
stands for such a game. With log P of slope v and curvature -w in the mean of the performance difference under each
colouring, and p and 1 - p their posterior weights, the average has slope v = p v1 + (1 - p) v2 and curvature -w with
w = p w1 + (1 - p) w2 - p (1 - p) (v1 - v2)^2. It has two peaks, and w is negative between them, once the advantage is
larger than the spread of the difference.
"""

import math
from typing import Final

from ttt_cli.kernels.compile import inner
from ttt_cli.kernels.truncated import outcome_log_normaliser, outcome_moments

UNKNOWN = 3
OUTCOME_BITS: Final = 3
_OUTCOME: Final = (1 << OUTCOME_BITS) - 1
_LOG_2 = 0.6931471805599453


@inner
def first_share(log_1: float, log_2: float) -> float:
    """Posterior weight of the first of two colourings with these log probabilities."""
    if log_1 >= log_2:
        return 1.0 / (1.0 + math.exp(log_2 - log_1))
    other = math.exp(log_1 - log_2)
    return other / (1.0 + other)


@inner
def log_average(log_1: float, log_2: float) -> float:
    """log((exp(log_1) + exp(log_2)) / 2)."""
    return max(log_1, log_2) + math.log1p(math.exp(-abs(log_1 - log_2))) - _LOG_2


@inner
def game_moments(t: float, advantage: float, margin: float, outcome: int) -> tuple[float, float]:
    """(v, w) of a game, all in units of the difference's sd; t is its mean without the advantage."""
    if outcome < UNKNOWN:
        return outcome_moments(t + advantage, margin, outcome)
    known = outcome - UNKNOWN
    v1, w1 = outcome_moments(t + advantage, margin, known)
    v2, w2 = outcome_moments(t - advantage, margin, known)
    log_1 = outcome_log_normaliser(t + advantage, margin, known)
    share = first_share(log_1, outcome_log_normaliser(t - advantage, margin, known))
    rest = 1.0 - share
    return share * v1 + rest * v2, share * w1 + rest * w2 - share * rest * (v1 - v2) ** 2


@inner
def game_log_normaliser(t: float, advantage: float, margin: float, outcome: int) -> float:
    """log P(outcome) of a game; arguments as in `game_moments`."""
    if outcome < UNKNOWN:
        return outcome_log_normaliser(t + advantage, margin, outcome)
    log_1 = outcome_log_normaliser(t + advantage, margin, outcome - UNKNOWN)
    return log_average(log_1, outcome_log_normaliser(t - advantage, margin, outcome - UNKNOWN))


@inner
def outcome_of(code):
    """The outcome in a code."""
    return code & _OUTCOME


@inner
def place_of(code):
    """The place of the handicap in a code."""
    return code >> OUTCOME_BITS


@inner
def handicap_of(code, handicap):
    """What is added to the first player's skill, points."""
    return handicap[place_of(code)]
