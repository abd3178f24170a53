"""Identify players: unite the names of all files by spelling, alias file and FIDE id."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain, compress
from operator import eq
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import NameMatching
from ttt_cli.games.aliases import Aliases
from ttt_cli.games.names import comma_keys, name_key, name_keys
from ttt_cli.games.validate import NameDictionary
from ttt_cli.reading.batches import pairs_in
from ttt_cli.reading.columns import Codes, counts_of, narrow, spread
from ttt_cli.support.arrays import Ids, Mask, Places
from ttt_cli.support.folding import fold

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
) -> tuple[Mentions, list[Codes]]:
    """The distinct mentions in some records, and the numbers of White's and Black's mention, each (records,).

    Numbers of `names` are less than `n_names`. `ids`, `status` and `years` (from 0) are None where they are unused.
    Mentions are numbered from `first`.
    """
    further = (ids, *(None if column is None else (column, column) for column in (status, years)))
    distinct: list[Codes] = [np.arange(n_names)]
    numbers: list[Codes] = list(names)
    for column in further:
        if column is None:
            distinct.append(np.zeros_like(distinct[0]))
            continue
        kinds = 1 + max(int(side.max(initial=0)) for side in column)
        both = np.concatenate(numbers), np.concatenate(column)
        present, joint = pairs_in(*both, len(distinct[0]), kinds)
        distinct = [*(known[present // kinds] for known in distinct), present % kinds]
        numbers = np.split(joint, 2)
    times = np.sum([counts_of(side, len(distinct[0])) for side in numbers], axis=0)
    place = narrow(first + np.maximum(np.cumsum(times > 0) - 1, 0))
    mentions = Mentions(*(column[times > 0] for column in (*distinct, times)))
    return mentions, [spread(place, side) for side in numbers]


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
    names, player = groups.names, groups.number[mentions.name]
    home = np.arange(len(names))
    if mentions.id.any():
        names, home, player = join_ids(names, player, mentions, ids)
    words = np.array([fold(text) for text in statuses] if aliases.by_status else [], np.str_)
    limited: list[tuple[str, str, Mask]] = [
        (name, main, np.isin(mentions.status, np.flatnonzero(words == word)))
        for (name, word), main in aliases.by_status.items()
    ]
    limited += [
        (name, main, (mentions.year >= first) & (mentions.year <= last))
        for (name, first, last), main in aliases.by_years.items()
    ]
    for name, main, rows in limited:
        one, other = groups.find(name), groups.find(main)
        if one is not None and other is not None:
            player[rows & (player == home[one])] = home[other]
    present = np.unique(player[player != NOBODY]).tolist()
    ranked = sorted(present, key=names.__getitem__)
    number = np.full(
        len(names) + 1, NOBODY, np.min_scalar_type(-len(ranked) - 1)
    )  # the last one is of nobody
    number[ranked] = np.arange(len(ranked))
    players, number = tuple(map(names.__getitem__, ranked)), number[player]
    named = zip(number.tolist(), mentions.name.tolist(), strict=True)
    pairs = {(players[one], dictionary.values[name]) for one, name in named if one != NOBODY}
    return Identified(players, number, tuple(sorted(pair for pair in pairs if pair[0] != pair[1])))


def unmatched(dictionary: NameDictionary, matching: NameMatching, aliases: Aliases) -> list[str]:
    """Spellings of an alias file that do not occur in the games, in the order of their lines."""
    if not aliases.lines:
        return []
    present = {*dictionary.cleaned, *name_keys(dictionary.cleaned, matching)}
    present |= {other for key in tuple(present) for other in comma_keys(key)} if matching == "full" else set()
    return [name for name in aliases.lines if name not in present and name_key(name, matching) not in present]


class _NameGroups:
    """Spellings grouped by name: `number`, shape (spellings,), is the group of each, `names` are those of the
    groups.
    """

    def __init__(
        self, dictionary: NameDictionary, counts: Places, matching: NameMatching, aliases: Aliases
    ) -> None:
        self._matching: NameMatching = matching
        self._aliases = aliases
        self._mains = {self._key(main): main for main in sorted(aliases.mains)}
        found: dict[str, set[str]] = {}
        for synonym, main in aliases.names.items():
            found.setdefault(self._key(synonym), set()).add(self._key(main))
        # of synonyms, where all spellings of a key agree
        self._alias_keys = {key: mains.pop() for key, mains in found.items() if len(mains) == 1}
        own = name_keys(dictionary.cleaned, matching)
        for number in np.flatnonzero(np.frombuffer(dictionary.reject_code, np.int8)).tolist():
            own[number] = ""
        keys = chain(own, self._mains, self._alias_keys) if matching == "full" else ()
        self._comma_keys = frozenset(key for key in keys if "," in key)
        resolved = own
        if aliases.names or self._comma_keys:  # a name keeps its own key if no player has the resolved one
            named = zip(dictionary.cleaned, own, strict=True)
            targets = [key and self._resolved(name, key) for name, key in named]
            players = {*compress(own, map(eq, own, targets)), *self._mains}
            resolved = [new if new in players else key for key, new in zip(own, targets, strict=True)]
        self._numbers = {"": NOBODY}
        numbers = [self._numbers.setdefault(key, len(self._numbers) - 1) for key in resolved]
        for key in self._mains:
            self._numbers.setdefault(key, len(self._numbers) - 1)
        self.number = np.array(numbers, np.int32)
        # shown as in the alias file, else by the most frequent name with the group's key
        self.names, most = [""] * (len(self._numbers) - 1), [-1] * (len(self._numbers) - 1)
        of_group = zip(dictionary.cleaned, counts.tolist(), numbers, map(eq, own, resolved), strict=True)
        for name, count, group, titular in of_group:
            if titular and group != NOBODY and (count, name) >= (most[group], self.names[group]):
                self.names[group], most[group] = name, count
        for key, main in self._mains.items():
            self.names[self._numbers[key]] = main

    def find(self, name: str) -> int | None:
        """The group of a name in the alias file, None when nobody has it."""
        return self._numbers.get(self._resolved(name, self._key(name)))

    def _key(self, name: str) -> str:
        return name_key(name, self._matching)

    def _resolved(self, name: str, key: str) -> str:
        """The key of the player of a spelling."""
        if name in self._aliases.names:
            return self._key(self._aliases.names[name])
        if self._comma_keys and key not in self._alias_keys and "," not in key:
            targets = {
                self._alias_keys.get(other, other) for other in comma_keys(key) if other in self._comma_keys
            }
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
    name, number = pairs // max(len(ids), 1), pairs % max(len(ids), 1)
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
