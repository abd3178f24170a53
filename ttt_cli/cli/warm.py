"""`ttt warm`: everything compiled beforehand."""

import click

from ttt_cli.cli.line.options import verbosity_options
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import say
from ttt_cli.errors import SetupError


@click.command("warm")
@verbosity_options
def command() -> None:
    """Compile what all rating systems and readers need, so that no command has to wait for it.

    It takes half a minute, once for each version of ttt, user and computer; without it every command compiles what it
    is the first to need. Of use before a lesson, in the image of a container, or on a cluster:

        ttt warm && ttt fit games.pgn
    """
    from ttt_cli.kernels.compile import kept_in
    from ttt_cli.warm import every_kernel, warm

    if not kept_in():
        raise SetupError(
            "there is no folder where compiled kernels can be kept", hint="name one in XDG_CACHE_HOME"
        )
    count = warm(every_kernel(), progress())
    what = "1 kernel" if count == 1 else f"{count} kernels"
    say(f"{what} compiled into {kept_in()}" if count else f"all is compiled already, in {kept_in()}")
