"""`ttt fit`: games in, a run out."""

from pathlib import Path

import click

from ttt_cli.cli.line import options
from ttt_cli.cli.line.where import cluster_option, storage_options
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import NORMAL, VERBOSE, emit, say, voice

_SUFFIXES = (".gz", ".bz2", ".xz", ".zst"), (".pgn", ".csv", ".tsv", ".txt", ".parquet")


@click.command("fit")
@click.argument("files", metavar="FILE...", nargs=-1)
@options.reading_options
@click.option(
    "-o", "--output", "output", metavar="RUN", help="The run to write; - streams the skills instead."
)
@click.option("--start", "start", metavar="RUN", help="A run whose skills are the first guess: fewer sweeps.")
@options.suspects_option
@cluster_option
@storage_options
@options.format_option
@options.waiting_option
@options.verbosity_options
def command(
    files: tuple[str, ...],
    config: str | None,
    overrides: tuple[str, ...],
    output: str | None,
    start: str | None,
    no_suspects: bool,
    fmt: str | None,
) -> int:
    """Read games from each FILE (PGN or CSV, - for stdin), infer every player's skill, write a run.

    The run is named after the first FILE: ttt fit games.pgn writes games.ttt here; -o old writes old.ttt. A summary
    goes to standard error. Exit code 4: written, but not converged.

    The default is the model of the paper. `-c ttt-career` knows that skills rise after the debut and that draws become
    more frequent, and foresees games better; `-c ttt-d-career`, with a draw margin for every player, best of all.
    """
    if fmt and output != "-":
        raise click.UsageError(
            "-f is for -o -, which streams the skills; `ttt export` writes the tables of a run"
        )
    from ttt_cli import api
    from ttt_cli.games.parts.opened import games_for
    from ttt_cli.runs.locate import ENDING, run_place
    from ttt_cli.runs.run import open_run
    from ttt_cli.runs.storing.store import check_destination
    from ttt_cli.runs.storing.writing import writing
    from ttt_cli.views.ingest.summary import found_lines, reading_lines, warning_lines
    from ttt_cli.views.run import table_rows

    resolved = api.configure(config, overrides)
    place = None if output == "-" else run_place(output or default_output(files[0]))
    data = resolved.config.data
    with writing(place):
        if place and (standing := check_destination(place)):
            say(f"{place} exists and will be replaced: {standing}")
        near = None if start is None else open_run(start, scale=["points"])
        with games_for(files, data, resolved.config.solver, progress=progress(), tell=say) as games:
            if voice.level >= NORMAL:
                say(
                    *reading_lines(games, data.period, everything=voice.level >= VERBOSE),
                    *warning_lines(games, suspects=not no_suspects),
                )
            run = api.fit(games, resolved, output=place, start=near, progress=progress())
    say(*found_lines(run.meta, everything=voice.level >= VERBOSE))
    if place:
        unasked = (
            "" if place.suffix == ENDING else f"; only *{ENDING} are found unasked, this one by -r {place}"
        )
        say(f"{place} written{unasked}")
    else:
        emit(table_rows(run, "skills"), fmt)
    return 0 if run.meta.converged else options.NOT_CONVERGED


def default_output(source: str) -> str:
    """The name of the run made from a file: the file's own without folder and suffixes, `.ttt`."""
    name = "stdin" if source == "-" else Path(source).name
    for suffixes in _SUFFIXES:
        name = next(
            (name[: -len(end)] for end in suffixes if name.lower().endswith(end) and name != end), name
        )
    return f"{name}.ttt"
