"""Who is who: players united by the spelling of their names, by an alias file and by FIDE id.

An alias file has one player a line, `main,synonym,synonym,...`, quoted as CSV where a name has a comma; or it is a
table with the columns `spelling` and `name` (and `status`). A field `status=WORD` limits a line to records of that
status: `"Anderssen, Adolf (offhand)","Anderssen, Adolf",status=casual`; `years=1906-` limits it to these years. Lines
with a leading # are comments. Scid's spelling file is read too.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress, repeat
from operator import contains, eq, ne
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import NameMatching, year_range
from ttt_cli.games.names import clean_name, comma_keys, name_key, name_keys
from ttt_cli.games.validate import NameDictionary
from ttt_cli.reading.batches import pairs_in
from ttt_cli.reading.columns import Codes, Dictionary, counts_of, narrow, spread
from ttt_cli.reading.input import Input, decode
from ttt_cli.reading.reports import InputFile
from ttt_cli.support.arrays import Ids, Mask, Places
from ttt_cli.support.errors import DataError
from ttt_cli.support.folding import fold

_STATUS: Final = re.compile(r"\s*status\s*=\s*(.+)", re.IGNORECASE)
_YEARS: Final = re.compile(r"\s*years\s*=\s*(.+)", re.IGNORECASE)
_SPELLINGS: Final = frozenset({"spelling", "alias", "synonym", "written", "as in pgn", "as written"})
_NAMES: Final = frozenset({"name", "main", "player", "canonical", "main name"})
_SECTION: Final = re.compile(r"^@PLAYER\b[^\n]*\n(.*?)(?=^@|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Aliases:
    """An alias file: `names` maps cleaned spellings to players, `by_status` (name, folded status), `by_years` (name,
    first, last year).

    `lines` are the lines of the spellings in a file made for these games; `source` is the file, None without one.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    by_status: Mapping[tuple[str, str], str] = field(default_factory=dict)
    source: InputFile | None = None
    by_years: Mapping[tuple[str, int, int], str] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def mains(self) -> frozenset[str]:
        """Names of the players that spellings are mapped to."""
        return frozenset((*self.names.values(), *self.by_status.values(), *self.by_years.values()))


class _AliasLine(NamedTuple):
    line: int
    main: str
    synonym: str
    status: str
    years: tuple[int, int] | None = None


def read_aliases(path: str) -> Aliases:
    """Read an alias file, plain or packed. Raises DataError with file and line for contradictions."""
    source = Input(path)
    text = source.text("a list of names")
    file = InputFile(source.name, source.digest, source.count)
    if (spellings := spellings_in(text)) is not None:
        return Aliases({clean_name(spelling): name for spelling, name in spellings.items()}, source=file)
    found: dict[tuple[Any, ...], _AliasLine] = {}
    for entry in _entries(text, file.path):
        before = found.setdefault(entry[2:], entry)
        if before.main != entry.main:
            what = f"{entry.synonym!r} is {before.main!r} in line {before.line}, and {entry.main!r} here"
            raise DataError(what, where=f"{file.path}:{entry.line}", hint="a spelling has one player")
    plain = {entry.synonym: entry for entry in found.values() if not entry.status and entry.years is None}
    for synonym, entry in plain.items():
        further = plain.get(entry.main, entry)
        if further.main != entry.main != synonym:
            chain = f"{synonym!r} is {entry.main!r}, which is itself {further.main!r} in line {further.line}"
            hint = f"name {further.main!r} in both lines"
            raise DataError(chain, where=f"{file.path}:{entry.line}", hint=hint)
    lines: dict[str, int] = {}
    for entry in found.values():
        lines.setdefault(entry.synonym, entry.line)
    return Aliases(
        {synonym: entry.main for synonym, entry in plain.items()},
        {(one.synonym, one.status): one.main for one in found.values() if one.status},
        file,
        {(one.synonym, *one.years): one.main for one in found.values() if one.years},
        lines,
    )


