"""Who is who: mentions in records united to players, by the spelling of names, by an alias file and by FIDE id."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import NameMatching
from ttt_cli.games.aliases import Aliases
from ttt_cli.games.dictionaries import NameDictionary
from ttt_cli.games.names import comma_keys, name_key, name_keys
from ttt_cli.reading.batches import pairs_in
from ttt_cli.reading.columns import Codes, Dictionary, counts_of, narrow, spread
from ttt_cli.support.arrays import Ids, Mask, Places
from ttt_cli.support.folding import fold

NOBODY: Final = -1
_NO_ID: Final = frozenset({"", "0", "-", "?", "none", "null", "n/a"})


class Mentions(NamedTuple):
    """Distinct combinations of name, id, status and year that refer to a player; arrays of shape (mentions,).

    `name`, `id` and `status` are numbers in dictionaries. Unused ids, statuses and years are 0.
    """

    name: Codes
    id: Codes
    status: Codes
    year: Codes
    times: Codes  # how often each occurs


class SideColumns(NamedTuple):
    """A column of White and one of Black, (records,)."""

    white: Codes
    black: Codes


class FoundMentions(NamedTuple):
    """The distinct mentions in some records, and the number of White's and of Black's mention in each record."""

    mentions: Mentions
    sides: SideColumns


def find_mentions(
    names: SideColumns,
    n_names: int,
    *,
    ids: SideColumns | None = None,
    status: Codes | None = None,
    years: Codes | None = None,
    first: int = 0,
) -> FoundMentions:
    """Find the distinct mentions in some records, and number them from `first`.

    Numbers of `names` are less than `n_names`. `ids`, `status` and `years` (from 0) are None where they are unused.
    """
    name = np.arange(n_names)
    unused = np.zeros(n_names, np.int64)
    mentions = Mentions(name, unused, unused, unused, unused)
    sides = names
    if ids is not None:
        combined = _combine(sides, len(mentions.name), np.concatenate(ids))
        mentions = _rows_of(mentions, combined.mention)._replace(id=combined.value)
        sides = combined.sides
    if status is not None:
        combined = _combine(sides, len(mentions.name), np.tile(status, 2))
        mentions = _rows_of(mentions, combined.mention)._replace(status=combined.value)
        sides = combined.sides
    if years is not None:
        combined = _combine(sides, len(mentions.name), np.tile(years, 2))
        mentions = _rows_of(mentions, combined.mention)._replace(year=combined.value)
        sides = combined.sides
    n_mentions = len(mentions.name)
    times = np.add(counts_of(sides.white, n_mentions), counts_of(sides.black, n_mentions))
    occurs = times > 0
    number = narrow(first + np.maximum(np.cumsum(occurs) - 1, 0))
    return FoundMentions(
        _rows_of(mentions._replace(times=times), occurs),
        SideColumns(spread(number, sides.white), spread(number, sides.black)),
    )


class _Combined(NamedTuple):
    """Distinct pairs of a mention and a value, and the number of the pair of each side of each record."""

    mention: Codes  # (pairs,)
    value: Codes  # (pairs,)
    sides: SideColumns


def _combine(sides: SideColumns, n_mentions: int, values: Codes) -> _Combined:
    """Combine mentions with `values` (2 records,), those of White, then those of Black."""
    n_values = 1 + int(values.max(initial=0))
    pairs, pair = pairs_in(np.concatenate(sides), values, n_mentions, n_values)
    white, black = np.split(pair, 2)
    return _Combined(pairs // n_values, pairs % n_values, SideColumns(white, black))


def _rows_of(mentions: Mentions, rows: Codes | Mask) -> Mentions:
    return Mentions(
        mentions.name[rows],
        mentions.id[rows],
        mentions.status[rows],
        mentions.year[rows],
        mentions.times[rows],
    )


def all_mentions(parts: Iterable[Mentions]) -> Mentions:
    """The mentions of all parts, one after the other."""
    parts = [Mentions(*np.zeros((5, 0), np.int64)), *parts]
    return Mentions(
        np.concatenate([part.name for part in parts]),
        np.concatenate([part.id for part in parts]),
        np.concatenate([part.status for part in parts]),
        np.concatenate([part.year for part in parts]),
        np.concatenate([part.times for part in parts]),
    )


class Identified(NamedTuple):
    """Who is who."""

    players: tuple[str, ...]  # sorted and unique
    player: NDArray[np.signedinteger]  # (mentions,), indices of `players`; -1: nobody
    spellings: tuple[tuple[str, str], ...]  # sorted pairs of a player and another spelling


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
    groups = group_names(dictionary, counts, matching, aliases)
    group_of_mention = groups.number[mentions.name]
    if mentions.id.any():
        people = join_ids(groups.names, group_of_mention, mentions, ids)
    else:
        people = NumberedPeople(groups.names, np.arange(len(groups.names)), group_of_mention)
    for line in _limited_lines(mentions, aliases, statuses):
        group = groups.find(line.synonym)
        main_group = groups.find(line.main)
        if group is not None and main_group is not None:
            applies = line.mentions & (people.of_mention == people.of_group[group])
            of_mention = np.where(applies, people.of_group[main_group], people.of_mention)
            people = people._replace(of_mention=of_mention)
    return _sort_players(dictionary, mentions, people)


class _LimitedLine(NamedTuple):
    """A line of an alias file that applies to some mentions only."""

    synonym: str
    main: str
    mentions: Mask  # (mentions,)


def _limited_lines(mentions: Mentions, aliases: Aliases, statuses: Sequence[str]) -> list[_LimitedLine]:
    """The lines with a status, then those with years."""
    lines = []
    folded = np.array([fold(status) for status in statuses] if aliases.by_status else [], np.str_)
    for (name, status), main in aliases.by_status.items():
        has_status = np.isin(mentions.status, np.flatnonzero(folded == status))
        lines.append(_LimitedLine(name, main, has_status))
    for (name, first, last), main in aliases.by_years.items():
        in_years = (mentions.year >= first) & (mentions.year <= last)
        lines.append(_LimitedLine(name, main, in_years))
    return lines


def _sort_players(dictionary: NameDictionary, mentions: Mentions, people: "NumberedPeople") -> Identified:
    """Number the people who are mentioned by name."""
    mentioned = np.unique(people.of_mention[people.of_mention != NOBODY]).tolist()
    mentioned.sort(key=lambda number: people.names[number])
    # the last one is of nobody
    player_of_person = np.full(len(people.names) + 1, NOBODY, np.min_scalar_type(-len(mentioned) - 1))
    player_of_person[mentioned] = np.arange(len(mentioned))
    players = tuple(people.names[number] for number in mentioned)
    player = player_of_person[people.of_mention]
    spellings = set()
    for number, name in zip(player.tolist(), mentions.name.tolist(), strict=True):
        if number != NOBODY and players[number] != dictionary.values[name]:
            spellings.add((players[number], dictionary.values[name]))
    return Identified(players, player, tuple(sorted(spellings)))


def unmatched(dictionary: NameDictionary, matching: NameMatching, aliases: Aliases) -> list[str]:
    """Spellings of an alias file that do not occur in the games, in the order of their lines."""
    if not aliases.lines:
        return []
    present = {*dictionary.cleaned, *name_keys(dictionary.cleaned, matching)}
    if matching == "full":
        present.update([comma_key for key in present for comma_key in comma_keys(key)])
    return [name for name in aliases.lines if name not in present and name_key(name, matching) not in present]


@dataclass(frozen=True)
class _Keys:
    """Keys of names, and whose they are."""

    matching: NameMatching
    aliases: Aliases
    mains: Mapping[str, str]  # names of players in the alias file, by key
    of_synonyms: Mapping[str, str]  # key of the player, by the key of a synonym whose spellings all agree
    with_comma: frozenset[str]  # of all names, where a name without a comma may be one with a comma

    def key(self, name: str) -> str:
        """The key of a name (see `name_key`)."""
        return name_key(name, self.matching)

    def of_player(self, name: str, key: str) -> str:
        """The key of the player of a spelling with this key, empty for nobody."""
        if key and name in self.aliases.names:
            return self.key(self.aliases.names[name])
        if self.with_comma and key not in self.of_synonyms and "," not in key:
            meant = self.with_comma.intersection(comma_keys(key))
            players = {self.of_synonyms.get(meant_key, meant_key) for meant_key in meant}
            if len(players) == 1:
                return players.pop()
        return self.of_synonyms.get(key, key)


def _find_keys(own_keys: Sequence[str], matching: NameMatching, aliases: Aliases) -> _Keys:
    """Keys of the names in the alias file; `own_keys` are those of the names in the games."""
    mains = {name_key(main, matching): main for main in sorted(aliases.mains)}
    of_synonyms: dict[str, str] = {}
    ambiguous: set[str] = set()
    for synonym, main in aliases.names.items():
        key = name_key(synonym, matching)
        key_of_main = name_key(main, matching)
        if of_synonyms.setdefault(key, key_of_main) != key_of_main:
            ambiguous.add(key)
    for key in ambiguous:
        del of_synonyms[key]
    with_comma: frozenset[str] = frozenset()
    if matching == "full":
        with_comma = frozenset(key for key in (*own_keys, *mains, *of_synonyms) if "," in key)
    return _Keys(matching, aliases, mains, of_synonyms, with_comma)


@dataclass(frozen=True)
class NameGroups:
    """Spellings grouped by name."""

    number: Ids  # (spellings,), the group of each, NOBODY where it names nobody
    names: list[str]  # of the groups
    _keys: _Keys
    _number_of_key: Mapping[str, int]

    def find(self, name: str) -> int | None:
        """The group of a name in the alias file, None when nobody has it."""
        return self._number_of_key.get(self._keys.of_player(name, self._keys.key(name)))


def group_names(
    dictionary: NameDictionary, counts: Places, matching: NameMatching, aliases: Aliases
) -> NameGroups:
    """Group spellings by their keys and the alias file; `counts` (spellings,) is how often each occurs.

    A group is shown as in the alias file, else by the most frequent spelling with its key.
    """
    own_keys = name_keys(dictionary.cleaned, matching)
    for spelling in np.flatnonzero(np.frombuffer(dictionary.reject_code, np.int8)).tolist():
        own_keys[spelling] = ""
    keys = _find_keys(own_keys, matching, aliases)
    player_keys = _player_keys(dictionary.cleaned, own_keys, keys)
    key_numbers = Dictionary("")  # the first is nobody's, whose number is -1
    number = key_numbers.ids(player_keys) + np.int32(NOBODY)
    key_numbers.ids(keys.mains)
    number_of_key = {key: index + NOBODY for index, key in enumerate(key_numbers.values)}
    names = [""] * (len(number_of_key) - 1)
    most = [-1] * len(names)
    has_own_key = [key == own_key for key, own_key in zip(player_keys, own_keys, strict=True)]
    spellings = zip(dictionary.cleaned, counts.tolist(), number.tolist(), has_own_key, strict=True)
    for name, count, group, may_be_shown in spellings:
        if may_be_shown and group != NOBODY and (count, name) >= (most[group], names[group]):
            names[group] = name
            most[group] = count
    for key, main in keys.mains.items():
        names[number_of_key[key]] = main
    return NameGroups(number, names, keys, number_of_key)


def _player_keys(names: Sequence[str], own_keys: list[str], keys: _Keys) -> list[str]:
    """The key of each name's player; a name keeps its own key if no player has the other one."""
    if not keys.aliases.names and not keys.with_comma:
        return own_keys
    player_keys = [keys.of_player(name, key) for name, key in zip(names, own_keys, strict=True)]
    of_players = {key for key, own_key in zip(player_keys, own_keys, strict=True) if key == own_key}
    of_players.update(keys.mains)
    return [key if key in of_players else own_key for key, own_key in zip(player_keys, own_keys, strict=True)]


