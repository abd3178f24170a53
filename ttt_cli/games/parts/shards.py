"""The records of some years out of all stored files: chosen as ever, and stored as games."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.dictionaries import FURTHER
from ttt_cli.games.ingest import USUAL, rejected
from ttt_cli.games.parts.stored import MAP, NAME, PLAYER, SIDES, StoredFile, load, save
from ttt_cli.games.records import Records, games_of
from ttt_cli.games.selection.select import People, select
from ttt_cli.games.table import GAME_COLUMNS, no_texts
from ttt_cli.games.validate import SAID
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.column import Column, alike, concatenated, spread
from ttt_cli.reading.reasons import REJECT_CODE, SAME_PLAYER

COMMON: Final = "common.pickle"
TEXTS: Final = tuple(name for name in FURTHER if not name.endswith("_id"))


class Common(NamedTuple):
    """What all shards are made with; `texts` are all values of further columns, `date_day` to `tally` as in `Records`,
    and `people` are those of all players.
    """

    files: tuple[StoredFile, ...]
    texts: dict[str, tuple[str, ...]]
    date_day: Ids
    date_precision: NDArray[np.int8]
    tally: Array
    people: People


class Years(NamedTuple):
    """Calendar years from the first to the last."""

    number: int
    first: int
    last: int


@dataclass(frozen=True)
class Shard:
    """So many `games` of some years in `folder`, whose columns are those of `Games`, with the numbers of all `players`.

    `used` (files,) counts records; `dropped` are (file, reject code, count, place of the first), `noticed` (file, what,
    count). Records of which the names are one player's: `same_file`, `same_line`, and numbers of what `SAID` names.
    """

    number: int
    folder: Path
    games: int
    players: Ids
    used: Ids
    dropped: tuple[tuple[int, int, int, int], ...]
    noticed: tuple[tuple[int, str, int], ...]
    same_file: Ids
    same_line: NDArray[np.int64]
    said: Ids


class Sharder:
    """Makes games of the records in a folder."""

    def __init__(self, data: DataConfig, folder: Path) -> None:
        self._data, self._folder = data, folder

    @cached_property
    def _common(self) -> Common:
        found: Common = pickle.loads((self._folder / COMMON).read_bytes())
        return found

    def step(self, years: Years, *, fresh: bool) -> Shard:  # noqa: ARG002
        """Choose among the records of some years."""
        common = self._common
        columns, starts = _columns(common, years)
        players, ends = np.unique(np.concatenate([columns[side] for side in SIDES]), return_inverse=True)
        white, black = np.split(ends.astype(np.int32), 2)
        reject_code = np.zeros(int(starts[-1]), np.int8)
        same = np.flatnonzero(white == black)
        reject_code[same] = REJECT_CODE[SAME_PLAYER]
        written, numbers = _texts(common, columns)
        kept: dict[str, Any] = {name: _typed(columns[name], usual.dtype) for name, usual in USUAL.items()}
        kept |= written
        nobody = no_texts(len(reject_code))
        records = Records(
            files=tuple(file.report for file in common.files),
            starts=starts,
            line=columns["line"],
            date=Column(columns["date"], ()),
            white_written=nobody,
            black_written=nobody,
            result=Column(columns["result"], ()),
            **kept,
            date_day=common.date_day,
            date_precision=common.date_precision,
            tally=common.tally,
            players=("",) * len(players),  # their names have been looked at
            white=white,
            black=black,
            reject_code=reject_code,
        )
        people = People._make(mask[players] for mask in common.people)
        selected = select(records, self._data, people)
        records = replace(records, reject_code=selected.reject_code)
        files = records.file[same].astype(np.int32)
        said = np.stack([columns[name][same].astype(np.int32) for name in SAID])
        line = records.line[same].astype(np.int64)
        used, dropped = _account(records)
        noticed = tuple(
            (file, what, int(count))
            for what, rows in selected.noticed.items()
            for file, count in enumerate(np.diff(np.append(0, np.cumsum(rows))[records.starts]))
            if count
        )
        folder = self._folder / f"shard-{years.number}"
        count, who = _store(records, players.astype(np.int32), numbers, folder)
        return Shard(years.number, folder, count, who, used, dropped, noticed, files, line, said)


def _columns(common: Common, years: Years) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
    """The columns of all files' records of some years, and where those of each file begin."""
    names = ("line", "date", "result", *USUAL, *TEXTS)
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in (*names, *SIDES, *SAID[1:3])}
    starts = [0]
    for file in common.files:
        rows = file.rows(years.first, years.last)
        starts.append(starts[-1] + rows.stop - rows.start)
        if rows.stop == rows.start:
            continue
        for name in names:
            found = load(file.folder, name, rows)
            place = file.folder / f"{MAP.format(name)}.npy"
            parts[name].append(spread(np.load(place), found) if place.exists() else found)
        for side, written in zip(SIDES, SAID[1:3], strict=True):
            number = load(file.folder, side, rows)
            parts[side].append(np.load(file.folder / f"{PLAYER}.npy")[number])
            parts[written].append(np.load(file.folder / f"{NAME}.npy")[number])
    return {name: concatenated(found) for name, found in parts.items()}, np.array(starts, np.int64)


def _typed(column: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """The same numbers of that kind, in the memory of one where they are."""
    return (
        np.broadcast_to(column[:1].astype(kind), column.shape)
        if alike(column)
        else column.astype(kind, copy=False)
    )


def _texts(common: Common, columns: dict[str, NDArray[Any]]) -> tuple[dict[str, Column[str]], dict[str, Ids]]:
    """The further columns with the values that they hold here, and the numbers of these among all."""
    found, numbers = {}, {}
    for name in TEXTS:
        codes = columns[name]
        if not codes.any():
            found[name], numbers[name] = no_texts(len(codes)), np.zeros(1, np.int32)
            continue
        present, inside = np.unique(codes, return_inverse=True)
        numbers[name] = present.astype(np.int32)
        values = common.texts[name]
        found[name] = Column(inside.astype(np.int32), tuple(values[number] for number in present.tolist()))
    return found, numbers


def _account(records: Records) -> tuple[Ids, tuple[tuple[int, int, int, int], ...]]:
    used, dropped = [], []
    for file, (begin, end) in enumerate(pairwise(records.starts.tolist())):
        found = list(rejected(records.reject_code[begin:end], records.line[begin:end]))
        used.append(end - begin - sum(count for _, count, _ in found))
        dropped += [(file, *one) for one in found]
    return np.array(used), tuple(dropped)


def _store(records: Records, players: Ids, numbers: dict[str, Ids], folder: Path) -> tuple[int, Ids]:
    """Store the games; how many there are, and the players who have any."""
    games = games_of(records)
    present = np.zeros(len(players), np.bool_)
    present[records.white[records.used]] = present[records.black[records.used]] = True
    who = players[present]
    columns: dict[str, NDArray[Any]] = {name: getattr(games, name) for name in GAME_COLUMNS}
    columns |= {side: who[columns[side]] for side in SIDES}
    for name in TEXT_COLUMNS:
        codes = getattr(games, name).codes
        columns[name] = codes if alike(codes) else numbers[name][codes]
    save(folder, columns)
    return len(games), who
