"""Suspects: pairs of similar names that may be one person's, judged by years, opponents and namesakes."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.games.aliases import alias_row, last_main
from ttt_cli.games.groups import Career, Careers, careers_of, have_met, lifetime, shared_opponents
from ttt_cli.games.similar_names import (
    INITIALS,
    SPELLING,
    SURNAME_ONLY,
    Kind,
    NameParts,
    SimilarNames,
    find_similar_names,
)
from ttt_cli.games.table import Games
from ttt_cli.support.arrays import Ids, Places

# Years of the games of two names beyond which they are no suspects; sure ones have a `lifetime`, which is less.
_LONGEST_LIFE: Final = 85
_LONG_GAP: Final = 10  # years without a game that make a suggestion unlikely
_SHORT_GAP: Final = 3  # years without a game that many players have
_CUT_SHORT: Final = 2  # letters of given names that are surely abbreviated
_COMPLETE: Final = 3  # letters of a given name that is hardly abbreviated
_TELLING: Final = 3  # common opponents that make up for an incomplete name
_CLEARLY_MORE: Final = 3  # times as many common opponents as any rival
_SHORT_SURNAME: Final = 4  # letters of surnames that many people have
_UNSEEN_NAMESAKES: Final = 1  # people of such a surname who are not among the players
_NARROWED_BY_LETTER: Final = 6.0  # factor of fewer namesakes for each letter after the initial
_FEW_NAMESAKES: Final = 2  # people of a surname among whom an initial is still clear
_EXCUSED_BY_OPPONENT: Final = 5.0  # factor of more namesakes for each common opponent


@dataclass(frozen=True)
class Suspect:
    """Two names that may be one person's.

    `main` is the fuller name if the other is abbreviated, else the name with more games.
    """

    main: Career
    synonym: Career
    kind: Kind
    n_other_candidates: int  # number of other names that `synonym` may stand for
    shared: int = 0  # common opponents
    sure: bool = False  # whether the suggestion is unambiguous

    @property
    def gap(self) -> int:
        """Years between the careers of the two names alone, 0 where they overlap."""
        return _years_between(
            self.main.first, self.main.last, self.synonym.first, self.synonym.last
        )

    @property
    def evidence(self) -> str:
        """The evidence in words."""
        if self.gap == 0:
            years = "overlapping years"
        elif self.gap == 1:
            years = "1 year apart"
        else:
            years = f"{self.gap} years apart"
        common = f", {self.shared} opponents in common" if self.shared > 1 else ""
        n_others = self.n_other_candidates
        alternatives = f", or one of {n_others} others" if n_others else ""
        return f"{self.kind}, {years}{common}{alternatives}"

    @property
    def span(self) -> int:
        """Years from the first game of either to the last."""
        return max(self.main.last, self.synonym.last) - min(self.main.first, self.synonym.first)


def _years_between(first: int, last: int, other_first: int, other_last: int) -> int:
    """Years from the end of the earlier of two careers to the beginning of the other, 0 where they overlap."""
    return max(first - other_last, other_first - last, 0)


def find_suspects(games: Games) -> list[Suspect]:
    """Pairs of names that may be one person's, unambiguous ones first, then by kind, gap and games.

    Names that played each other, or together span more than 85 years (`_LONGEST_LIFE`), are excluded; a sure pair spans
    at most a `lifetime`, 60 or 70 years. Each synonym is paired with the likeliest main name: by compatible years, then
    by common opponents. Unsure synonyms are judged again with the careers of sure ones united.
    """
    similar = find_similar_names(games.players)
    careers = careers_of(games)
    candidates = _find_candidates(games, similar, careers)
    by_synonym = _with_shared_opponents(games, candidates)
    names = _Names(careers, similar, _abbreviating_pairs(candidates))
    separate = _UnitedCareers(careers.first, careers.last, {})
    suspects = {
        synonym: _judge(of_synonym, separate, names) for synonym, of_synonym in by_synonym.items()
    }
    united = _unite(suspects.values(), careers)
    for synonym, suspect in suspects.items():
        if not suspect.sure:
            suspects[synonym] = _judge(by_synonym[synonym], united, names)
    return sorted(suspects.values(), key=_doubt)


def count_suspects(games: Games) -> tuple[int, int]:
    """The number of pairs of `find_suspects`, faster, and of the names that it does not compare with all others."""
    similar = find_similar_names(games.players)
    candidates = _find_candidates(games, similar, careers_of(games))
    return len({candidate.synonym for candidate in candidates}), similar.not_compared


class _SuspectOrder(NamedTuple):
    """Suspects in the order of these fields: the least doubtful first."""

    unsure: bool
    has_alternatives: bool
    kind: int
    long_gap: bool
    minus_games_of_synonym: int
    synonym: str


def _doubt(suspect: Suspect) -> _SuspectOrder:
    return _SuspectOrder(
        unsure=not suspect.sure,
        has_alternatives=suspect.n_other_candidates > 0,
        kind=(INITIALS, SPELLING, SURNAME_ONLY).index(suspect.kind),
        long_gap=suspect.gap > _LONG_GAP,
        minus_games_of_synonym=-suspect.synonym.games,
        synonym=suspect.synonym.name,
    )


class _SynonymPair(NamedTuple):
    """A main name that a synonym may stand for, both as players.

    `shared`: common opponents; `gap`: years between their careers, that of the main name with its sure synonyms
    (`_UnitedCareers`).
    """

    main: int
    synonym: int
    kind: Kind
    shared: int = 0
    gap: int = 0


class _Names(NamedTuple):
    """What is known of names apart from each other.

    | name | |
    |---|---|
    | careers | of all players |
    | similar | parts of similar names, and namesakes |
    | abbreviating_pairs | pairs of players one of whose names abbreviates the other |
    """

    careers: Careers
    similar: SimilarNames
    abbreviating_pairs: Set[frozenset[int]]


def _abbreviating_pairs(candidates: Sequence[_SynonymPair]) -> set[frozenset[int]]:
    """Pairs of players one of whose names abbreviates the other (`INITIALS`)."""
    return {
        frozenset((candidate.main, candidate.synonym))
        for candidate in candidates
        if candidate.kind == INITIALS
    }


def _find_candidates(games: Games, similar: SimilarNames, careers: Careers) -> list[_SynonymPair]:
    """Pairs of similar names that never played each other and together span at most `_LONGEST_LIFE`.

    Outside chess bare surnames and misspellings are ignored: Yemen is not South Yemen.
    """
    pairs = [pair for pair in similar.pairs if games.report.chess or pair.kind == INITIALS]
    ends = np.array([(pair.first, pair.second) for pair in pairs], np.int64).reshape(-1, 2)
    last = careers.last[ends].max(axis=1, initial=-9999)
    first = careers.first[ends].min(axis=1, initial=9999)
    plausible = ~have_met(games, ends) & (last - first <= _LONGEST_LIFE)
    second_is_main = _second_is_main(ends, similar, careers)
    candidates = []
    for row in np.flatnonzero(plausible).tolist():
        pair = pairs[row]
        if second_is_main[row]:
            candidates.append(_SynonymPair(pair.second, pair.first, pair.kind))
        else:
            candidates.append(_SynonymPair(pair.first, pair.second, pair.kind))
    return candidates


def _second_is_main(ends: Places, similar: SimilarNames, careers: Careers) -> list[bool]:
    """For each pair of names, shape (pairs, 2), whether the second is the main one.

    That is the name with more letters of given names, if one of the names is abbreviated; else, or if both have as
    many, the one with more games; else the first of both among the players.
    """
    n_players = len(careers.names)
    letters = np.zeros(n_players, np.int64)
    longest = np.zeros(n_players, np.int64)
    for name, parts in similar.parts.items():
        letters[name] = parts.letters_of_given_names
        longest[name] = parts.longest_given_name
    first = ends[:, 0]
    second = ends[:, 1]
    is_abbreviated = np.minimum(longest[first], longest[second]) <= _CUT_SHORT
    more_letters = np.where(is_abbreviated, letters[first] - letters[second], 0)
    more_games = careers.games[first] - careers.games[second]
    # what the first name is ahead by; negative: the second is ahead
    lead_of_first = np.select(
        [more_letters != 0, more_games != 0], [more_letters, more_games], second - first
    )
    is_second: list[bool] = (lead_of_first < 0).tolist()
    return is_second


def _with_shared_opponents(
    games: Games, candidates: Sequence[_SynonymPair]
) -> dict[int, list[_SynonymPair]]:
    """The candidates of each synonym, with their numbers of common opponents."""
    pairs = [(candidate.main, candidate.synonym) for candidate in candidates]
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    by_synonym: dict[int, list[_SynonymPair]] = defaultdict(list)
    for candidate, shared in zip(candidates, shared_opponents(games, ends).tolist(), strict=True):
        by_synonym[candidate.synonym].append(candidate._replace(shared=shared))
    return by_synonym


class _UnitedCareers(NamedTuple):
    """Careers of players, those of main names with the careers of their sure synonyms.

    | name | shape | |
    |---|---|---|
    | first, last | (players,) | years of a career |
    | person | | the last main name of each sure synonym, both as players |
    """

    first: Ids
    last: Ids
    person: Mapping[int, int]

    def person_of(self, player: int) -> int:
        """The last main name of a player, the player's own unless it is a sure synonym."""
        return self.person.get(player, player)

    def with_gap(self, candidate: _SynonymPair) -> _SynonymPair:
        """The candidate with the years between the careers."""
        main = candidate.main
        synonym = candidate.synonym
        gap = _years_between(
            int(self.first[main]),
            int(self.last[main]),
            int(self.first[synonym]),
            int(self.last[synonym]),
        )
        return candidate._replace(gap=gap)


