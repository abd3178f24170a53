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
from ttt_cli.reading.columns import Codes, Dictionary, count_codes, narrow, spread
from ttt_cli.support.arrays import Ids, Mask, Places
from ttt_cli.support.folding import fold

NOBODY: Final = -1
_WITHOUT_ID: Final = -1
_NO_ID: Final = frozenset({"", "0", "-", "?", "none", "null", "n/a"})


class Mentions(NamedTuple):
    """Distinct combinations of name, id, status and year with which records refer to players, (mentions,) each.

    | name | |
    |---|---|
    | name, id, status | numbers in dictionaries; unused ids and statuses are 0, as are names of teams |
    | year | 0 where years are unused |
    | times | how often the combination occurs |
    | team | number of the team, 0 for players |
    """

    name: Codes
    id: Codes
    status: Codes
    year: Codes
    times: Codes
    team: Codes


class SideColumns(NamedTuple):
    """A column of White and one of Black, (records,)."""

    white: Codes
    black: Codes


class FoundMentions(NamedTuple):
    """The distinct mentions in some records, and the number of White's and of Black's mention in each record."""

    mentions: Mentions
    number_of: SideColumns


def find_mentions(
    sides: SideColumns,
    n_names: int,
    *,
    n_teams: int = 0,
    ids: SideColumns | None = None,
    status: Codes | None = None,
    years: Codes | None = None,
    first: int = 0,
) -> FoundMentions:
    """Find the distinct mentions in some records, and number them from `first`.

    At first every side is a mention. Then ids split those that occur with several ids, and so do status and years.

    Numbers of `sides` are those of names, less than `n_names`, or of teams after these. `ids`, `status` and `years`
    (from 0) are None where they are unused.
    """
    side = np.arange(n_names + n_teams)
    unused = np.zeros(len(side), np.int64)
    name = np.where(side < n_names, side, 0)
    team = np.maximum(side - n_names, 0)
    mentions = Mentions(name, unused, unused, unused, unused, team)
    number_of = sides
    values_by_field: dict[str, Codes] = {}  # of White in all records, then of Black, (2 records,)
    if ids is not None:
        values_by_field["id"] = np.concatenate(ids)
    if status is not None:
        values_by_field["status"] = np.tile(status, 2)
    if years is not None:
        values_by_field["year"] = np.tile(years, 2)
    for field, values in values_by_field.items():
        split = _split_by_value(number_of, len(mentions.name), values)
        mentions = _mentions_at(mentions, split.mention)._replace(**{field: split.value})
        number_of = split.number_of
    n_mentions = len(mentions.name)
    times = count_codes(number_of.white, n_mentions) + count_codes(number_of.black, n_mentions)
    occurs = times > 0
    # Names that do not occur get a number, too, which no record has; not -1, since `narrow` takes none below 0.
    new_number = narrow(first + np.maximum(np.cumsum(occurs) - 1, 0))
    return FoundMentions(
        _mentions_at(mentions._replace(times=times), occurs),
        SideColumns(spread(new_number, number_of.white), spread(new_number, number_of.black)),
    )


class _SplitMentions(NamedTuple):
    """Distinct pairs of a mention and a value, each a mention of its own from now on.

    | name | shape | |
    |---|---|---|
    | mention, value | (pairs,) | |
    | number_of | (records,) each | the number of the pair of White and of Black in each record |
    """

    mention: Codes
    value: Codes
    number_of: SideColumns


def _split_by_value(number_of: SideColumns, n_mentions: int, values: Codes) -> _SplitMentions:
    """Split mentions by the values that occur with them; `values` (2 records,): those of White, then those of Black."""
    n_values = 1 + int(values.max(initial=0))
    pairs, pair_of_side = pairs_in(np.concatenate(number_of), values, n_mentions, n_values)
    pair_of_white, pair_of_black = np.split(pair_of_side, 2)
    mention, value = np.divmod(pairs, n_values)
    return _SplitMentions(mention, value, SideColumns(pair_of_white, pair_of_black))


def _mentions_at(mentions: Mentions, rows: Codes | Mask) -> Mentions:
    """The mentions of some rows, by indices or a mask."""
    return Mentions(*[column[rows] for column in mentions])


