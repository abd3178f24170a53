"""`ttt plot`: figures made from a run."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import click

from ttt_cli.cli import options
from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import say
from ttt_cli.cli.output import figure_format, save_figure
from ttt_cli.views.figures import FIGURE_FORMATS, KINDS


def _kinds_help() -> str:
    """All kinds with their summaries; neighbours with the same summary together."""
    groups = groupby(KINDS.items(), key=lambda item: item[1].summary)
    return "; ".join(
        f"{' and '.join([name for name, _ in kinds])}: {summary}" for summary, kinds in groups
    )


def _are_chosen(limits: Mapping[str, Any]) -> bool:
    """Whether an option limits who is eligible. The defaults take a query, which only some kinds need."""
    return any(value not in (None, ()) and value is not False for value in limits.values())


@click.command("plot")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="skills",
    show_default=True,
    help=f"{_kinds_help()}.",
)
@click.option(
    "--by",
    type=click.Choice([choice for kind in KINDS.values() for choice in kind.by]),
    help="skills: mean (default) draws curves of skill, dominance those of the lead over the ten best others. "
    "why: what is left out, as in ttt why; default game.",
)
@click.option("--at", metavar="PERIOD", help="The period (why); default the player's peak.")
@click.option(
    "--with", "other_run", metavar="RUN", help="A second run, dotted, for comparison (skills)."
)
@options.beside_option
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Number of players in the top, or of rows (why).",
)
@options.eligible_options
@click.option(
    "--from", "since", metavar="PERIOD", help="First period to predict (calibration); default all."
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Refit every N periods (calibration).",
)
@click.option(
    "-f", "--format", "fmt", type=click.Choice(FIGURE_FORMATS), help="Default by the file's name."
)
@click.option(
    "-o", "--output", "out", metavar="FILE", help="png, svg, pdf or html by its name; - is stdout, as svg.  "
    "[default: a png named after what it shows]",
)  # fmt: skip
@options.run_option
@options.scale_option
@options.category_option
def command(
    names: tuple[str, ...],
    kind: str,
    by: str | None,
    at: str | None,
    other_run: str | None,
    published: str | None,
    number: int,
    limits: dict[str, Any],
    since: str | None,
    every: int,
    fmt: str | None,
    out: str | None,
    run: str | None,
    scale: tuple[str, ...],
    category: str | None,
) -> None:
    """Draw skills of players with a band of one sd, or another figure of the run.

    Quote names with blanks: `ttt plot Morphy "Steinitz, W" -o skills.svg`. Without names: the players who led
    in most periods. The limits on eligible players are those of `ttt top`. Thin lines are periods without
    games; dashed lines are draw margins of TTT-D.
    """
    dotted = other_run or published
    accepted = KINDS[kind].options
    options.refuse(
        (f"--by {by} does not go with --kind {kind}", by is not None and by not in KINDS[kind].by),
        ("--by dominance does not go with --with or --beside", by == "dominance" and dotted),
        ("--kind why takes a name, or two for the lead over the second", kind == "why" and len(names) not in (1, 2)),
        (f"--at goes with --kind why, not {kind}", at and "at" not in accepted),
        ("--with and --beside exclude each other: both are dotted", other_run and published),
        ("--kind difference takes two names", kind == "difference" and len(names) != 2),
        (f"names go with --kind {_kinds_with('names')}, not {kind}", names and "names" not in accepted),
        (f"--with and --beside go with --kind {_kinds_with('with')}, not {kind}", dotted and "with" not in accepted),
        (f"--from and --every go with --kind calibration, not {kind}",
         "from" not in accepted and (since or every > 1)),
    )  # fmt: skip
    fmt = figure_format(out, fmt)
    from ttt_cli.runs.run import open_run
    from ttt_cli.views.figures.figure import FigureOptions, make_figure
    from ttt_cli.views.published_ratings import read_published_ratings
    from ttt_cli.views.rankings.eligible import eligible

    opened = click.get_current_context().with_resource(options.opened_run(run, scale, category))
    figure_options = FigureOptions(
        names, by=by, at=at, count=number, since=since, every=every, progress=progress(),
        second_run=open_run(other_run, scale, category) if other_run else None,
        published=read_published_ratings(published, opened) if published else None,
        limits=eligible(opened, **limits) if _are_chosen(limits) else None,
    )  # fmt: skip
    figure = make_figure(opened, kind, figure_options)
    say(*figure.notes)
    save_figure(figure, out, fmt)


def _kinds_with(option: str) -> str:
    """The kinds of figures with an option, in words."""
    *others, last = [name for name, kind in KINDS.items() if option in kind.options]
    return f"{', '.join(others)} or {last}" if others else last
