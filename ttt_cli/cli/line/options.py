"""Options that several commands share, as decorators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce, wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from ttt_cli.cli.terminal.console import (
    FORMATS,
    QUIET,
    VERBOSE,
    check_place,
    default_format,
    emit,
    is_titled,
    report_run,
    say,
    voice,
)
from ttt_cli.errors import suggested
from ttt_cli.reading.reasons import EVENT_SETS

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run
    from ttt_cli.views.beside import Beside
    from ttt_cli.views.rows import Rows

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

NOT_CONVERGED: Final = 4  # the exit code of a command whose result is there, but not as exact as asked for
READERS: Final = ("scan", "chess")
_COUNT: Final = click.IntRange(min=0)
_SEVERAL: Final = {"metavar": "NAME", "multiple": True}
_WORDS: Final = {"metavar": "WORDS", "multiple": True}


def _one(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> str | None:  # noqa: ARG001
    """The only value of an option. Raises BadParameter when there are several."""
    if len(value) > 1:
        raise click.BadParameter(f"one config at a time, not {' and '.join(value)}; -s sets single keys")
    return value[0] if value else None


def given(
    options: Iterable[Decorator[Any]],
    change: Callable[[dict[str, Any]], dict[str, Any]] = lambda values: values,
) -> Decorator[Any]:
    """Some options for a command, which sees their values as `change` gives them back."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(*args: Any, **values: Any) -> Any:
            return command(*args, **change(values))

        return reduce(lambda inner, option: option(inner), reversed([*options]), wrapped)  # type: ignore[return-value]

    return decorate


def refuse(*reasons: tuple[str, object]) -> None:
    """Raise UsageError with the first of some sentences that is true of the options given."""
    for sentence, holds in reasons:
        if holds:
            raise click.UsageError(sentence)


run_option: Decorator[Any] = click.option(
    "-r", "--run", metavar="RUN", help="The run to ask; default $TTT_RUN, else the *.ttt here fitted last."
)
scale_option: Decorator[Any] = click.option(
    "--scale", metavar="ANCHOR", multiple=True,
    help="Ratings instead of points: 'Lasker, Emanuel @ 1900 = 2720', may be repeated; also: matched, points.",
)  # fmt: skip
beside_option: Decorator[Any] = click.option(
    "--beside", "published", metavar="FILE",
    help="Published ratings for comparison: a CSV of player, period and rating, scaled to the run.",
)  # fmt: skip
output_option: Decorator[Any] = click.option(
    "-o", "--output", "out", metavar="FILE", default="-", help="Where to write; default - (standard output)."
)
config_option: Decorator[Any] = click.option(
    "-c", "--config", metavar="CONFIG", multiple=True, callback=_one,
    help="A path, - for stdin, or the name of a shipped config.",
)  # fmt: skip
set_option: Decorator[Any] = click.option(
    "-s", "--set", "overrides", metavar="KEY=VALUE", multiple=True,
    help="Set one key, for instance model.beta=600; may be repeated.",
)  # fmt: skip
suspects_option: Decorator[Any] = click.option(
    "--no-suspects", is_flag=True, help="Do not look for names that may be one person's."
)


def asked_beside(path: str | None, run: Run) -> Beside | None:
    """The ratings of `--beside`, if any."""
    if path is None:
        return None
    from ttt_cli.views.beside import read_beside

    return read_beside(path, run)


