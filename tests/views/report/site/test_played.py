"""The games of a site, column by column those of the run."""

from __future__ import annotations

import numpy as np

from tests.support.handmade import CONFIG, fit_of, games_of
from ttt_cli.games.table import GAME_COLUMNS, Games
from ttt_cli.runs.write import memory_run
from ttt_cli.timeline import build_timeline
from ttt_cli.views.report.book import played_games


def test_many_games_come_in_their_order() -> None:
    """More than one thread of the database reads at a time."""
    few = games_of([(str(year), "a", "b", "1-0") for year in range(1600, 2000)])
    columns = {name: np.repeat(getattr(few, name), 700) for name in GAME_COLUMNS}
    games = Games(**columns, players=few.players)
    timeline = build_timeline(games)
    played = played_games(memory_run(games, timeline, fit_of(timeline), CONFIG))
    assert np.array_equal(played.year, np.repeat(np.arange(1600, 2000), 700))
    assert np.array_equal(played.offset, games.offset)
