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
    values_by_field: dict[str, Codes] = {}  # of White, then of Black, (2 records,)
    if ids is not None:
        values_by_field["id"] = np.concatenate(ids)
    if status is not None:
        values_by_field["status"] = np.tile(status, 2)
    if years is not None:
        values_by_field["year"] = np.tile(years, 2)
    for field, values in values_by_field.items():
        split = _split_by_value(sides, len(mentions.name), values)
        mentions = _mentions_at(mentions, split.mention)._replace(**{field: split.value})
        sides = split.sides
    n_mentions = len(mentions.name)
    times = np.add(counts_of(sides.white, n_mentions), counts_of(sides.black, n_mentions))
    occurs = times > 0
    # mentions that do not occur get numbers, too, which nobody uses: not -1, since `narrow` takes none below 0
    number = narrow(first + np.maximum(np.cumsum(occurs) - 1, 0))
    return FoundMentions(
        _mentions_at(mentions._replace(times=times), occurs),
        SideColumns(spread(number, sides.white), spread(number, sides.black)),
    )


class _SplitMentions(NamedTuple):
    """Distinct pairs of a mention and a value, which are mentions of their own, and their number in each record."""

    mention: Codes  # (pairs,)
    value: Codes  # (pairs,)
    sides: SideColumns  # numbers of pairs


def _split_by_value(sides: SideColumns, n_mentions: int, values: Codes) -> _SplitMentions:
    """Split mentions by the values that occur with them; `values` (2 records,): those of White, then those of Black."""
    n_values = 1 + int(values.max(initial=0))
    pairs, pair_of_side = pairs_in(np.concatenate(sides), values, n_mentions, n_values)
    pair_of_white, pair_of_black = np.split(pair_of_side, 2)
    mention, value = np.divmod(pairs, n_values)
    return _SplitMentions(mention, value, SideColumns(pair_of_white, pair_of_black))


def _mentions_at(mentions: Mentions, rows: Codes | Mask) -> Mentions:
    """The mentions of some rows, by indices or a mask."""
    return Mentions(*[column[rows] for column in mentions])


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
    group_of_mention = groups.of_spelling[mentions.name]
    if mentions.id.any():
        people = join_ids(groups.names, group_of_mention, mentions, ids)
    else:
        people = NumberedPeople(groups.names, np.arange(len(groups.names)), group_of_mention)
    person_of_mention = _apply_limited_lines(
        _limited_lines(mentions, aliases, statuses), groups, people
    )
    return _sort_players(dictionary, mentions, people.names, person_of_mention)


class _LimitedLine(NamedTuple):
    """A line of an alias file that applies to some mentions only."""

    synonym: str
    main: str
    mentions: Mask  # (mentions,)


def _limited_lines(
    mentions: Mentions, aliases: Aliases, statuses: Sequence[str]
) -> list[_LimitedLine]:
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


def _apply_limited_lines(
    lines: Sequence[_LimitedLine], groups: "NameGroups", people: "NumberedPeople"
) -> Ids:
    """The person of each mention, (mentions,), after one line of the alias file has been applied after the other."""
    person_of_mention = people.of_mention
    for line in lines:
        group = groups.find(line.synonym)
        main_group = groups.find(line.main)
        if group is not None and main_group is not None:
            applies = line.mentions & (person_of_mention == people.of_group[group])
            person_of_mention = np.where(applies, people.of_group[main_group], person_of_mention)
    return person_of_mention


def _sort_players(
    dictionary: NameDictionary, mentions: Mentions, names: Sequence[str], person_of_mention: Ids
) -> Identified:
    """Number the people who are mentioned by their names, (people,): the players."""
    mentioned = np.unique(person_of_mention[person_of_mention != NOBODY]).tolist()
    mentioned.sort(key=lambda person: names[person])
    # NOBODY, -1, selects the last entry, which is one more than there are people
    player_of_person = np.full(len(names) + 1, NOBODY, np.min_scalar_type(-len(mentioned) - 1))
    player_of_person[mentioned] = np.arange(len(mentioned))
    players = tuple(names[person] for person in mentioned)
    player_of_mention = player_of_person[person_of_mention]
    spellings = set()
    for player, spelling in zip(player_of_mention.tolist(), mentions.name.tolist(), strict=True):
        if player != NOBODY and players[player] != dictionary.values[spelling]:
            spellings.add((players[player], dictionary.values[spelling]))
    return Identified(players, player_of_mention, tuple(sorted(spellings)))


