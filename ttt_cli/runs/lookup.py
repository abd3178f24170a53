"""Finding a player, or a period, by what people type. A look-up of players never guesses between people: it lists them.

In this order: the exact name; the same name but for accents, case and punctuation; the same words in another
order; the surname; all words typed are words of the name, where single letters may be initials. Several of
one surname give the one who has at least ten times the games of the others together, and a note names those.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.errors import LookupFailed
from ttt_cli.folding import fold, fold_surname

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

Query = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
DOMINANCE: Final = 10
_LISTED: Final = 10
_NEAR: Final = 0.85
_SELECT: Final = 'SELECT player, folded, surname, games, "first", "last" FROM players'
_WORDS: Final = "string_split(folded, ' ')"
_SORTED: Final = f"array_to_string(list_sort({_WORDS}), ' ')"
_PERIOD: Final = re.compile(r"\d{4}(-(Q[1-4]|W\d\d|\d\d(-\d\d)?))?")
_BEGUN: Final = "period_number >= (SELECT min(period_number) FROM spans WHERE player = ?)"


@dataclass(frozen=True)
class Candidate:
    """A player who may be meant."""

    player: str
    folded: str
    surname: str
    games: float
    first: str | None
    last: str | None

    def __str__(self) -> str:
        years = f", {self.first}" if self.first == self.last else f", {self.first} to {self.last}"
        games = f"{self.games:g} game" if self.games == 1 else f"{self.games:.10g} games"
        return f"{self.player} ({games}{years if self.first else ''})"


@dataclass(frozen=True)
class Found:
    """The player found; `note` names others who might have been meant, or is empty."""

    player: str
    note: str = ""


def find_player(query: Query, name: str) -> Found:
    """The one player whom `name` means.

    Raises LookupFailed, with the candidates or near spellings, when there is none or more than one.
    """
    folded = fold(name)
    if exact := _select(query, "player = ?", [name]):
        return Found(exact[0].player, _namesakes(query, exact[0]))
    if not folded:
        raise LookupFailed(f"no player {name!r}", hint="give a name, or a part of one")
    words = folded.split()
    for candidates in _ever_wider(query, folded, words):
        if candidates:
            return _decide(name, candidates)
    raise _unknown(query, name, words)


def _ever_wider(query: Query, folded: str, words: list[str]) -> Iterator[list[Candidate]]:
    yield _select(query, "folded = ?", [folded])
    yield _select(query, f"{_SORTED} = ?", [" ".join(sorted(words))])
    yield _select(query, "surname = ?", [folded])
    sharing = _select(query, f"list_has_any({_WORDS}, ?)", [words])
    yield [candidate for candidate in sharing if _fits(words, candidate.folded.split())]


def _select(query: Query, where: str, values: Sequence[Any]) -> list[Candidate]:
    rows = query(f"{_SELECT} WHERE {where} ORDER BY games DESC, player", values)
    return [Candidate(*row) for row in rows]


def _fits(typed: list[str], words: list[str]) -> bool:
    """Whether each word typed is a word of the name of its own, or the initial of one."""
    left = list(words)
    initials = []
    for word in typed:
        if word in left:
            left.remove(word)
        elif len(word) == 1:
            initials.append(word)
        else:
            return False
    for initial in initials:
        full = next((word for word in left if word.startswith(initial)), None)
        if full is None:
            return False
        left.remove(full)
    return True


def _decide(name: str, candidates: list[Candidate]) -> Found:
    first, *others = candidates
    if not others:
        return Found(first.player)
    one_surname = all(other.surname == first.surname for other in others)
    if one_surname and first.games >= DOMINANCE * sum(other.games for other in others):
        return Found(first.player, f"{first} is meant, not {_listing(others, '; ')}")
    raise LookupFailed(
        f"{len(candidates)} players are meant by {name!r}:\n  {_listing(candidates, chr(10) + '  ')}",
        hint="give more of the name, or the whole of it",
    )


def _namesakes(query: Query, found: Candidate) -> str:
    """A note when a bare surname was found as it stands but a fuller name of that surname has more games."""
    if found.folded != found.surname:
        return ""
    others = [c for c in _select(query, "surname = ?", [found.surname]) if c.player != found.player]
    if not any(other.games > found.games for other in others):
        return ""
    return f"{found} is named so exactly; there is also {_listing(others, '; ')}"


def _listing(candidates: list[Candidate], separator: str) -> str:
    more = len(candidates) - _LISTED
    return separator.join([*map(str, candidates[:_LISTED]), *([f"and {more} more"] if more > 0 else [])])


def _unknown(query: Query, name: str, words: list[str]) -> LookupFailed:
    """The error for a name nobody has, suggesting those most like it; of nearly equals, who played more."""
    written = " ".join(word for word in name.split() if not word.isdigit()) or name  # a year is no part of it
    words = fold(written).split() or words
    likeness = (
        f"greatest(jaro_winkler_similarity({_SORTED}, ?), jaro_winkler_similarity(surname, ?),"
        " jaro_winkler_similarity(folded, ?))"
    )
    rows = query(
        f"SELECT player FROM (SELECT player, games, {likeness} AS likeness FROM players)"
        " WHERE likeness >= ? ORDER BY likeness + 0.01 * ln(1 + games) DESC, player LIMIT 3",
        [" ".join(sorted(words)), fold_surname(written), " ".join(words), _NEAR],
    )
    near = " or ".join(repr(player) for (player,) in rows)
    hint = f"did you mean {near}?" if near else "`ttt players` lists them"
    return LookupFailed(f"no player {name!r} in this run", hint=hint)


def find_period(run: Run, at: str | None, player: str | None = None) -> tuple[str, int]:
    """Label and number of the period that `at` means, among all periods or one player's; None: the last with a game.

    A player's go on to the end of the run.

    A label may be cut short or be finer than the run's: `1872` means the last month of that year in a run of months,
    `1872-06` the year in a run of years and `1872-Q2` in one of quarters. Raises LookupFailed when there are no skills
    then.
    """
    if at is not None and not _is_period(at.strip()):
        known = ", ".join(dict.fromkeys([run.meta.first, run.meta.last]))
        raise LookupFailed(f"{at!r} is no period", hint=f"a year, or as the run has them: {known}")
    whose, values = ("true", []) if player is None else (_BEGUN, [player])
    if at is None:
        at = run.meta.last if player is None else _history(run, player)[1]
    query = f"SELECT arg_max(period, period_number), max(period_number) FROM periods WHERE {whose}"
    if at:
        meant = _written(at.strip(), run.meta.period)
        query += " AND (period = ? OR starts_with(period, ?) OR starts_with(?, period || '-'))"
        values = [*values, meant, f"{meant}-", meant]
    (label, number), *_ = run.query(query, values)[1]
    if label is None:
        raise _nothing_then(run, at, player)
    return str(label), int(number)


def _is_period(at: str) -> bool:
    """Whether any calendar has it: no 13th month, no 30 February."""
    year, *parts = at.split("-")
    try:
        if parts[:1] and parts[0].isdigit():
            month, day = map(int, [*parts, "1"][:2])
            date(int(year), month, day)
        elif parts and parts[0].startswith("W"):
            date.fromisocalendar(int(year), int(parts[0][1:]), 1)
    except ValueError:
        return False
    return _PERIOD.fullmatch(at) is not None


def _written(at: str, period: str) -> str:
    """A month or a day as quarters or weeks are written; a month is the last week of which it has the Thursday."""
    year, *parts = at.split("-")
    if period not in ("quarter", "week") or not parts or not parts[0].isdigit():
        return at
    month = int(parts[0])
    if period == "quarter":
        return f"{year}-Q{(month + 2) // 3}"
    if len(parts) == 2:
        day = date(int(year), month, int(parts[1]))
    else:
        last = date(int(year), month, monthrange(int(year), month)[1])
        day = last - timedelta((last.weekday() - 3) % 7)
    return "{:04d}-W{:02d}".format(*day.isocalendar())


def _nothing_then(run: Run, at: str | None, player: str | None) -> LookupFailed:
    if player is None:
        span = f"the run goes from {run.meta.first} to {run.meta.last}, by the {run.meta.period}"
        return LookupFailed(f"nobody's history covers {at}", hint=span)
    first, _ = _history(run, player)
    if first is None:
        return LookupFailed(f"{player} has no games in this run", hint="`ttt players` lists those who have")
    return LookupFailed(
        f"{player} has no skill at {at}", hint=f"the history goes from {first} on, the run to {run.meta.last}"
    )


def _history(run: Run, player: str) -> tuple[str | None, str | None]:
    """The first and the last period with games."""
    return run.query('SELECT "first", "last" FROM players WHERE player = ?', [player])[1][0]
