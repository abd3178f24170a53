"""What all views of a run share: its unit, its line in titles, its tables, and what moves with the years."""

from importlib import import_module
from threading import Thread
from typing import Final

from ttt_cli.runs.curves import COLUMNS, Name, rows
from ttt_cli.runs.evidence import evidence_table
from ttt_cli.runs.run import Run
from ttt_cli.runs.scale import Scale
from ttt_cli.views.rows import Rows

_SHOWN: Final = 12  # rows of a short table
_STEPS: Final = (1, 2, 5, 10, 20, 50, 100)  # years


def load_numpy_meanwhile(run: Run) -> None:
    """Where a joint posterior will be asked, numpy loads while the database answers the first questions."""
    if run.meta.posterior.startswith("joint"):
        Thread(target=lambda: [*map(import_module, ("numpy.ma", "numpy.random"))], daemon=True).start()


def scale_note(run: Run) -> str:
    """The unit of all skills of a run, in words."""
    if run.scale.anchors:
        slope = "slope by the anchors" if run.scale.matched else "200 points are 76 %"
        return f"Elo scale ({'; '.join(map(str, run.scale.anchors))}; {slope})"
    prior = run.meta.params.get("prior_mean")
    newcomers = f" (newcomers {prior:g})" if isinstance(prior, int | float) else ""
    return f"points of this run{newcomers}"


def side_names(run: Run) -> tuple[str, str]:
    """What the side named first and the other are called."""
    first, second = run.meta.config.get("data", {}).get("sides", ("white", "black"))
    return str(first), str(second)


def axis_title(scale: Scale) -> str:
    """What the axis of skills is called: of a scaled figure with its anchor, so that it cannot be taken for another."""
    if not scale.anchors:
        return "skill, points"
    first, *more = scale.anchors
    return f"rating, Elo ({first}{f' and {len(more)} more' if more else ''})"


def run_line(run: Run) -> str:
    """The run, what it was made from, and its scale: a line for titles."""
    return f"{run.name}: {run.meta.describe()}; {scale_note(run)}"


def table_rows(run: Run, table: str) -> Rows:
    """`skills`, `players`, `games`, `evidence` or a curve; the first come from the file as they are asked for."""
    if table == "evidence":
        columns, points = evidence_table(run.evidence_points())
        return Rows(columns, points, decimals={"log_evidence": 3})
    if table in COLUMNS:
        return Rows(COLUMNS[table], rows(run, table))
    query = run.public_query(table)
    columns, found = run.stream(query)
    return Rows(columns, found, parquet=lambda path: run.copy_to(path, "parquet", query))


def curve_title(run: Run, name: Name) -> str:
    """What a curve shows."""
    own = "draw_margin" not in run.meta.params
    return {
        "draws": "mean draw margin of newcomers" if own else "draw margin",
        "newcomers": "newcomers above the prior mean",
        "career": "gain since the debut",
    }[name]


def across(name: Name) -> str:
    """What a curve runs over."""
    return "years since the debut" if name == "career" else "year"


def short_tables(run: Run) -> list[Rows]:
    """Every curve that the run has at round years, and where the rest is."""
    found = []
    for name, columns in COLUMNS.items():
        if every := rows(run, name):
            span = every[-1][0] - every[0][0]
            step = next((step for step in _STEPS if span / step < _SHOWN), _STEPS[-1])
            kept = [row for row in every if row[0] % step == 0 or row is every[-1]]
            title = f"{curve_title(run, name)}, {run.scale.unit}; all of it: `ttt export {name}`"
            found.append(Rows(columns, kept, (title,), dict.fromkeys(columns[1:], 1)))
    return found