def unmatched(dictionary: NameDictionary, matching: NameMatching, aliases: Aliases) -> list[str]:
    """Spellings of an alias file that do not occur in the games, in the order of their lines."""
    if not aliases.lines:
        return []
    present = {*dictionary.cleaned, *name_keys(dictionary.cleaned, matching)}
    if matching == "full":
        present.update([comma_key for key in present for comma_key in comma_keys(key)])
    return [
        name
        for name in aliases.lines
        if name not in present and name_key(name, matching) not in present
    ]


@dataclass(frozen=True)
class _Keys:
    """Keys of names, and whose they are.

    | name | |
    |---|---|
    | mains | main names of the alias file, by their keys |
    | of_synonyms | keys of main names, by the keys of synonyms; without keys of synonyms of several players |
    | with_comma | all keys that have a comma; empty unless matching is full |
    """

    matching: NameMatching
    aliases: Aliases
    mains: Mapping[str, str]
    of_synonyms: Mapping[str, str]
    with_comma: frozenset[str]

    def key(self, name: str) -> str:
        """The key of a name (see `name_key`)."""
        return name_key(name, self.matching)

    def key_of_player(self, name: str, key: str) -> str:
        """The key of the player whose spelling is `name`, with this key of its own; empty for nobody.

        A name without a comma is that of a player with a comma, `First Last` that of `Last, First`, if only one fits.
        """
        if key and name in self.aliases.names:
            return self.key(self.aliases.names[name])
        if self.with_comma and key not in self.of_synonyms and "," not in key:
            comma_candidates = self.with_comma.intersection(comma_keys(key))
            players = {self.of_synonyms.get(candidate, candidate) for candidate in comma_candidates}
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

    of_spelling: Ids  # (spellings,), the group of each, NOBODY where it names nobody
    names: list[str]  # (groups,)
    _keys: _Keys
    _group_of_key: Mapping[str, int]

    def find(self, name: str) -> int | None:
        """The group of a name in the alias file, None when nobody has it."""
        return self._group_of_key.get(self._keys.key_of_player(name, self._keys.key(name)))


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
    numbered = _number_groups(player_keys, keys.mains)
    names = [""] * numbered.n_groups
    most = [-1] * numbered.n_groups
    has_own_key = [key == own_key for key, own_key in zip(player_keys, own_keys, strict=True)]
    spellings = zip(
        dictionary.cleaned, counts.tolist(), numbered.of_spelling.tolist(), has_own_key, strict=True
    )
    for name, count, group, may_be_shown in spellings:
        if may_be_shown and group != NOBODY and (count, name) >= (most[group], names[group]):
            names[group] = name
            most[group] = count
    for key, main in keys.mains.items():
        names[numbered.of_key[key]] = main
    return NameGroups(numbered.of_spelling, names, keys, numbered.of_key)


class _NumberedGroups(NamedTuple):
    """Groups of spellings, numbered by their keys."""

    of_spelling: Ids  # (spellings,), the group of each, NOBODY where the key is empty
    of_key: Mapping[str, int]  # the group of each key, the empty one is NOBODY's

    @property
    def n_groups(self) -> int:
        """The number of keys that are not empty."""
        return len(self.of_key) - 1


def _number_groups(player_keys: Sequence[str], main_keys: Iterable[str]) -> _NumberedGroups:
    """Number the keys of players, (spellings,), in the order of their first spellings, then those of the alias file."""
    keys = Dictionary("")
    number_of_spelling = keys.numbers_of(player_keys)
    keys.numbers_of(main_keys)
    # the number 0 is of the empty key, whose group is NOBODY, -1
    group_of_key = {key: number - 1 for number, key in enumerate(keys.values)}
    return _NumberedGroups(number_of_spelling - np.int32(1), group_of_key)


def _player_keys(names: Sequence[str], own_keys: list[str], keys: _Keys) -> list[str]:
    """The key of each name's player: its own key, or one to which it is redirected (`_Keys.key_of_player`).

    A redirect is followed where it ends at somebody: the key is that of a main name in the alias file, or a name has
    this key of its own and is not redirected itself. So where A leads to B, and all names of B lead on to C, A keeps
    its own key.
    """
    if not keys.aliases.names and not keys.with_comma:
        return own_keys
    redirected_keys = [
        keys.key_of_player(name, key) for name, key in zip(names, own_keys, strict=True)
    ]
    targets = set(keys.mains)
    for redirected_key, own_key in zip(redirected_keys, own_keys, strict=True):
        if redirected_key == own_key:
            targets.add(own_key)
    return [
        redirected_key if redirected_key in targets else own_key
        for redirected_key, own_key in zip(redirected_keys, own_keys, strict=True)
    ]


