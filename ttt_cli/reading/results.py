"""Results as White's outcome: single texts and pairs of scores, in the convention of their column.

A column is parsed as a whole: `1` is a win where wins, draws and losses are 1, 0.5 and 0, and a draw where they are 2,
1 and 0. So results are parsed from the distinct values with their counts, once per file.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from ttt_cli.reading.batches import ResultKind
from ttt_cli.reading.reports import BAD_SCORE, FORFEIT, NO_RESULT, REJECT_CODE, UNKNOWN_RESULT
from ttt_cli.support.folding import fold

Written = str | tuple[str, ...]  # a result, or both scores
Outcome = int | str  # 0 loss, 1 draw, 2 win for White; or the reason for none

_LOSS, _DRAW, _WIN = range(3)  # as in `games.table`
_Score = tuple[float, ...] | tuple[str]  # White's, or both, or a sign

_CONVENTIONS: Final[tuple[tuple[dict[_Score, Outcome], ...], ...]] = (
    (  # of White's score alone
        {(1.0,): _WIN, (0.5,): _DRAW, (0.0,): _LOSS},
        {(2.0,): _WIN, (1.0,): _DRAW, (0.0,): _LOSS},
        {(1.0,): _WIN, (0.0,): _DRAW, (-1.0,): _LOSS},
    ),
    (  # of both scores
        {(1.0, 0.0): _WIN, (0.5, 0.5): _DRAW, (0.0, 1.0): _LOSS, (0.0, 0.0): FORFEIT},
        {(2.0, 0.0): _WIN, (1.0, 1.0): _DRAW, (0.0, 2.0): _LOSS, (0.0, 0.0): FORFEIT},
    ),
)
_WORDS: Final[dict[str, Outcome]] = {
    **dict.fromkeys(("w", "white", "whitewins", "whitewon", "win", "won", "h", "home"), _WIN),
    **dict.fromkeys(
        ("d", "draw", "drawn", "drew", "tie", "tied", "remis", "=", "1/2", "=-="), _DRAW
    ),
    **dict.fromkeys(
        ("b", "black", "blackwins", "blackwon", "loss", "lost", "lose", "l", "a", "away"), _LOSS
    ),
    **dict.fromkeys(
        ("", "*", "?", "??", "-", "--", "n/a", "unknown", "unfinished", "?-?"), NO_RESULT
    ),
    **dict.fromkeys(("+--", "--+", "---", "+-", "-+", "+/-", "-/+", "-/-", "0-0"), FORFEIT),
}
_SIDELESS: Final = frozenset({"win", "won", "loss", "lost", "lose"})
_PLUS: Final = ("+",)
_SIGNS: Final = frozenset({_PLUS, ("-",)})
_FORFEIT: Final = re.compile(
    r"forf|default|walkover|unplayed|kampflos|\bbye\b|\bw[./]?o\.?$|\df\b|\dff\b|\(ff\)|\bff\b"
)
_UNPLAYED: Final = re.compile(
    r"unplayed|not played|walkover|w ?o|bye|kampflos|no ?show|(?:won |lost )?by default"
)
_FORFEITED: Final = re.compile(r"(?:(?:white|black|double|won|wins|lost|by) )*forfeit\w*")
# Words of games that were played and lost by the clock
_ON_TIME: Final = re.compile(r"\(?\btime forfeit\b\)?", re.IGNORECASE)
_SCORES: Final = re.compile(r"([\d./]+)-([\d./]+)", re.ASCII)
_SPELLING: Final = str.maketrans({"½": "1/2", ":": "-", ",": ".", **dict.fromkeys("‐‑‒–—―−", "-")})


def parse_results(
    values: Sequence[Written], counts: Sequence[int], kind: ResultKind = "text"
) -> list[Outcome]:
    """Outcomes for White of the distinct values of a column, given how often each occurs.

    `text`: values like `1-0`, `½-½`, `1:0`, White's score alone, words or signs. `scores`: pairs (White's,
    Black's) that add up to 1 or to 2, whichever convention explains more. `goals`: pairs whose larger wins; `sport`:
    texts, pairs in which are goals. `winners`: White won, unless the text means that nothing was played.
    A value without an outcome gets the reason: `no result`, `forfeit` or `unknown result`.
    """
    if kind == "winners":
        return [FORFEIT if _FORFEIT.search(str(value).casefold()) else _WIN for value in values]
    goals = kind in ("goals", "sport")
    results: list[Outcome | _Score] = []
    times: Counter[_Score] = Counter()
    for value, count in zip(values, counts, strict=True):
        result = _read_text(value, goals=goals) if isinstance(value, str) else _read_pair(value)
        if goals and isinstance(result, tuple) and len(result) == 2:
            white, black = result
            result = _DRAW + (white > black) - (white < black)
        if isinstance(result, tuple):
            times[result] += count
        results.append(result)
    outcomes: dict[_Score, Outcome] = {("-",): NO_RESULT}
    if _PLUS in times:  # wins and losses if all results are signs, else points without a game
        outcomes = (
            {_PLUS: _WIN, ("-",): _LOSS}
            if times.keys() <= _SIGNS
            else dict.fromkeys(_SIGNS, FORFEIT)
        )
    for conventions in _CONVENTIONS:  # that explains most scores, of equals the first
        explained = [sum(times[score] for score in convention) for convention in conventions]
        outcomes |= conventions[explained.index(max(explained))]
    return [
        outcomes.get(result, UNKNOWN_RESULT) if isinstance(result, tuple) else result
        for result in results
    ]


def parse_result(text: str) -> Outcome:
    """The outcome of a result with the same meaning in all columns, such as a PGN result."""
    return parse_results([text], [1])[0]


def is_unplayed(termination: str, *, moves: bool) -> bool:
    """Whether a game ended without play, by the text that says how it ended.

    Lost by `forfeit` is a game with `moves` too, which was played; `time forfeit` is a loss on time.
    """
    folded = fold(termination)
    return bool(_UNPLAYED.fullmatch(folded) or (not moves and _FORFEITED.fullmatch(folded)))


def is_result_word(value: Written) -> bool:
    """Whether a result is a word like `win` without its side."""
    return isinstance(value, str) and _spelled(value) in _SIDELESS


def may_be_goals(value: Written) -> bool:
    """Whether a result is a text of two whole numbers, like `2-1`."""
    pair = score_pair(value) if isinstance(value, str) else None
    return pair is not None and all(score.is_integer() for score in pair)


def score_pair(value: Written) -> tuple[float, float] | None:
    """White's and Black's score of a pair, or of one text like `400-200`, with any sum."""
    if isinstance(value, str):
        match = _SCORES.fullmatch(_spelled(value))
        value = match.groups() if match else ()
    scores = [_score(_spelled(text)) for text in value]
    if len(scores) == 2 and scores[0] is not None and scores[1] is not None:
        return scores[0], scores[1]
    return None


def is_score(text: str) -> bool:
    """Whether a text is one side's score."""
    return _score(_spelled(text)) is not None