def _set_safe_csv(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: ARG001
    voice.safe_csv = value


# The form of what is shown: the command sees it as `fmt`; --safe-csv is seen to here
format_option = given([
    click.option(
        "-f", "--format", "fmt", type=click.Choice(FORMATS, case_sensitive=False),
        help="Form of the output; default table on a terminal, TSV in a pipe, a file's by its name.",
    ),
    click.option(
        "--safe-csv", is_flag=True, expose_value=False, callback=_set_safe_csv,
        help="An apostrophe before texts in CSV and TSV that spreadsheets would take for formulas.",
    ),
])  # fmt: skip


_LIMITS: Final[dict[str, dict[str, Any]]] = {
    "active": {"type": click.FloatRange(min=0), "metavar": "YEARS",
               "help": "Only with a game so many years before or less; default 2, 0: in the period itself."},
    "min_games": {"type": click.FloatRange(min=0), "metavar": "N", "help": "Only with so many games; default 20."},
    "min_opponents": {"type": click.IntRange(min=0), "metavar": "N",
                      "help": "Only with games against so many players; default 3."},
    "max_sd": {"type": click.FloatRange(min=0), "metavar": "SD",
               "help": "Only skills as certain as this; default 0.45 of a newcomer's sd."},
    "everyone": {"is_flag": True, "help": "Whoever's career has begun, with no limits but those given."},
}  # fmt: skip


def _as_limits(values: dict[str, Any]) -> dict[str, Any]:
    limits = {name: values.pop(name) for name in _LIMITS}
    if limits["everyone"] and limits["active"] is not None:
        raise click.UsageError("--active and --everyone are one or the other")
    return values | {"limits": limits}


# Who is eligible: the command sees what was given as `limits`, for `ttt_cli.views.rankings.eligible.eligible`
eligible_options = given(
    [click.option(f"--{name.replace('_', '-')}", **settings) for name, settings in _LIMITS.items()],
    _as_limits,
)


def _sets(level: int) -> Callable[[click.Context, click.Parameter, bool], None]:
    def callback(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: ARG001
        if value:
            voice.level = level

    return callback


# -q and -v: how much is said on standard error (`console.say`); the command itself does not see them
verbosity_options = given([
    click.option(*names, is_flag=True, expose_value=False, callback=_sets(level), help=text)
    for names, level, text in (
        (("-q", "--quiet"), QUIET, "Say nothing but errors."),
        (("-v", "--verbose"), VERBOSE, "Say more; show where an unexpected error arose."),
    )
])  # fmt: skip


class Asked:
    """The run that a command asks, and where and in which form its answer goes."""

    def __init__(self, run: str | None, scale: tuple[str, ...], fmt: str | None, out: str) -> None:
        self.run, self._scale, self.fmt, self.out = run, scale, fmt, out
        self.titled = is_titled(fmt, out)
        check_place(out)
        if fmt is None:
            default_format(out)

    def open(self, *, titled: bool = True) -> Run:
        """Open the run. `titled`: for a table whose title names it, with a warning if it had not converged."""
        run = asked_run(self.run, self._scale, titled=titled and self.titled)
        if titled and not run.meta.converged:
            say(
                f"{run.name}: this fit had not converged, its skills may be off by more than it was asked for"
            )
        return run

    def show(self, rows: Rows, *more: Rows) -> None:
        """Show or write a table; below it, on a terminal, those of `more` that are not empty."""
        emit(rows, self.fmt, out=self.out)
        for table in more if self.titled else ():
            if table.rows:
                click.echo()
                emit(table, "table")


def _as_asked(values: dict[str, Any]) -> dict[str, Any]:
    asked = {name: values.pop(name, ()) for name in ("run", "scale", "fmt", "out")}
    return values | {"asked": Asked(**asked)}


# -r, --scale (or not), -f, -o, -q and -v: the command sees them as `asked`
asking_options = given([run_option, scale_option, format_option, output_option, verbosity_options], _as_asked)
asking_in_points = given([run_option, format_option, output_option, verbosity_options], _as_asked)


def asked_run(path: str | None, scale: tuple[str, ...] = (), *, titled: bool = False) -> Run:
    """Open the run that is meant; unless it was named here, say which one answers.

    `titled`: the title of what is shown will say it; if it comes to an error instead, that does.
    """
    from ttt_cli.runs.run import open_run

    run = open_run(path, scale)
    voice.asked = run.name
    if path is None:
        meta = run.meta
        voice.run = f"{run.name}: {meta.games:,} games {meta.first}-{meta.last}"
        if not titled:
            report_run()
    return run


def _waiting(values: dict[str, Any]) -> dict[str, Any]:
    from ttt_cli.runs.storing.writing import waiting

    click.get_current_context().with_resource(waiting(say, wait=not values.pop("no_wait")))
    return values


_NO_WAIT: Final = click.option(
    "--no-wait", is_flag=True, help="Refuse at once when another process writes the run; default: wait."
)
# Whether a command waits for another that writes the same run; the command does not see it
waiting_option = given([_NO_WAIT], _waiting)


def _flag(name: str, key: str, description: str, **settings: Any) -> tuple[str, Decorator[Any]]:
    """A flag that sets a key of `data`."""
    return key, click.option(name, _parameter(key), help=description, **settings)


def _parameter(key: str) -> str:
    return f"data_{key.replace('.', '_')}"


def _check_years(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """Raise BadParameter, which names the flag, for what is no range of years."""
    if value is not None:
        from ttt_cli.config.schema import year_range

        try:
            year_range(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
    return value


def _split_sets(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> list[str]:  # noqa: ARG001
    """The names of all sets, of which one flag may give several. Raises BadParameter for what is none."""
    names = [name.strip() for names in value for name in names.split(",") if name.strip()]
    for name in names:
        if name not in EVENT_SETS:
            hint = suggested(name, EVENT_SETS, f"sets are {', '.join(EVENT_SETS)}", "{}")
            raise click.BadParameter(f"there is no set {name!r}; {hint}")
    return names


_READING: Final = (
    _flag("--years", "filter.years", "Only games of 1850-1900, 1850- or -1900.", metavar="RANGE",
          callback=_check_years),
    _flag("--players", "filter.players", "Only games of these, names or /patterns/; repeatable.", **_SEVERAL),
    _flag("--among", "filter.among", "Only games of these --players with each other.", is_flag=True),
    _flag("--events", "filter.events", "Only events or sites with these words; repeatable.", **_WORDS),
    _flag("--exclude", "filter.exclude", f"Leave out {', '.join(EVENT_SETS)}.", metavar="SET,...", multiple=True,
          callback=_split_sets),
    _flag("--exclude-events", "filter.exclude_events", "Leave out events or sites with these words; repeatable.",
          **_WORDS),
    _flag("--dedupe", "filter.dedupe", "Use only one of several records of the same game.", is_flag=True),
    _flag("--min-games", "filter.min_games", "Leave out players with fewer games.", metavar="N", type=_COUNT),
    _flag("--largest-group", "filter.largest_group", "Only the largest group of players tied by games.", is_flag=True),
    _flag("--aliases", "aliases", "Further spellings of names, main,synonym,... a line.", metavar="FILE"),
    _flag("--strict", "strict", "Make every problem with a file or record an error.", is_flag=True),
    _flag("--max-errors", "max_errors", "Make more than N unusable records an error.", metavar="N", type=_COUNT),
    _flag("--reader", "reader", "Read PGN by its tags, or through python-chess.", type=click.Choice(READERS)),
)  # fmt: skip


def _as_overrides(values: dict[str, Any]) -> dict[str, Any]:
    """The last of the `overrides` are `KEY=VALUE` for each key for which there was a flag."""
    from ttt_cli.config.render import flow

    found = {key: values.pop(_parameter(key)) for key, _ in _READING}
    added = (
        f"data.{key}={flow(value)}"
        for key, value in found.items()
        if not (value is None or value is False or value in ((), []))
    )
    return values | {"overrides": (*values["overrides"], *added)}


# -c, -s, and flags for what is read and what of it is used: they set keys of `data`, and win over -c and -s
reading_options = given([config_option, set_option, *(option for _, option in _READING)], _as_overrides)
