"""Against whom names played: whether two of them met, and how many opponents they have in common."""

from collections.abc import Sequence

import numpy as np

from ttt_cli.arrays import Mask, Places
from ttt_cli.games.players.keys import name_keys
from ttt_cli.games.table import Games

Pairs = Places


def have_met(games: Games, pairs: Pairs) -> Mask:
    """Whether the players of pairs, shape (pairs, 2), played each other."""
    n = np.int64(len(games.players))
    concerned = np.zeros(n, np.bool_)
    concerned[pairs] = True
    rows = np.flatnonzero(concerned[games.white] & concerned[games.black])
    white, black = games.white[rows].astype(np.int64), games.black[rows].astype(np.int64)
    return np.isin(_pair_key(pairs[:, 0], pairs[:, 1], n), _pair_key(white, black, n))


def shared_opponents(games: Games, pairs: Pairs) -> Places:
    """How many opponents both players of pairs, shape (pairs, 2), have, told by surname and initial alone."""
    if not len(pairs):
        return np.zeros(0, np.int64)
    shown = _short_names(games.players)
    base = np.int64(shown.max()) + 1
    concerned = np.zeros(len(games.players), np.bool_)
    concerned[pairs] = True
    against = [
        player[rows] * base + shown[opponent[rows]]
        for player, opponent in ((games.white, games.black), (games.black, games.white))
        for rows in (np.flatnonzero(concerned[player]),)
    ]
    keys = np.unique(np.concatenate(against))
    start = np.searchsorted(keys, np.arange(len(games.players) + 1) * base)
    count = np.diff(start)[pairs]
    swap = count[:, 0] > count[:, 1]
    few, many = np.where(swap, pairs[:, 1], pairs[:, 0]), np.where(swap, pairs[:, 0], pairs[:, 1])
    sizes = count.min(axis=1)
    first = np.cumsum(sizes) - sizes
    places = np.arange(sizes.sum()) - np.repeat(first, sizes) + np.repeat(start[few], sizes)
    sought = keys[places] % base + np.repeat(many, sizes) * base
    at = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
    row = np.repeat(np.arange(len(pairs)), sizes)
    return np.bincount(row[keys[at] == sought], minlength=len(pairs)).astype(np.int64)


def _pair_key(one: Pairs, other: Pairs, n: np.int64) -> Pairs:
    return np.minimum(one, other) * n + np.maximum(one, other)


def _short_names(players: Sequence[str]) -> Places:
    """A number for the surname and initial of each player."""
    numbers: dict[str, int] = {}
    short = [surname + given[:2] for surname, given in map(_cut, name_keys(players))]
    return np.array([numbers.setdefault(name, len(numbers)) for name in short], np.int64)


def _cut(key: str) -> tuple[str, str]:
    surname, _, given = key.partition(",")
    return surname, given
