"""`ttt completion`: the completion script of a shell."""

import click

from ttt_cli.cli.line.complete import SHELLS, VARIABLE
from ttt_cli.cli.line.options import verbosity_options
from ttt_cli.cli.terminal.console import say

INSTALL = {
    "bash": "~/.local/share/bash-completion/completions/ttt",
    "zsh": '"${fpath[1]}/_ttt"',
    "fish": "~/.config/fish/completions/ttt.fish",
}


@click.command("completion")
@click.argument("shell", metavar="SHELL", type=click.Choice(list(INSTALL)))
@verbosity_options
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL; how to install it stands on standard error."""
    click.echo(SHELLS[shell](context.find_root().command, {}, "ttt", VARIABLE).source(), nl=False)
    say(f"to install it: ttt completion {shell} > {INSTALL[shell]}, then start a new {shell}")