def _unite(suspects: Iterable[Suspect], careers: Careers) -> _UnitedCareers:
    """Unite the sure suspects.

    Where A is a synonym of B and B of C, the person of A and B is C. The years of A are added to those of B only,
    as those of B are to C: each pair was judged by itself.
    """
    player_of = {name: player for player, name in enumerate(careers.names)}
    mains = {suspect.synonym.name: suspect.main.name for suspect in suspects if suspect.sure}
    first = careers.first.copy()
    last = careers.last.copy()
    person: dict[int, int] = {}
    for synonym_name, main_name in mains.items():
        main = player_of[main_name]
        synonym = player_of[synonym_name]
        first[main] = min(first[main], careers.first[synonym])
        last[main] = max(last[main], careers.last[synonym])
        # names may be synonyms of each other: the chain of main names ends before it is back at the synonym
        person[synonym] = player_of[last_main(mains, main_name, never=synonym_name)]
    return _UnitedCareers(first, last, person)


def _judge(
    candidates_of_synonym: Sequence[_SynonymPair], people: _UnitedCareers, names: _Names
) -> Suspect:
    """The best main name for a synonym, of all its candidates, and whether the suggestion is sure.

    A candidate for another person than the best one counts in one of two ways:

    | its main name | it is | beside `Smith, John` for the synonym `Smith, J` |
    |---|---|---|
    | abbreviates, or is abbreviated by, each other main name | a possible namesake | `Smith, J P` |
    | does not | contradicting: one of both is wrong | `Smith, James` |
    """
    candidates = [people.with_gap(candidate) for candidate in candidates_of_synonym]
    best = max(candidates, key=lambda candidate: _preference(candidate, names.careers))
    spellings = _spellings_of_best(best, candidates, people)
    of_others = _of_other_people(
        best, [candidate for candidate in candidates if candidate.main not in spellings]
    )
    contradicting = _contradicting(best, of_others, names.abbreviating_pairs)
    possible_namesakes = len(of_others) - len(contradicting)
    suspect = Suspect(
        main=names.careers[best.main],
        synonym=names.careers[best.synonym],
        kind=best.kind,
        n_other_candidates=len(candidates) - 1,
        shared=best.shared,
    )
    sure = (
        suspect.span <= lifetime(best.shared)
        and best.gap <= _LONG_GAP
        and best.shared >= _needed_for(best, spellings, names, alone=not contradicting)
        and _is_ahead(best, _rivals(best, contradicting))
        and _excuses(best, possible_namesakes + _expected_namesakes(best, names.similar))
    )
    return replace(suspect, sure=sure)


