"""Players known by an id (FIDE's, or any other) instead of their spelling."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ttt_cli.arrays import Ids, Places
from ttt_cli.reading.column import Codes

_NO_ID: Final = frozenset({"", "0", "-", "?", "none", "null", "n/a"})


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
    ids in `texts`. Each id is one player, shown by the most frequent of its names; a record without an id belongs to
    the only id that goes with its name, else to a player of that name alone. Where several players have a name, the
    ids stand behind it. Returns the names of all players, the player of each name's records without an id, and the
    players of White and Black. A record stands for so many like it as `times`, shape (records,), says.
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
