"""All games with the probabilities of their results, as they are exported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import PUBLIC
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.rows import PERIOD, YEAR, Rows

CHANCE_COLUMNS: Final = (  # White's
    Described("p_win", "probability", "of White's win, by the skills of the period"),
    Described("p_draw", "probability", "of a draw"),
    Described("p_loss", "probability", "of White's loss"),
    Described("expected", "points of games", "White's expected score"),
)


def played_game_rows(run: Run) -> Rows:
    """The games as they were used, with `CHANCE_COLUMNS` as the last columns; the rows are streamed.

    Probabilities follow from the skills of the period, taken as independent.
    """
    query = PUBLIC["games"]
    columns, games = run.stream(query)

    def with_chances() -> Iterator[tuple[Any, ...]]:
        for game, chance in zip(games, _white_chances(run).tolist(), strict=True):
            yield (*game, *chance)

    def write(path: Path) -> None:
        frame = run.query(query)
        frame.insert(
            list(frame.columns).index(PERIOD) + 1, YEAR, frame[PERIOD].str[:4].astype("int64")
        )
        for name, values in zip(column_names(CHANCE_COLUMNS), _white_chances(run).T, strict=True):
            frame[name] = values
        frame.to_parquet(path, index=False)

    return Rows((*columns, *column_names(CHANCE_COLUMNS)), with_chances(), parquet=write)


def _white_chances(run: Run) -> Any:
    """`CHANCE_COLUMNS` of every game, an array of shape (games, 4)."""
    import numpy as np

    from ttt_cli.views.history.played import played_games

    with run:
        loss, draw, win = played_games(run).chance.T
    return np.stack([win, draw, loss, win + draw / 2.0], axis=1)
