"""`ttt update`: further games into a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import VERBOSE, say, session
from ttt_cli.cli.options import NOT_CONVERGED, cluster_option, set_option, waiting_option

if TYPE_CHECKING:
    from ttt_cli.config.schema import DataConfig
    from ttt_cli.games.extend import Extended


@click.command("update")
@click.argument("run", metavar="RUN")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@set_option
@click.option(
    "-o", "--output", "output", metavar="RUN", help="The run to write; default: RUN is replaced."
)
@click.option(
    "--again", is_flag=True, help="Read files that are in RUN already: their games count twice."
)
@click.option("--dedupe", is_flag=True, help="Drop games that seem to be in RUN already.")
@cluster_option  # becomes one of `overrides`
@waiting_option  # acts by itself
def command(
    run: str,
    files: tuple[str, ...],
    overrides: tuple[str, ...],
    output: str | None,
    again: bool,
    dedupe: bool,
) -> int:
    """Add the games of each FILE to RUN and refit all games, starting from its skills.

    The result is that of `ttt fit` on all files together with the config of RUN; its old files are not needed.
    A FILE that is already in RUN is refused. RUN is replaced only when the fit is complete.

    All games must fit into memory; otherwise use `ttt fit --memory`.
    """
    if output == "-":
        raise click.UsageError(
            "a run is a file and cannot be streamed: name one with -o, or leave it out"
        )
    from ttt_cli import api
    from ttt_cli.runs.run import open_run, run_path
    from ttt_cli.runs.write import write_lock
    from ttt_cli.views.fit_summary import fit_lines
    from ttt_cli.views.reading_lines import reading_lines

    # find the file, lock it, then read it under the lock: another command may have replaced it meanwhile
    run_file = open_run(run).path
    if dedupe:
        overrides = (*overrides, "data.filter.dedupe=true")
    with write_lock(run_path(output) if output else run_file):
        before = open_run(run_file, scale=["points"])

        def show(extended: Extended, data: DataConfig) -> None:
            say(f"{run}: {before.meta.describe()}")
            say(
                *reading_lines(extended.added, data.period, everything=session.verbosity >= VERBOSE)
            )
            if extended.aliases_changed:
                say("  the alias file has changed since; names united in the run stay united")
            if count := extended.repeats:
                done = (
                    "left out"
                    if data.filter.dedupe
                    else "used nevertheless (--dedupe leaves such out)"
                )
                what = (
                    "record seems to be of a game" if count == 1 else "records seem to be of games"
                )
                say(f"  {count:,} {what} in the run, by day, players, colours and result: {done}")

        after = api.update(
            before,
            *files,
            output=output,
            overrides=overrides,
            again=again,
            on_read=show,
            progress=progress(),
        )
    say(*fit_lines(after.meta), f"{after.path} written")
    return 0 if after.meta.converged else NOT_CONVERGED
