"""`ttt config`: list, show and check configs, and print their schema."""

import click

from ttt_cli.cli.messages import QUIET, say
from ttt_cli.cli.options import config_option, set_option
from ttt_cli.support.errors import TttError


@click.group("config")
def command() -> None:
    """List, show, check and describe configs."""


@command.command("list")
def list_() -> None:
    """List the shipped configs, and those of installed packages, each with a line on what it is."""
    from ttt_cli.config.load import installed_configs, shipped_configs

    configs = installed_configs() | shipped_configs()
    width = max([len(name) for name in configs])
    for name, file in configs.items():
        first_line = file.read_text(encoding="utf-8").partition("\n")[0]
        click.echo(f"{name:{width}}  {first_line.removeprefix('# ')}")


@command.command("show")
@config_option
@set_option
def show(config: str | None, overrides: tuple[str, ...]) -> None:
    """Print the resolved config as YAML, every key commented.

    It can be used again with -c: `ttt config show -c ttt -s model.beta=600 > mine.yaml`.
    """
    from ttt_cli.config.load import read_document
    from ttt_cli.config.schema import render
    from ttt_cli.systems.resolve import resolve

    resolved = resolve(read_document(config, overrides))
    click.echo(render(resolved.config, resolved.model.Params), nl=False)


@command.command("check")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.pass_context
def check(context: click.Context, files: tuple[str, ...]) -> None:
    """Report mistakes in configs with their lines.

    Exit code 2 if there are any.
    """
    from ttt_cli.config.load import read_document
    from ttt_cli.systems.resolve import resolve

    exit_code = 0
    for file in files:
        try:
            resolved = resolve(read_document(file))
        except TttError as error:
            exit_code = error.exit_code
            say(str(error), *([f"hint: {error.hint}"] if error.hint else []), level=QUIET)
        else:
            click.echo(f"{file}: ok, model {resolved.config.model.name}")
    context.exit(exit_code)


@command.command("schema")
@click.option("--model", "name", metavar="NAME", help="Only the keys of this model; default all.")
def schema(name: str | None) -> None:
    """Print the JSON Schema of configs, for editors.

    Save it as ttt.schema.json. Editors that find `# yaml-language-server: $schema=ttt.schema.json` in the first
    line of a config then complete and check it.
    """
    import json

    from ttt_cli.config.schema import json_schema
    from ttt_cli.systems.registry import load, names

    models = {model: load(model).Params for model in ([name] if name else names())}
    click.echo(json.dumps(json_schema(models), indent=2, ensure_ascii=False))
