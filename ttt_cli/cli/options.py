"""Options that several commands share, as decorators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from ttt_cli.cli.messages import report_run, say, session
from ttt_cli.cli.output import OUTPUT_FORMATS, check_output_path, default_format, emit
from ttt_cli.config.event_set_names import EVENT_SETS
from ttt_cli.support.errors import OutputError

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run
    from ttt_cli.views.rows import Rows


Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

NOT_CONVERGED: Final = 4  # the exit code of a command with a result less exact than configured


def _only_value(
    context: click.Context,  # noqa: ARG001
    parameter: click.Parameter,  # noqa: ARG001
    value: tuple[str, ...],
) -> str | None:
    """The only value of an option. Raises BadParameter when there are several."""
    if len(value) > 1:
        raise click.BadParameter(
            f"one config at a time, not {' and '.join(value)}; -s sets single keys"
        )
    return value[0] if value else None


def with_options(
    change: Callable[[dict[str, Any]], dict[str, Any]], *options: Decorator[Any]
) -> Decorator[Any]:
    """A decorator that adds options to a command; `change` converts their values before the command gets them."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(*args: Any, **values: Any) -> Any:
            return command(*args, **change(values))

        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped  # type: ignore[return-value]

    return decorate


def refuse(*reasons: tuple[str, object]) -> None:
    """Raise UsageError with the first message that has a true condition; `reasons` are (message, condition)."""
    for sentence, holds in reasons:
        if holds:
            raise click.UsageError(sentence)


run_option: Decorator[Any] = click.option(
    "-r",
    "--run",
    metavar="RUN",
    help="The run to read; default $TTT_RUN, else the newest *.ttt here.",
)
scale_option: Decorator[Any] = click.option(
    "--scale", metavar="ANCHOR", multiple=True,
    help="Show Elo ratings: 'Lasker, Emanuel @ 1900 = 2720'; repeatable; also: elo (without a level), matched, points.",
)  # fmt: skip
category_option: Decorator[Any] = click.option(
    "--category",
    metavar="NAME",
    help="Show the skills, games and players of a category of games, as rapid, alone.",
)
beside_option: Decorator[Any] = click.option(
    "--beside", "published", metavar="FILE",
    help="Compare with published ratings: a CSV of player, period and rating.",
)  # fmt: skip
output_option: Decorator[Any] = click.option(
    "-o",
    "--output",
    "out",
    metavar="FILE",
    default="-",
    help="Where to write; default - (standard output).",
)
config_option: Decorator[Any] = click.option(
    "-c", "--config", metavar="CONFIG", multiple=True, callback=_only_value,
    help="A path, - for stdin, or the name of a shipped config.",
)  # fmt: skip
set_option: Decorator[Any] = click.option(
    "-s", "--set", "overrides", metavar="KEY=VALUE", multiple=True,
    help="Set a key of the config, for instance model.beta=600; repeatable.",
)  # fmt: skip
suspects_option: Decorator[Any] = click.option(
    "--no-suspects", is_flag=True, help="Skip the search for similar names."
)


format_option: Decorator[Any] = click.option(
    "-f", "--format", "fmt", type=click.Choice(OUTPUT_FORMATS, case_sensitive=False),
    help="Output format; default: table on a terminal, TSV in a pipe, else by file name.",
)  # fmt: skip


_LIMITS: Final[dict[str, dict[str, Any]]] = {
    "active": {"type": click.FloatRange(min=0), "metavar": "N",
               "help": "Only players with a game in the last N years (default 2; 0: in the period itself)."},
    "min_games": {"type": click.FloatRange(min=0), "metavar": "N",
                  "help": "Only players with N games up to the period; default 20."},
    "min_opponents": {"type": click.IntRange(min=0), "metavar": "N",
                      "help": "Only players with N different opponents in the run; default 3."},
    "max_sd": {"type": click.FloatRange(min=0), "metavar": "SD",
               "help": "Only skills with at most this sd; default 0.45 times a newcomer's sd."},
    "everyone": {"is_flag": True, "help": "Ignore the default limits."},
    "players": {"multiple": True, "metavar": "FILE|NAME,...",
                "help": "Only these players: names with commas or semicolons between, or a file of names; repeatable."},
    "where": {"metavar": "CONDITION",
              "help": "Only players of whom this is known: \"federation = 'SUI' and age < 20\"."},
}  # fmt: skip


