"""Historical rating runs: from game records to skill histories and evidence.

    from ttt_cli import fit, open_run, read_games, top
    run = fit("games.pgn", beta=480, tau=60)
    run.skills()        # a pandas DataFrame
    top(run, "1858")    # another

Submodules are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ttt_cli.support import VERSION

if TYPE_CHECKING:
    from ttt_cli.api import (
        configure,
        doubt,
        event,
        events,
        evidence,
        fit,
        leaders,
        open_run,
        player,
        plot,
        read_games,
        records,
        report,
        top,
        tournament,
        update,
        versus,
        why,
    )  # fmt: skip

__version__ = VERSION
__all__ = [
    "__version__", "configure", "doubt", "event", "events", "evidence", "fit", "leaders", "open_run", "player", "plot",
    "read_games", "records", "report", "top", "tournament", "update", "versus", "why",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("ttt_cli.api"), name)
    raise AttributeError(f"module 'ttt_cli' has no attribute {name!r}")
