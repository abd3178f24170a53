"""Results as White's outcome: single texts and pairs of scores, in the convention of their column.

A column is parsed as a whole: `1` is a win where wins, draws and losses are 1, 0.5 and 0, and a draw where they are 2,
1 and 0. So results are parsed from counts of distinct values, once per file.
"""

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, TypeVar

from ttt_cli.reading.batches import ResultKind
from ttt_cli.reading.input import text_of
from ttt_cli.reading.reports import BAD_SCORE, FORFEIT, NO_RESULT, UNKNOWN_RESULT

Raw = TypeVar("Raw", bound=Hashable)
Score = TypeVar("Score", float, tuple[float, float])
Outcome = int | str  # 0 loss, 1 draw, 2 win for White; or the reason for none

_LOSS, _DRAW, _WIN = range(3)  # as in `table`
_Pair = tuple[float, float]

_CONVENTIONS: Final[tuple[dict[float, Outcome], ...]] = (  # of White's score alone
    {1.0: _WIN, 0.5: _DRAW, 0.0: _LOSS},
    {2.0: _WIN, 1.0: _DRAW, 0.0: _LOSS},
    {1.0: _WIN, 0.0: _DRAW, -1.0: _LOSS},
)
_OF_PAIRS: Final[tuple[dict[_Pair, Outcome], ...]] = (
    {(1.0, 0.0): _WIN, (0.5, 0.5): _DRAW, (0.0, 1.0): _LOSS, (0.0, 0.0): FORFEIT},
    {(2.0, 0.0): _WIN, (1.0, 1.0): _DRAW, (0.0, 2.0): _LOSS, (0.0, 0.0): FORFEIT},
)
_WORDS: Final[dict[str, Outcome]] = {
    **dict.fromkeys(("w", "white", "whitewins", "whitewon", "win", "won", "h", "home"), _WIN),
    **dict.fromkeys(("d", "draw", "drawn", "drew", "tie", "tied", "remis", "=", "1/2", "=-="), _DRAW),
    **dict.fromkeys(("b", "black", "blackwins", "blackwon", "loss", "lost", "lose", "l", "a", "away"), _LOSS),
    **dict.fromkeys(("", "*", "?", "??", "-", "--", "---", "n/a", "unknown", "unfinished", "?-?"), NO_RESULT),
    **dict.fromkeys(("+--", "--+", "---", "+-", "-+", "+/-", "-/+", "-/-", "0-0"), FORFEIT),
}
_SIDELESS: Final = frozenset({"win", "won", "loss", "lost", "lose"})
_SIGNS: Final[dict[str, Outcome]] = {"+": _WIN, "-": _LOSS}
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
    texts, pairs in which are goals. `winners`: White won, unless the text means that nothing was played.
    A value without an outcome gets the reason: `no result`, `forfeit` or `unknown result`.
    """
    if kind in ("text", "sport"):
        return _texts(counts, goals=kind == "sport")
    if kind == "winners":
        return {value: FORFEIT if _FORFEIT.search(text_of(value).casefold()) else _WIN for value in counts}
    pairs: dict[Raw, _Pair] = {
        value: pair for value in counts if isinstance(value, tuple) and (pair := score_pair(value))
    }
    outcomes = _pairs(pairs, counts, goals=kind == "goals")
    for value in counts.keys() - pairs.keys():
        texts = [_spelled(text_of(part)) for part in value] if isinstance(value, tuple) else []
        joined = "".join(texts)
        if joined.strip("?*") and (not joined.strip("+-") or _FORFEIT.search(joined)):
            outcomes[value] = FORFEIT
        else:
            outcomes[value] = UNKNOWN_RESULT if joined.strip("?*") and "" not in texts else NO_RESULT
    return outcomes


def parse_result(text: str) -> Outcome:
    """The outcome of a result with the same meaning in all columns, such as a PGN result."""
    return _texts({text: 1})[text]


def is_result_word(raw: Hashable) -> bool:
    """Whether a result is a word like `win` without its side."""
    return not isinstance(raw, tuple) and _spelled(text_of(raw)) in _SIDELESS


def score_pair(raw: Hashable) -> tuple[float, float] | None:
    """White's and Black's score of a pair, or of one text like `400-200`, with any sum."""
    if not isinstance(raw, tuple):
        return _pair(_spelled(text_of(raw)))
    return _both([_spelled(text_of(part)) for part in raw])


def is_score(text: str) -> bool:
    """Whether a text is one side's score."""
    return _score(_spelled(text)) is not None


