"""`ttt tune`: the parameters that the games prefer."""

from pathlib import Path

import click

from ttt_cli.cli.line import options
from ttt_cli.cli.line.where import cluster_option
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import FORMATS, check_place, emit, say, write


@click.command("tune")
@click.argument("keys", default="beta,tau")
@cluster_option
@options.set_option
@options.run_option
@options.format_option
@click.option(
    "-o", "--output", "out", metavar="FILE", help="Write the tuned config (YAML); - prints it instead."
)
@options.waiting_option
@options.verbosity_options
def command(keys: str, overrides: tuple[str, ...], run: str | None, fmt: str | None, out: str | None) -> int:
    """Find the parameters KEYS (default beta,tau) at which a run's log-evidence is highest.

    The search begins at the run's config, or where -s says. It prints each parameter with its standard error and
    the evidence before and after; all fits are kept in the run. The run itself stays as it is:

        ttt tune beta,tau -o tuned.yaml && ttt fit games.pgn -c tuned.yaml

    Exit code 4: the maximum of the evidence was not reached.
    """
    options.refuse(
        ("-o - prints the config instead of the table: leave -f out", out == "-" and fmt),
        (
            "-o is for the config, NAME.yaml; the table goes to standard output: -f csv > FILE",
            Path(out or "").suffix.removeprefix(".").lower() in FORMATS,
        ),
    )
    if out is not None:
        check_place(out)
    from ttt_cli.evaluate.evidence.tune import tune
    from ttt_cli.runs.run import open_run
    from ttt_cli.runs.storing.writing import writing
    from ttt_cli.views.evidence.tuning import tuned_config, tuning_lines, tuning_rows

    place = options.asked_run(run).path
    with writing(place):
        opened = open_run(place)
        found = tune(opened, keys, overrides, progress=progress())
    say(*tuning_lines(found))
    if out and write(tuned_config(found, opened.meta), out):
        say(f"{out} written: use it with -c {out}")
    if out != "-":
        emit(tuning_rows(found, opened.meta), fmt)
    return 0 if found.converged else options.NOT_CONVERGED
