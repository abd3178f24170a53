"""Values and players of stored files as numbers of all of them, as if one had read them one after the other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from ttt_cli.arrays import Ids, Places
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.ingest import Collector
from ttt_cli.games.parts.stored import StoredFile, save
from ttt_cli.games.players.unify import Identified, identify, spellings
from ttt_cli.reading.column import Column, Dictionary

MAP: Final = "number-of-{}"  # the column with the number among all of each value of a file
PLAYER: Final = "player"  # of each of the file's `Values.named`
NAME: Final = "name"  # the number of its name among all


class Unifier:
    """Takes one file after the other, and then tells who is who.

    `collector` has the dictionaries of all; each file's folder gets the numbers that its values have there (`MAP`,
    `NAME`), and those of its players (`PLAYER`).
    """

    def __init__(self, data: DataConfig) -> None:
        self._data = data
        self.collector = Collector(data)
        self._folders: list[Path] = []
        self._named: list[Ids] = []
        self._times: list[Places] = []

    def add(self, file: StoredFile) -> None:
        """Number the values of a file."""
        values, every = file.values(), self.collector.dictionaries
        names = every.names.ids(values.names)
        numbers = {name: every.columns[name].ids(texts) for name, texts in values.texts.items()}
        named = values.named.astype(np.int32)
        name, of_id, status, _ = named
        named[0] = names[name]
        for row, column in ((of_id, "white_id"), (status, "status")):
            if column in numbers:
                row[:] = numbers[column][row]
        maps = {
            "date": every.dates.ids(values.dates),
            "result": every.results.ids(values.results),
            **numbers,
        }
        kept = {MAP.format(name): column for name, column in maps.items()}
        save(file.folder, kept | {NAME: named[0]})
        self._folders.append(file.folder)
        self._named.append(named)
        self._times.append(values.times)

    def united(self) -> tuple[Identified, tuple[tuple[str, str], ...]]:
        """All players, and their other spellings. To be asked for once."""
        collector, cuts = self.collector, np.cumsum([len(times) for times in self._times])[:-1]
        times = np.concatenate([np.empty(0, np.int64), *self._times])
        name, of_id, status, year = np.concatenate([np.empty((4, 0), np.int32), *self._named], axis=1)
        self._named, self._times = [], []
        every, written = collector.dictionaries, (name, name)
        who = identify(
            every.names,
            written,
            self._data.names,
            collector.aliases,
            ids=(of_id, of_id, _texts(every.columns["white_id"])) if collector.by_id else None,
            status=Column(status, _texts(every.columns["status"])) if collector.aliases.by_status else None,
            years=year if collector.aliases.by_years else None,
            times=times,
        )
        for folder, players in zip(self._folders, np.split(who.white, cuts), strict=True):
            save(folder, {PLAYER: players.astype(np.int32)})
        return who, spellings(every.names.values, written, who)


def _texts(dictionary: Dictionary[str]) -> Sequence[str]:
    return tuple(dictionary.values)