def match_scores(score: object, games: object) -> tuple[str, str]:
    """Both scores of a match from White's and the number of games (by default one), as texts.

    Non-numeric scores are returned for both players, and interpreted by `parse_results`.
    """
    written = text_of(score).strip()
    white, count = _score(_spelled(written)), _score(_spelled(text_of(games)) or "1")
    if white is None:
        return written, written
    return written, text_of(games).strip() if count is None else f"{count - white:.12g}"


def match_result(result: Raw, score: object, games: object) -> Raw | str:
    """The result, or if it is empty the scores of the match as one text."""
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
    # Wins and losses if all results are signs, else points without a game.
    if "+" not in signs.values():
        outcomes |= dict.fromkeys(signs, NO_RESULT)
    elif numbers or pairs:
        outcomes |= dict.fromkeys(signs, FORFEIT)
    else:
        outcomes |= {value: _SIGNS[sign] for value, sign in signs.items()}
    return outcomes | _by_convention(numbers, counts, _CONVENTIONS) | _pairs(pairs, counts, goals=goals)


def _by_convention(
    scores: Mapping[Raw, Score], counts: Mapping[Raw, int], conventions: Sequence[Mapping[Score, Outcome]]
) -> dict[Raw, Outcome]:
    """Outcomes of scores in the convention that explains most of them, of equals the first."""
    table = max(
        conventions,
        key=lambda table: sum(counts[value] for value, score in scores.items() if score in table),
    )
    return {value: table.get(score, UNKNOWN_RESULT) for value, score in scores.items()}


def _pairs(pairs: Mapping[Raw, _Pair], counts: Mapping[Raw, int], *, goals: bool) -> dict[Raw, Outcome]:
    if goals:
        return {
            value: _DRAW if white == black else _WIN if white > black else _LOSS
            for value, (white, black) in pairs.items()
        }
    return _by_convention(pairs, counts, _OF_PAIRS)


def _spelled(text: str) -> str:
    return "".join(text.casefold().translate(_SPELLING).split())


def _score(text: str, *, signed: bool = False) -> float | None:
    """A score of plain digits and at most one dot; `1/2` is a half."""
    if text == "1/2":
        return 0.5
    digits = text.lstrip("+-") if signed else text
    if len(text) - len(digits) > 1 or not digits.replace(".", "", 1).isdigit() or not digits.isascii():
        return None
    return float(text)


def _pair(text: str) -> _Pair | None:
    match = _SCORES.fullmatch(text)
    return _both(match.groups()) if match else None


def _both(texts: Sequence[str]) -> _Pair | None:
    scores = [score for text in texts if (score := _score(text)) is not None]
    return (scores[0], scores[1]) if len(scores) == len(texts) == 2 else None


def tally_of(raw: Hashable, games: str, outcome: Outcome) -> Tally | str:
    """The numbers of games for a result as written, or the reason why it cannot be used.

    `games` is the number of games as written, empty for a single one, and `outcome` is that of `parse_results`. A score
    s of n games becomes floor(s) wins, a draw for a half, and losses; scores may also be doubled, with the sum 2 n. A
    plain text such as `1-0` counts n times.
    """
    if not games:
        return outcome if isinstance(outcome, str) else _ONE[outcome]
    try:
        count = float(games)
    except ValueError:
        return BAD_SCORE
    if not (count > 0 and count.is_integer() and count < 1e9):
        return BAD_SCORE
    pair = score_pair(tuple(map(_plain, raw)) if isinstance(raw, tuple) else _plain(raw))
    if pair is not None and sum(pair) in (count, 2 * count):
        won, half = divmod(pair[0] * count / sum(pair), 1)
        drawn = float(math.ceil(half))
        return (count - won - drawn, drawn, won) if half in (0.0, 0.5) else BAD_SCORE
    if isinstance(outcome, int) and not isinstance(raw, tuple):
        lost, drawn, won = _ONE[outcome]
        return lost * count, drawn * count, won * count
    return outcome if outcome in (NO_RESULT, FORFEIT) and pair is None else BAD_SCORE


def games_text(raw: object) -> str:
    """The number of games as written, empty if unknown."""
    text = text_of(raw).strip()
    return "" if text in ("?", "-") else text


def _plain(raw: object) -> str:
    """A score with `6½` as 6.5."""
    return _HALF.sub(r"\1.5", text_of(raw))
