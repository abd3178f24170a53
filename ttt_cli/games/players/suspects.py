"""Names that may be one person's: suggestions, never applied by themselves."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.arrays import Places
from ttt_cli.games.players.careers import Careers, careers_of, have_met, lifetime, shared_opponents
from ttt_cli.games.players.look_alikes import LookAlikes, look_alikes
from ttt_cli.games.players.similar import (
    ABBREVIATION,
    INITIALS,
    SPELLING,
    SURNAME_ONLY,
    Suspect,
    crowd,
    enough,
    fullest,
    longest_given,
    telling,
    told_alone,
)
from ttt_cli.games.table import Games

_LONG_GAP: Final = 10  # years without a game that make a suggestion unlikely
_SAME_PERSON: Final = 85  # years from the first to the last game of one person
_CLEARLY: Final = 3  # times as many as any other


class Suspects(NamedTuple):
    """`pairs`, unambiguous ones first, then by kind, gap and games; `left_out` names were not compared with all."""

    pairs: tuple[Suspect, ...]
    left_out: int


def find_suspects(games: Games) -> Suspects:
    """Pairs of names that may be one person's.

    People who played each other are two, and so are those whose games together span more than a lifetime. A synonym is
    told with the likeliest main name alone: years that do not contradict it, then opponents in common.
    """
    found = look_alikes(games.players)
    claims = _claims(games, found)
    shared = shared_opponents(games, np.array([claims.main, claims.synonym]).T).tolist()
    of_synonym: dict[int, list[int]] = defaultdict(list)
    for row, synonym in enumerate(claims.synonym):
        of_synonym[synonym].append(row)
    careers = careers_of(games)
    initials = frozenset(
        pair
        for one, other, kind in zip(claims.main, claims.synonym, claims.kind, strict=True)
        if kind == INITIALS
        for pair in ((one, other), (other, one))
    )

    def likeliest(claims: _Claims, rows: Sequence[int], roots: Mapping[int, int]) -> Suspect:
        return _likeliest(claims, shared, rows, careers, found, initials, roots)

    pairs = {synonym: likeliest(claims, rows, {}) for synonym, rows in of_synonym.items()}
    wider = claims._replace(gap=_gaps(_united(careers, pairs), claims.main, claims.synonym))
    roots = _roots(careers, pairs)
    pairs |= {
        synonym: likeliest(wider, of_synonym[synonym], roots)
        for synonym, one in pairs.items()
        if not one.sure
    }
    return Suspects(tuple(sorted(pairs.values(), key=_doubt)), found.left_out)


def count_suspects(games: Games) -> tuple[int, int]:
    """How many pairs and names left out `find_suspects` finds, in less time."""
    found = look_alikes(games.players)
    return len(set(_claims(games, found).synonym)), found.left_out


class _Claims(NamedTuple):
    """Pairs that may be one person's, column by column."""

    main: list[int]
    synonym: list[int]
    kind: list[str]
    gap: list[int]


def _claims(games: Games, found: LookAlikes) -> _Claims:
    """The pairs of names that did not meet, within a lifetime; the name that is shown for both, and the other.

    Of other sports than chess surnames alone and slips of spelling count for nothing: Yemen is not South Yemen.
    """
    careers, players = careers_of(games), len(games.players)
    longest, letters = np.zeros((2, players), np.int64)
    for number, parts in found.parts.items():
        longest[number], letters[number] = longest_given(parts), sum(map(len, parts.given))
    alike = [pair for pair in found.pairs if games.report.chess or pair[2] == INITIALS]
    pairs = np.array([pair[:2] for pair in alike], np.int64).reshape(-1, 2)
    span = careers.last[pairs].max(axis=1, initial=-9999) - careers.first[pairs].min(axis=1, initial=9999)
    kept = np.flatnonzero(~have_met(games, pairs) & (span <= _SAME_PERSON))
    one, other = pairs[kept].T
    short = np.minimum(longest[one], longest[other]) <= ABBREVIATION
    fuller = np.where(short, letters[one] - letters[other], 0)
    more = careers.games[one] - careers.games[other]
    swap = np.where(fuller, fuller, np.where(more, more, other - one)) < 0
    main, synonym = np.where(swap, other, one), np.where(swap, one, other)
    kinds = [alike[row][2] for row in kept.tolist()]
    return _Claims(main.tolist(), synonym.tolist(), kinds, _gaps(careers, main, synonym))


