"""Options that several commands share, as decorators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce, wraps
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

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


run_option: Decorator[Any] = click.option(
    "-r",
    "--run",
    "run",
    metavar="RUN",
    help="The run to ask; default $TTT_RUN, else the *.ttt here fitted last.",
)
scale_option: Decorator[Any] = click.option(
    "--scale",
    "scale",
    metavar="ANCHOR",
    multiple=True,
    help="Ratings instead of points: 'Lasker, Emanuel @ 1900 = 2720', may be repeated; also: matched, points.",
)
beside_option: Decorator[Any] = click.option(
    "--beside",
    "published",
    metavar="FILE",
    help="Published ratings for comparison: a CSV of player, period and rating, scaled to the run.",
)
output_option: Decorator[Any] = click.option(
    "-o", "--output", "out", metavar="FILE", default="-", help="Where to write; default - (standard output)."
)
config_option: Decorator[Any] = click.option(
    "-c",
    "--config",
    "config",
    metavar="CONFIG",
    multiple=True,
    callback=_one,
    help="A path, - for stdin, or the name of a shipped config.",
)
set_option: Decorator[Any] = click.option(
    "-s",
    "--set",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    help="Set one key, for instance model.beta=600; may be repeated.",
)


def asked_beside(path: str | None, run: Run) -> Beside | None:
    """The ratings of `--beside`, if any."""
    if path is None:
        return None
    from ttt_cli.views.beside import read_beside

    return read_beside(path, run)


def format_option(command: Command) -> Command:
    """The form of what is shown: the command sees it as `fmt`; --safe-csv is seen to here."""
    formed = click.option(
        "-f",
        "--format",
        "fmt",
        type=click.Choice(FORMATS, case_sensitive=False),
        help="Form of the output; default table on a terminal, TSV in a pipe, a file's by its name.",
    )
    safe = click.option(
        "--safe-csv",
        is_flag=True,
        expose_value=False,
        callback=_set_safe_csv,
        help="An apostrophe before texts in CSV and TSV that spreadsheets would take for formulas.",
    )
    return formed(safe(command))


def _set_safe_csv(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: ARG001
    voice.safe_csv = value


def eligible_options(command: Command) -> Command:
    """Who is eligible: the command sees what was given as `limits`, for `ttt_cli.views.rankings.eligible.eligible`."""

    @wraps(command)
    def wrapped(*args: Any, **values: Any) -> Any:
        limits = {name: values.pop(name) for name in _LIMITS}
        if limits["everyone"] and limits["active"] is not None:
            raise click.UsageError("--active and --everyone are one or the other")
        return command(*args, limits=limits, **values)

    for name, settings in reversed(_LIMITS.items()):
        wrapped = click.option(f"--{name.replace('_', '-')}", name, **settings)(wrapped)
    return wrapped  # type: ignore[return-value]


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


def verbosity_options(command: Command) -> Command:
    """-q and -v: how much is said on standard error (`console.say`); the command itself does not see them."""
    quiet, verbose = (
        click.option(*names, is_flag=True, expose_value=False, callback=_sets(level), help=text)
        for names, level, text in (
            (("-q", "--quiet"), QUIET, "Say nothing but errors."),
            (("-v", "--verbose"), VERBOSE, "Say more; show where an unexpected error arose."),
        )
    )
    return quiet(verbose(command))


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


def _asking(*given: Decorator[Any]) -> Decorator[Any]:
    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(
            *args: Any, run: str | None, fmt: str | None, out: str, scale: tuple[str, ...] = (), **values: Any
        ) -> Any:
            return command(*args, asked=Asked(run, scale, fmt, out), **values)

        return reduce(lambda inner, option: option(inner), reversed(given), wrapped)  # type: ignore[return-value]

    return decorate


# -r, --scale (or not), -f, -o, -q and -v: the command sees them as `asked`
asking_options = _asking(run_option, scale_option, format_option, output_option, verbosity_options)
asking_in_points = _asking(run_option, format_option, output_option, verbosity_options)


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


suspects_option: Decorator[Any] = click.option(
    "--no-suspects", "no_suspects", is_flag=True, help="Do not look for names that may be one person's."
)


def waiting_option(command: Command) -> Command:
    """--no-wait: whether a command waits for another that writes the same run; the command does not see it."""

    @wraps(command)
    def wrapped(*args: Any, no_wait: bool, **values: Any) -> Any:
        from ttt_cli.runs.storing.writing import waiting

        with waiting(say, wait=not no_wait):
            return command(*args, **values)

    return click.option(  # type: ignore[return-value]
        "--no-wait", is_flag=True, help="Refuse at once when another process writes the run; default: wait."
    )(wrapped)


def _sets(level: int) -> Callable[[click.Context, click.Parameter, bool], None]:
    def callback(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: ARG001
        if value:
            voice.level = level

    return callback


class _Flag(NamedTuple):
    """A flag that sets a key of `data`."""

    name: str
    key: str
    settings: dict[str, Any]

    @property
    def parameter(self) -> str:
        return f"data_{self.key.replace('.', '_')}"


def _flag(name: str, key: str, description: str, **settings: Any) -> _Flag:
    return _Flag(name, key, {"help": description, **settings})


def reading_options(command: Command) -> Command:
    """-c, -s, and flags for what is read and what of it is used: they set keys of `data`, and win over -c and -s.

    The command sees them as the last of its `overrides`.
    """

    @wraps(command)
    def wrapped(*args: Any, overrides: tuple[str, ...], **values: Any) -> Any:
        given = [(flag.key, values.pop(flag.parameter)) for flag in _READING]
        return command(*args, overrides=(*overrides, *_as_overrides(given)), **values)

    for flag in reversed(_READING):
        wrapped = click.option(flag.name, flag.parameter, **flag.settings)(wrapped)
    return config_option(set_option(wrapped))  # type: ignore[no-any-return]


def _as_overrides(given: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """`KEY=VALUE` for each key for which there was a flag."""
    from ttt_cli.config.render import flow

    for key, value in given:
        if not (value is None or value is False or value in ((), [])):
            yield f"data.{key}={flow(value)}"


def _check_years(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """Raise BadParameter, which names the flag, for what is no range of years."""
    if value is not None:
        from ttt_cli.config.selection import year_range

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
