"""`ttt tune`: the parameters that the games prefer."""

from pathlib import Path

import click

from ttt_cli.cli import options
from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import say
from ttt_cli.cli.output import OUTPUT_FORMATS, check_output_path, emit, write
from ttt_cli.support.outputs import CONFIG


@click.command("tune")
@click.argument("keys", default="beta,tau")
@options.cluster_option
@options.set_option
@options.run_option
@options.format_option
@click.option(
    "-o",
    "--output",
    "out",
    metavar="FILE",
    help="Write the tuned config (YAML); - prints it instead.",
)
@options.waiting_option
def command(
    keys: str, overrides: tuple[str, ...], run: str | None, fmt: str | None, out: str | None
) -> int:
    """Find the parameters KEYS (default beta,tau) with the highest log-evidence of a run.

    The search starts at the run's parameters, or at the values of -s. What the run's config estimates, such as
    White's advantage, is tuned, too. It reports each parameter with its standard error, and the evidence before and
    after. All fits are stored as evidence points; the run's skills do not change:

        ttt tune beta,tau -o tuned.yaml && ttt fit games.pgn -c tuned.yaml

    Exit code 4: the maximum was not reached.
    """
    options.refuse(
        ("-o - prints the config instead of the table: leave -f out", out == "-" and fmt),
        (
            "-o is for the config, NAME.yaml; the table goes to standard output: -f csv > FILE",
            Path(out or "").suffix.removeprefix(".").lower() in OUTPUT_FORMATS,
        ),
    )
    if out is not None:
        check_output_path(out, CONFIG)
    from ttt_cli.evaluate.tune import tune
    from ttt_cli.runs.run import open_run
    from ttt_cli.runs.write import write_lock
    from ttt_cli.views.evidence import tuned_config, tuning_lines, tuning_rows

    path = options.opened_run(run).path
    with write_lock(path):
        opened = open_run(path)
        tuned = tune(opened, keys, overrides, progress=progress())
    say(*tuning_lines(tuned))
    if out and write(tuned_config(tuned, opened.meta), out, CONFIG):
        say(f"{out} written: use it with -c {out}")
    if out != "-":
        emit(tuning_rows(tuned, opened.meta), fmt)
    return 0 if tuned.converged else options.NOT_CONVERGED
