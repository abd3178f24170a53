"""Similar names: which pairs of spellings may be one person's, by their letters alone."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Final, Literal, NamedTuple

import numpy as np

from ttt_cli.games.names import name_keys
from ttt_cli.games.teams_and_engines import teams_and_engines
from ttt_cli.support.arrays import Ids

Kind = Literal["initials", "surname only", "spelling"]
INITIALS: Final = "initials"
SURNAME_ONLY: Final = "surname only"
SPELLING: Final = "spelling"

_LONG_SURNAME: Final = 6  # letters from which one wrong letter is taken for a slip
_LONG_GIVEN_NAME: Final = 5  # the same for a given name
_PARTICLES: Final = frozenset(
    ("al", "d", "da", "de", "del", "den", "der", "di", "du", "la", "le", "ten", "ter", "van", "vom", "von", "zu", "zur")
)  # fmt: skip
_DIGIT: Final = re.compile(r"\d")  # numbers distinguish namesakes
_GLUED_PARTICLE: Final = re.compile(
    r"(?:de|del|dela|della|den|der|di|du|la|le|van|vanden|vander|von|vonder)(?=\w{6})"
)
_UMLAUT: Final = re.compile(r"(?<=[aou])e")  # the e of ae, oe and ue

MAX_COMPARISONS: Final = 500_000  # pairs of names that are compared, those of rare surnames first
# Bounds on the pairs of words with a remainder in common (see `neighbour_words`)
_MAX_EQUAL_REMAINDERS: Final = 100  # words with this remainder of which all pairs are found
_MAX_WORD_PAIRS: Final = 2_000_000  # in all; beyond them, a word is paired with the next ones only


class NameParts(NamedTuple):
    """A name split into folded parts."""

    surname: str  # without blanks, particles and umlauts: equal for all spellings of a surname
    given_names: tuple[str, ...]  # without particles and umlauts
    surname_with_umlauts: str = ""
    surname_with_particles: str = ""  # and with umlauts
    country: str = ""  # the code after the name

    @property
    def letters_of_given_names(self) -> int:
        """Letters of all given names."""
        return sum(len(name) for name in self.given_names)

    @property
    def longest_given_name(self) -> int:
        """Letters of the longest given name."""
        return max((len(name) for name in self.given_names), default=0)


def parts_of_key(key: str) -> NameParts:
    """The parts of a name with this key, `surname, given names, country` (see `name_key`).

    Without a comma the last word is the surname. `mac` at the beginning of a surname is `mc`. Particles of `van der
    stricht, g` are left out of the surname, and so are those at the beginning of `vanderstricht, geert`.
    """
    before_comma, _, after_comma = key.partition(", ")
    between_commas, _, country = after_comma.partition(", ")
    surname_words = before_comma.split() or [""]
    given_names = between_commas.split()
    if given_names:
        given_names[1:] = _without_particles(given_names[1:])  # the first one may be `al`
    else:
        country = ""
        *words_before_surname, surname = surname_words
        given_names = _without_particles(words_before_surname)
        surname_words = [surname]
    with_umlauts = "".join(_without_particles(surname_words) or surname_words)
    if with_umlauts.startswith("mac") and len(with_umlauts) > 6:
        with_umlauts = "mc" + with_umlauts[3:]
    return NameParts(
        surname=_UMLAUT.sub("", _GLUED_PARTICLE.sub("", with_umlauts)),
        given_names=tuple(_UMLAUT.sub("", name) for name in given_names),
        surname_with_umlauts=with_umlauts,
        surname_with_particles="".join(surname_words),
        country=country,
    )


def _without_particles(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in _PARTICLES]


def likeness(first: NameParts, second: NameParts) -> Kind | None:
    """How two different names may be one person's, else None.

    Countries do not differ. Surnames are equal but for particles and umlauts, or long and one letter apart. Given names
    agree word by word: equal, abbreviated, or, where surnames are equal, long and one letter apart. Where one of the
    names has no given names, surnames are equal; where none has, they are equal but spelt differently.

    | kind | |
    |---|---|
    | SURNAME_ONLY | one of them has no given names, and surnames are spelt alike |
    | INITIALS | given names are equal or abbreviated, and surnames are spelt alike |
    | SPELLING | any others |
    """
    if first.country and second.country and first.country != second.country:
        return None
    same_surname = first.surname == second.surname
    if not same_surname and not is_slip(first.surname, second.surname):
        return None
    spelt_alike = (
        first.surname_with_umlauts == second.surname_with_umlauts
        or first.surname_with_particles == second.surname_with_particles
    )
    if not first.given_names or not second.given_names:
        both_bare = not first.given_names and not second.given_names
        if not same_surname or (both_bare and spelt_alike):
            return None
        return SURNAME_ONLY if spelt_alike else SPELLING
    slips = _slips_in_given_names(first.given_names, second.given_names)
    if slips is None or (slips and not same_surname):
        return None
    return INITIALS if same_surname and spelt_alike and not slips else SPELLING


def _slips_in_given_names(first_names: Sequence[str], second_names: Sequence[str]) -> int | None:
    """The number of given names that differ by one letter; None where two contradict each other."""
    slips = 0
    for first, second in zip(first_names, second_names, strict=False):
        if first == second:
            continue
        if _DIGIT.search(first + second):
            return None
        if first.startswith(second) or second.startswith(first):
            continue
        if min(len(first), len(second)) < _LONG_GIVEN_NAME or not is_one_letter_apart(
            first, second
        ):
            return None
        slips += 1
    return slips


def is_slip(first: str, second: str) -> bool:
    """Whether two surnames are long and one letter apart; a replaced or swapped letter is not the first one."""
    if min(len(first), len(second)) < _LONG_SURNAME or _DIGIT.search(first + second):
        return False
    if len(first) == len(second) and first[0] != second[0]:
        return False
    return is_one_letter_apart(first, second)


def is_one_letter_apart(first: str, second: str) -> bool:
    """Whether two words differ by one inserted, deleted or replaced letter, or two swapped neighbours."""
    if first == second or abs(len(first) - len(second)) > 1:
        return False
    shorter = min(len(first), len(second))
    start = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    first = first[start:]
    second = second[start:]
    swapped = first[:2] == second[:2][::-1] and first[2:] == second[2:]
    return swapped or first[1:] == second or first == second[1:] or first[1:] == second[1:]


class SimilarPair(NamedTuple):
    """Indices of two names, and how they are alike."""

    first: int
    second: int
    kind: Kind


# Indices of names by the first letter of the given names, "" where there are none.
NamesByInitial = dict[str, list[int]]


class SimilarNames(NamedTuple):
    """All pairs of similar names.

    `not_compared`: the number of names whose surnames are too frequent for a comparison of all pairs.
    """

    pairs: list[SimilarPair]
    parts: Mapping[int, NameParts]  # of the names in `pairs`, by their index
    by_surname: Mapping[str, NamesByInitial]
    not_compared: int

    def n_namesakes(self, index: int) -> int:
        """The number of names with the surname of the name at `index` and another initial."""
        parts = self.parts[index]
        same_initial = {"", _initial(parts)}
        by_initial = self.by_surname[parts.surname]
        return sum(
            len(names) for initial, names in by_initial.items() if initial not in same_initial
        )


def find_similar_names(names: Sequence[str]) -> SimilarNames:
    """All pairs of names that may be one person's, teams and engines excluded."""
    parts = _parts_of_people(names)
    by_surname: dict[str, NamesByInitial] = defaultdict(lambda: defaultdict(list))
    for index, name_parts in parts.items():
        by_surname[name_parts.surname][_initial(name_parts)].append(index)
    pairs: list[SimilarPair] = []
    not_compared: set[int] = set()
    left = MAX_COMPARISONS
    for comparison in sorted(_comparisons(by_surname), key=lambda comparison: comparison.n_pairs):
        left -= comparison.n_pairs
        if left < 0:
            not_compared.update(comparison.names, comparison.with_names or ())
            continue
        for first, second in comparison.pairs():
            if kind := likeness(parts[first], parts[second]):
                pairs.append(SimilarPair(first, second, kind))
    parts_of_similar = {
        index: parts[index] for pair in pairs for index in (pair.first, pair.second)
    }
    return SimilarNames(pairs, parts_of_similar, by_surname, len(not_compared))