_OF_PLAYERS: Final = ("players", "where")  # limits that name players


def _as_limits(values: dict[str, Any]) -> dict[str, Any]:
    limits = {name: values.pop(name) for name in _LIMITS if name in values}
    if limits["everyone"] and limits["active"] is not None:
        raise click.UsageError("--active and --everyone are one or the other")
    return values | {"limits": limits}


def _as_limits_without_players(values: dict[str, Any]) -> dict[str, Any]:
    limits = {
        name: value for name, value in values.items() if name in _LIMITS and name not in _OF_PLAYERS
    }
    return {name: value for name, value in values.items() if name not in limits} | _as_limits(
        limits
    )


# Who is eligible: the command sees what was given as `limits`, for `ttt_cli.views.rankings.eligible.eligible`
eligible_options = with_options(
    _as_limits,
    *(
        click.option(f"--{name.replace('_', '-')}", **settings)
        for name, settings in _LIMITS.items()
    ),
)
# The same for a command of which --where chooses games
eligible_options_without_players = with_options(
    _as_limits_without_players,
    *(
        click.option(f"--{name.replace('_', '-')}", **settings)
        for name, settings in _LIMITS.items()
        if name not in _OF_PLAYERS
    ),
)


def _checked_years(values: dict[str, Any]) -> dict[str, Any]:
    since = values["since"]
    until = values["until"]
    if since is not None and until is not None and since > until:
        raise click.UsageError(
            f"{since} to {until} goes backwards: perhaps --from {until} --to {since} is meant"
        )
    return values


def years_options(what: str) -> Decorator[Any]:
    """--from and --to, years that limit `what`; the command sees them as `since` and `until`."""
    return with_options(
        _checked_years,
        click.option(
            "--from", "since", type=int, metavar="YEAR", help=f"Only {what} in or after this year."
        ),
        click.option(
            "--to", "until", type=int, metavar="YEAR", help=f"Only {what} in or before this year."
        ),
    )


def _none_for_all(values: dict[str, Any]) -> dict[str, Any]:
    return values | {"number": values["number"] or None}


def number_option(what: str) -> Decorator[Any]:
    """-n, how many rows `what` are listed; the command sees them as `number`, None for all."""
    return with_options(
        _none_for_all,
        click.option(
            "-n",
            "--number",
            type=click.IntRange(min=0),
            default=20,
            help=f"Number of {what}; default 20, 0 for all.",
        ),
    )


class RunQuery:
    """The run that a command reads, and the destination and format of its output."""

    def __init__(
        self,
        run: str | None,
        scale: tuple[str, ...],
        fmt: str | None,
        out: str,
        category: str | None,
    ) -> None:
        self.run = run
        self._scale = scale
        self._category = category
        self.fmt = fmt
        self.out = out
        check_output_path(out)
        self.titled = (fmt or default_format(out)) == "table" and out == "-"

    def open(self, *, titled: bool = True) -> Run:
        """Open the run. `titled`: for a table with the run in its title; warns if the run had not converged.

        Its file stays open until the command ends.
        """
        run = opened_run(self.run, self._scale, self._category, titled=titled and self.titled)
        click.get_current_context().with_resource(run)
        if titled and not run.meta.converged:
            say(
                f"{run.name}: this fit did not converge; errors of skills may be larger than solver.tol"
            )
        return run

    def show(self, rows: Rows, *more: Rows) -> None:
        """Show or write a table; below it, on a terminal, those of `more` that are not empty.

        The first line names the run, unless the user did or it was reported before.
        A computed table that may not replace the file is printed, so that it is not lost. Raises OutputError then.
        """
        if self.titled and session.run_line and rows.title:
            heading, *explanation = rows.title
            rows = replace(rows, title=(f"{heading} ({session.run_name})", *explanation))
        try:
            emit(rows, self.fmt, out=self.out)
        except OutputError:
            if isinstance(rows.rows, list):
                emit(rows)
            raise
        for table in more if self.titled else ():
            if table.rows:
                click.echo()
                emit(table, "table")


def _as_query(values: dict[str, Any]) -> dict[str, Any]:
    given_here = {name: values.pop(name, ()) for name in ("run", "scale", "fmt", "out")}
    category = values.pop("category", None)
    return values | {"query": RunQuery(**given_here, category=category)}


