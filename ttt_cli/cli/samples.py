"""`ttt samples`: the games that come with the program."""

import click

from ttt_cli.cli.options import format_option


@click.command("samples")
@format_option
def command(fmt: str | None) -> None:
    """List the files that come with the program; `@NAME` stands for one of them wherever a command reads a file.

    A file in the current folder that is really called @NAME goes before.
    """
    from ttt_cli.cli.output import emit
    from ttt_cli.views.samples import sample_rows

    emit(sample_rows(), fmt)