def _spellings_of_best(
    best: _SynonymPair, candidates: Sequence[_SynonymPair], people: _UnitedCareers
) -> set[int]:
    """The person of the best candidate, and the main names among the candidates that are united with it; players."""
    best_person = people.person_of(best.main)
    spellings = {best_person}
    for candidate in candidates:
        if people.person_of(candidate.main) == best_person:
            spellings.add(candidate.main)
    return spellings


def _needed_for(best: _SynonymPair, spellings: Set[int], names: _Names, *, alone: bool) -> float:
    """The number of common opponents that the best candidate needs, by the fullest spelling of its person."""
    parts = names.similar.parts
    synonym = parts[best.synonym]
    fullest = _fullest([parts[spelling] for spelling in spellings], synonym)
    return needed_opponents(best.kind, fullest, synonym, best.gap, alone=alone)


def _rivals(best: _SynonymPair, contradicting: Sequence[_SynonymPair]) -> list[_SynonymPair]:
    """The contradicting candidates over which the best one must be clearly ahead.

    Where the years of the best candidate and the synonym overlap or adjoin, those with a long gap are no rivals.
    """
    if best.gap > 1:
        return list(contradicting)
    return [candidate for candidate in contradicting if candidate.gap <= _LONG_GAP]


def _excuses(best: _SynonymPair, namesakes: float) -> bool:
    """Whether the common opponents are enough to tell the person from so many expected namesakes."""
    return namesakes <= _FEW_NAMESAKES * _EXCUSED_BY_OPPONENT**best.shared


