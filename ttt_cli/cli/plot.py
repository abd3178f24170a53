"""`ttt plot`: figures made from a run."""

from typing import Any

import click

from ttt_cli.cli.line import options
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import figure_format, save_figure, say
from ttt_cli.views.charts import FIGURE_FORMATS, KINDS


@click.command("plot")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="skills",
    show_default=True,
    help="Skill curves; the lead of one player over another; the number ones; games per year; the stored evidence "
    "grid; the mean of the top through time; whether what was predicted came true; draw margins and newcomers' mean "
    "that move with the year; what skills do by themselves after the debut.",
)
@click.option(
    "--by",
    type=click.Choice(("mean", "dominance")),
    default="mean",
    show_default=True,
    help="Curves of skill, or of the lead over the ten best others (skills).",
)
@click.option("--with", "other", metavar="RUN", help="A second run, dotted, for comparison (skills).")
@options.beside_option
@click.option(
    "-n", "--number", type=click.IntRange(min=1), default=10, show_default=True, help="How many make the top."
)
@options.eligible_options
@click.option("--since", metavar="YEAR", help="Games predicted from then on (calibration); default all.")
@click.option(
    "--every",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Refit after so many periods (calibration).",
)
@click.option("-f", "--format", "fmt", type=click.Choice(FIGURE_FORMATS), help="Default by the file's name.")
@click.option(
    "-o", "--output", "out", metavar="FILE", help="png, svg, pdf or html by its name; - is stdout, as svg.  "
    "[default: a png named after what it shows]",
)  # fmt: skip
@options.run_option
@options.scale_option
@options.verbosity_options
def command(
    names: tuple[str, ...],
    kind: str,
    by: str,
    other: str | None,
    published: str | None,
    number: int,
    limits: dict[str, Any],
    since: str | None,
    every: int,
    fmt: str | None,
    out: str | None,
    run: str | None,
    scale: tuple[str, ...],
) -> None:
    """Draw the skill of players with a band of one sd, or another figure of the run.

    Each NAME is one player, quoted when it has blanks: `ttt plot Morphy "Steinitz, W" -o skills.svg`. Without
    names: those who led in the most periods; who is eligible for that, and for the top, is as in `ttt top`.
    Periods without games are thin; TTT-D's draw margin is dashed.
    """
    dotted, curves = other or published, kind == "skills"
    options.refuse(
        ("--by dominance goes with --kind skills, and not with --with or --beside",
         by != "mean" and (not curves or dotted)),
        ("--with and --beside are one or the other: both are dotted", other and published),
        ("--kind difference takes two names", kind == "difference" and len(names) != 2),
        (f"names, --with and --beside go with --kind skills, not {kind}",
         not curves and (dotted or (names and kind != "difference"))),
        (f"--since and --every go with --kind calibration, not {kind}",
         kind != "calibration" and (since or every > 1)),
    )  # fmt: skip
    fmt = figure_format(out, fmt)
    from ttt_cli.runs.run import open_run
    from ttt_cli.views.charts.figure import make_figure
    from ttt_cli.views.rankings.eligible import eligible

    opened = options.asked_run(run, scale)
    second = open_run(other, scale) if other else None
    figure = make_figure(
        opened, kind, names, by=by, other=second, beside=options.asked_beside(published, opened), count=number,
        limits=eligible(opened, **limits), since=since, every=every, progress=progress(),
    )  # fmt: skip
    say(*figure.notes)
    save_figure(figure, out, fmt)
