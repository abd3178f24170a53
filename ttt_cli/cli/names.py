"""`ttt names`: the names that may be one person's, one pair after the other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import say
from ttt_cli.cli.options import reading_options
from ttt_cli.cli.output import check_output_path, write
from ttt_cli.support.errors import OutputError
from ttt_cli.support.outputs import ANSWERS

if TYPE_CHECKING:
    from ttt_cli.games.aliases import Decisions
    from ttt_cli.games.suspects import Suspect

_MOST_ANSWERS: Final = 1 << 23  # bytes of an alias file that is written anew after each answer
_ASKED: Final = "One person? [y]es, [n]o, [s]kip, [d]ate: in some years, [q]uit"


@click.command("names")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    "out",
    metavar="ALIASES",
    default="aliases.csv",
    show_default=True,
    help="The alias file.",
)
@click.option("--sure", is_flag=True, help="Accept sure pairs without asking.")
@reading_options
def command(
    files: tuple[str, ...], out: str, sure: bool, config: str | None, overrides: tuple[str, ...]
) -> None:
    """Ask whether similar names in FILE... are one person, likely pairs first, and write an alias file.

    `date` assigns the games of some years only: 1890-1900, -1900 or 1901-. Each answer is stored at once and
    not asked again, so you can quit at any time. Other lines of the file are kept.
    """
    check_output_path(out, ANSWERS)
    if not sure and not sys.stdin.isatty():
        raise click.UsageError(
            "answers come from a terminal; `ttt games FILE... --suggest FILE` writes suggestions"
        )
    from ttt_cli.api import configure
    from ttt_cli.games.aliases import Decision, alias_row, read_decisions
    from ttt_cli.games.read import read_games
    from ttt_cli.games.suspects import find_suspects
    from ttt_cli.reading.text import decode

    decisions = read_decisions(decode(_earlier_answers(out)), out)
    data = configure(config, overrides).config.data
    suspects = [
        suspect
        for suspect in find_suspects(read_games(files, data, progress=progress()))
        if alias_row(suspect.main.name, suspect.synonym.name)
        is not None  # else no answer can be written
    ]
    if sure:
        for suspect in suspects:
            if suspect.sure and not decisions.answered(suspect.main.name, suspect.synonym.name):
                decisions.add(Decision("yes", suspect.main.name, suspect.synonym.name))
        write(decisions.text(), out, ANSWERS)
    if sys.stdin.isatty():
        unanswered = [
            suspect
            for suspect in suspects
            if not decisions.answered(suspect.main.name, suspect.synonym.name)
        ]
        _ask_all(unanswered, decisions, out)
    say(f"{len(decisions):,} answers in {out}: --aliases {out} uses them")


def _earlier_answers(out: str) -> bytes:
    """Content of the alias file so far. Raises OutputError unless it is a regular file of a usual size."""
    path = Path(out)
    if not path.exists():
        return b""
    if not path.is_file():
        raise OutputError(
            f"{out} is not a regular file", hint="answers are added to a file: name it with -o"
        )
    if path.stat().st_size > _MOST_ANSWERS:
        message = f"{out} takes more than {_MOST_ANSWERS >> 20} MB"
        raise OutputError(message, hint="is it an alias file? name another one with -o")
    return path.read_bytes()


def _ask_all(suspects: list[Suspect], decisions: Decisions, out: str) -> None:
    """Ask about each pair, and store each answer at once."""
    from ttt_cli.games.aliases import Decision

    for number, suspect in enumerate(suspects, 1):
        if decisions.answered(suspect.main.name, suspect.synonym.name):
            continue
        sure = " (sure)" if suspect.sure else ""
        click.echo(f"\n{number:,} of {len(suspects):,}{sure}: {suspect.evidence}")
        click.echo(f"  {suspect.main}\n  {suspect.synonym}")
        choices = click.Choice(list("ynsdq"), case_sensitive=False)
        try:
            answer = click.prompt(_ASKED, type=choices, show_choices=False)
        except click.Abort as error:
            if not isinstance(error.__cause__, EOFError):
                raise
            answer = "q"  # at the end of the input
        if answer == "q":
            return
        if answer != "s":
            years = _years(suspect) if answer == "d" else ""
            words = {"y": "yes", "n": "no", "d": "years"}
            decisions.add(Decision(words[answer], suspect.main.name, suspect.synonym.name, years))
            write(decisions.text(), out, ANSWERS)


def _years(suspect: Suspect) -> str:
    """The years in which the synonym is the main name."""
    from ttt_cli.config.schema import year_range

    main, synonym = suspect.main, suspect.synonym
    played = f"{synonym.first}-{synonym.last}"
    while True:
        text = str(click.prompt(f"In which years is {synonym.name!r} ({played}) {main.name!r}?"))
        try:
            first, last = year_range(text)
        except ValueError as error:
            click.echo(str(error))
            continue
        if first <= synonym.last and last >= synonym.first:
            return text.strip()
        click.echo(f"{synonym.name!r} has no games in {text.strip()}")
