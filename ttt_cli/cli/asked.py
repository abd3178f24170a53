"""The run that a command asks, and who it is when nobody named one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttt_cli.cli.terminal.console import say, voice

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run


def asked_run(path: str | None, scale: tuple[str, ...] = (), *, titled: bool = False) -> Run:
    """Open the run that is meant; unless it was named here, say which one answers.

    `titled`: the title of what is shown will say it; if it comes to an error instead, that does.
    """
    from ttt_cli.runs.run import open_run

    run = open_run(path, scale)
    if path is None:
        meta = run.meta
        voice.run = f"{run.name}: {meta.games:,} games {meta.first}-{meta.last}"
        if not titled:
            tell_run()
    return run


def tell_run() -> None:
    """Say which run was asked, once."""
    if voice.run:
        say(voice.run)
    voice.run = ""