class NumberedPeople(NamedTuple):
    """People, some of whom have an id."""

    names: list[str]
    of_group: Places  # (groups,), the person of each group of spellings, where there is no id
    of_mention: Ids  # (mentions,), NOBODY where nobody is named


def join_ids(names: list[str], group: Ids, mentions: Mentions, ids: Sequence[str]) -> NumberedPeople:
    """Number people by their ids; `group` (mentions,) are numbers in `names`, the names of groups (-1: nobody).

    Each id is one person, shown by its most frequent name; the id is added where several people share that name. A
    mention without an id belongs to the id of its name if there is only one, else to a separate person.
    """
    is_id = [text.casefold() not in _NO_ID for text in ids]
    id_of_mention = np.where(is_id, np.cumsum(is_id) - 1, -1)[mentions.id]
    ids = [text for text, valid in zip(ids, is_id, strict=True) if valid]
    has_id = (group >= 0) & (id_of_mention >= 0)
    pair_numbers = group[has_id] * np.int64(len(ids)) + id_of_mention[has_id]
    pairs, pair = np.unique(pair_numbers, return_inverse=True)
    times = np.bincount(pair, mentions.times[has_id], len(pairs)).astype(np.int64)
    group_of_pair = pairs // max(len(ids), 1)
    id_of_pair = pairs % max(len(ids), 1)
    of_group = np.arange(len(names))
    has_one_id = np.bincount(group_of_pair, minlength=len(names))[group_of_pair] == 1
    of_group[group_of_pair[has_one_id]] = len(names) + id_of_pair[has_one_id]
    most_frequent = [(-1, "")] * len(ids)
    for name, number, count in zip(group_of_pair.tolist(), id_of_pair.tolist(), times.tolist(), strict=True):
        most_frequent[number] = max(most_frequent[number], (count, names[name]))
    n_people = Counter(name for _, name in most_frequent)
    without_id = np.flatnonzero(of_group == np.arange(len(names))).tolist()
    n_people.update(names[number] for number in without_id)
    names_of_ids = [
        f"{name} ({ids[number]})" if n_people[name] > 1 else name
        for number, (_, name) in enumerate(most_frequent)
    ]
    by_name = np.append(of_group, NOBODY)[group]
    of_mention = np.where(has_id, len(names) + id_of_mention, by_name)
    return NumberedPeople([*names, *names_of_ids], of_group, of_mention)
