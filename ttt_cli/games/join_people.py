"""Joins a table of people to the players of games, by their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from ttt_cli.config.schema import DataConfig, NameMatching
from ttt_cli.games.aliases import Aliases
from ttt_cli.games.names import clean_name, comma_keys, name_key
from ttt_cli.games.people import BORN, DIED, PeopleTable
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.dates import day_words, parse_dates
from ttt_cli.reading.people import PeopleFile
from ttt_cli.reading.reports import PeopleReport, Problem
from ttt_cli.reading.values import is_missing

_EXAMPLES: Final = 3


class JoinedPeople(NamedTuple):
    """A table of people by player, the account of its file, and what was odd about it."""

    table: PeopleTable
    report: PeopleReport
    problems: tuple[Problem, ...]


def join_people(
    file: PeopleFile,
    players: Sequence[str],
    spellings: Sequence[tuple[str, str]],
    matching: NameMatching,
    aliases: Aliases,
) -> JoinedPeople:
    """The people of a file by the players they are.

    A name is that of a player, a spelling of one in the games or in the alias file, or has the same key (`name_key`).
    A name that may be several players is nobody's. Where two rows of one player differ, their field is unknown.
    """
    index = _PlayerIndex.of(players, spellings, matching, aliases)
    rows_of_player: dict[str, list[int]] = {}
    unmatched: list[int] = []
    for row, name in enumerate(file.names):
        player = index.find(name)
        if player is None:
            unmatched.append(row)
        else:
            rows_of_player.setdefault(player, []).append(row)
    columns = [_known_texts(file, field) for field in file.fields]
    values: dict[str, tuple[str, ...]] = {}
    contradicting: list[int] = []
    for player, rows in rows_of_player.items():
        agreed = [_agreed([column[row] for row in rows]) for column in columns]
        values[player] = tuple(text or "" for text in agreed)
        if None in agreed:
            contradicting.append(rows[1])
    source = file.file
    n_people = len(file.names)
    report = PeopleReport(
        source.path, source.digest, source.size, n_people, n_people - len(unmatched)
    )
    problems = (
        *_problem(file, reasons.UNKNOWN_PEOPLE, unmatched, file.names),
        *_problem(file, reasons.CONTRADICTING_PEOPLE, contradicting, file.names),
        *_unreadable_dates(file, columns),
    )
    return JoinedPeople(PeopleTable(file.fields, values), report, problems)


def _problem(
    file: PeopleFile, reason: str, rows: Sequence[int], texts: Sequence[str]
) -> tuple[Problem, ...]:
    """The problem of some rows, with the first of their texts; none without rows."""
    if not rows:
        return ()
    examples = "; ".join([texts[row] for row in rows[:_EXAMPLES]]) + (
        "; ..." if len(rows) > _EXAMPLES else ""
    )
    detail = f"{len(rows):,} of {len(file.names):,} people: {examples}"
    return (Problem(file.file.path, file.lines[rows[0]], reason, detail, reasons.KEPT),)


def _agreed(texts: Sequence[str]) -> str | None:
    """The text of several rows of one player, None where they differ; of `1837` and `1837-06-22` the longer one."""
    longest = max(texts, key=len)
    return longest if all(longest.startswith(text) for text in texts) else None


def _known_texts(file: PeopleFile, field: str) -> list[str]:
    """The texts of a field, empty where they are missing; dates as far as they are known."""
    texts = file.column(field)
    if field not in (BORN, DIED):
        return ["" if is_missing(text) else text for text in texts]
    dates = parse_dates(texts, DataConfig())
    known = []
    for day, precision, reject_code in zip(
        dates.day.tolist(), dates.precision.tolist(), dates.reject_code.tolist(), strict=True
    ):
        known.append("" if reject_code else day_words(day, precision))
    return known


def _unreadable_dates(file: PeopleFile, known: Sequence[Sequence[str]]) -> list[Problem]:
    """The problems of births and of deaths that are no dates; `known` are the texts of each field."""
    problems: list[Problem] = []
    for field, dates in zip(file.fields, known, strict=True):
        if field in (BORN, DIED):
            texts = file.column(field)
            rows = [
                row
                for row, (text, date) in enumerate(zip(texts, dates, strict=True))
                if not date and not is_missing(text)
            ]
            problems += _problem(file, reasons.BAD_LIFE_DATE, rows, texts)
    return problems


@dataclass(frozen=True)
class _PlayerIndex:
    """Finds players by the names of people.

    `by_key` are the players of each key of a name, `by_spelling` those of further spellings, `by_order` those of
    names without a comma in either order of their words.
    """

    players: frozenset[str]
    matching: NameMatching
    aliases: Aliases
    by_key: Mapping[str, set[str]]
    by_spelling: Mapping[str, set[str]]
    by_order: Mapping[str, set[str]]

    @classmethod
    def of(
        cls,
        players: Sequence[str],
        spellings: Sequence[tuple[str, str]],
        matching: NameMatching,
        aliases: Aliases,
    ) -> Self:
        """The index of players and their spellings."""
        by_key: dict[str, set[str]] = {}
        by_spelling: dict[str, set[str]] = {}
        by_order: dict[str, set[str]] = {}
        for player in players:
            key = name_key(player, matching)
            by_key.setdefault(key, set()).add(player)
            for other_order in comma_keys(key):
                by_order.setdefault(other_order, set()).add(player)
        for player, spelling in spellings:
            by_spelling.setdefault(name_key(clean_name(spelling), matching), set()).add(player)
        return cls(frozenset(players), matching, aliases, by_key, by_spelling, by_order)

    def find(self, name: str) -> str | None:
        """The player of a name as written; None for nobody, or for several."""
        cleaned = clean_name(name)
        main = self.aliases.names.get(cleaned, cleaned)
        if main in self.players:
            return main
        key = name_key(main, self.matching)
        candidates = self.by_key.get(key) or self.by_spelling.get(key)
        if not candidates and self.matching == "full":
            candidates = set(self.by_order.get(key, ()))
            for other_order in comma_keys(key):
                candidates |= self.by_key.get(other_order, set())
        return next(iter(candidates)) if candidates and len(candidates) == 1 else None
