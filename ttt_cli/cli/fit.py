"""`ttt fit`: games in, a run out."""

from pathlib import Path

import click

from ttt_cli.cli import options
from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import NORMAL, VERBOSE, say, session
from ttt_cli.cli.output import emit
from ttt_cli.support.progress import waiting


@click.command("fit")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@options.reading_options
@click.option(
    "-o",
    "--output",
    "output",
    metavar="RUN",
    help="The run to write; - prints the skills instead, in the format of -f.",
)
@click.option(
    "--start",
    "start",
    metavar="RUN",
    help="Start from the skills of this run: fewer sweeps, same result.",
)
@options.suspects_option
@options.cluster_option
@options.storage_options
@options.format_option
@options.waiting_option
def command(
    files: tuple[str, ...],
    config: str | None,
    overrides: tuple[str, ...],
    output: str | None,
    start: str | None,
    no_suspects: bool,
    fmt: str | None,
) -> int:
    """Read games from each FILE (PGN or CSV, - for stdin), estimate every player's skill, and write a run.

    ttt fit games.pgn writes games.ttt in the current folder, -o old writes old.ttt. The summary goes to
    standard error. Exit code 4: written, but not converged.

    -c chooses the model. The default for chess is `ttt-career`: skills rise after the debut and decline late, draws
    become more frequent. The default for other games, and for teams, is `ttt`, the model of the paper. PGN counts as
    chess, and so do tables without columns of another sport (home, away, team, winner, loser, goals, neutral).
    `-c ttt-d-career`, with a draw margin for every player, predicts best.
    """
    if fmt and output != "-":
        raise click.UsageError(
            "-f is for -o -, which streams the skills; `ttt export` writes the tables of a run"
        )
    with waiting("loading the program"):
        from ttt_cli.api import configure, fit
        from ttt_cli.games.read import games_for
        from ttt_cli.runs.run import ENDING, open_run, run_path
        from ttt_cli.runs.write import check_destination, check_sources, write_lock
        from ttt_cli.views.fit_summary import fit_lines
        from ttt_cli.views.reading_lines import reading_lines, warning_lines
        from ttt_cli.views.run import table_rows

    resolved = configure(config, overrides)
    path = None if output == "-" else run_path(output or default_output(files[0]))
    data = resolved.config.data
    with write_lock(path):
        if path and not output:
            check_sources(path, files)
        replaced = check_destination(path) if path else None
        start_run = None if start is None else open_run(start, scale=["points"])
        with games_for(files, data, resolved.config.solver, progress=progress(), tell=say) as games:
            if session.verbosity >= NORMAL:
                say(
                    *reading_lines(games, data.period, everything=session.verbosity >= VERBOSE),
                    *warning_lines(games, suspects=not no_suspects),
                )
            run = fit(games, resolved, output=path, start=start_run, progress=progress())
    say(*fit_lines(run.meta, everything=session.verbosity >= VERBOSE))
    if path:
        replaces = f"; it replaces {replaced}" if replaced else ""
        unasked = (
            ""
            if path.suffix == ENDING
            else f"; only *{ENDING} are found unasked, this one by -r {path}"
        )
        say(f"{path} written{replaces}{unasked}")
    else:
        emit(table_rows(run, "skills"), fmt)
    return 0 if run.meta.converged else options.NOT_CONVERGED


def default_output(source: str) -> str:
    """The name of the run made from a file: the file's own without folder and suffixes, `.ttt`."""
    from ttt_cli.reading.recognition import PACKED_SUFFIXES, named_as_games

    path = Path("stdin" if source == "-" else source.removeprefix("@"))
    if path.suffix.lower() in PACKED_SUFFIXES:
        path = path.with_suffix("")
    if named_as_games(path.name) or path.suffix.lower() == ".txt":
        path = path.with_suffix("")
    return f"{path.name}.ttt"
