"""Who is who: the names in all files as players, by spelling, alias file and FIDE id."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import eq
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids, Mask, Places
from ttt_cli.config.schema import NameMatching
from ttt_cli.folding import fold
from ttt_cli.games.dictionaries import NameDictionary
from ttt_cli.games.players.aliases import Aliases
from ttt_cli.games.players.names import comma_keys, name_key, name_keys
from ttt_cli.reading.column import Codes, Column, counts_of, spread

NOBODY = -1
_NO_ID: Final = frozenset({"", "0", "-", "?", "none", "null", "n/a"})


@dataclass(frozen=True)
class Identified:
    """The players, sorted by name, each name once, and who had White and Black in each record (-1: nobody)."""

    players: tuple[str, ...]
    white: NDArray[np.signedinteger]
    black: NDArray[np.signedinteger]


def identify(
    dictionary: NameDictionary,
    written: tuple[Codes, Codes],
    matching: NameMatching,
    aliases: Aliases,
    *,
    ids: tuple[Codes, Codes, Sequence[str]] | None = None,
    status: Column[str] | None = None,
    years: NDArray[np.signedinteger] | None = None,
    times: Places | None = None,
) -> Identified:
    """Unite the spellings of each player; `written` are the numbers in `dictionary` of White's and Black's names.

    Spellings with the same key (`name_key`) are one player, shown in the most frequent of them. With `matching` full, a
    name without a comma joins the only name with a comma that has its words. The alias file comes first. `ids` are
    White's and Black's, numbers in the texts that follow (see `join_ids`). `status` and `years`, shape (records,), tell
    which games the alias file gives to another, `times` for how many like it a record stands.
    """
    if times is None:
        counts = np.sum([counts_of(side, len(dictionary.values)) for side in written], axis=0)
    else:
        counts = sum(np.bincount(side, times, len(dictionary.values)) for side in written)
    groups = _Groups(dictionary, counts, matching, aliases)
    by_status = aliases.by_status if status is not None else {}
    by_years = aliases.by_years if years is not None else {}
    if ids is None and not by_status and not by_years:
        return _sorted(groups.names, groups.number, written)
    names, home = groups.names, np.arange(len(groups.names), dtype=np.int32)
    white, black = (groups.number[side] for side in written)
    if ids is not None:
        names, home, white, black = join_ids(names, white, black, *ids, times)
    for name, main, rows in _given_away(by_status, status, by_years, years):
        player, other = groups.find(name), groups.find(main)
        if player is not None and other is not None:
            for side in (white, black):
                side[rows & (side == home[player])] = home[other]
    sides = (np.where(side == NOBODY, len(names), side) for side in (white, black))
    return _sorted(names, np.append(np.arange(len(names)), NOBODY), (next(sides), next(sides)))


def _given_away(
    by_status: Mapping[tuple[str, str], str],
    status: Column[str] | None,
    by_years: Mapping[tuple[str, int, int], str],
    years: NDArray[np.signedinteger] | None,
) -> Iterator[tuple[str, str, Mask]]:
    """Names, whose the games of some records are instead, and which records those are."""
    if status is not None and by_status:
        words = np.array([fold(text) for text in status.values])
        for (name, word), main in by_status.items():
            yield name, main, np.isin(status.codes, np.flatnonzero(words == word))
    if years is not None:
        for (name, first, last), main in by_years.items():
            yield name, main, (years >= first) & (years <= last)


def unmatched(dictionary: NameDictionary, matching: NameMatching, aliases: Aliases) -> list[str]:
    """Spellings of an alias file, made for these games, that no name has, in the order of their lines."""
    if not aliases.lines:
        return []
    present = {*dictionary.cleaned, *name_keys(dictionary.cleaned, matching)}
    present |= {other for key in tuple(present) for other in comma_keys(key)} if matching == "full" else set()
    return [name for name in aliases.lines if name not in present and name_key(name, matching) not in present]


def spellings(
    values: Sequence[str], written: tuple[Codes, Codes], who: Identified
) -> tuple[tuple[str, str], ...]:
    """Each player with every other spelling that is his somewhere, sorted; `written` are numbers in `values`."""
    last = np.full(len(values), NOBODY, np.int64)
    sides = tuple(zip(written, (who.white, who.black), strict=True))
    for codes, players in sides:
        last[codes] = players
    pairs = set(enumerate(last.tolist()))
    for codes, players in sides:  # a spelling of several players
        rows = np.flatnonzero(last[codes] != players)
        pairs.update(zip(codes[rows].tolist(), players[rows].tolist(), strict=True))
    named = ((who.players[player], values[number]) for number, player in pairs if player != NOBODY)
    return tuple(sorted(pair for pair in named if pair[0] != pair[1]))


class _Groups:
    """Spellings of one name: `number`, shape (spellings,), tells the group of each, `names` those of the groups."""

    def __init__(
        self, dictionary: NameDictionary, counts: Places, matching: NameMatching, aliases: Aliases
    ) -> None:
        self._matching: NameMatching = matching
        self._aliases = aliases
        self._mains = {self._key(main): main for main in sorted(aliases.mains)}
        self._alias_keys = self._unambiguous()
        own = name_keys(dictionary.cleaned, matching)
        for number in np.flatnonzero(np.frombuffer(dictionary.reject_code, np.int8)).tolist():
            own[number] = ""
        keys = chain(own, self._mains, self._alias_keys) if matching == "full" else ()
        self._comma_keys = frozenset(key for key in keys if "," in key)
        resolved = self._all_resolved(dictionary.cleaned, own)
        self._numbers = {"": NOBODY}
        numbers = [self._numbers.setdefault(key, len(self._numbers) - 1) for key in resolved]
        for key in self._mains:
            self._numbers.setdefault(key, len(self._numbers) - 1)
        self.number = np.array(numbers, np.int32)
        titular = np.fromiter(map(eq, own, resolved), np.bool_, len(own))
        self.names = self._shown(
            dictionary.cleaned, counts.tolist(), np.where(titular, numbers, NOBODY).tolist()
        )

    def find(self, name: str) -> int | None:
        """The group of a name that the alias file mentions, None when nobody has it."""
        return self._numbers.get(self._resolved(name, self._key(name)))

    def _key(self, name: str) -> str:
        return name_key(name, self._matching)

    def _unambiguous(self) -> dict[str, str]:
        """Keys of synonyms, and the keys of the players they stand for where spellings of one key agree."""
        found: dict[str, set[str]] = {}
        for synonym, main in self._aliases.names.items():
            found.setdefault(self._key(synonym), set()).add(self._key(main))
        return {key: mains.pop() for key, mains in found.items() if len(mains) == 1}

    def _all_resolved(self, names: Sequence[str], own: list[str]) -> list[str]:
        """`_resolved` of all names and their keys; a name that would stand for nobody else stands for itself."""
        if not self._aliases.names and not self._comma_keys:
            return own
        resolved = [key and self._resolved(name, key) for name, key in zip(names, own, strict=True)]
        players = {*compress(own, map(eq, own, resolved)), *self._mains}
        return [target if target in players else key for key, target in zip(own, resolved, strict=True)]

    def _resolved(self, name: str, key: str) -> str:
        """The key of the player that a spelling stands for."""
        if name in self._aliases.names:
            return self._key(self._aliases.names[name])
        if self._comma_keys and key not in self._alias_keys and "," not in key:
            targets = {
                self._alias_keys.get(other, other) for other in comma_keys(key) if other in self._comma_keys
            }
            if len(targets) == 1:
                return targets.pop()
        return self._alias_keys.get(key, key)

    def _shown(self, names: Sequence[str], counts: Sequence[int], groups: Sequence[int]) -> list[str]:
        """How groups are shown: as in the alias file, else in the most frequent of the names that have their keys.

        `groups` are those of such names, -1 of others.
        """
        best, most = [""] * (len(self._numbers) - 1), [-1] * (len(self._numbers) - 1)
        for name, count, group in zip(names, counts, groups, strict=True):
            if group == NOBODY or count < most[group] or (count == most[group] and name < best[group]):
                continue
            best[group], most[group] = name, count
        for key, main in self._mains.items():
            best[self._numbers[key]] = main
        return best


def _sorted(names: Sequence[str], group: NDArray[np.integer], sides: tuple[Codes, Codes]) -> Identified:
    """The players who occur, sorted, and their numbers; of `sides` each entry stands for the name `group[entry]`."""
    present = np.zeros(len(names) + 1, np.bool_)
    for side in sides:
        present[group[np.flatnonzero(counts_of(side, len(group)))]] = True
    ranked = sorted(np.flatnonzero(present[:-1]).tolist(), key=names.__getitem__)
    # The last stands for nobody.
    number = np.full(len(names) + 1, NOBODY, np.min_scalar_type(-len(ranked) - 1))
    number[ranked] = np.arange(len(ranked))
    white, black = (spread(number[group], side) for side in sides)
    return Identified(tuple(map(names.__getitem__, ranked)), white, black)


def join_ids(
    names: Sequence[str],
    white: Ids,
    black: Ids,
    white_id: Codes,
    black_id: Codes,
    texts: Sequence[str],
    times: Places | None = None,
) -> tuple[list[str], Ids, Ids, Ids]:
    """Number players by their ids.

    `white` and `black`, shape (records,), are numbers in `names` (-1: nobody); `white_id` and `black_id` those of their
    ids in `texts`. Each id is one player, shown by the most frequent of its names, and the id where others have it too;
    a record without an id belongs to the only id that goes with its name, else to a player of that name alone. Returns
    the names of all players, the player of each name's records without an id, and the players of White and Black.
    """
    valid = [text.casefold() not in _NO_ID for text in texts]
    number = np.where(valid, np.cumsum(valid) - 1, -1).astype(np.int64)
    ids = [text for text, good in zip(texts, valid, strict=True) if good]
    sides = [(white, number[white_id]), (black, number[black_id])]
    name, id_, count = _pairs(sides, len(ids), times)
    home = np.arange(len(names), dtype=np.int32)
    single = np.bincount(name, minlength=len(names))[name] == 1
    home[name[single]] = len(names) + id_[single]
    joined = [
        np.where((ids_of >= 0) & (side >= 0), len(names) + ids_of, np.append(home, -1)[side]).astype(np.int32)
        for side, ids_of in sides
    ]
    best = [(-1, "")] * len(ids)
    for one, which, often in zip(name.tolist(), id_.tolist(), count.tolist(), strict=True):
        best[which] = max(best[which], (often, names[one]))
    shown = _distinct(list(names), [text for _, text in best], ids, (home == np.arange(len(names))).tolist())
    return shown, home, joined[0], joined[1]


def _pairs(
    sides: list[tuple[Ids, Places]], n_ids: int, times: Places | None
) -> tuple[Places, Places, Places]:
    """Names that go with ids: the number of the name, of the id, and how often they do."""
    keys, counts = [], []
    for side, ids in sides:
        known = (side >= 0) & (ids >= 0)
        key = (side.astype(np.int64) * n_ids + ids)[known]
        distinct, place = np.unique(key, return_inverse=True)
        keys.append(distinct)
        counts.append(np.bincount(place, None if times is None else times[known], len(distinct)))
    both, place = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.bincount(place, np.concatenate(counts), minlength=len(both)).astype(np.int64)
    return both // max(n_ids, 1), both % max(n_ids, 1), total


def _distinct(names: list[str], of_ids: list[str], ids: Sequence[str], plain: Sequence[bool]) -> list[str]:
    """All names, with ids behind those that more than one player has; `plain` names are players without an id."""
    taken: dict[str, int] = {}
    for text in (*(name for name, own in zip(names, plain, strict=True) if own), *of_ids):
        taken[text] = taken.get(text, 0) + 1
    return names + [
        f"{name} ({ids[number]})" if taken[name] > 1 else name for number, name in enumerate(of_ids)
    ]
