"""Hints for usage errors, the examples in every help text, and renamed options of the previous version."""

import os
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Final

import click


def hint(error: click.ClickException, path: str, args: Sequence[str], commands: Sequence[str]) -> str:
    """What to do instead; `path` is that of the command, `ttt top`."""
    more = f"`{path} --help` shows all options"
    command = path.removeprefix("ttt").strip()
    if found := misplaced(command, args, commands):
        return found
    if isinstance(error, click.NoSuchOption):
        return next(_for_option(error, command, args, commands), more)
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return more
    examples = " or ".join(f"`{typed}`" for typed, _ in examples_of(command)[:2])
    quotes = "put names of several words in quotes; " if command == "versus" else ""
    return f"{quotes}for instance {examples}; {more}" if examples else more


def misplaced(path: str, args: Sequence[str], commands: Sequence[str]) -> str | None:
    """A hint when an argument is a run, games, a period or a config that the command takes as an option."""
    from ttt_cli.reading.sources import named_as_games
    from ttt_cli.runs.run import ENDING

    options = _options(path) if path in commands else set()
    for before, arg in pairwise(args):
        if before.startswith("-"):
            continue
        if path == "config show" and before == "show":
            return f"a config is named with -c: `ttt config show -c {arg}`"
        if path == "top" and arg[:1].isdigit():
            return f"the period of a ranking: --at {arg}"
        if "-r" in options and os.path.exists(arg):  # noqa: PTH110
            if arg.endswith(ENDING):
                return f"a run is named with -r {arg}"
            if path == "compare" and named_as_games(arg):
                return f"games are named with --games {arg}"
    return None


def _for_option(
    error: click.NoSuchOption, path: str, args: Sequence[str], commands: Sequence[str]
) -> Iterator[str]:
    name = error.option_name
    given = iter(args)
    value = next(
        (arg.partition("=")[2] or next(given, "...") for arg in given if arg.split("=")[0] == name), "..."
    )
    if file := next((arg for arg in args if arg.startswith(name) and os.path.lexists(arg)), None):
        yield f"a file whose name begins with a hyphen is named ./{file}"
    if name == "--resume":
        yield "the same command with the same --scratch continues an interrupted fit"
    if name == "--model":
        yield f"a model is chosen with -c {value}"
    if keys := list(_keys(name.strip("-").replace("-", "_"))):
        yield f"keys of a config are set with {' or '.join(f'-s {key}={value}' for key in keys)}"
    if name.lstrip("-") in commands:
        yield f"`ttt {name.lstrip('-')}` is a command of its own"
    elsewhere = [command for command in commands if command != path and name in _options(command)]
    if elsewhere and name.startswith("--"):
        yield f"it is an option of {', '.join(f'`ttt {command}`' for command in elsewhere)}"


def _options(command: str) -> set[str]:
    parameters = import_module(f"ttt_cli.cli.{command}").command.params
    return {name for parameter in parameters for name in parameter.opts}


def _keys(name: str) -> Iterator[str]:
    """Keys of a config with a name."""
    from ttt_cli.config.schema import DataConfig, SolverConfig
    from ttt_cli.systems import registry

    models = [registry.load(system).Params for system in registry.MODULES]
    for section, schemas in (("data", [DataConfig]), ("solver", [SolverConfig]), ("model", models)):
        if any(name in schema.model_fields for schema in schemas):
            yield f"{section}.{name}"


