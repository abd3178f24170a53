"""Names that may be one person's: similarity of names, and evidence from games."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations, product
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.games.groups import Career, Careers, careers_of, have_met, lifetime, shared_opponents
from ttt_cli.games.names import name_keys, teams_and_engines
from ttt_cli.games.players import alias_row, last_main
from ttt_cli.games.table import Games

INITIALS: Final = "initials"
SURNAME_ONLY: Final = "surname only"
SPELLING: Final = "spelling"
LONG: Final = 6  # letters of a surname from which one wrong letter is taken for a slip
_LONG_GIVEN: Final = 5
_PARTICLES: Final = frozenset(
    ("al", "d", "da", "de", "del", "den", "der", "di", "du", "la", "le", "ten", "ter", "van", "vom", "von", "zu", "zur")
)  # fmt: skip
_NUMBERED: Final = re.compile(r"\d")  # numbers distinguish namesakes


_GLUED: Final = re.compile(r"(?:de|del|dela|della|den|der|di|du|la|le|van|vanden|vander|von|vonder)(?=\w{6})")
_UMLAUT: Final = re.compile(r"(?<=[aou])e")
ABBREVIATION: Final = 2  # letters of given names that are surely cut short
_SHORT_GAP: Final = 3  # years without a game that many players have
_GIVEN: Final = 3  # letters of a given name that is hardly cut short
_EACH: Final = 5.0  # factor of more people for each common opponent
_SHORT: Final = 4  # letters of surnames of which there are many
_COMMON: Final = 1  # further people of such a surname
_NARROWER: Final = 6.0  # factor of fewer people for each further letter
_FEW: Final = 2  # people of a surname with which an initial is still clear
_INDICATIVE: Final = 3  # common opponents that make up for an incomplete name


class Parts(NamedTuple):
    """A name split into folded parts: surname and given names.

    `surname` has no blanks, particles and umlauts, so that spellings of one surname are equal. `written` keeps
    umlauts, `letters` also particles. `country` is the code after the name.
    """

    surname: str
    given: tuple[str, ...]
    written: str = ""
    letters: str = ""
    country: str = ""

    @property
    def longest(self) -> int:
        """Letters of the longest given name."""
        return max(map(len, self.given), default=0)


def parts_of_key(key: str) -> Parts:
    """The parts of a name with this key (see `name_key`); without a comma the last word is the surname."""
    surname, _, given = key.partition(", ")
    given, _, country = given.partition(", ")
    words = surname.split() or [""]
    names = given.split()
    if not names:
        *names, last = words
        words = [last]
        country = ""
        names = [word for word in names if word not in _PARTICLES]
    names[1:] = [word for word in names[1:] if word not in _PARTICLES]
    written = "".join([word for word in words if word not in _PARTICLES] or words)
    if written.startswith("mac") and len(written) > 6:
        written = "mc" + written[3:]
    plain = _UMLAUT.sub("", _GLUED.sub("", written))
    return Parts(plain, tuple(_UMLAUT.sub("", name) for name in names), written, "".join(words), country)


def likeness(one: Parts, other: Parts) -> str | None:
    """How two different names may be one person's (`initials`, `surname only`, `spelling`), else None.

    Surnames are equal, or long and one letter apart; given names agree word by word: equal, abbreviated, or long and
    one letter apart. Countries do not differ.
    """
    slip = one.surname != other.surname
    abroad = one.country and other.country and one.country != other.country
    if abroad or (slip and not slipped(one.surname, other.surname)):
        return None
    otherwise = one.written != other.written and one.letters != other.letters
    if not one.given or not other.given:
        alone = one.given == other.given == ()
        return None if slip or (alone and not otherwise) else SPELLING if otherwise else SURNAME_ONLY
    kind = SPELLING if slip or otherwise else INITIALS
    for mine, theirs in zip(one.given, other.given, strict=False):
        if mine == theirs:
            continue
        if _NUMBERED.search(mine + theirs):
            return None
        if mine.startswith(theirs) or theirs.startswith(mine):
            continue
        if slip or min(len(mine), len(theirs)) < _LONG_GIVEN or not one_apart(mine, theirs):
            return None
        kind = SPELLING
    return kind


def slipped(one: str, other: str) -> bool:
    """Whether two surnames are long and one letter apart, with the same first letter."""
    long = min(len(one), len(other)) >= LONG and not _NUMBERED.search(one + other)
    return long and (one[0] == other[0] or len(one) != len(other)) and one_apart(one, other)


def one_apart(one: str, other: str) -> bool:
    """Whether two words differ by one inserted, deleted or replaced letter, or two swapped neighbours."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    least = min(len(one), len(other))
    start = next((i for i in range(least) if one[i] != other[i]), least)
    one = one[start:]
    other = other[start:]
    swapped = one[:2] == other[:2][::-1] and one[2:] == other[2:]
    return swapped or one[1:] == other or one == other[1:] or one[1:] == other[1:]


