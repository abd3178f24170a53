"""Parses names of players, periods, and anchors of a scale.

A name selects, in this order: the player with the same folded name (accents, case, punctuation); the same words in
another order; the surname; a name with all words typed, single letters being initials; the same with short forms
(Bobby for Robert); the same with given names cut after two letters or more (Em for Emanuel). If several players with
one surname match, the one with ten times the games of the next is selected, and a note lists the others; else
LookupFailed lists all. So `Fischer` may select Fischer, Robert James even if a player is spelled just Fischer;
`=Fischer` selects the latter. A text in slashes is a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Final

from ttt_cli.periods import as_text, numbers_within
from ttt_cli.runs.meta import RunMeta
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.support.folding import fold, fold_surname

Query = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
DOMINANCE: Final = 10  # times the games of the next player of the name
POINTS: Final = "points"  # in place of anchors: skills are shown in model points
ELO_UNIT: Final = "Elo"
# In place of anchors: differences are those of Elo, the level is that of the points
ELO: Final = "elo"
EXAMPLE: Final = "Lasker, Emanuel @ 1900 = 2720"  # an anchor for the sample
MATCHED: Final = "matched"  # the slope that fits the anchors best
_EXACT: Final = "="  # before a name that is meant as it is spelled
_LISTED: Final = 10
_SIMILAR: Final = 0.85  # Jaro-Winkler
_SELECT: Final = 'SELECT player, folded, surname, games, "first", "last" FROM players'
_WORDS: Final = "string_split(folded, ' ')"
_SORTED: Final = f"array_to_string(list_sort({_WORDS}), ' ')"
_BEGUN: Final = "period_number >= (SELECT min(period_number) FROM spans WHERE player = ?)"
_ANCHOR: Final = re.compile(
    r"(?P<name>.+?)\s*@\s*(?P<period>\d{4}\S*)\s*=\s*(?P<rating>-?\d+(\.\d+)?)"
)
_SKILLS: Final = """
SELECT period, mean FROM skills WHERE player = ? AND (period = ? OR split_part(period, '-', 1) = ?)
ORDER BY period_number DESC LIMIT 1
"""


@dataclass(frozen=True)
class Candidate:
    """A player who matches."""

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
    """The player selected; `note` lists other candidates, if any."""

    player: str
    note: str = ""


def find_player(query: Query, name: str | int) -> Found:
    """The player selected by `name`. Raises LookupFailed, with candidates or similar names, for none or several."""
    name = as_text(name, "a player").strip()
    if name.startswith(_EXACT):
        return _spelled(query, name.removeprefix(_EXACT).strip())
    if len(name) > 2 and name[0] == name[-1] == "/":
        return _matching_pattern(query, name)
    folded = fold(name)
    exact = _select(query, "player = ?", [name])
    # a name of a surname alone may be meant for somebody with given names; one of signs alone may not
    if exact and (exact[0].folded != exact[0].surname or not folded):
        return Found(exact[0].player)
    if not folded:
        raise LookupFailed(f"no player {name!r}", hint="give a name, or a part of one")
    words = folded.split()
    candidates = _of_whole_name(query, folded) or _with_words(query, words)
    if not candidates:
        raise _unknown(query, name, words)
    return _decide(name, candidates)


def _spelled(query: Query, name: str) -> Found:
    """The player who is spelled just so."""
    if not _select(query, "player = ?", [name]):
        raise LookupFailed(f"no player is spelled {name!r}", hint="leave = out to search")
    return Found(name)


def _matching_pattern(query: Query, text: str) -> Found:
    """The player who matches a pattern in slashes."""
    from ttt_cli.config.schema import pattern_of

    try:
        pattern = pattern_of(text)
    except ValueError as error:
        raise LookupFailed(str(error)) from error
    everybody = _select(query, "TRUE", [])
    matching = [player for player in everybody if pattern and pattern.search(player.player)]
    if not matching:
        hint = "a text in slashes is a regular expression"
        raise LookupFailed(f"no player matches {text}", hint=hint)
    return _decide(text, matching)


def _of_whole_name(query: Query, folded: str) -> list[Candidate]:
    """Players with this folded name, else with its words in another order, else with it as surname."""
    for where, value in (
        ("folded = ? AND folded <> surname", folded),
        (f"{_SORTED} = ? AND folded <> surname", " ".join(sorted(folded.split()))),
        ("? IN (surname, folded)", folded),
    ):
        if candidates := _select(query, where, [value]):
            return candidates
    return []


def _with_words(query: Query, words: list[str]) -> list[Candidate]:
    """Players whose names have all words, else with short forms, else with given names that are cut."""
    from importlib.resources import files

    lines = (files("ttt_cli.runs") / "short_forms.txt").read_text(encoding="utf-8").splitlines()
    groups = [set(line.split()) for line in lines]
    forms = {word: {word}.union(*(group for group in groups if word in group)) for word in words}
    sharing = _select(query, f"list_has_any({_WORDS}, ?)", [sorted(set().union(*forms.values()))])
    for allowed, cut in (({}, False), (forms, False), (forms, True)):
        candidates = [player for player in sharing if _fits(words, player, allowed, cut=cut)]
        if candidates:
            return candidates
    return []


def _select(query: Query, where: str, values: Sequence[Any]) -> list[Candidate]:
    rows = query(f"{_SELECT} WHERE {where} ORDER BY games DESC, player", values)
    return [Candidate(*row) for row in rows]


def _fits(
    typed: list[str], candidate: Candidate, forms: Mapping[str, set[str]], *, cut: bool
) -> bool:
    """Whether words typed, or `forms` of them, are words of a name or initials; `cut`: or their first letters."""
    unmatched = candidate.folded.split()
    beginnings = []
    for word in typed:
        accepted = {word, *forms.get(word, ())}
        match = next((part for part in unmatched if part in accepted), None)
        if match is not None:
            unmatched.remove(match)
        elif len(word) == 1 or cut:
            beginnings.append(word)
        else:
            return False
    surname = candidate.surname.split()
    for beginning in beginnings:
        # a surname may be an initial, but not be cut after several letters
        never = surname if len(beginning) > 1 else ()
        match = next(
            (part for part in unmatched if part.startswith(beginning) and part not in never), None
        )
        if match is None:
            return False
        unmatched.remove(match)
    return True


def _decide(name: str, candidates: list[Candidate]) -> Found:
    """The candidate with ten times the games of the next, all of one surname. Raises LookupFailed."""
    first, *namesakes = candidates
    if not namesakes:
        return Found(first.player)
    same_surname = all(candidate.surname == first.surname for candidate in namesakes)
    if same_surname and first.games >= DOMINANCE * namesakes[0].games:
        return Found(first.player, f"{first} is selected, not {_listing(namesakes, '; ', 3)}")
    spelled = any(candidate.player == name for candidate in candidates)
    raise LookupFailed(
        f"{len(candidates)} players are meant by {name!r}:\n  {_listing(candidates, chr(10) + '  ')}",
        hint=f"give more of the name; '{_EXACT}{name}' selects the one spelled so"
        if spelled
        else "give more of the name, or the whole of it",
    )


def _listing(candidates: list[Candidate], separator: str, most: int = _LISTED) -> str:
    more = len(candidates) - most
    lines = [str(candidate) for candidate in candidates[:most]]
    if more > 0:
        lines.append(f"and {more} more")
    return separator.join(lines)


def _unknown(query: Query, name: str, words: list[str]) -> LookupFailed:
    """The error for an unknown name, with the most similar names."""
    # a year is no part of a name
    written = " ".join(word for word in name.split() if not word.isdigit()) or name
    words = fold(written).split() or words
    likeness = (
        f"greatest(jaro_winkler_similarity({_SORTED}, ?), jaro_winkler_similarity(surname, ?),"
        " jaro_winkler_similarity(folded, ?))"
    )
    rows = query(
        f"SELECT player FROM (SELECT player, games, {likeness} AS likeness FROM players)"
        " WHERE likeness >= ? ORDER BY likeness + 0.01 * ln(1 + games) DESC, player LIMIT 3",
        [" ".join(sorted(words)), fold_surname(written), " ".join(words), _SIMILAR],
    )
    similar = " or ".join(repr(player) for (player,) in rows)
    hint = f"did you mean {similar}?" if similar else "`ttt players` lists them"
    return LookupFailed(f"no player {name!r} in this run", hint=hint, player=name)


def find_period(
    query: Query, meta: RunMeta, at: str | int | None, player: str | None = None
) -> tuple[str, int]:
    """Label and number of the period `at`, of the run or of a player's history up to the end of the run.

    None selects the last period with a game. A longer period selects the last one in it: in a run of months `1872`
    is December 1872. `1872.06` is read as `1872-06`. Raises LookupFailed for a period without skills, and for one
    shorter than the run's periods.
    """
    among = "true"
    values: list[Any] = []
    if player is not None:
        among = _BEGUN
        values = [player]
    if at is None:
        at = meta.last if player is None else _history(query, player)[1]
    if at not in (None, ""):
        period: Any = meta.period
        values = [*values, *numbers_within(at, period, [meta.first, meta.last])]
        among += " AND period_number BETWEEN ? AND ?"
    latest = f"SELECT arg_max(period, period_number), max(period_number) FROM periods WHERE {among}"
    ((label, number),) = query(latest, values)
    if label is not None:
        return str(label), int(number)
    if player is None:
        hint = f"the run covers {meta.first} to {meta.last}, by the {meta.period}"
        raise LookupFailed(f"no player has a skill at {at}", hint=hint)
    if (first := _history(query, player)[0]) is None:
        raise LookupFailed(
            f"{player} has no games in this run", hint="`ttt players` lists those who have"
        )
    hint = f"the history starts in {first}, the run ends in {meta.last}"
    raise LookupFailed(f"{player} has no skill at {at}", hint=hint)


def _history(query: Query, player: str) -> tuple[str | None, str | None]:
    ((first, last),) = query('SELECT "first", "last" FROM players WHERE player = ?', [player])
    return first, last


@dataclass(frozen=True)
class Anchor:
    """A player who has `rating` in a period."""

    name: str
    period: str
    rating: float

    def __str__(self) -> str:
        return f"{self.name} in {self.period} = {self.rating:g}"


@dataclass(frozen=True)
class Scale:
    """The shown scale: value = `slope` * model points + `shift`.

    Model points without `anchors`, unless `elo`: Elo's differences at the level of the points.
    """

    slope: float = 1.0
    shift: float = 0.0
    anchors: tuple[Anchor, ...] = ()
    matched: bool = False
    elo: bool = False

    @property
    def unit(self) -> str:
        """`points` or `Elo`."""
        return ELO_UNIT if self.anchors or self.elo else POINTS

    def points(self, strength: Mapping[str, Any]) -> dict[str, Any]:
        """A row of shown skills (`mean`, `sd`, further columns), in model points."""
        if self.unit == POINTS:
            return dict(strength)
        in_points: dict[str, Any] = {}
        for key, value in strength.items():
            if not isinstance(value, float) or key == "games":
                in_points[key] = value
            else:
                shift = self.shift if key == "mean" else 0.0
                in_points[key] = (value - shift) / self.slope
        return in_points


def parse_anchor(text: str) -> Anchor:
    """`Lasker, Emanuel @ 1900 = 2720`. Raises ConfigError."""
    match = _ANCHOR.fullmatch(text.strip())
    if not match:
        hint = f"write NAME @ YEAR = RATING, for instance '{EXAMPLE}'"
        raise ConfigError(f"{text!r} is not an anchor of a scale", hint=hint)
    return Anchor(match["name"], match["period"], float(match["rating"]))


def find_scale(meta: RunMeta, query: Query, scale: Sequence[str] = ()) -> Scale:
    """The scale by the anchors in `scale`, else in the config of a run. Raises ConfigError, LookupFailed."""
    if len(scale) > 1 and not {POINTS, ELO}.isdisjoint(scale):
        raise ConfigError("give points, elo, or anchors, which set the level of Elo")
    if POINTS in scale:
        return Scale()
    if ELO in scale:
        slope = 1.0 / meta.elo_unit
        return Scale(slope, shift=(meta.newcomers_mean or 0.0) * (1.0 - slope), elo=True)
    section = meta.config.get("scale") or {}
    texts = [text for text in scale if text != MATCHED] or section.get("anchors", ())
    matched = MATCHED in scale if scale else section.get("slope") == MATCHED
    if MATCHED in scale and not texts:
        hint = f"add two or more: --scale '{EXAMPLE}'"
        raise ConfigError("matched needs anchors, and there are none", hint=hint)
    anchors = tuple(parse_anchor(text) for text in texts)
    if not anchors:
        return Scale()
    means = [_mean_of(query, anchor) for anchor in anchors]
    ratings = [anchor.rating for anchor in anchors]
    slope = _matched_slope(means, ratings) if matched else 1.0 / meta.elo_unit
    if slope <= 0.0:
        hint = "two or more are needed, with higher ratings for stronger players"
        raise ConfigError("the anchors give no slope", hint=hint)
    shifts = [rating - slope * mean for rating, mean in zip(ratings, means, strict=True)]
    return Scale(slope, fsum(shifts) / len(shifts), anchors, matched)


def _mean_of(query: Query, anchor: Anchor) -> float:
    """The mean skill of an anchor, model points. Raises LookupFailed."""
    player = find_player(query, anchor.name).player
    rows = query(_SKILLS, [player, anchor.period, anchor.period])
    if not rows:
        first, last = _history(query, player)
        hint = f"there are skills from {first} to {last}"
        message = f"{player} cannot anchor the scale: no skill in {anchor.period}"
        raise LookupFailed(message, hint=hint)
    return float(rows[0][1])


def _matched_slope(means: list[float], ratings: list[float]) -> float:
    """The slope of the line that fits ratings best, 0 without two different means."""
    from statistics import linear_regression

    return linear_regression(means, ratings).slope if len(set(means)) > 1 else 0.0