def alias_row(main: str, synonym: str) -> str | None:
    """The line that gives a player a further spelling; None where no line can express it."""
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        row = csv_row([main, synonym], quoting)
        with suppress(DataError, UnicodeEncodeError):
            read = [entry[1:] for entry in _entries(decode(row.encode()), "")]
            if read == [(main, synonym, "", None)]:
                return row
    return None


def csv_row(fields: Iterable[str], quoting: Literal[0, 1] = csv.QUOTE_MINIMAL) -> str:
    """Fields as a line of CSV, without a line break."""
    line = io.StringIO()
    csv.writer(line, lineterminator="", quoting=quoting).writerow(fields)
    return line.getvalue()


def _entries(text: str, path: str) -> Iterator[_AliasLine]:
    rows = list(_rows(text, path))
    header = [fold(cell) for cell in rows[0][1]] if rows else []
    if {"white", "black"} <= set(header):
        hint = "an alias file has lines of main,synonym,..."
        raise DataError("contains games, not names", where=path, hint=hint)
    places = [[i for i, word in enumerate(header) if word in known] for known in (_SPELLINGS, _NAMES)]
    as_table = all(places)
    for line, row in rows[as_table:]:
        where = f"{path}:{line}"
        years = None
        if as_table:
            (spelling, *_), (name, *_) = places
            if len(row) <= max(spelling, name):
                raise DataError(f"{len(row)} fields are too few", where=where, hint="a spelling and a name")
            main = row[name]
            synonyms = [row[spelling]]
            at = header.index("status") if "status" in header else len(row)
            status = "".join(row[at : at + 1])
        else:
            main, synonyms, status, years = _list_in(row, where)
        for synonym in synonyms:
            entry = _AliasLine(line, " ".join(main.split()), clean_name(synonym), fold(status), years)
            if not entry.main or not entry.synonym:
                raise DataError("a name is empty", where=where)
            yield entry


