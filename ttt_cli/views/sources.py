"""Records and games by source, as of `ttt games --by source`."""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.games.table import Records
from ttt_cli.support.errors import ConfigError
from ttt_cli.support.folding import fold
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.rows import Rows, integral

SOURCE_COLUMNS: Final = (
    Described("source", "", "name of the source"),
    Described("rows", "rows", "records from it"),
    Described("used", "rows", "records that are used"),
    Described("games", "games", "games of the used records"),
    Described("weight", "games", "what these games count"),
    Described("players", "players", "players of the used records"),
    Described("first", "", "year of the first game", value_type="integer"),
    Described("last", "", "year of the last game", value_type="integer"),
)


def source_rows(records: Records, weights: dict[str, float]) -> Rows:
    """A row for each source, those of most records first: its records, and what the used ones count.

    `games`: played in the used records, `weight`: what these count. Sources of `data.sources` (`weights`) without
    records are listed, too, as they may be misspelt. Raises ConfigError if no source was read.
    """
    column = records.source
    if not column.codes.any() and not weights:
        raise ConfigError(
            "the records have no sources", hint="-s data.source=COLUMN, or -s data.source=file"
        )
    played = records.tally.sum(axis=1)[records.result.codes]
    n_rows = np.bincount(column.codes, minlength=len(column.values))
    rows = []
    for code in np.argsort(-n_rows, kind="stable").tolist():
        if not n_rows[code]:
            continue
        used = np.flatnonzero((column.codes == code) & records.used)
        years = records.year[used]
        players = np.union1d(records.white[used], records.black[used])
        rows.append(
            (
                column.values[code],
                int(n_rows[code]),
                len(used),
                integral(float(played[used].sum())),
                integral(float((played[used] * records.weight[used]).sum())),
                len(players),
                int(years.min()) if len(used) else None,
                int(years.max()) if len(used) else None,
            )
        )
    names = {fold(row[0]) for row in rows}
    rows += [(source, 0, 0, 0, 0, 0, None, None) for source in weights if fold(source) not in names]
    return Rows(column_names(SOURCE_COLUMNS), rows, ("Records by source",))
