"""Suspicious names as an alias file that can be read back as it stands."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from ttt_cli.games.players.aliases import alias_row
from ttt_cli.games.players.careers import Career, lifetime
from ttt_cli.games.players.opponents import have_met
from ttt_cli.games.players.suspect import Suspect
from ttt_cli.games.table import Games


def alias_lines(games: Games, suspects: Sequence[Suspect]) -> Iterator[str]:
    """The suggestions as an alias file, each below its evidence; what is not sure is commented out.

    A name that stands for another in one line is not the main name of a second one, and nothing is united that makes
    people meet themselves or play for longer than a person does.
    """
    mains = _united(games, suspects)
    for suspect in suspects:
        yield f"# {suspect.main}; {suspect.synonym}; {suspect.evidence}"
        synonym = suspect.synonym.name
        row = alias_row(_root(mains, synonym), synonym) if synonym in mains else None
        yield row or f"# {alias_row(suspect.main.name, synonym) or 'no line of an alias file can say so'}"


def _united(games: Games, suspects: Sequence[Suspect]) -> Mapping[str, str]:
    """Synonyms and their main names, of the sure suggestions that do not contradict each other."""
    sure = [one for one in suspects if one.sure and alias_row(one.main.name, one.synonym.name)]
    met = _met_within(games, sure)
    mains: dict[str, str] = {}
    people: dict[str, list[Career]] = {}
    for suspect in sure:
        main, synonym = _root(mains, suspect.main.name), suspect.synonym.name
        ours, theirs = people.get(main, [suspect.main]), people.get(synonym, [suspect.synonym])
        all_of_them = [*ours, *theirs]
        span = max(one.last for one in all_of_them) - min(one.first for one in all_of_them)
        if (
            main == synonym
            or span > lifetime(suspect.shared)
            or any((a.name, b.name) in met for a in ours for b in theirs)
        ):
            continue
        mains[synonym] = main
        people[main] = all_of_them
    return mains


def _root(mains: Mapping[str, str], name: str) -> str:
    while name in mains:
        name = mains[name]
    return name


def _met_within(games: Games, suspects: Sequence[Suspect]) -> frozenset[tuple[str, str]]:
    """The names that played each other, among those that suggestions would make one person's."""
    number = {name: i for i, name in enumerate(games.players)}
    groups: dict[str, set[str]] = {}
    for suspect in suspects:
        names = [suspect.main.name, suspect.synonym.name]
        joined = set(names).union(*(groups.get(name, ()) for name in names))
        groups.update(dict.fromkeys(joined, joined))
    pairs = [
        pair
        for group in {id(one): one for one in groups.values()}.values()
        for pair in combinations(group, 2)
    ]
    numbers = np.array([[number[name] for name in pair] for pair in pairs], np.int64).reshape(-1, 2)
    met = [pairs[row] for row in np.flatnonzero(have_met(games, numbers)).tolist()]
    return frozenset((*met, *((other, one) for one, other in met)))