class _Preference(NamedTuple):
    """The best candidate has the largest of these fields, in their order."""

    short_gap: bool
    shared: int
    minus_gap: int
    games: int
    main: int


def _preference(candidate: _SynonymPair, careers: Careers) -> _Preference:
    return _Preference(
        short_gap=candidate.gap <= _LONG_GAP,
        shared=candidate.shared,
        minus_gap=-candidate.gap,
        games=int(careers.games[candidate.main]),
        main=candidate.main,
    )


def _of_other_people(best: _SynonymPair, candidates: Sequence[_SynonymPair]) -> list[_SynonymPair]:
    """The candidates that count as another person.

    Where the best candidate has the surname of the synonym, a misspelt one counts only if it shares more opponents.
    """
    if best.kind == SPELLING:
        return list(candidates)
    return [
        candidate
        for candidate in candidates
        if candidate.kind != SPELLING or candidate.shared > best.shared
    ]


def _contradicting(
    best: _SynonymPair,
    of_others: Sequence[_SynonymPair],
    abbreviating_pairs: Set[frozenset[int]],
) -> list[_SynonymPair]:
    """Candidates whose main name cannot be one with the best main name, or with that of another of these candidates.

    Two names can be one if one abbreviates the other.
    """
    mains = {best.main, *(candidate.main for candidate in of_others)}

    def contradicts(main: int) -> bool:
        return any(
            frozenset((main, another)) not in abbreviating_pairs for another in mains - {main}
        )

    return [candidate for candidate in of_others if contradicts(candidate.main)]


def _is_ahead(best: _SynonymPair, rivals: Sequence[_SynonymPair]) -> bool:
    """Whether the best candidate has clearly more common opponents than its rivals."""
    if not rivals:
        return True
    most = max(rival.shared for rival in rivals)
    return best.shared > max(_CLEARLY_MORE * most, 1)


