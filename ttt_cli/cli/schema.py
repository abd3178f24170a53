"""`ttt schema`: the JSON Schemas of outputs."""

import click


@click.command("schema", context_settings={"ignore_unknown_options": True})
@click.option(
    "--sides",
    nargs=2,
    default=("white", "black"),
    metavar="FIRST SECOND",
    help="Names of the sides in data.sides: columns of other games than chess are called by them.",
)
@click.argument("words", metavar="[COMMAND [OPTION]...]", nargs=-1, type=click.UNPROCESSED)
def command(sides: tuple[str, str], words: tuple[str, ...]) -> None:
    """Print the JSON Schema of what COMMAND prints with `-f json`: columns, types, units and meanings.

    OPTIONs are those that change the columns: `ttt schema top --leaders`. Without COMMAND: all outputs that have a
    schema. CSV and TSV have the same columns, but no `year` beside `period`.
    """
    import json

    from ttt_cli.views.schemas import OUTPUTS, find_output, schema_of
    from ttt_cli.views.sides import GameWords

    if not words:
        click.echo("\n".join(OUTPUTS))
        return
    schema = schema_of(find_output(words), GameWords(*sides))
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