def _parts_of_people(names: Sequence[str]) -> dict[int, NameParts]:
    """The parts of full names of people, and of bare surnames that occur in a full name; by the name's index."""
    keys = name_keys(names)
    not_people = np.any(list(teams_and_engines(names)), axis=0).tolist()
    people = [index for index in range(len(names)) if not not_people[index]]
    parts = {index: parts_of_key(keys[index]) for index in people if " " in keys[index]}
    surnames = {full_name.surname for full_name in parts.values()}
    for index in people:
        if " " not in keys[index]:
            bare = parts_of_key(keys[index])
            if bare.surname in surnames:
                parts[index] = bare
    return parts


def _initial(parts: NameParts) -> str:
    return parts.given_names[0][0] if parts.given_names else ""


class _NamesToCompare(NamedTuple):
    """Names to compare with each other, or, where there are `with_names`, each with each of these."""

    names: Sequence[int]
    with_names: Sequence[int] | None = None

    @property
    def n_pairs(self) -> int:
        """The number of pairs to compare."""
        n_names = len(self.names)
        return (
            n_names * (n_names - 1) // 2
            if self.with_names is None
            else n_names * len(self.with_names)
        )

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs to compare."""
        return (
            combinations(self.names, 2)
            if self.with_names is None
            else product(self.names, self.with_names)
        )


def _comparisons(by_surname: Mapping[str, NamesByInitial]) -> Iterator[_NamesToCompare]:
    """Yield names of one surname with compatible initials, and names of surnames one letter apart with one initial."""
    for by_initial in by_surname.values():
        without_given_names = by_initial.get("", [])
        for initial, names in by_initial.items():
            if len(names) > 1:
                yield _NamesToCompare(names)
            if initial and without_given_names:
                yield _NamesToCompare(without_given_names, names)
    long_surnames = [
        surname
        for surname in by_surname
        if len(surname) >= _LONG_SURNAME and not _DIGIT.search(surname)
    ]
    for i, j in neighbour_words(long_surnames).tolist():
        if not is_slip(long_surnames[i], long_surnames[j]):
            continue
        first = by_surname[long_surnames[i]]
        second = by_surname[long_surnames[j]]
        for initial in sorted(first.keys() & second.keys() - {""}):
            yield _NamesToCompare(first[initial], second[initial])


def neighbour_words(words: Sequence[str]) -> Ids:
    """Sorted pairs of indices, shape (pairs, 2), of words that have a remainder in common.

    The remainders of a word are the word itself and what deleting one letter leaves: `cat` has `cat`, `at`, `ct` and
    `ca`, and so is a neighbour of `cut` by `ct`. The words are distinct. All pairs of words that are one letter apart
    are among them, up to _MAX_EQUAL_REMAINDERS and _MAX_WORD_PAIRS.
    """
    n_remainders = np.array([len(word) + 1 for word in words], np.int64)
    word_of = np.repeat(np.arange(len(words), dtype=np.int32), n_remainders)
    hashes_of_remainders = (
        hash(word[:i] + word[i + 1 :]) for word in words for i in range(len(word) + 1)
    )
    remainder = np.fromiter(hashes_of_remainders, np.int64, len(word_of))
    order = np.lexsort((word_of, remainder))
    remainder = remainder[order]
    word_of = word_of[order]
    is_new = np.ones(len(remainder), np.bool_)
    is_new[1:] = (remainder[1:] != remainder[:-1]) | (word_of[1:] != word_of[:-1])
    remainder = remainder[is_new]
    word_of = word_of[is_new]
    pairs = [np.zeros((0, 2), np.int32)]
    n_pairs = 0
    # Equal remainders follow one another, so that all pairs of their words are 1, 2, ... rows apart.
    for distance in range(1, min(_MAX_EQUAL_REMAINDERS, len(remainder))):
        equal = np.flatnonzero(remainder[distance:] == remainder[:-distance])
        if not len(equal) or n_pairs > _MAX_WORD_PAIRS:
            break
        pairs.append(np.stack([word_of[equal], word_of[equal + distance]], axis=1))
        n_pairs += len(equal)
    return np.unique(np.concatenate(pairs), axis=0)