def match_scores(score: str, games: str) -> tuple[str, str]:
    """Both scores of a match from White's and the number of games (by default one), as texts.

    Non-numeric scores are returned for both players, and interpreted by `parse_results`.
    """
    score = score.strip()
    games = games.strip()
    white = _score(_spelled(score))
    count = _score(_spelled(games) or "1")
    if white is None:
        return score, score
    return score, games if count is None else f"{count - white:.12g}"


def match_result(result: str, score: str, games: str) -> str:
    """The result, or if it is empty the scores of the match as one text."""
    if result.strip():
        return result
    return "-".join(match_scores(score, games)) if score.strip() else ""


def _read_text(value: str, *, goals: bool) -> Outcome | _Score:
    """The score in a text, or an outcome that does not depend on the column."""
    written = _ON_TIME.sub("", value)
    text = _spelled(written)
    pair = score_pair(written)
    if (text,) in _SIGNS:
        return (text,)
    if text in _WORDS and not (goals and pair):
        return _WORDS[text]
    if _FORFEIT.search(written.casefold()):
        return FORFEIT
    number = _score(text, signed=True)
    return (pair or UNKNOWN_RESULT) if number is None else (number,)


def _read_pair(value: tuple[str, ...]) -> Outcome | _Score:
    """Both scores, or the reason why they are none."""
    if pair := score_pair(value):
        return pair
    texts = [_spelled(text) for text in value]
    joined = "".join(texts)
    if joined.strip("?*") and (not joined.strip("+-") or _FORFEIT.search(joined)):
        return FORFEIT
    return UNKNOWN_RESULT if joined.strip("?*") and "" not in texts else NO_RESULT


def _spelled(text: str) -> str:
    return "".join(text.casefold().translate(_SPELLING).split())


def _score(text: str, *, signed: bool = False) -> float | None:
    """A score of plain digits and at most one dot; `1/2` is a half."""
    if text == "1/2":
        return 0.5
    digits = text.lstrip("+-") if signed else text
    if (
        len(text) - len(digits) > 1
        or not digits.replace(".", "", 1).isdigit()
        or not digits.isascii()
    ):
        return None
    return float(text)


Tally = tuple[float, float, float]  # games lost, drawn and won by White

NO_TALLY: Final[Tally] = (0.0, 0.0, 0.0)
# Tallies of a single game by outcome
_SINGLE_GAME: Final[tuple[Tally, ...]] = (
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 1.0),
)
_HALF: Final = re.compile(r"(\d)\s?½")


def tally_of(value: Written, games: str, outcome: Outcome) -> tuple[Tally, int]:
    """The numbers of games for a result as written, and a reject code where it cannot be used.

    `games` is the number of games as written, empty for a single one, and `outcome` is that of `parse_results`. A score
    s of n games becomes floor(s) wins, a draw for a half, and losses; scores may also be doubled, with the sum 2 n. A
    plain text such as `1-0` counts n times.
    """
    if not games:
        return (
            (NO_TALLY, REJECT_CODE[outcome])
            if isinstance(outcome, str)
            else (_SINGLE_GAME[outcome], 0)
        )
    bad = NO_TALLY, REJECT_CODE[BAD_SCORE]
    try:
        count = float(games)
    except ValueError:
        return bad
    if not (count > 0 and count.is_integer() and count < 1e9):
        return bad
    plain = [_HALF.sub(r"\1.5", text) for text in ([value] if isinstance(value, str) else value)]
    pair = score_pair(plain[0] if isinstance(value, str) else tuple(plain))
    if pair is not None and sum(pair) in (count, 2 * count):
        won, half = divmod(pair[0] * count / sum(pair), 1)
        drawn = float(math.ceil(half))
        return ((count - won - drawn, drawn, won), 0) if half in (0.0, 0.5) else bad
    if isinstance(outcome, int):
        lost, drawn, won = _SINGLE_GAME[outcome]
        return ((lost * count, drawn * count, won * count), 0) if isinstance(value, str) else bad
    return (
        (NO_TALLY, REJECT_CODE[outcome])
        if outcome in (NO_RESULT, FORFEIT) and pair is None
        else bad
    )


def games_text(text: str) -> str:
    """The number of games as written, empty if unknown."""
    text = text.strip()
    return "" if text in ("?", "-") else text
