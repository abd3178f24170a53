"""Dictionaries: the distinct names, dates, results and texts of all files of a reading, numbered."""

from array import array
from collections.abc import Iterable
from functools import cache
from typing import Final

import numpy as np

from ttt_cli.games.names import BYES, UNUSUAL, clean_name, not_a_player, preselect
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.columns import Dictionary
from ttt_cli.reading.members import is_team_text, members_of, text_of
from ttt_cli.reading.results import NO_TALLY, Tally
from ttt_cli.support.arrays import Array, Ids

IDS: Final = ("white_id", "black_id")  # columns of ids
_LONGEST_NAME: Final = 1000  # characters


class NameDictionary(Dictionary[str]):
    """Names as written. `cleaned` is the player's name, `reject_code` why a text is not a player (0 if it is one).

    `clean`: they were cleaned in an earlier reading. `keep_byes`: `BYE` and the like are players. `has_teams`: whether
    any name has the members of a team (`reading.members`).
    """

    def __init__(self, *, clean: bool = False, keep_byes: bool = False) -> None:
        self._clean = clean
        self._keep_byes = keep_byes
        self.has_teams = False
        self.cleaned: list[str] = []
        self.reject_code = array("b")
        super().__init__("")

    def numbers_of(self, values: Iterable[str]) -> Ids:
        """The numbers of names, new ones after the old."""
        numbers = super().numbers_of(values)
        self._judge(self.values[len(self.cleaned) :])
        return numbers

    def _judge(self, new_names: list[str]) -> None:
        """Clean names that are new, and find those that are not players."""
        n_before = len(self.cleaned)
        self.cleaned += new_names
        self.reject_code.frombytes(bytes(len(new_names)))
        if self._clean:
            return
        too_long = [index for index, name in enumerate(new_names) if len(name) > _LONGEST_NAME]
        for index in too_long:
            new_names[index] = new_names[index][:_LONGEST_NAME]
            self.cleaned[n_before + index] = new_names[index]
        clean_member = cache(clean_name)  # members come again in other teams
        reason_of_member = cache(not_a_player)
        for index in preselect(UNUSUAL, new_names):
            name = new_names[index]
            if is_team_text(name):
                self.has_teams = True
                members = [(clean_member(member), share) for member, share in members_of(name)]
                self.cleaned[n_before + index] = text_of(members)
                reasons_of_members = [reason_of_member(member) for member, _ in members]
                reason = next((reason for reason in reasons_of_members if reason is not None), None)
            else:
                name = clean_name(name)
                self.cleaned[n_before + index] = name
                reason = not_a_player(name)
            if reason is not None and not (reason == reasons.FORFEIT and self._keep_byes):
                self.reject_code[n_before + index] = reasons.REJECT_CODE[reason]
        if not self._keep_byes:
            for bye in BYES.intersection(new_names):
                self.reject_code[self._numbers[bye]] = reasons.REJECT_CODE[reasons.FORFEIT]
        for index in too_long:
            self.reject_code[n_before + index] = reasons.REJECT_CODE[reasons.TOO_LONG]


class Dictionaries:
    """The dictionaries of one reading; number 0 is the empty text everywhere.

    Dates are stored with their day and precision, results with their tally, because a text may differ in meaning
    between files. `columns` are those of texts and ids; the ids of both players share one. Without
    `keep_web_addresses` sites that are web addresses, of which every game may have its own, are empty. `keep_byes`: see
    NameDictionary.
    """

    def __init__(
        self, columns: Iterable[str], *, keep_web_addresses: bool = True, keep_byes: bool = False
    ) -> None:
        self.keep_web_addresses = keep_web_addresses
        self.dates = Dictionary[tuple[str, int, int]](("", 0, 0))
        self.names = NameDictionary(keep_byes=keep_byes)
        self.results = Dictionary[tuple[str, Tally]](("", NO_TALLY))
        self.columns = {name: Dictionary("") for name in columns}
        if "black_id" in self.columns:
            self.columns["black_id"] = self.columns["white_id"]

    @property
    def days(self) -> Ids:
        """Days of the dates since 1970-01-01, the middle of the possible range."""
        return np.array([day for _, day, _ in self.dates.values], np.int32)

    @property
    def tallies(self) -> Array:
        """The games that White lost, drew and won by each result, shape (results, 3)."""
        return np.array([tally for _, tally in self.results.values], np.float64)

    def record_words(self, date: int, white: int, black: int, result: int) -> str:
        """A record in one line, from the numbers of its date, names and result."""
        day = self.dates.values[date][0] or "?"
        white_name = self.names.cleaned[white] or "?"
        black_name = self.names.cleaned[black] or "?"
        return f"{day}: {white_name} - {black_name} {self.results.values[result][0]}".rstrip()
