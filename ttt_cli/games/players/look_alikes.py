"""Pairs of names that are alike, among any number of names, in bounded time."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, combinations_with_replacement, product
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.games.players.keys import name_keys
from ttt_cli.games.players.not_one_person import teams_and_engines
from ttt_cli.games.players.similar import LONG, Parts, likeness, one_apart, parts_of_key, slipped
from ttt_cli.games.players.slips import neighbour_words

_NUMBERED: Final = re.compile(r"\d")  # such names differ by a letter because they are numbered
MOST: Final = 500_000  # pairs of names that are looked at, those of rare surnames first

# Numbers of names by the first letter of the given names, "" where there are none.
_Initials = dict[str, list[int]]


class LookAlikes(NamedTuple):
    """`pairs` are numbers of two names and how they are alike (see `similar.likeness`); `parts` those of these names.

    `namesakes` counts for each of these the names of the same surname with another initial. `left_out` names have
    surnames so frequent that not all pairs of them were looked at.
    """

    pairs: list[tuple[int, int, str]]
    parts: Mapping[int, Parts]
    namesakes: Mapping[int, int]
    left_out: int


def look_alikes(names: Sequence[str]) -> LookAlikes:
    """All pairs of names that may be one person's, names of teams and engines apart."""
    parts = _persons(names)
    surnames: dict[str, _Initials] = defaultdict(lambda: defaultdict(list))
    for number, (surname, given, *_) in parts.items():
        surnames[surname][given[0][0] if given else ""].append(number)
    pairs: list[tuple[int, int, str]] = []
    missed: set[int] = set()
    left = MOST
    for cost, ours, theirs in sorted(_meetings(surnames), key=itemgetter(0)):
        left -= cost
        if left < 0:
            missed.update(ours, theirs)
            continue
        for one, other in _compatible(parts, ours, theirs):
            if kind := likeness(parts[one], parts[other]):
                pairs.append((one, other, kind))
    alike = {number: parts[number] for one, other, _ in pairs for number in (one, other)}
    sizes = {
        surname: {initial: len(numbers) for initial, numbers in of.items() if initial}
        for surname, of in surnames.items()
    }
    namesakes = {
        number: sum(sizes[surname].values()) - sizes[surname].get(given[0][0] if given else "", 0)
        for number, (surname, given, *_) in alike.items()
    }
    return LookAlikes(pairs, alike, namesakes, len(missed))


def _persons(names: Sequence[str]) -> dict[int, Parts]:
    """The parts of the names of persons that have given names, and of those that share a surname with them."""
    keys = name_keys(names)
    nobody = np.any(list(teams_and_engines(names)), axis=0).tolist()
    full = {i: parts_of_key(key) for i, key in enumerate(keys) if " " in key and not nobody[i]}
    surnames = {surname for surname, *_ in full.values()}
    for i, key in enumerate(keys):
        if not nobody[i] and " " not in key and (parts := parts_of_key(key)).surname in surnames:
            full[i] = parts
    return full


def _meetings(surnames: Mapping[str, _Initials]) -> Iterator[tuple[int, list[int], list[int]]]:
    """Lists of names that are to be compared, one of one list with one of the other, and how many pairs there are.

    They have the same surname and no different initials, or surnames one letter apart and the same initial.
    """
    for initials in surnames.values():
        alone = initials.get("", [])
        given = [numbers for initial, numbers in initials.items() if initial]
        for numbers in given:
            if len(numbers) > 1:
                yield len(numbers) * (len(numbers) - 1) // 2, numbers, numbers
            if alone:
                yield len(alone) * len(numbers), alone, numbers
        if len(alone) > 1:
            yield len(alone) * (len(alone) - 1) // 2, alone, alone
    words = [surname for surname in surnames if len(surname) >= LONG and not _NUMBERED.search(surname)]
    for one, other in _slips(words):
        for initial in surnames[one].keys() & surnames[other].keys() - {""}:
            ours, theirs = surnames[one][initial], surnames[other][initial]
            yield len(ours) * len(theirs), ours, theirs


def _slips(surnames: Sequence[str]) -> Iterator[tuple[str, str]]:
    for i, j in neighbour_words(surnames):
        if slipped(surnames[i], surnames[j]):
            yield surnames[i], surnames[j]


def _compatible(parts: Mapping[int, Parts], ours: list[int], theirs: list[int]) -> Iterable[tuple[int, int]]:
    """The pairs whose first given names do not begin differently, without a look at each."""
    if ours is not theirs:
        return product(ours, theirs)
    by_name: dict[str, list[int]] = defaultdict(list)
    for number in ours:
        by_name["".join(parts[number].given[:1])].append(number)
    return (
        pair
        for one, other in combinations_with_replacement(by_name, 2)
        if one.startswith(other) or other.startswith(one) or one_apart(one, other)
        for pair in (combinations(by_name[one], 2) if one == other else product(by_name[one], by_name[other]))
    )