def _rows(text: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, with their line numbers."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                yield number, next(csv.reader([line], skipinitialspace=True, strict=True))
            except csv.Error as error:
                hint = "write names with a comma in double quotes"
                raise DataError(f"cannot be read: {error}", where=f"{path}:{number}", hint=hint) from error


def _list_in(row: Sequence[str], where: str) -> tuple[str, list[str], str, tuple[int, int] | None]:
    """The main name, its synonyms, status and years in a line."""
    statuses, ranges = (
        [match[1] for cell in row if (match := form.fullmatch(cell))] for form in (_STATUS, _YEARS)
    )
    plain = [cell for cell in row if not (_STATUS.fullmatch(cell) or _YEARS.fullmatch(cell))]
    synonyms = [synonym for synonym in plain[1:] if synonym.strip()]
    if not synonyms:
        hint = 'a line is main,synonym,...; a name with a comma is written in quotes: "Morphy, Paul",Morphy'
        raise DataError("no synonym", where=where, hint=hint)
    if len(statuses) + len(ranges) > 1:
        what = "status" if not ranges else "status or range of years"
        raise DataError(f"more than one {what}", where=where, hint="write a line for each")
    try:
        return plain[0], synonyms, "".join(statuses), year_range(ranges[0]) if ranges else None
    except ValueError as error:
        raise DataError(str(error), where=where) from error


def spellings_in(text: str) -> dict[str, str] | None:
    """The player of each other spelling in Scid's spelling file; None if the text is no such file.

            @PLAYER ".,- _"
            Kasparov, Garry #GM RUS [2812] 1963.04.13
               %Bio FIDEID 4100018
               = Kasparov, Gary

    Spellings of several players, or equal to another player's name, are skipped.
    """
    sections = _SECTION.findall(text)
    names: set[str] = set()
    players: dict[str, str | None] = {}
    for section in sections:
        name = ""
        for line in section.split("\n"):
            words = line.partition("#")[0].strip()
            if words.startswith("="):
                spelling = words[1:].strip()
                players[spelling] = name if players.get(spelling, name) == name else None
            elif words and not words.startswith("%"):
                name = words
                names.add(name)
    found = {one: name for one, name in players.items() if one and name and one not in names}
    return found if sections else None


_ANSWER: Final = re.compile(r"# (?=(?:yes|no|years),)")


class Decision(NamedTuple):
    """Whether a synonym is the main name's: yes, no, or in some years, such as `1850-1900`."""

    answer: str
    main: str
    synonym: str
    years: str = ""


class Decisions:
    """The answers in an alias file, with its other lines unchanged.

    Further spellings of one name always lead to its last main name. Raises DataError for malformed lines, and for a
    table of spellings.
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
                continue
            words = {fold(cell) for _, row in _rows(line, where) for cell in row}
            if words & _SPELLINGS and words & _NAMES:
                hint = "write to a file of its own"
                raise DataError("is a table of spellings and names", where=where, hint=hint)
            entries = list(_entries(line, where))
            if not entries or any(one.status or one.years for one in entries):
                self._kept.append(line)
                continue
            for one in entries:
                self.add(Decision("yes", one.main, one.synonym))

    def __len__(self) -> int:
        return len(self._made)

    def add(self, decision: Decision) -> None:
        """Add an answer, replacing any other about the same names."""
        self._made[decision.main, decision.synonym] = decision

    def answered(self, main: str, synonym: str) -> bool:
        """Whether there is an answer about two names, or the synonym is already united with another."""
        united = any(one.synonym == synonym for one in self._made.values() if one.answer == "yes")
        return united or (main, synonym) in self._made

    def text(self) -> str:
        """The alias file."""
        mains = {one.synonym: one.main for one in self._made.values() if one.answer == "yes"}
        lines = list(self._kept)
        for decision in self._made.values():
            lines.append(f"# {csv_row(part for part in decision if part)}")
            if decision.answer != "no":
                row = alias_row(last_main(mains, decision.main, decision.synonym), decision.synonym)
                assert row is not None
                lines.append(row + (f",years={decision.years}" if decision.years else ""))
        return "".join(f"{line}\n" for line in lines)


def last_main(mains: Mapping[str, str], name: str, never: str | None = None) -> str:
    """The last main name in a chain of synonyms, not through `never`."""
    seen = {never}
    while name in mains and mains[name] not in seen:
        seen.add(name)
        name = mains[name]
    return name


NOBODY = -1
_NO_ID: Final = frozenset({"", "0", "-", "?", "none", "null", "n/a"})


class Mentions(NamedTuple):
    """Distinct combinations of name, id, status and year that refer to a player; arrays of shape (mentions,).

    `name`, `id` and `status` are numbers in dictionaries. Unused ids, statuses and years are 0. `times` counts
    occurrences.
    """

    name: Places
    id: Places
    status: Places
    year: Places
    times: Places


Sides = tuple[Codes, Codes]  # columns of White and Black


def find_mentions(
    names: Sides,
    n_names: int,
    *,
    ids: Sides | None = None,
    status: Codes | None = None,
    years: Codes | None = None,
    first: int = 0,
) -> tuple[Mentions, Sides]:
    """The distinct mentions in some records, and the numbers of White's and Black's mention, each (records,).

    Numbers of `names` are less than `n_names`. `ids`, `status` and `years` (from 0) are None where they are unused.
    Mentions are numbered from `first`.
    """
    distinct = np.zeros((4, n_names), np.int64)  # of names, ids, statuses and years
    distinct[0] = np.arange(n_names)
    white, black = names
    for row, column in enumerate((ids, status, years), 1):
        if column is None:
            continue
        further = np.concatenate(column) if isinstance(column, tuple) else np.tile(column, 2)
        kinds = 1 + int(further.max(initial=0))
        present, joint = pairs_in(np.concatenate([white, black]), further, distinct.shape[1], kinds)
        distinct = distinct[:, present // kinds]
        distinct[row] = present % kinds
        white, black = np.split(joint, 2)
    times = np.add(counts_of(white, distinct.shape[1]), counts_of(black, distinct.shape[1]))
    place = narrow(first + np.maximum(np.cumsum(times > 0) - 1, 0))
    mentions = Mentions(*np.vstack([distinct, times])[:, times > 0])
    return mentions, (spread(place, white), spread(place, black))


class Identified(NamedTuple):
    """The players, sorted and unique, the `player` of each mention as their index (-1: nobody), and their spellings.

    `spellings` are sorted pairs of a player and another spelling.
    """

    players: tuple[str, ...]
    player: NDArray[np.signedinteger]
    spellings: tuple[tuple[str, str], ...]


def identify(
    dictionary: NameDictionary,
    mentions: Mentions,
    matching: NameMatching,
    aliases: Aliases,
    *,
    ids: Sequence[str] = (),
    statuses: Sequence[str] = (),
) -> Identified:
    """Unite the mentions of each player, by names in `dictionary`, `ids` and `statuses`.

    Spellings with the same key (`name_key`) are one player, shown in the most frequent one. With `matching` full, a
    name without a comma joins the only name with a comma and the same words. The alias file takes precedence; its
    lines with a status or years apply to mentions with these.
    """
    counts = np.bincount(mentions.name, mentions.times, len(dictionary.values))
    groups = _NameGroups(dictionary, counts, matching, aliases)
    names = groups.names
    player = groups.number[mentions.name]
    home = np.arange(len(names))
    if mentions.id.any():
        names, home, player = join_ids(names, player, mentions, ids)
    limited: list[tuple[str, str, Mask]] = []
    words = np.array(list(map(fold, statuses)) if aliases.by_status else [], np.str_)
    for (name, word), main in aliases.by_status.items():
        limited.append((name, main, np.isin(mentions.status, np.flatnonzero(words == word))))
    for (name, first, last), main in aliases.by_years.items():
        limited.append((name, main, (mentions.year >= first) & (mentions.year <= last)))
    for name, main, rows in limited:
        one = groups.find(name)
        other = groups.find(main)
        if one is not None and other is not None:
            player[rows & (player == home[one])] = home[other]
    present = np.unique(player[player != NOBODY]).tolist()
    ranked = sorted(present, key=names.__getitem__)
    # the last one is of nobody
    number = np.full(len(names) + 1, NOBODY, np.min_scalar_type(-len(ranked) - 1))
    number[ranked] = np.arange(len(ranked))
    players = tuple(map(names.__getitem__, ranked))
    number = number[player]
    somebody = number != NOBODY
    shown = list(map(players.__getitem__, number[somebody].tolist()))
    written = list(map(dictionary.values.__getitem__, mentions.name[somebody].tolist()))
    spellings = sorted(set(compress(zip(shown, written, strict=True), map(ne, shown, written))))
    return Identified(players, number, tuple(spellings))


def unmatched(dictionary: NameDictionary, matching: NameMatching, aliases: Aliases) -> list[str]:
    """Spellings of an alias file that do not occur in the games, in the order of their lines."""
    if not aliases.lines:
        return []
    present = {*dictionary.cleaned, *name_keys(dictionary.cleaned, matching)}
    present.update(*map(comma_keys, tuple(present) if matching == "full" else ()))
    return [name for name in aliases.lines if name not in present and name_key(name, matching) not in present]


class _NameGroups:
    """Spellings grouped by name: `number`, shape (spellings,), is the group of each, `names` are the groups'."""

    def __init__(
        self, dictionary: NameDictionary, counts: Places, matching: NameMatching, aliases: Aliases
    ) -> None:
        self._matching: NameMatching = matching
        self._aliases = aliases
        self._mains: dict[str, str] = {}
        for main in sorted(aliases.mains):
            self._mains[self._key(main)] = main
        # of synonyms, where all spellings of a key agree
        self._alias_keys: dict[str, str] = {}
        several: set[str] = set()
        for synonym, main in aliases.names.items():
            key = self._key(synonym)
            of_main = self._key(main)
            if self._alias_keys.setdefault(key, of_main) != of_main:
                several.add(key)
        for key in several:
            del self._alias_keys[key]
        own = name_keys(dictionary.cleaned, matching)
        for number in np.flatnonzero(np.frombuffer(dictionary.reject_code, np.int8)).tolist():
            own[number] = ""
        keys = [*own, *self._mains, *self._alias_keys] if matching == "full" else []
        self._comma_keys = frozenset(compress(keys, map(contains, keys, repeat(","))))
        resolved = own
        if aliases.names or self._comma_keys:  # a name keeps its own key if no player has the resolved one
            targets = list(map(self._resolved, dictionary.cleaned, own))
            players = {*compress(own, map(eq, own, targets)), *self._mains}
            resolved = [*own]
            for place, target in enumerate(targets):
                if target in players:
                    resolved[place] = target
        known = Dictionary("")  # nobody, whose number is -1
        self.number = known.ids(resolved) - 1
        known.ids(self._mains)
        self._numbers = dict(zip(known.values, range(NOBODY, len(known.values)), strict=False))
        # shown as in the alias file, else by the most frequent name with the group's key
        self.names, most = [""] * (len(self._numbers) - 1), [-1] * (len(self._numbers) - 1)
        titles = map(eq, own, resolved)
        of_group = zip(dictionary.cleaned, counts.tolist(), self.number.tolist(), titles, strict=True)
        for name, count, group, titular in of_group:
            if titular and group != NOBODY and (count, name) >= (most[group], self.names[group]):
                self.names[group] = name
                most[group] = count
        for key, main in self._mains.items():
            self.names[self._numbers[key]] = main

    def find(self, name: str) -> int | None:
        """The group of a name in the alias file, None when nobody has it."""
        return self._numbers.get(self._resolved(name, self._key(name)))

    def _key(self, name: str) -> str:
        return name_key(name, self._matching)

    def _resolved(self, name: str, key: str) -> str:
        """The key of the player of a spelling, empty for nobody."""
        if key and name in self._aliases.names:
            return self._key(self._aliases.names[name])
        if self._comma_keys and key not in self._alias_keys and "," not in key:
            others = self._comma_keys.intersection(comma_keys(key))
            targets = set(map(self._alias_keys.get, others, others))
            if len(targets) == 1:
                return targets.pop()
        return self._alias_keys.get(key, key)


def join_ids(
    names: Sequence[str], player: Ids, mentions: Mentions, ids: Sequence[str]
) -> tuple[list[str], Places, Ids]:
    """Number players by their ids; `player` (mentions,) are numbers in `names` (-1: nobody).

    Each id is one player, shown by its most frequent name; the id is added where several players share that name. A
    mention without an id belongs to the id of its name if there is only one, else to a separate player. Returns the
    names of all players, the player of each name without an id, and the player of each mention.
    """
    valid = [text.casefold() not in _NO_ID for text in ids]
    own = np.where(valid, np.cumsum(valid) - 1, -1)[mentions.id]
    ids = [text for text, good in zip(ids, valid, strict=True) if good]
    known = (player >= 0) & (own >= 0)
    key = player[known] * np.int64(len(ids)) + own[known]
    pairs, place = np.unique(key, return_inverse=True)
    count = np.bincount(place, mentions.times[known], len(pairs)).astype(np.int64)
    name = pairs // max(len(ids), 1)
    number = pairs % max(len(ids), 1)
    home = np.arange(len(names))
    single = np.bincount(name, minlength=len(names))[name] == 1
    home[name[single]] = len(names) + number[single]
    best = [(-1, "")] * len(ids)
    for one, which, often in zip(name.tolist(), number.tolist(), count.tolist(), strict=True):
        best[which] = max(best[which], (often, names[one]))
    taken = Counter(text for _, text in best)
    taken.update(names[number] for number in np.flatnonzero(home == np.arange(len(names))).tolist())
    shown = [f"{text} ({ids[which]})" if taken[text] > 1 else text for which, (_, text) in enumerate(best)]
    return [*names, *shown], home, np.where(known, len(names) + own, np.append(home, NOBODY)[player])