EXAMPLES: Final = r"""
ttt fit games.pgn  # read the games and write the run games.ttt
ttt fit *.pgn --years 1850-1900 --exclude simul,odds -o old.ttt  # some of the games of several files
ttt fit games.csv -c ttt-d-career -s model.beta=500  # another config, and one of its keys
ttt fit games.pgn -o - -f csv > skills.csv  # the skills, without a run
ttt update games.ttt new.pgn  # add the games of a file
ttt update games.ttt new.pgn --dedupe -o all.ttt  # without those already in it, as another run
ttt games games.pgn  # what a file contains, before it is fitted
ttt games *.pgn --only players -f csv -o players.csv  # one section as a table
ttt games games.pgn --suggest aliases.csv  # spellings that may be one person's
ttt names games.pgn  # answer pair by pair; the answers go to aliases.csv
ttt names *.pgn -o mine.csv --sure  # accept the sure ones at once, and ask about the others
ttt names *.pgn -o mine.csv && ttt fit *.pgn --aliases mine.csv  # use the answers
ttt player morphy  # the history of the only player of that surname
ttt player "Steinitz, W" --plot steinitz.svg  # initials will do; with a figure
ttt player morphy --record  # wins, draws and losses instead
ttt players  # all players, those with most games first
ttt players alekh --from 1920  # those with this in the name who played in or after 1920
ttt top  # the ranking of the last period
ttt top --at 1872 -n 10  # the ten best of 1872
ttt top --peak --by lower  # everyone at their peak, ranked by the mean less two sds
ttt top --leaders -f csv -o leaders.csv  # the number ones and their reigns
ttt versus morphy anderssen  # the probabilities of a game between them, and the games they played
ttt versus morphy fischer --at 1859 --at-b 1972 --games 10  # a match across eras
ttt evidence  # the log-evidence, compared with that of the naive model
ttt evidence --grid beta,tau  # the log-evidence over the grid of the paper
ttt evidence --scores --from 1900  # how well later games were predicted
ttt tune  # the beta and tau of highest evidence
ttt tune beta,tau,white_advantage -o tuned.yaml  # three parameters, written as a config
ttt compare ttt ttt-d elo --from 1900  # which system predicts the games of the run best
ttt compare all --games games.pgn --tune --tuned-to tuned  # all systems, each tuned first
ttt plot  # the skills of those who led longest
ttt plot morphy "Steinitz, W" -o skills.svg  # the skills of these two
ttt plot --kind top -o top.html  # the mean skill of the best players through time
ttt report  # one page with everything, report.html
ttt report site/ --title Masters  # a folder of pages, one for every player, year and event
ttt export skills -o skills.csv  # every skill in every period
ttt export games -f parquet > games.parquet  # the games as they were used
ttt config show -c ttt > mine.yaml  # every key with its meaning, to be changed
ttt config check mine.yaml  # what is wrong in which line
ttt config show -c ttt-d -s model.beta=600 > mine.yaml  # a config to start from
ttt config check *.yaml  # which are ok, and what is wrong in the others
ttt config schema > ttt.schema.json  # for an editor
ttt simulate --players 200 --games 10000 -o games.csv  # games, and the skills beside them
ttt simulate -o - | ttt fit - -o simulated.ttt  # fitted at once
ttt warm && ttt fit games.pgn  # compile everything first
ttt completion bash > ~/.local/share/bash-completion/completions/ttt  # for all new shells
eval "$(ttt completion zsh)"  # for this shell only
"""


def examples_of(path: str) -> list[tuple[str, str]]:
    """Examples of a command, `top` or `config show`: what is typed, and what it does."""
    found = (tuple(line.split("  # ")) for line in EXAMPLES.strip().splitlines())
    return [(typed, does) for typed, does in found if path and re.search(rf"^[^|&]*\bttt {path}\b", typed)]


_MODEL: Final = (
    "prior_mean prior_sd beta tau draw_margin draw_probability white_advantage draw_margin_drift draw_margin_strength "
    "growth growth_years decline decline_after early early_years"
)
_PLAN: Final = (
    "first_year newcomers_slope newcomers_wave newcomers_wave_years expansion career_years clusters mixing "
    "opponents_sd opponents_by truth_years"
)
_READING: Final = {
    "--among": "data.filter.among=true",
    "--exclude-events": "data.filter.exclude_events+",
    "--dedupe": "data.filter.dedupe=true",
    "--min-games": "data.filter.min_games",
    "--largest-group": "data.filter.largest_group=true",
    "--strict": "data.strict=true",
    "--max-errors": "data.max_errors",
    "--reader": "data.reader",
}
# Options of the version before, by command, and what replaces them: an option, a KEY of a config (KEY+: a list),
# or KEY=VALUE for a flag
OLD_NAMES: Final[dict[str, dict[str, str]]] = {
    "fit": _READING,
    "games": _READING,
    "names": _READING,
    "compare": {"--test-from": "--from"},
    "plot": {"--since": "--from"},
    "simulate": {
        **{f"--{key.replace('_', '-')}": f"model.{key}" for key in _MODEL.split()},
        **{f"--{key.replace('_', '-')}": f"simulate.{key}" for key in _PLAN.split()},
    },
}


def renamed(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments with options of the previous version replaced by today's, and a note for each."""
    names = OLD_NAMES.get(args[0], {}) if args else {}
    end = args.index("--") if "--" in args else len(args)
    new: list[str] = []
    notes: list[str] = []
    lists: dict[str, list[str]] = {}
    rest = iter(args[:end])
    for arg in rest:
        name, separator, value = arg.partition("=")
        now = names.get(name, "")
        if not now or ("=" in now and separator):
            new.append(arg)
            continue
        if now.startswith("-"):
            new.append(f"{now}{separator}{value}")
        elif "=" in now:
            new += ["-s", now]
        elif (given := value if separator else next(rest, None)) is None:
            return [*args], []  # click reports the missing value
        elif now.endswith("+"):
            lists.setdefault(now[:-1], []).append(given)
        else:
            new += ["-s", f"{now}={given}"]
        today = now if now.startswith("-") else f"-s {now}" if "=" in now else f"-s {now.rstrip('+')}=VALUE"
        notes.append(f"{name} is now {today}; the next version will not have the old name")
    if lists:
        from ttt_cli.config.schema import flow

        new += [word for key, values in lists.items() for word in ("-s", f"{key}={flow(values)}")]
    return [*new, *args[end:]], notes