# -r, --scale (or not), --category (or not), -f and -o: the command sees them as `query`
query_options = with_options(_as_query, run_option, scale_option, format_option, output_option)
query_options_by_category = with_options(
    _as_query, run_option, scale_option, category_option, format_option, output_option
)
query_options_in_points = with_options(_as_query, run_option, format_option, output_option)


def opened_run(
    path: str | None,
    scale: tuple[str, ...] = (),
    category: str | None = None,
    *,
    titled: bool = False,
) -> Run:
    """Open the run and report which one it is, unless the user named it or it is `titled`, as a title will name it."""
    from ttt_cli.runs.run import open_run

    run = open_run(path, scale, category)
    session.run_name = run.name
    session.run_is_named = path is not None
    if path is None:
        session.run_line = f"{run.name}: {run.meta.extent}"
        if not titled:
            report_run()
    return run


def _waiting(values: dict[str, Any]) -> dict[str, Any]:
    from ttt_cli.support.locks import waiting

    click.get_current_context().with_resource(waiting(say, wait=not values.pop("no_wait")))
    return values


# Whether a command waits for another that writes the same run; the command does not see it
waiting_option = with_options(
    _waiting,
    click.option(
        "--no-wait",
        is_flag=True,
        help="Fail instead of waiting when another process writes the run.",
    ),
)


def _split(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> list[str]:  # noqa: ARG001
    """The names in all values; each may list several."""
    return [name.strip() for names in value for name in names.split(",") if name.strip()]


# Options that set a key of the config, by their parameter
KEYS: Final = {
    "years": "data.filter.years", "players": "data.filter.players", "events": "data.filter.events",
    "exclude": "data.filter.exclude", "aliases": "data.aliases", "people": "data.people",
    "corrections": "data.corrections",
    "cluster": "solver.cluster", "memory": "solver.memory", "scratch": "solver.scratch",
}  # fmt: skip


def _as_overrides(values: dict[str, Any]) -> dict[str, Any]:
    """Convert options to `KEY=VALUE`, the last of the command's `overrides`: they win over -c and -s."""
    if values.get("cluster") is not None and values.get("jobs") is not None:
        raise click.UsageError("--jobs and --cluster are one or the other")
    for name, key in KEYS.items():
        if (value := values.pop(name, None)) not in (None, (), []):
            from ttt_cli.config.schema import yaml_on_one_line

            values["overrides"] += (f"{key}={yaml_on_one_line(value)}",)
    return values


where_option: Decorator[Any] = click.option(
    "--where",
    metavar="CONDITION",
    help="Only players of whom this is known: \"federation = 'SUI' and born < 1900\".",
)
columns_option: Decorator[Any] = click.option(
    "--columns", metavar="FIELD,...", multiple=True, callback=_split,
    help="Add what is known of the players, for instance age,federation.",
)  # fmt: skip
reading_options = with_options(
    _as_overrides, config_option, set_option,
    click.option("--years", metavar="RANGE", help="Only games of 1850-1900, 1850- or -1900."),
    click.option("--players", metavar="NAME", multiple=True,
                 help="Only games of these players, names or /patterns/; repeatable."),
    click.option("--events", metavar="WORDS", multiple=True,
                 help="Only games with these words in event or site; repeatable."),
    click.option("--exclude", metavar="SET,...", multiple=True, callback=_split,
                 help=f"Leave out {', '.join(EVENT_SETS)}."),
    click.option("--aliases", metavar="FILE", help="File of spellings: main,synonym,... in each line."),
    click.option("--people", metavar="FILE", help="Table of people: name,born,died,sex,federation,title ..."),
    click.option("--corrections", metavar="FILE", help="Corrections: action,where,player,value,reason,source."),
)  # fmt: skip
cluster_option = with_options(
    _as_overrides,
    click.option(
        "--cluster", metavar="WHERE",
        help="Work on a Dask cluster (docs/cluster.md): the address of its scheduler, or local:N; "
        "default $TTT_CLUSTER, else this machine.",
    ),
)  # fmt: skip
storage_options = with_options(
    _as_overrides,
    click.option(
        "--memory", metavar="SIZE",
        help="Use at most this much memory, for instance 4GB; larger data goes to files (docs/cluster.md). The "
        "program alone needs 0.3 to 0.4 GB.",
    ),
    click.option(
        "--scratch", metavar="FOLDER",
        help="Folder for files of --memory and --cluster. The same command continues an interrupted fit from there.",
    ),
)  # fmt: skip
