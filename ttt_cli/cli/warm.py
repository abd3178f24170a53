"""`ttt warm`: everything compiled beforehand."""

import click

from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import say
from ttt_cli.support.errors import SetupError
from ttt_cli.views.rows import counted


@click.command("warm")
def command() -> None:
    """Compile all code that commands need, so that none has to wait for it.

    This takes one to two minutes, once for each version of ttt, user and computer. Otherwise each command compiles
    what it needs first. Useful before a lesson, in a container image, or on a cluster:

        ttt warm && ttt fit games.pgn
    """
    from ttt_cli.kernels.compile import FOLDER
    from ttt_cli.kernels.warm import every_kernel, warm

    if not FOLDER:
        raise SetupError(
            "there is no folder where compiled kernels can be kept",
            hint="name one in XDG_CACHE_HOME",
        )
    count = warm(every_kernel(), progress())
    done = (
        f"{counted(count, 'kernel')} compiled into"
        if count
        else "everything is already compiled, in"
    )
    say(f"{done} {FOLDER}")
