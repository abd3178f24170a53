"""Answers about names that may be one person's, kept in an alias file that is complete after each of them."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from ttt_cli.games.players.aliases import alias_row, plain_aliases

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
            yield f"# {_row(part for part in decision if part)}"
            if decision.answer != "no":
                row = alias_row(_last(mains, decision.main, decision.synonym), decision.synonym)
                assert row is not None
                yield row + (f",years={decision.years}" if decision.years else "")


def _last(mains: dict[str, str], name: str, never: str) -> str:
    """The main name that a name leads to, but not through `never`."""
    seen = {never}
    while name in mains and mains[name] not in seen:
        seen.add(name)
        name = mains[name]
    return name


def _row(fields: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()
