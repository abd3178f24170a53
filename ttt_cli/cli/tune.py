"""`ttt tune`: the parameters that the games prefer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ttt_cli.cli.asked import asked_run
from ttt_cli.cli.options import format_option, run_option, set_option, verbosity_options, waiting_option
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import FORMATS, emit, say

if TYPE_CHECKING:
    from ttt_cli.evaluate.evidence.tune import Tuning
    from ttt_cli.runs.run import Run

NOT_CONVERGED = 4


@click.command("tune")
@click.argument("keys", default="beta,tau")
@set_option
@run_option
@format_option
@click.option(
    "-o", "--output", "out", metavar="FILE", help="Write the tuned config (YAML); - prints it instead."
)
@waiting_option
@verbosity_options
@click.pass_context
def command(
    context: click.Context,
    keys: str,
    overrides: tuple[str, ...],
    run: str | None,
    fmt: str | None,
    out: str | None,
) -> None:
    """Find the parameters KEYS (default beta,tau) at which a run's log-evidence is highest.

    The climb begins at the run's config, or where -s says. It prints each parameter with its standard error and
    the evidence before and after; all fits are kept in the run. The run itself stays as it is:

        ttt tune beta,tau -o tuned.yaml && ttt fit games.pgn -c tuned.yaml

    Exit code 4: no top of the evidence was reached.
    """
    _check_output(out, fmt)
    from ttt_cli.evaluate.evidence.tune import tune
    from ttt_cli.runs.run import open_run
    from ttt_cli.runs.writing import writing
    from ttt_cli.views.evidence.tuning import tuning_lines, tuning_rows

    place = asked_run(run).path
    with writing(place):
        opened = open_run(place)
        found = tune(opened, keys, overrides, progress=progress())
    say(*tuning_lines(found))
    if out:
        _write(found, opened, out)
    if out != "-":
        emit(tuning_rows(found, opened.meta), fmt)
    context.exit(0 if found.converged else NOT_CONVERGED)


def _check_output(out: str | None, fmt: str | None) -> None:
    """Refuse a place for the config that will not do, before the work begins."""
    if out == "-" and fmt:
        raise click.UsageError("-o - prints the config instead of the table: leave -f out")
    if out in (None, "-"):
        return
    place = Path(str(out))
    if place.suffix.removeprefix(".").lower() in FORMATS:
        raise click.UsageError(
            "-o is for the config, NAME.yaml; the table goes to standard output: -f csv > FILE"
        )
    if place.is_dir() or not place.parent.is_dir():
        raise click.UsageError(
            f"{out} cannot be written: {'is a folder' if place.is_dir() else 'no such folder'}"
        )


def _write(found: Tuning, run: Run, out: str) -> None:
    from ttt_cli.errors import RunError
    from ttt_cli.files import replacing
    from ttt_cli.views.evidence.tuning import tuned_config

    text = tuned_config(found, run.meta)
    if out == "-":
        click.echo(text, nl=False)
        return
    try:
        with replacing(Path(out)) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror or error}", where=out) from error
    say(f"{out} written: use it with -c {out}")
