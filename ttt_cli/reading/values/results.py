"""Results as White's outcome: single texts and pairs of scores, in the convention their column is written in.

A column is decided as a whole: `1` is a win where wins, draws and losses are 1, 0.5 and 0, and a draw where
they are 2, 1 and 0. So results are read from counts of distinct values, once per file.
"""

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Final, TypeVar

from ttt_cli.reading.batches import ResultKind
from ttt_cli.reading.reasons import BAD_SCORE, FORFEIT, NO_RESULT, UNKNOWN_RESULT
from ttt_cli.reading.text import text_of

Raw = TypeVar("Raw", bound=Hashable)
Outcome = int | str  # 0 loss, 1 draw, 2 win for White; or why there is none

_LOSS, _DRAW, _WIN = range(3)  # as in `table`
_Pair = tuple[float, float]

_HALVES: Final[dict[_Pair, Outcome]] = {
    (1.0, 0.0): _WIN,
    (0.5, 0.5): _DRAW,
    (0.0, 1.0): _LOSS,
}
_LOST_BY_BOTH: Final = (0.0, 0.0)
_DOUBLED: Final[dict[_Pair, Outcome]] = {(2.0, 0.0): _WIN, (1.0, 1.0): _DRAW, (0.0, 2.0): _LOSS}
_CONVENTIONS: Final[tuple[dict[float, Outcome], ...]] = (
    {1.0: _WIN, 0.5: _DRAW, 0.0: _LOSS},
    {2.0: _WIN, 1.0: _DRAW, 0.0: _LOSS},
    {1.0: _WIN, 0.0: _DRAW, -1.0: _LOSS},
)
_WORDS: Final[dict[str, Outcome]] = {
    **dict.fromkeys(("w", "white", "whitewins", "whitewon", "win", "won", "h", "home"), _WIN),
    **dict.fromkeys(("d", "draw", "drawn", "drew", "tie", "tied", "remis", "=", "1/2", "=-="), _DRAW),
    **dict.fromkeys(("b", "black", "blackwins", "blackwon", "loss", "lost", "lose", "l", "a", "away"), _LOSS),
    **dict.fromkeys(("", "*", "?", "??", "-", "--", "---", "n/a", "unknown", "unfinished", "?-?"), NO_RESULT),
    **dict.fromkeys(("+--", "--+", "---", "+-", "-+", "+/-", "-/+", "-/-", "0-0"), FORFEIT),
}
_SIGNS: Final = {"+": _WIN, "-": _LOSS}
_FORFEIT: Final = re.compile(
    r"forf|default|walkover|unplayed|kampflos|\bbye\b|\bw[./]?o\.?$|\df\b|\dff\b|\(ff\)|\bff\b"
)
_ON_TIME: Final = re.compile(r"\(?\btime forfeit\b\)?", re.IGNORECASE)  # played, and lost by the clock
_SCORES: Final = re.compile(r"([\d./]+)-([\d./]+)", re.ASCII)
_SPELLING: Final = str.maketrans({"½": "1/2", ":": "-", ",": ".", **dict.fromkeys("‐‑‒–—―−", "-")})
Tally = tuple[float, float, float]  # games lost, drawn and won by White

_ONE: Final[tuple[Tally, ...]] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_HALF: Final = re.compile(r"(\d)\s?½")
NO_TALLY: Final[Tally] = (0.0, 0.0, 0.0)


def parse_results(counts: Mapping[Raw, int], kind: ResultKind = "text") -> dict[Raw, Outcome]:
    """Outcomes for White of the distinct values of a column, given how often each occurs.

    `text`: values like `1-0`, `½-½`, `1:0`, White's score alone, words or signs. `scores`: pairs (White's,
    Black's) that add up to 1 or to 2, whichever convention explains more. `goals`: pairs whose larger wins; `sport`:
    texts, pairs in which are goals. `winners`: White won, unless the text says that nothing was played.
    A value that means no outcome gets the reason: `no result`, `forfeit` or `unknown result`.
    """
    if kind in ("text", "sport"):
        return _texts(counts, goals=kind == "sport")
    if kind == "winners":
        return {value: FORFEIT if _FORFEIT.search(text_of(value).casefold()) else _WIN for value in counts}
    outcomes: dict[Raw, Outcome] = {}
    pairs: dict[Raw, _Pair] = {}
    for value in counts:
        pair = score_pair(value) if isinstance(value, tuple) else None
        if pair is not None:
            pairs[value] = pair
        else:
            parts = value if isinstance(value, tuple) else ()
            outcomes[value] = _no_pair([_spelled(text_of(part)) for part in parts])
    chosen = _compare if kind == "goals" else _convention(pairs, counts)
    return outcomes | {value: chosen(pair) for value, pair in pairs.items()}


def parse_result(text: str) -> Outcome:
    """The outcome of one result that needs no column around it, such as a PGN result."""
    return _texts({text: 1})[text]