def _fullest(spellings: Sequence[NameParts], synonym: NameParts) -> NameParts:
    """The most informative spelling, preferably with as many given names as the synonym."""
    as_many = [name for name in spellings if len(name.given_names) >= len(synonym.given_names)]
    return max(as_many or spellings, key=lambda name: (name.letters_of_given_names, name))


def _expected_namesakes(best: _SynonymPair, similar: SimilarNames) -> float:
    """How many other people may have the name of the synonym, by those with its surname and another initial.

    The longer the name, the fewer; more after a gap between the careers, and of short surnames.
    """
    synonym = similar.parts[best.synonym]
    people = similar.n_namesakes(best.synonym)
    if len(synonym.surname) <= _SHORT_SURNAME:
        people += _UNSEEN_NAMESAKES
    letters_after_initial = min(max(synonym.letters_of_given_names - 1, 0), _COMPLETE)
    return people * (1.0 + best.gap / _SHORT_GAP) * _NARROWED_BY_LETTER**-letters_after_initial


def needed_opponents(
    kind: Kind, main: NameParts, synonym: NameParts, gap: int, *, alone: bool
) -> float:
    """The number of common opponents from which two names are one person's; infinite where none suffice.

    `alone`: no other main name is possible; `gap`: years between the careers, united names included. A name with a
    country, and a main name with fewer given names, may distinguish namesakes. First names of three letters may be
    complete, those of one or two are abbreviated.

    Names that differ in blanks alone need 0. If a name has a country, only a candidate that is alone, with one name
    abbreviating the other (`INITIALS`), can be enough (`_needed_beside_country`):

    | first name of the main name | first name of the synonym | needed |
    |---|---|---|
    | an initial | any | none suffice |
    | three or more letters | the same | 1 |
    | three or more letters | another | 3 |
    | two letters, or none | any | 3 |

    Else the least number of two tables counts. If the main name has at least as many given names as the synonym, and
    surnames are equal (`_needed_for_abbreviation`):

    | first name of the main name | synonym | alone | needed |
    |---|---|---|---|
    | three or more letters | only initials | | 0 |
    | three or more letters | a longer given name, or a bare surname | | 3 |
    | shorter | any | yes | 6 |

    If the candidate is alone and one name abbreviates the other (`_needed_by_only_candidate`):

    | first name of the main name | synonym | gap | needed |
    |---|---|---|---|
    | three or more letters | the same; further given names of both are initials | | 0 |
    | more than three letters | up to two letters of a first name, no others | | 0 |
    | three letters | up to two letters of a first name, no others | | 1 |
    | two letters, and no further names | one letter of a first name, no others | up to three years | 0 |
    | two letters, and no further names | one letter of a first name, no others | longer | 1 |
    """
    if _differ_in_blanks_alone(main, synonym):
        return 0
    is_only_abbreviation = kind == INITIALS and alone
    if main.country or synonym.country:
        return _needed_beside_country(main, synonym) if is_only_abbreviation else math.inf
    needed = math.inf
    if kind != SPELLING and len(main.given_names) >= len(synonym.given_names):
        needed = _needed_for_abbreviation(kind, main, synonym, alone=alone)
    if is_only_abbreviation:
        needed = min(needed, _needed_by_only_candidate(main, synonym, gap))
    return needed


def _differ_in_blanks_alone(main: NameParts, synonym: NameParts) -> bool:
    return (
        main.surname_with_particles == synonym.surname_with_particles
        and "".join(main.given_names) == "".join(synonym.given_names)
        and main.country == synonym.country
    )


def _first_name(parts: NameParts) -> str:
    return parts.given_names[0] if parts.given_names else ""


def _needed_beside_country(main: NameParts, synonym: NameParts) -> float:
    """Common opponents that the only candidate needs where a country may distinguish namesakes."""
    first_name = _first_name(main)
    if len(first_name) == 1:
        return math.inf
    if first_name == _first_name(synonym) and len(first_name) >= _COMPLETE:
        return 1
    return _TELLING