def all_mentions(parts: Iterable[Mentions]) -> Mentions:
    """The mentions of all parts, one after the other."""
    parts = [Mentions(*np.zeros((6, 0), np.int64)), *parts]
    return Mentions(
        np.concatenate([part.name for part in parts]),
        np.concatenate([part.id for part in parts]),
        np.concatenate([part.status for part in parts]),
        np.concatenate([part.year for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.team for part in parts]),
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
    """The players: people who are mentioned, in the order of their names. `names` (people,) are those of all people."""
    mentioned = np.unique(person_of_mention[person_of_mention != NOBODY]).tolist()
    mentioned.sort(key=lambda person: names[person])
    players = tuple(names[person] for person in mentioned)
    # one entry more than people: the index NOBODY, -1, finds NOBODY there
    player_of_person = np.full(len(names) + 1, NOBODY, np.min_scalar_type(-len(mentioned) - 1))
    player_of_person[mentioned] = np.arange(len(mentioned))
    player_of_mention = player_of_person[person_of_mention]
    is_player = player_of_mention != NOBODY
    pairs, _ = pairs_in(
        player_of_mention[is_player],
        np.asarray(mentions.name)[is_player],
        max(len(players), 1),
        len(dictionary.values),
    )
    spellings = []
    for pair in pairs.tolist():
        player, spelling = divmod(pair, len(dictionary.values))
        if players[player] != dictionary.values[spelling]:
            spellings.append((players[player], dictionary.values[spelling]))
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
class _PlayerKeys:
    """Finds the key of the player for whom a spelling stands.

    A key is what equal names have in common (`name_key`). A player has the key of the main name.

    | name | |
    |---|---|
    | main_of_key | main names of the alias file, by their keys |
    | main_key_of_synonym | keys of main names, by the keys of synonyms that only one player has |
    | keys_with_comma | of all names in games and in the file; empty unless matching is full |
    """

    matching: NameMatching
    aliases: Aliases
    main_of_key: Mapping[str, str]
    main_key_of_synonym: Mapping[str, str]
    keys_with_comma: frozenset[str]

    def of(self, name: str, own_key: str) -> str:
        """The key of the player whose spelling is `name`, with the key `own_key`, which is empty for nobody.

        | the spelling | key of the player |
        |---|---|
        | is a synonym in the alias file | that of its main name |
        | has the key of a synonym | that of its main name |
        | has no comma, as `First Last`, and `Last, First` or the like is one player's | that of this player |
        | is any other | its own |
        """
        if own_key and name in self.aliases.names:
            return name_key(self.aliases.names[name], self.matching)
        if own_key in self.main_key_of_synonym:
            return self.main_key_of_synonym[own_key]
        if self.keys_with_comma and "," not in own_key:
            candidates = self.keys_with_comma.intersection(comma_keys(own_key))
            players = {self.main_key_of_synonym.get(key, key) for key in candidates}
            if len(players) == 1:
                return players.pop()
        return own_key


def _player_keys_of(
    own_keys: Sequence[str], matching: NameMatching, aliases: Aliases
) -> _PlayerKeys:
    """The keys of players by the alias file; `own_keys` are those of the spellings in the games."""
    main_of_key = {name_key(main, matching): main for main in sorted(aliases.mains)}
    main_key_of_synonym: dict[str, str] = {}
    ambiguous: set[str] = set()
    for synonym, main in aliases.names.items():
        key = name_key(synonym, matching)
        main_key = name_key(main, matching)
        if main_key_of_synonym.setdefault(key, main_key) != main_key:
            ambiguous.add(key)
    for key in ambiguous:
        del main_key_of_synonym[key]
    keys_with_comma: frozenset[str] = frozenset()
    if matching == "full":
        all_keys = (*own_keys, *main_of_key, *main_key_of_synonym)
        keys_with_comma = frozenset(key for key in all_keys if "," in key)
    return _PlayerKeys(matching, aliases, main_of_key, main_key_of_synonym, keys_with_comma)


@dataclass(frozen=True)
class NameGroups:
    """Spellings grouped by the players for whom they stand.

    | name | shape | |
    |---|---|---|
    | of_spelling | (spellings,) | the group of each, NOBODY where it names nobody |
    | names | (groups,) | how each group is shown |
    """

    of_spelling: Ids
    names: list[str]
    _player_keys: _PlayerKeys
    _group_of_key: Mapping[str, int]

    def find(self, name: str) -> int | None:
        """The group of a name in the alias file, None when nobody has it."""
        own_key = name_key(name, self._player_keys.matching)
        return self._group_of_key.get(self._player_keys.of(name, own_key))


def group_names(
    dictionary: NameDictionary, counts: Places, matching: NameMatching, aliases: Aliases
) -> NameGroups:
    """Group spellings by their keys and the alias file; `counts` (spellings,) is how often each occurs.

    A group is shown as in the alias file, else by the most frequent spelling with its key.
    """
    own_keys = name_keys(dictionary.cleaned, matching)
    for spelling in np.flatnonzero(np.frombuffer(dictionary.reject_code, np.int8)).tolist():
        own_keys[spelling] = ""
    keys_of_players = _player_keys_of(own_keys, matching, aliases)
    player_keys = _key_by_spelling(dictionary.cleaned, own_keys, keys_of_players)
    numbered = _number_groups(player_keys, keys_of_players.main_of_key)
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
    for key, main in keys_of_players.main_of_key.items():
        names[numbered.of_key[key]] = main
    return NameGroups(numbered.of_spelling, names, keys_of_players, numbered.of_key)


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


def _key_by_spelling(
    spellings: Sequence[str], own_keys: list[str], player_keys: _PlayerKeys
) -> list[str]:
    """The key of the player of each spelling: its own, or one to which `_PlayerKeys.of` redirects it.

    A redirect is followed where it ends at somebody: the key is that of a main name in the alias file, or a spelling
    has this key of its own and is not redirected itself. So where A leads to B, and all spellings of B lead on to C, A
    keeps its own key.
    """
    if not player_keys.aliases.names and not player_keys.keys_with_comma:
        return own_keys
    redirected_keys = [
        player_keys.of(spelling, own_key)
        for spelling, own_key in zip(spellings, own_keys, strict=True)
    ]
    targets = set(player_keys.main_of_key)
    for redirected_key, own_key in zip(redirected_keys, own_keys, strict=True):
        if redirected_key == own_key:
            targets.add(own_key)
    return [
        redirected_key if redirected_key in targets else own_key
        for redirected_key, own_key in zip(redirected_keys, own_keys, strict=True)
    ]


class NumberedPeople(NamedTuple):
    """People: a number for each group of spellings, then one for each id. A group that is joined to an id leaves its
    own number unused.

    | name | shape | |
    |---|---|---|
    | names | (people,) | |
    | of_group | (groups,) | the person of the mentions of each group that have no id |
    | of_mention | (mentions,) | NOBODY where nobody is named |
    """

    names: list[str]
    of_group: Places
    of_mention: Ids


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
    n_groups = len(names_of_groups)
    ids = _ids_in(id_texts)
    id_of_mention = ids.of_text[mentions.id]
    has_id = (group_of_mention != NOBODY) & (id_of_mention != _WITHOUT_ID)
    pairs = _groups_with_ids(
        group_of_mention[has_id], id_of_mention[has_id], mentions.times[has_id], len(ids.texts)
    )
    person_of_group = _people_of_groups(pairs, n_groups)
    is_separate = person_of_group == np.arange(n_groups)
    names_of_separate = [names_of_groups[group] for group in np.flatnonzero(is_separate).tolist()]
    names_of_ids = _names_of_ids(names_of_groups, ids.texts, pairs, names_of_separate)
    # one entry more than groups: the index NOBODY, -1, finds NOBODY there
    person_without_id = np.append(person_of_group, NOBODY)[group_of_mention]
    person_of_mention = np.where(has_id, n_groups + id_of_mention, person_without_id)
    return NumberedPeople([*names_of_groups, *names_of_ids], person_of_group, person_of_mention)


class _NumberedIds(NamedTuple):
    """The texts that are ids, and the number of each text of a dictionary among them, else `_WITHOUT_ID`."""

    texts: list[str]
    of_text: Places


def _ids_in(texts: Sequence[str]) -> _NumberedIds:
    """Number the texts that are ids, in their order."""
    is_id = np.array([text.casefold() not in _NO_ID for text in texts], np.bool_)
    ids = [text for text, valid in zip(texts, is_id.tolist(), strict=True) if valid]
    return _NumberedIds(ids, np.where(is_id, np.cumsum(is_id) - 1, _WITHOUT_ID))


def _people_of_groups(pairs: "_GroupsWithIds", n_groups: int) -> Places:
    """The person of the mentions without an id of each group: the only id that the group has, else the group itself."""
    person = np.arange(n_groups)
    n_ids = np.bincount(pairs.group, minlength=n_groups)
    is_only_id = n_ids[pairs.group] == 1
    person[pairs.group[is_only_id]] = n_groups + pairs.id[is_only_id]
    return person


class _GroupsWithIds(NamedTuple):
    """Distinct pairs of a group and an id in mentions, sorted, and how often each pair occurs; (pairs,) each."""

    group: Places
    id: Places
    times: Places


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