def _gaps(careers: Careers, main: Sequence[int] | Places, synonym: Sequence[int] | Places) -> list[int]:
    """Years between the careers of each two players, 0 where they overlap."""
    (begun, starts), (ended, ends) = (
        (years[np.asarray(main, np.int64)], years[np.asarray(synonym, np.int64)])
        for years in (careers.first, careers.last)
    )
    return [max(gap, 0) for gap in np.maximum(begun - ends, starts - ended).tolist()]


def _united(careers: Careers, pairs: Mapping[int, Suspect]) -> Careers:
    """Careers in which the sure synonyms' years are their main names' too."""
    number = {name: i for i, name in enumerate(careers.names)}
    first, last = careers.first.copy(), careers.last.copy()
    for suspect in pairs.values():
        if suspect.sure:
            main = number[suspect.main.name]
            first[main] = min(first[main], suspect.synonym.first)
            last[main] = max(last[main], suspect.synonym.last)
    return replace(careers, first=first, last=last)


def _likeliest(
    claims: _Claims,
    shared: Sequence[int],
    rows: Sequence[int],
    careers: Careers,
    found: LookAlikes,
    initials: Set[tuple[int, int]],
    roots: Mapping[int, int],
) -> Suspect:
    """The best of those that claim a synonym, with the number of the others.

    Names do not compete that are one person's by `roots`, nor those that may all be by their `initials`; but each of
    these is one more whom the synonym may mean. A slip of spelling is less likely than the very surname.
    """
    gap = claims.gap

    def weight(row: int) -> tuple[bool, int, int, int, int]:
        main = claims.main[row]
        return gap[row] <= _LONG_GAP, shared[row], -gap[row], int(careers.games[main]), main

    best = max(rows, key=weight)
    main, synonym = claims.main[best], claims.synonym[best]
    root = roots.get(main, main)
    slips = SPELLING if claims.kind[best] != SPELLING else None
    forms = {
        root,
        *(claims.main[row] for row in rows if roots.get(claims.main[row], claims.main[row]) == root),
    }
    others = [
        row
        for row in rows
        if claims.main[row] not in forms and (claims.kind[row] != slips or shared[row] > shared[best])
    ]
    mains = {main, *(claims.main[row] for row in others)}
    perhaps = len(others)
    others = [
        row
        for row in others
        if any(one != claims.main[row] and (one, claims.main[row]) not in initials for one in mains)
    ]
    perhaps -= len(others)
    rivals = [row for row in others if gap[row] <= _LONG_GAP or gap[best] > 1]
    most = max((shared[row] for row in rivals), default=-1)
    suspect = Suspect(careers[main], careers[synonym], claims.kind[best], len(rows) - 1, shared[best])
    ahead = not rivals or suspect.shared > max(_CLEARLY * most, 1)
    fits = gap[best] <= _LONG_GAP and suspect.span <= lifetime(suspect.shared)
    names = fullest([found.parts[name] for name in forms], found.parts[synonym]), found.parts[synonym]
    alone = not others
    told = telling(suspect, *names, alone=alone) or (alone and told_alone(suspect, *names, gap[best]))
    few = enough(suspect, crowd(names[1], found.namesakes[synonym], gap[best]) + perhaps)
    return replace(suspect, sure=ahead and fits and told and few)


def _roots(careers: Careers, pairs: Mapping[int, Suspect]) -> dict[int, int]:
    """The numbers of the names for which sure synonyms stand in the end."""
    number = {name: i for i, name in enumerate(careers.names)}
    mains = {synonym: number[one.main.name] for synonym, one in pairs.items() if one.sure}
    roots = {}
    for synonym, main in mains.items():
        root, seen = main, {synonym}
        while root in mains and root not in seen:
            seen.add(root)
            root = mains[root]
        roots[synonym] = root
    return roots


def _doubt(suspect: Suspect) -> tuple[bool, bool, int, bool, int, str]:
    """What puts the likelier suggestions first."""
    kind = (INITIALS, SPELLING, SURNAME_ONLY).index(suspect.kind)
    far = suspect.gap > _LONG_GAP
    return not suspect.sure, suspect.others > 0, kind, far, -suspect.synonym.games, suspect.synonym.name