def _needed_for_abbreviation(
    kind: Kind, main: NameParts, synonym: NameParts, *, alone: bool
) -> float:
    """Common opponents that are needed where the main name has at least as many given names."""
    if len(_first_name(main)) >= _COMPLETE:
        has_only_initials = kind == INITIALS and synonym.longest_given_name == 1
        return 0 if has_only_initials else _TELLING
    return 2 * _TELLING if alone else math.inf


def _needed_by_only_candidate(main: NameParts, synonym: NameParts, gap: int) -> float:
    """Common opponents that the only candidate needs where one name abbreviates the other."""
    first_name = _first_name(main)
    abbreviation = _first_name(synonym)
    more_names = main.given_names[1:]
    more_abbreviations = synonym.given_names[1:]
    if first_name == abbreviation:
        only_initials_follow = all(len(name) <= 1 for name in more_names + more_abbreviations)
        return 0 if len(first_name) >= _COMPLETE and only_initials_follow else math.inf
    is_cut_short = len(abbreviation) <= _CUT_SHORT and len(abbreviation) < len(first_name)
    if not is_cut_short or more_abbreviations:
        return math.inf
    if len(first_name) > _COMPLETE:
        return 0
    if len(first_name) == _COMPLETE:
        return 1
    if more_names:
        return math.inf
    return 1 if gap > _SHORT_GAP else 0


def alias_lines(games: Games, suspects: Sequence[Suspect]) -> Iterator[str]:
    """Yield the suggestions as an alias file, each after its evidence; unsure ones are commented out.

    A suggestion is also commented out if the united player would play himself, or for longer than a `lifetime`.
    """
    mains = _mains_of_synonyms(games, suspects)
    for suspect in suspects:
        yield f"# {suspect.main}; {suspect.synonym}; {suspect.evidence}"
        synonym = suspect.synonym.name
        row = alias_row(last_main(mains, synonym), synonym) if synonym in mains else None
        if row is None:
            unsure_row = alias_row(suspect.main.name, synonym)
            row = f"# {unsure_row or 'no line of an alias file can express it'}"
        yield row


def _mains_of_synonyms(games: Games, suspects: Sequence[Suspect]) -> dict[str, str]:
    """The main names of sure synonyms, united one after the other where the united player is possible."""
    sure = [
        suspect
        for suspect in suspects
        if suspect.sure and alias_row(suspect.main.name, suspect.synonym.name) is not None
    ]
    names = {name for suspect in sure for name in (suspect.main.name, suspect.synonym.name)}
    met = _met_among(games, names)
    mains: dict[str, str] = {}
    careers_by_main: dict[str, list[Career]] = {}
    for suspect in sure:
        main = last_main(mains, suspect.main.name)
        synonym = suspect.synonym.name
        careers_of_main = careers_by_main.get(main, [suspect.main])
        careers_of_synonym = careers_by_main.get(synonym, [suspect.synonym])
        united = careers_of_main + careers_of_synonym
        span = max(career.last for career in united) - min(career.first for career in united)
        meets_himself = any(
            {career.name, synonym_career.name} in met
            for career in careers_of_main
            for synonym_career in careers_of_synonym
        )
        if main != synonym and span <= lifetime(suspect.shared) and not meets_himself:
            mains[synonym] = main
            careers_by_main[main] = united
    return mains


def _met_among(games: Games, names: Set[str]) -> set[frozenset[str]]:
    """Pairs of these names that played each other."""
    is_named = np.array([player in names for player in games.players], np.bool_)
    rows = np.flatnonzero(is_named[games.white] & is_named[games.black])
    pairs = np.unique(np.stack([games.white[rows], games.black[rows]], axis=1), axis=0)
    return {
        frozenset((games.players[white], games.players[black])) for white, black in pairs.tolist()
    }
