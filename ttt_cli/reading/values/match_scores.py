"""What a result says about a number of games: one game, or a match of which only the score is known."""

import math
import re
from collections.abc import Hashable
from typing import Final

from ttt_cli.reading.decode import text_of
from ttt_cli.reading.reasons import BAD_SCORE, FORFEIT, NO_RESULT
from ttt_cli.reading.values.results import Outcome, score_pair

Tally = tuple[float, float, float]  # games lost, drawn and won by White

_ONE: Final[tuple[Tally, ...]] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_HALF: Final = re.compile(r"(\d)\s?½")
NO_TALLY: Final[Tally] = (0.0, 0.0, 0.0)


def tally_of(raw: Hashable, games: str, outcome: Outcome) -> Tally | str:
    """The games behind a result as written, or why it cannot be used.

    `games` is the number of games as written, empty for a single one, and `outcome` what `parse_results` makes of the
    result alone. A score s of n games becomes floor(s) wins, a draw for a half, and losses; scores may also be doubled,
    adding up to 2 n. A plain text such as `1-0` counts n times.
    """
    if not games:
        return outcome if isinstance(outcome, str) else _ONE[outcome]
    count = _whole(games)
    if count is None:
        return BAD_SCORE
    pair = score_pair(tuple(map(_plain, raw)) if isinstance(raw, tuple) else _plain(raw))
    if pair is not None and sum(pair) in (count, 2 * count):
        return _split(pair[0] * count / sum(pair), count)
    if isinstance(outcome, int) and not isinstance(raw, tuple):
        lost, drawn, won = _ONE[outcome]
        return lost * count, drawn * count, won * count
    return outcome if outcome in (NO_RESULT, FORFEIT) and pair is None else BAD_SCORE


def cap_factor(tally: Tally, most: float | None) -> float:
    """By what the weight of a match is multiplied so that it counts no more than `most` games."""
    count = sum(tally)
    return most / count if most is not None and count > most else 1.0


def games_text(raw: object) -> str:
    """The number of games as written, empty where nothing is said."""
    text = text_of(raw).strip()
    return "" if text in ("?", "-") else text


def _plain(raw: object) -> str:
    """A score with `6½` as 6.5."""
    return _HALF.sub(r"\1.5", text_of(raw))


def _split(white: float, count: float) -> Tally | str:
    won = math.floor(white)
    drawn = white - won
    if drawn not in (0.0, 0.5):
        return BAD_SCORE
    drawn = math.ceil(drawn)
    return count - won - drawn, float(drawn), float(won)


def _whole(text: str) -> float | None:
    """A number of games, a whole one above 0."""
    try:
        count = float(text)
    except ValueError:
        return None
    return count if count > 0 and count.is_integer() and count < 1e9 else None
