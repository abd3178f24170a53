"""Names that may be one person's as an alias file: suggestions, and the answers that people gave."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, Literal, NamedTuple

import numpy as np

from ttt_cli.games.players.aliases import alias_row, csv_row, plain_aliases
from ttt_cli.games.players.careers import Career, have_met, lifetime
from ttt_cli.games.players.similar import Suspect
from ttt_cli.games.table import Games

Answer = Literal["yes", "no", "years"]
_ANSWER: Final = re.compile(r"# (?=(?:yes|no|years),)")


class Decision(NamedTuple):
    """Whether a synonym is the main name's: yes, no, or in some years, such as `1850-1900`."""

    answer: str
    main: str
    synonym: str
    years: str = ""


class Decisions:
    """The answers in the text of an alias file, and what else it holds.

    The lines of others stay as they are, except that further spellings of one name always lead to its last main name.
    """

    def __init__(self, text: str = "", where: str = "") -> None:
        self._kept: list[str] = []
        self._made: dict[tuple[str, str], Decision] = {}
        lines = iter(text.splitlines())
        for line in lines:
            if _ANSWER.match(line):
                decision = Decision(*next(csv.reader([line[2:]])))
                self.add(decision)
                if decision.answer != "no":
                    next(lines, None)
            elif plain := plain_aliases(line, where):
                for main, synonym in plain:
                    self.add(Decision("yes", main, synonym))
            else:
                self._kept.append(line)

    def __len__(self) -> int:
        return len(self._made)

    def add(self, decision: Decision) -> None:
        """Take in an answer, instead of any other about the same names."""
        self._made[decision.main, decision.synonym] = decision

    def knows(self, main: str, synonym: str) -> bool:
        """Whether there is an answer about two names, or the synonym has been given to somebody."""
        united = any(one.synonym == synonym for one in self._made.values() if one.answer == "yes")
        return united or (main, synonym) in self._made

    def text(self) -> str:
        """The alias file."""
        return "".join(f"{line}\n" for line in (*self._kept, *self._lines()))

    @property
    def _mains(self) -> dict[str, str]:
        return {one.synonym: one.main for one in self._made.values() if one.answer == "yes"}

    def _lines(self) -> Iterator[str]:
        mains = self._mains
        for decision in self._made.values():
            yield f"# {csv_row(part for part in decision if part)}"
            if decision.answer != "no":
                row = alias_row(_last(mains, decision.main, decision.synonym), decision.synonym)
                assert row is not None
                yield row + (f",years={decision.years}" if decision.years else "")


def _last(mains: Mapping[str, str], name: str, never: str | None = None) -> str:
    """The main name that a name leads to, but not through `never`."""
    seen = {never}
    while name in mains and mains[name] not in seen:
        seen.add(name)
        name = mains[name]
    return name


def alias_lines(games: Games, suspects: Sequence[Suspect]) -> Iterator[str]:
    """The suggestions as an alias file, each below its evidence; what is not sure is commented out.

    Nothing is united that makes people meet themselves or play for longer than a person does.
    """
    mains = _united(games, suspects)
    for suspect in suspects:
        yield f"# {suspect.main}; {suspect.synonym}; {suspect.evidence}"
        synonym = suspect.synonym.name
        row = alias_row(_last(mains, synonym), synonym) if synonym in mains else None
        yield row or f"# {alias_row(suspect.main.name, synonym) or 'no line of an alias file can say so'}"


def _united(games: Games, suspects: Sequence[Suspect]) -> Mapping[str, str]:
    """Synonyms and their main names, of the sure suggestions that do not contradict each other."""
    sure = [one for one in suspects if one.sure and alias_row(one.main.name, one.synonym.name)]
    met = _met_within(games, sure)
    mains: dict[str, str] = {}
    people: dict[str, list[Career]] = {}
    for suspect in sure:
        main, synonym = _last(mains, suspect.main.name), suspect.synonym.name
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
