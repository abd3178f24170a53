"""Players by name: as a filter names them."""

from collections.abc import Sequence

import numpy as np

from ttt_cli.arrays import Mask
from ttt_cli.config.selection import pattern_of
from ttt_cli.errors import ConfigError, nearest
from ttt_cli.folding import fold_surname
from ttt_cli.games.players.keys import comma_keys, name_key
from ttt_cli.games.players.names import clean_name


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
