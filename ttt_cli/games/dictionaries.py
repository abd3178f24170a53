"""Dictionaries: the distinct names, dates, results and texts of all files of a reading, numbered."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.names import BYES, UNUSUAL, clean_name, not_a_player, preselect
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.batches import WrittenSides
from ttt_cli.reading.columns import Codes, Dictionary, Strings, narrow, spread
from ttt_cli.reading.members import MEMBER_SIGN, SideMembers, text_of
from ttt_cli.reading.results import NO_TALLY, Tally
from ttt_cli.support.arrays import Array, Ids, Places, ranges

IDS: Final = ("white_id", "black_id")  # columns of ids
_LONGEST_NAME: Final = 1000  # characters


class NameDictionary(Dictionary[str]):
    """Names as written. `cleaned` is the player's name, `reject_code` why a text is not a player (0 if it is one).

    `clean`: they were cleaned in an earlier reading. `keep_byes`: `BYE` and the like are players.
    """

    def __init__(self, *, clean: bool = False, keep_byes: bool = False) -> None:
        self._clean = clean
        self._keep_byes = keep_byes
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
        for index in preselect(UNUSUAL, new_names):
            name = clean_name(new_names[index])
            self.cleaned[n_before + index] = name
            reason = not_a_player(name)
            if reason is not None and not (reason == reasons.FORFEIT and self._keep_byes):
                self.reject_code[n_before + index] = reasons.REJECT_CODE[reason]
        if not self._keep_byes:
            for bye in BYES.intersection(new_names):
                self.reject_code[self._numbers[bye]] = reasons.REJECT_CODE[reasons.FORFEIT]
        for index in too_long:
            self.reject_code[n_before + index] = reasons.REJECT_CODE[reasons.TOO_LONG]


_MEMBER: Final = np.dtype([("name", np.int32), ("share", np.float64)])  # as bytes of a team


class NamedMembers(NamedTuple):
    """Members of teams by their names, those of a team one after the other.

    | name | shape | |
    |---|---|---|
    | size | (teams,) | number of members |
    | name | (members,) | number in the dictionary of names |
    | share | (members,) | of the game |
    """

    size: Places
    name: Ids
    share: Array


class TeamDictionary:
    """Teams by the names of their members and their shares, numbered in order of first occurrence.

    Number 0 is nobody's. `reject_code`: that of the first member who is not a player, 0 where all are.
    """

    def __init__(self, names: NameDictionary) -> None:
        self._names = names
        self._teams: Strings | None = None  # the members of each team as bytes
        self.reject_code = np.zeros(1, np.int8)

    def __len__(self) -> int:
        return len(self.reject_code)

    def numbers_of(self, members: NamedMembers) -> Ids:
        """The numbers of teams, new ones after the old."""
        if self._teams is None:
            self._teams = Strings()
        as_bytes = np.empty(len(members.name), _MEMBER)
        as_bytes["name"] = members.name
        as_bytes["share"] = members.share
        starts = np.append(0, np.cumsum(members.size)) * _MEMBER.itemsize
        numbers = self._teams.numbers_between(as_bytes.view(np.uint8), starts)
        if self._teams.size > len(self):
            reject_codes = self._reject_codes_of(self._members_between(len(self), self._teams.size))
            self.reject_code = np.concatenate([self.reject_code, reject_codes])
        return numbers

    def members_of(self, teams: Codes) -> NamedMembers:
        """The members of teams with these numbers."""
        size, name, share = self._members_between(0, len(self))
        member = ranges((np.cumsum(size) - size)[teams], size[teams])
        return NamedMembers(size[teams], name[member], share[member])

    def _members_between(self, first: int, end: int) -> NamedMembers:
        """The members of teams with consecutive numbers."""
        if self._teams is None:
            return NamedMembers(np.zeros(end - first, np.int64), np.zeros(0, np.int32), np.zeros(0))
        _, starts, characters = self._teams.arrays
        as_bytes = characters[starts[first] : starts[end]].view(_MEMBER)
        size = np.diff(starts[first : end + 1]) // _MEMBER.itemsize
        return NamedMembers(size, as_bytes["name"], as_bytes["share"])

    def text_of(self, team: int, names: list[str]) -> str:
        """The members of a team in one text, with these names."""
        _, name, share = self._members_between(team, team + 1)
        member_names = [names[number] for number in name.tolist()]
        return text_of(list(zip(member_names, share.tolist(), strict=True)))

    def _reject_codes_of(self, members: NamedMembers) -> NDArray[np.int8]:
        """The reject codes of teams."""
        reject_code = np.zeros(len(members.size), np.int8)
        code_of_member = np.frombuffer(self._names.reject_code, np.int8)[members.name]
        team = np.repeat(np.arange(len(members.size)), members.size)
        bad = np.flatnonzero(code_of_member)[::-1]  # of several members the first counts
        reject_code[team[bad]] = code_of_member[bad]
        length_of_name = np.fromiter(map(len, self._names.values), np.int64)
        length = np.bincount(team, length_of_name[members.name], len(members.size))
        length += len(MEMBER_SIGN) * (members.size - 1)
        reject_code[length > _LONGEST_NAME] = reasons.REJECT_CODE[reasons.TOO_LONG]
        return reject_code


class FileSides(NamedTuple):
    """The sides of the records of a file.

    The number of a side is that of its name; of a team it is `n_names` + that of the team.

    | name | shape | |
    |---|---|---|
    | n_names | | how many names there are in the dictionary |
    | names | (names,) | numbers of the distinct names of the file |
    | white, black | (records,) | numbers of sides |
    """

    n_names: int
    names: Ids
    white: Codes
    black: Codes

    def words(self, side: int, dictionaries: Dictionaries) -> str:
        """A side in one text, by its number."""
        is_team = side >= self.n_names
        return dictionaries.side_words(
            name=0 if is_team else side, team=side - self.n_names if is_team else 0
        )


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
        self.teams = TeamDictionary(self.names)
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

    def number_sides(self, sides: WrittenSides) -> FileSides:
        """Number the sides of a file. A team of one member with all of the game is that player."""
        names = self.names.numbers_of(name.strip() for name in sides.names)
        n_names = len(self.names.values)
        number = narrow(
            names if sides.members is None else self._number_teams(sides.members, names, n_names)
        )
        return FileSides(n_names, names, spread(number, sides.white), spread(number, sides.black))

    def _number_teams(self, members: SideMembers, names: Ids, n_names: int) -> Places:
        """Numbers of sides with members, as in `FileSides`."""
        size, name, share = members
        first = np.cumsum(size) - size
        is_player = size == 1
        is_player[is_player] = share[first[is_player]] == 1.0
        number = np.zeros(len(size), np.int64)
        number[is_player] = names[name[first[is_player]]]
        is_team = (size > 0) & ~is_player
        of_teams = np.repeat(is_team, size)
        teams = NamedMembers(size[is_team], names[name[of_teams]], share[of_teams])
        number[is_team] = n_names + self.teams.numbers_of(teams)
        return number

    def side_words(self, name: int, team: int) -> str:
        """A side in one text, by the number of its name or of its team (0 for a player)."""
        if team:
            return self.teams.text_of(team, self.names.cleaned)[:_LONGEST_NAME]
        return self.names.cleaned[name] or "?"

    def record_words(self, date: int, white: str, black: str, result: int) -> str:
        """A record in one line, from the numbers of its date and result, and its sides in words."""
        day = self.dates.values[date][0] or "?"
        return f"{day}: {white} - {black} {self.results.values[result][0]}".rstrip()
