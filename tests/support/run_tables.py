"""The tables of runs, and games to make runs of."""

from __future__ import annotations

import numpy as np

from ttt_cli.runs.schema import _TABLES


def written_games(place):
    """A table of 90 games of nine players; the place."""
    rng = np.random.default_rng(8)
    sides = (rng.choice(9, 2, replace=False) for _ in range(90))
    rows = [
        f"{1900 + rng.integers(9)},P{i},P{j},{['1-0', '0-1', '1/2-1/2'][rng.integers(3)]},Open {rng.integers(3)}"
        for i, j in sides
    ]
    place.write_text("\n".join(["date,white,black,result,event", *rows]), encoding="utf-8")
    return place


def tables(run):
    """The rows of all tables but `meta`, in their order."""
    names = sorted(_TABLES.keys() - {"meta"})
    found = {}
    for name in names:
        columns, rows = run.select(f"SELECT * FROM run.main.{name} ORDER BY rowid")
        kept = [place for place, column in enumerate(columns) if column != "rowid"]
        found[name] = [tuple(row[place] for place in kept) for row in rows]
    return found