def score_pair(raw: Hashable) -> tuple[float, float] | None:
    """White's and Black's score of a pair, or of one text like `400-200`, whatever they add up to."""
    if not isinstance(raw, tuple):
        return _pair(_spelled(text_of(raw)))
    scores = [_score(_spelled(text_of(part))) for part in raw]
    if len(scores) != 2 or scores[0] is None or scores[1] is None:
        return None
    return scores[0], scores[1]


def is_score(text: str) -> bool:
    """Whether a text is one side's score."""
    return _score(_spelled(text)) is not None


def match_scores(score: object, games: object) -> tuple[str, str]:
    """Both scores of a match of so many games (one, where nothing is said) from White's, as texts.

    What is no number stands on both sides, so that `parse_results` says what it means.
    """
    written = text_of(score).strip()
    white, count = _score(_spelled(written)), _score(_spelled(text_of(games)) or "1")
    if white is None:
        return written, written
    return written, text_of(games).strip() if count is None else f"{count - white:.12g}"


def match_result(result: Raw, score: object, games: object) -> Raw | str:
    """The result where one stands, else the scores of the match as one text."""
    if text_of(result).strip():
        return result
    return "-".join(match_scores(score, games)) if text_of(score).strip() else ""


def _texts(counts: Mapping[Raw, int], *, goals: bool = False) -> dict[Raw, Outcome]:
    outcomes: dict[Raw, Outcome] = {}
    pairs: dict[Raw, _Pair] = {}
    numbers: dict[Raw, float] = {}
    signs: dict[Raw, str] = {}
    for value in counts:
        written = _ON_TIME.sub("", text_of(value))
        text = _spelled(written)
        if text in _SIGNS:
            signs[value] = text
        elif text in _WORDS and not (goals and _pair(text)):
            outcomes[value] = _WORDS[text]
        elif _FORFEIT.search(written.casefold()):
            outcomes[value] = FORFEIT
        elif (number := _score(text, signed=True)) is not None:
            numbers[value] = number
        elif (pair := _pair(text)) is not None:
            pairs[value] = pair
        else:
            outcomes[value] = UNKNOWN_RESULT
    outcomes |= _signed(signs, alone=not (numbers or pairs))
    outcomes |= _single(numbers, counts)
    chosen = _compare if goals else _convention(pairs, counts)
    return outcomes | {value: chosen(pair) for value, pair in pairs.items()}


def _spelled(text: str) -> str:
    return "".join(text.casefold().translate(_SPELLING).split())


def _score(text: str, *, signed: bool = False) -> float | None:
    """A score of no more than plain digits and one dot; `1/2` is a half."""
    if text == "1/2":
        return 0.5
    digits = text.lstrip("+-") if signed else text
    if len(text) - len(digits) > 1 or not digits.replace(".", "", 1).isdigit() or not digits.isascii():
        return None
    return float(text)


def _pair(text: str) -> _Pair | None:
    match = _SCORES.fullmatch(text)
    if match is None:
        return None
    white, black = (_score(part) for part in match.groups())
    return None if white is None or black is None else (white, black)


def _no_pair(texts: Iterable[str]) -> Outcome:
    """Why two cells are no pair of scores."""
    joined = "".join(texts)
    if not joined.strip("?*"):
        return NO_RESULT
    if not joined.strip("+-") or _FORFEIT.search(joined):
        return FORFEIT
    return NO_RESULT if "" in texts else UNKNOWN_RESULT


def _convention(pairs: Mapping[Raw, _Pair], counts: Mapping[Raw, int]) -> Callable[[_Pair], Outcome]:
    """The convention, adding up to 1 or to 2, that explains more of the pairs."""
    halves, doubled = (
        sum(counts[value] for value, pair in pairs.items() if pair in table) for table in (_HALVES, _DOUBLED)
    )
    table = _DOUBLED if doubled > halves else _HALVES
    return lambda pair: FORFEIT if pair == _LOST_BY_BOTH else table.get(pair, UNKNOWN_RESULT)


def _compare(pair: _Pair) -> Outcome:
    white, black = pair
    return _DRAW if white == black else _WIN if white > black else _LOSS


def _single(numbers: Mapping[Raw, float], counts: Mapping[Raw, int]) -> dict[Raw, Outcome]:
    """White's score alone: 1/0.5/0, 2/1/0 or 1/0/-1, whichever explains more of the column."""
    table = max(
        _CONVENTIONS,
        key=lambda table: sum(counts[value] for value, number in numbers.items() if number in table),
    )
    return {value: table.get(number, UNKNOWN_RESULT) for value, number in numbers.items()}


def _signed(signs: Mapping[Raw, str], *, alone: bool) -> dict[Raw, Outcome]:
    """`+` and `-`: wins and losses in a column of signs, points without a game beside other results."""
    paired = "+" in signs.values()
    if alone and paired:
        return {value: _SIGNS[sign] for value, sign in signs.items()}
    return dict.fromkeys(signs, FORFEIT if paired else NO_RESULT)


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
