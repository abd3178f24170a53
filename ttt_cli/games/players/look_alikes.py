"""Pairs of names that are alike, among any number of names, in bounded time."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, combinations_with_replacement, product
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids
from ttt_cli.games.players.names import name_keys
from ttt_cli.games.players.not_one_person import teams_and_engines
from ttt_cli.games.players.similar import LONG, Parts, likeness, one_apart, parts_of_key, slipped

_NUMBERED: Final = re.compile(r"\d")  # such names differ by a letter because they are numbered
MOST: Final = 500_000  # pairs of names that are looked at, those of rare surnames first

# Numbers of names by the first letter of the given names, "" where there are none.
_Initials = dict[str, list[int]]
Hashes = NDArray[np.uint64]

_BASE: Final = 0x9E3779B97F4A7C15  # odd, so that it has an inverse among numbers of 64 bits
_INVERSE: Final = pow(_BASE, -1, 1 << 64)
_MOST_ALIKE: Final = 100  # words that have the same rest; of more not all pairs are looked at
# more are looked at only of words next to each other in the order of their numbers
_MOST_PAIRS: Final = 2_000_000


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
    slips = ((words[i], words[j]) for i, j in neighbour_words(words))
    for one, other in (pair for pair in slips if slipped(*pair)):
        for initial in surnames[one].keys() & surnames[other].keys() - {""}:
            ours, theirs = surnames[one][initial], surnames[other][initial]
            yield len(ours) * len(theirs), ours, theirs


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


def neighbour_words(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of numbers of distinct words, none of them empty, each pair once, in order.

    All that are `one_apart` are among them: they have the word itself, or what is left without one letter, in common.
    """
    rests, owners = _rests(words)
    order = np.lexsort((owners, rests))
    rests, owners = rests[order], owners[order]
    new = np.ones(len(rests), np.bool_)
    new[1:] = (rests[1:] != rests[:-1]) | (owners[1:] != owners[:-1])
    rests, owners = rests[new], owners[new]
    found = [np.zeros((0, 2), np.int32)]
    for apart in range(1, min(_MOST_ALIKE, len(rests))):
        same = np.flatnonzero(rests[apart:] == rests[:-apart])
        if not len(same) or sum(map(len, found)) > _MOST_PAIRS:
            break
        found.append(np.stack([owners[same], owners[same + apart]], axis=1))
    yield from map(tuple, np.unique(np.concatenate(found), axis=0).tolist())


def _rests(words: Sequence[str]) -> tuple[Hashes, Ids]:
    """Hashes of the rests of all words, and the number of the word that each is of."""
    length = np.fromiter(map(len, words), np.int32, len(words))
    hashes, owners = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)]
    for letters in np.unique(length[length > 0]).tolist():
        numbers = np.flatnonzero(length == letters).astype(np.int32)
        text = "".join([words[number] for number in numbers.tolist()])
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).reshape(-1, letters)
        for rest in _without_one(codes.astype(np.uint64) + np.uint64(1)):
            hashes.append(rest)
            owners.append(numbers)
    return np.concatenate(hashes), np.concatenate(owners)


def _without_one(codes: Hashes) -> Iterator[Hashes]:
    """Hashes of words, shape (words, letters), and of them without each of their letters.

    A hash is the sum of the letters times powers of a base, so that what stands behind a letter moves up by a factor.
    """
    powers = [pow(_BASE, place, 1 << 64) for place in range(codes.shape[1])]
    upto = np.zeros((len(codes), codes.shape[1] + 1), np.uint64)
    np.cumsum(codes * np.array(powers, np.uint64), axis=1, out=upto[:, 1:])
    whole = upto[:, -1]
    yield whole
    for place in range(codes.shape[1]):
        yield upto[:, place] + (whole - upto[:, place + 1]) * np.uint64(_INVERSE)