@dataclass(frozen=True)
class Suspect:
    """Two names that may be one person's; `kind` as in `likeness`.

    `main` is the fuller name if the other is abbreviated, else the name with more games. `others`: number of other
    names that `synonym` may abbreviate. `shared`: number of common opponents. `sure`: the suggestion is unambiguous.
    """

    main: Career
    synonym: Career
    kind: str
    others: int
    shared: int = 0
    sure: bool = False

    @property
    def gap(self) -> int:
        """Years from the last game of one to the first of the other, 0 where their years overlap."""
        return max(self.main.first - self.synonym.last, self.synonym.first - self.main.last, 0)

    @property
    def evidence(self) -> str:
        """The evidence in words."""
        years = f"{self.gap} year{'' if self.gap == 1 else 's'} apart"
        common = f", {self.shared} opponents in common" if self.shared > 1 else ""
        others = f", or one of {self.others} others" if self.others else ""
        return f"{self.kind}, {years if self.gap else 'overlapping years'}{common}{others}"

    @property
    def span(self) -> int:
        """Years from the first game of either to the last."""
        return max(self.main.last, self.synonym.last) - min(self.main.first, self.synonym.first)


def needed_opponents(kind: str, main: Parts, synonym: Parts, gap: int, *, alone: bool) -> float:
    """The number of common opponents from which two names are one person's; infinite where none suffice.

    `alone`: no other main name is possible; `gap`: years between the careers, united names included. A name with a
    country, and a main name with fewer given names, may distinguish namesakes. First names of three letters may be
    whole, those of one or two are abbreviated.
    """
    mine, theirs = ((name.letters, "".join(name.given), name.country) for name in (main, synonym))
    if mine == theirs:  # they differ in blanks alone
        return 0
    needed = math.inf
    abroad = main.country or synonym.country
    (first, *further) = main.given or ("",)
    (short, *others) = synonym.given or ("",)
    if kind != SPELLING and not abroad and len(main.given) >= len(synonym.given):
        if len(first) >= _GIVEN:
            needed = 0 if kind == INITIALS and synonym.longest == 1 else _INDICATIVE
        elif alone:
            needed = 2 * _INDICATIVE
    if kind == INITIALS and alone:
        if abroad:
            whole = first == short and len(first) >= _GIVEN
            needed = math.inf if len(first) == 1 else 1 if whole else _INDICATIVE
        elif first == short:
            if len(first) >= _GIVEN and max(map(len, (*further, *others)), default=1) == 1:
                needed = 0
        elif len(short) <= ABBREVIATION and len(short) < len(first) and not others:
            if len(first) >= _GIVEN:
                needed = 0 if len(first) > _GIVEN else min(needed, 1)
            elif not further:
                needed = min(needed, gap > _SHORT_GAP)
    return needed


MOST: Final = 500_000  # pairs of names that are looked at, those of rare surnames first

# Numbers of names by the first letter of the given names, "" where there are none.
_Initials = dict[str, list[int]]

_MOST_ALIKE: Final = 100  # words that have the same rest; of more not all pairs are looked at
# more are looked at only of words next to each other in the order of their numbers
_MOST_PAIRS: Final = 2_000_000