class NumberedPeople(NamedTuple):
    """People: first the groups of spellings, in their order, then the ids, so that person = number of groups + id.

    A group that is joined to an id leaves its own person number unused.
    """

    names: list[str]  # (people,)
    of_group: Places  # (groups,), the person of the mentions of each group that have no id
    of_mention: Ids  # (mentions,), NOBODY where nobody is named


def join_ids(
    names_of_groups: Sequence[str],
    group_of_mention: Ids,
    mentions: Mentions,
    id_texts: Sequence[str],
) -> NumberedPeople:
    """Number people by their ids; `group_of_mention` (mentions,) is NOBODY where nobody is named.

    Each id is one person, shown by its most frequent name; the id is added where several people share that name. A
    mention without an id belongs to the id of its group if there is only one, else to a separate person. Numbers of
    `mentions.id` are indices of `id_texts`, some of which say that there is no id.
    """
    is_id = np.array([text.casefold() not in _NO_ID for text in id_texts], np.bool_)
    ids = [text for text, valid in zip(id_texts, is_id.tolist(), strict=True) if valid]
    id_of_text = np.where(is_id, np.cumsum(is_id) - 1, -1)
    id_of_mention = id_of_text[mentions.id]
    has_id = (group_of_mention != NOBODY) & (id_of_mention >= 0)
    pairs = _groups_with_ids(
        group_of_mention[has_id], id_of_mention[has_id], mentions.times[has_id], len(ids)
    )
    n_groups = len(names_of_groups)
    person_of_group = np.arange(n_groups)
    n_ids_of_group = np.bincount(pairs.group, minlength=n_groups)
    group_has_one_id = n_ids_of_group[pairs.group] == 1
    person_of_group[pairs.group[group_has_one_id]] = n_groups + pairs.id[group_has_one_id]
    separate_groups = np.flatnonzero(person_of_group == np.arange(n_groups))
    names_of_separate = [names_of_groups[group] for group in separate_groups.tolist()]
    names_of_ids = _names_of_ids(names_of_groups, ids, pairs, names_of_separate)
    # NOBODY, -1, selects the last entry
    person_without_id = np.append(person_of_group, NOBODY)[group_of_mention]
    person_of_mention = np.where(has_id, n_groups + id_of_mention, person_without_id)
    return NumberedPeople([*names_of_groups, *names_of_ids], person_of_group, person_of_mention)


class _GroupsWithIds(NamedTuple):
    """Distinct pairs of a group and an id that occur together, (pairs,) each, sorted."""

    group: Places
    id: Places
    times: Places  # how often they occur


def _groups_with_ids(group: Ids, person_id: Places, times: Codes, n_ids: int) -> _GroupsWithIds:
    """The distinct pairs in mentions that have both; `times` (mentions,) is how often each occurs."""
    pair_numbers = group * np.int64(n_ids) + person_id
    pairs, pair_of_mention = np.unique(pair_numbers, return_inverse=True)
    times_of_pair = np.bincount(pair_of_mention, times, len(pairs)).astype(np.int64)
    group_of_pair, id_of_pair = np.divmod(pairs, max(n_ids, 1))
    return _GroupsWithIds(group_of_pair, id_of_pair, times_of_pair)


def _names_of_ids(
    names_of_groups: Sequence[str],
    ids: Sequence[str],
    pairs: _GroupsWithIds,
    names_of_separate: Sequence[str],
) -> list[str]:
    """The most frequent name of each id, with the id where other people, also those without an id, have that name."""
    most_frequent = [(-1, "")] * len(ids)  # times and name
    for group, person_id, times in zip(
        pairs.group.tolist(), pairs.id.tolist(), pairs.times.tolist(), strict=True
    ):
        most_frequent[person_id] = max(most_frequent[person_id], (times, names_of_groups[group]))
    names = [name for _, name in most_frequent]
    n_people = Counter([*names, *names_of_separate])
    return [
        f"{name} ({id_text})" if n_people[name] > 1 else name
        for name, id_text in zip(names, ids, strict=True)
    ]
