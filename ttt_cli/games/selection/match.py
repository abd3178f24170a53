"""Records by what their event, site, round and variant are called, and players by name, as filters name them."""

from collections.abc import Callable, Sequence

import numpy as np

from ttt_cli.arrays import Mask
from ttt_cli.config.selection import pattern_of
from ttt_cli.errors import ConfigError, nearest
from ttt_cli.folding import fold, fold_surname
from ttt_cli.games.handicaps import is_even
from ttt_cli.games.players.keys import comma_keys, name_key
from ttt_cli.games.players.names import clean_name
from ttt_cli.games.records import Records
from ttt_cli.games.selection.event_sets import control_is, names_set, variant_is
from ttt_cli.reading.column import Column


def of_events(records: Records, texts: Sequence[str]) -> Mask:
    """Records whose event or site holds one of the texts: words, whatever their case and accents, or /patterns/."""
    rows = np.zeros(len(records), np.bool_)
    for text in texts:
        rows |= _where((records.event, records.site), _matcher(text))
    return rows


def in_set(records: Records, name: str) -> Mask:
    """Records of a ready-made set of events, by texts of the event, variant, time control, and the odds of tables."""
    rows = _where((records.event, records.site, records.round), lambda value: names_set(fold(value), name))
    rows |= _where((records.variant,), lambda value: variant_is(fold(value), name))
    rows |= _where((records.time_control,), lambda value: control_is(value, name))
    if name == "odds":
        rows |= _where((records.odds,), lambda value: not is_even(value))
    return rows


def _matcher(text: str) -> Callable[[str], bool]:
    pattern = pattern_of(text)
    if pattern is not None:
        return lambda value: pattern.search(value) is not None
    words = f" {fold(text)} "
    return lambda value: words in f" {fold(value)} "


def _where(columns: Sequence[Column[str]], holds: Callable[[str], bool]) -> Mask:
    """Records of which one of the columns holds a text such that; each distinct text is looked at once."""
    rows = np.zeros(len(columns[0]), np.bool_)
    for column in columns:
        hit = np.array([bool(value) and holds(value) for value in column.values], np.bool_)
        if hit.any():
            rows |= hit[column.codes]
    return rows


def matching_players(players: Sequence[str], texts: Sequence[str]) -> Mask:
    """Which players are meant, shape (players,).

    A text is a name in any of its spellings (`First Last` too), a surname, which means all who have it, or a /pattern/.
    Raises ConfigError when it means nobody.
    """
    keys: dict[str, list[int]] = {}
    for number, player in enumerate(players):
        for key in {name_key(player), fold_surname(player)}:
            keys.setdefault(key, []).append(number)
    chosen = np.zeros(len(players), np.bool_)
    for text in texts:
        found = _find(players, keys, text)
        if not found:
            near = nearest(text, players)
            hint = f"did you mean {near!r}?" if near else "names are those that `ttt games` shows"
            raise ConfigError(f"there is no player {text!r}", where="data.filter.players", hint=hint)
        chosen[found] = True
    return chosen


def _find(players: Sequence[str], keys: dict[str, list[int]], text: str) -> list[int]:
    pattern = pattern_of(text)
    if pattern is not None:
        return [number for number, player in enumerate(players) if pattern.search(player)]
    key = name_key(clean_name(text))
    if key in keys:
        return keys[key]
    return [number for other in comma_keys(key) for number in keys.get(other, ())]