class LookAlikes(NamedTuple):
    """Pairs of indices of similar names with their kind (see `likeness`), and the `parts` of these names.

    `surnames` are the names of each surname by initial. `left_out` names have surnames too frequent for a comparison of
    all pairs.
    """

    pairs: list[tuple[int, int, str]]
    parts: Mapping[int, Parts]
    surnames: Mapping[str, _Initials]
    left_out: int

    def namesakes(self, name: int) -> int:
        """The number of names of the same surname with another initial."""
        surname, given, *_ = self.parts[name]
        own = {"", *(word[0] for word in given[:1])}
        return sum(len(names) for initial, names in self.surnames[surname].items() if initial not in own)


def look_alikes(names: Sequence[str]) -> LookAlikes:
    """All pairs of names that may be one person's, teams and engines excluded."""
    keys = name_keys(names)
    nobody = np.any(list(teams_and_engines(names)), axis=0).tolist()
    # full names, and bare surnames that occur in a full name
    parts = {i: parts_of_key(key) for i, key in enumerate(keys) if " " in key and not nobody[i]}
    known = {surname for surname, *_ in parts.values()}
    bare = ((i, parts_of_key(key)) for i, key in enumerate(keys) if " " not in key and not nobody[i])
    parts |= {i: one for i, one in bare if one.surname in known}
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
        for one, other in combinations(ours, 2) if ours is theirs else product(ours, theirs):
            if kind := likeness(parts[one], parts[other]):
                pairs.append((one, other, kind))
    alike = {number: parts[number] for one, other, _ in pairs for number in (one, other)}
    return LookAlikes(pairs, alike, surnames, len(missed))


def _meetings(surnames: Mapping[str, _Initials]) -> Iterator[tuple[int, list[int], list[int]]]:
    """Yield the number of pairs, and two lists of names to compare with each other.

    The names share a surname, with compatible initials, or have surnames one letter apart and the same initial.
    """
    for initials in surnames.values():
        alone = initials.get("", [])
        for initial, numbers in initials.items():
            if len(numbers) > 1:
                yield len(numbers) * (len(numbers) - 1) // 2, numbers, numbers
            if initial and alone:
                yield len(alone) * len(numbers), alone, numbers
    words = [surname for surname in surnames if len(surname) >= LONG and not _NUMBERED.search(surname)]
    slips = ((words[i], words[j]) for i, j in neighbour_words(words))
    for one, other in (pair for pair in slips if slipped(*pair)):
        for initial in surnames[one].keys() & surnames[other].keys() - {""}:
            ours = surnames[one][initial]
            theirs = surnames[other][initial]
            yield len(ours) * len(theirs), ours, theirs


