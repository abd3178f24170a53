"""What all views of a run share: its unit, its line in titles, its tables."""

from importlib import import_module
from threading import Thread

from ttt_cli.runs import curves
from ttt_cli.runs.evidence import evidence_table
from ttt_cli.runs.run import Run
from ttt_cli.runs.scale import Scale
from ttt_cli.views.rows import Rows


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
    return (
        f"points of this run (newcomers {prior:g})"
        if isinstance(prior, int | float)
        else "points of this run"
    )


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
    if table in curves.COLUMNS:
        return Rows(curves.COLUMNS[table], curves.rows(run, table))
    query = run.public_query(table)
    columns, rows = run.stream(query)
    return Rows(columns, rows, parquet=lambda path: run.copy_to(path, "parquet", query))