def neighbour_words(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Sorted pairs of indices of distinct words that become equal after deleting at most one letter of each.

    This includes all pairs that are `one_apart`.
    """
    length = np.fromiter(map(len, words), np.int64, len(words)) + 1
    owners = np.repeat(np.arange(len(words), dtype=np.int32), length)
    hashes = (hash(word[:i] + word[i + 1 :]) for word in words for i in range(len(word) + 1))
    rests = np.fromiter(hashes, np.int64, len(owners))
    order = np.lexsort((owners, rests))
    rests = rests[order]
    owners = owners[order]
    new = np.ones(len(rests), np.bool_)
    new[1:] = (rests[1:] != rests[:-1]) | (owners[1:] != owners[:-1])
    rests = rests[new]
    owners = owners[new]
    found = [np.zeros((0, 2), np.int32)]
    for apart in range(1, min(_MOST_ALIKE, len(rests))):
        same = np.flatnonzero(rests[apart:] == rests[:-apart])
        if not len(same) or sum(map(len, found)) > _MOST_PAIRS:
            break
        found.append(np.stack([owners[same], owners[same + apart]], axis=1))
    yield from map(tuple, np.unique(np.concatenate(found), axis=0).tolist())


_LONG_GAP: Final = 10  # years without a game that make a suggestion unlikely
_SAME_PERSON: Final = 85  # years from the first to the last game of one person
_CLEARLY: Final = 3  # times as many as any other


class _Pair(NamedTuple):
    """A main name and a synonym, as numbers of players; `gap`: years between the careers; `shared` opponents."""

    main: int
    synonym: int
    kind: str
    gap: int = 0
    shared: int = 0


def find_suspects(games: Games) -> list[Suspect]:
    """Pairs of names that may be one person's, unambiguous ones first, then by kind, gap and games.

    Names that played each other, or together span more than a lifetime, are excluded. Each synonym is paired with the
    likeliest main name: by compatible years, then by common opponents.
    """
    found, careers, pairs = _similar(games)
    ends = np.array([pair[:2] for pair in pairs], np.int64).reshape(-1, 2)
    initials = {frozenset(pair[:2]) for pair in pairs if pair.kind == INITIALS}
    of_synonym: dict[int, list[_Pair]] = defaultdict(list)
    for pair, shared in zip(pairs, shared_opponents(games, ends).tolist(), strict=True):
        of_synonym[pair.synonym].append(pair._replace(shared=shared))
    first = careers.first.copy()
    last = careers.last.copy()

    def likeliest(synonym: int, roots: Mapping[int, int]) -> Suspect:
        candidates = []
        for pair in of_synonym[synonym]:
            apart = max(first[pair.main] - last[synonym], first[synonym] - last[pair.main], 0)
            candidates.append(pair._replace(gap=int(apart)))
        return _likeliest(candidates, roots, initials, careers, found)

    suspects = {synonym: likeliest(synonym, {}) for synonym in of_synonym}
    # careers of main names are extended by those of sure synonyms; a main name may itself be a synonym
    number = {name: i for i, name in enumerate(careers.names)}
    mains = {one.synonym.name: one.main.name for one in suspects.values() if one.sure}
    for synonym, main in mains.items():
        one = number[main]
        other = number[synonym]
        first[one] = min(first[one], careers.first[other])
        last[one] = max(last[one], careers.last[other])
    roots = {number[one]: number[last_main(mains, main, never=one)] for one, main in mains.items()}
    suspects |= {synonym: likeliest(synonym, roots) for synonym, one in suspects.items() if not one.sure}

    def doubt(suspect: Suspect) -> tuple[object, ...]:
        kind = (INITIALS, SPELLING, SURNAME_ONLY).index(suspect.kind)
        games = suspect.synonym.games
        far = suspect.gap > _LONG_GAP
        return not suspect.sure, suspect.others > 0, kind, far, -games, suspect.synonym.name

    return sorted(suspects.values(), key=doubt)


def count_suspects(games: Games) -> tuple[int, int]:
    """The number of pairs of `find_suspects`, faster, and of the names that it does not compare with all others."""
    found, _, pairs = _similar(games)
    return len({pair.synonym for pair in pairs}), found.left_out


def _similar(games: Games) -> tuple[LookAlikes, Careers, list[_Pair]]:
    """Pairs of similar names that never played each other and together span at most a lifetime.

    Outside chess bare surnames and misspellings are ignored: Yemen is not South Yemen.
    """
    found = look_alikes(games.players)
    careers = careers_of(games)
    longest, letters = np.zeros((2, len(games.players)), np.int64)
    for number, parts in found.parts.items():
        longest[number] = parts.longest
        letters[number] = sum(map(len, parts.given))
    alike = [pair for pair in found.pairs if games.report.chess or pair[2] == INITIALS]
    pairs = np.array([pair[:2] for pair in alike], np.int64).reshape(-1, 2)
    span = careers.last[pairs].max(axis=1, initial=-9999) - careers.first[pairs].min(axis=1, initial=9999)
    kept = np.flatnonzero(~have_met(games, pairs) & (span <= _SAME_PERSON))
    one, other = pairs[kept].T
    short = np.minimum(longest[one], longest[other]) <= ABBREVIATION
    fuller = np.where(short, letters[one] - letters[other], 0)
    more = careers.games[one] - careers.games[other]
    swap = np.where(fuller, fuller, np.where(more, more, other - one)) < 0
    ends = np.where(swap, other, one).tolist(), np.where(swap, one, other).tolist()
    return found, careers, list(map(_Pair, *ends, (alike[row][2] for row in kept.tolist())))


def _likeliest(
    pairs: Sequence[_Pair],
    roots: Mapping[int, int],
    initials: Set[frozenset[int]],
    careers: Careers,
    found: LookAlikes,
) -> Suspect:
    """The best main name for a synonym, of all its pairs, and the number of other candidates.

    Names that `roots` unites with the best one are no rivals. Candidates that differ by `initials` from all others
    are no rivals either, but count as namesakes. A misspelled surname is no rival of an equal one, unless it has more
    common opponents.
    """

    def weight(pair: _Pair) -> tuple[bool, int, int, int, int]:
        return pair.gap <= _LONG_GAP, pair.shared, -pair.gap, int(careers.games[pair.main]), pair.main

    best = max(pairs, key=weight)
    root = roots.get(best.main, best.main)
    forms = {root, *(one.main for one in pairs if roots.get(one.main, one.main) == root)}
    slips = SPELLING if best.kind != SPELLING else None
    others = [
        one for one in pairs if one.main not in forms and (one.kind != slips or one.shared > best.shared)
    ]
    mains = {best.main, *(one.main for one in others)}
    incompatible = [
        one for one in others if any(main != one.main and {main, one.main} not in initials for main in mains)
    ]
    rivals = [one for one in incompatible if one.gap <= _LONG_GAP or best.gap > 1]
    most = max((one.shared for one in rivals), default=-1)
    suspect = Suspect(careers[best.main], careers[best.synonym], best.kind, len(pairs) - 1, best.shared)
    ahead = not rivals or best.shared > max(_CLEARLY * most, 1)
    fits = best.gap <= _LONG_GAP and suspect.span <= lifetime(best.shared)
    synonym = found.parts[best.synonym]
    # the most informative spelling, preferably with as many words as the synonym
    fullest = max(
        (found.parts[name] for name in forms),
        key=lambda one: (len(one.given) >= len(synonym.given), sum(map(len, one.given)), one),
    )
    needed = needed_opponents(best.kind, fullest, synonym, best.gap, alone=not incompatible)
    # how many others may have this name: fewer with each letter, more after a gap, and of short surnames
    known = found.namesakes(best.synonym) + (_COMMON if len(synonym.surname) <= _SHORT else 0)
    further = min(max(sum(map(len, synonym.given)) - 1, 0), _GIVEN)
    namesakes = known * (1.0 + best.gap / _SHORT_GAP) * _NARROWER**-further
    few = namesakes + len(others) - len(incompatible) <= _FEW * _EACH**best.shared
    return replace(suspect, sure=ahead and fits and few and best.shared >= needed)


def alias_lines(games: Games, suspects: Sequence[Suspect]) -> Iterator[str]:
    """Yield the suggestions as an alias file, each after its evidence; unsure ones are commented out.

    A suggestion is also commented out if the united player would play himself, or for longer than a lifetime.
    """
    sure = [one for one in suspects if one.sure and alias_row(one.main.name, one.synonym.name)]
    number = {name: i for i, name in enumerate(games.players)}
    concerned = np.zeros(len(number), np.bool_)
    concerned[[number[name] for one in sure for name in (one.main.name, one.synonym.name)]] = True
    rows = np.flatnonzero(concerned[games.white] & concerned[games.black])
    pairs = np.unique(np.stack([games.white[rows], games.black[rows]], axis=1), axis=0)
    met = set(map(frozenset, pairs.tolist()))
    mains: dict[str, str] = {}
    people: dict[str, list[Career]] = {}
    for suspect in sure:
        main = last_main(mains, suspect.main.name)
        synonym = suspect.synonym.name
        ours = people.get(main, [suspect.main])
        theirs = people.get(synonym, [suspect.synonym])
        all_of_them = [*ours, *theirs]
        span = max(one.last for one in all_of_them) - min(one.first for one in all_of_them)
        if (
            main == synonym
            or span > lifetime(suspect.shared)
            or any({number[a.name], number[b.name]} in met for a in ours for b in theirs)
        ):
            continue
        mains[synonym] = main
        people[main] = all_of_them
    for suspect in suspects:
        yield f"# {suspect.main}; {suspect.synonym}; {suspect.evidence}"
        synonym = suspect.synonym.name
        row = alias_row(last_main(mains, synonym), synonym) if synonym in mains else None
        yield row or f"# {alias_row(suspect.main.name, synonym) or 'no line of an alias file can express it'}"
