"""What all views of a run share: units, titles, tables, and curves over years."""

from collections.abc import Mapping
from importlib import import_module
from threading import Thread
from typing import Any, Final

from ttt_cli.runs.curves import CURVES, CurveName
from ttt_cli.runs.evidence_points import evidence_table
from ttt_cli.runs.lookup import ELO_UNIT, POINTS
from ttt_cli.runs.meta import RunMeta
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import PUBLIC
from ttt_cli.views.player_filter import find_filter, people_rows
from ttt_cli.views.rows import PERIOD, YEAR, Rows

# On skills of several periods
CAUTION: Final = (
    "skills of different times are tied only through chains of opponents: compare {} with caution"
)
# Points by which 100 Elo points may differ from 100 points and be taken for the same
_SAME_SIZE: Final = 1.0


def load_numpy_meanwhile(run: Run) -> None:
    """Import numpy in a thread, while the first queries run, if the run has a joint posterior."""
    if run.meta.posterior.startswith("joint"):
        Thread(target=_load_numpy, daemon=True).start()


def _load_numpy() -> None:
    for module in ("numpy.ma", "numpy.random"):
        import_module(module)


def scale_note(run: Run) -> str:
    """The unit of all skills of a run, and the level of newcomers where no anchor sets it."""
    if run.scale.anchors:
        slope = "slope by the anchors" if run.scale.matched else "200 points are 76 %"
        anchors = "; ".join([str(anchor) for anchor in run.scale.anchors])
        return f"Elo scale ({anchors}; {slope})"
    mean = run.meta.newcomers_mean
    newcomers = "" if mean is None else f" (newcomers {mean:g})"
    return f"{unit_words(run)}{newcomers}"


def unit_words(run: Run) -> str:
    """The unit of differences, and how it compares with Elo's: `points; 297 are 100 Elo`."""
    if run.scale.unit == ELO_UNIT:
        return ELO_UNIT if run.scale.anchors else f"{ELO_UNIT} differences"
    size = 100.0 * run.meta.elo_unit
    return POINTS if abs(size - 100.0) < _SAME_SIZE else f"{POINTS}; {size:.0f} are 100 Elo"


def axis_title(run: Run) -> str:
    """Title of an axis of skills, with the anchor of its scale."""
    if not run.scale.anchors:
        return f"skill, {unit_words(run)}"
    first, *more = run.scale.anchors
    return f"rating, {ELO_UNIT} ({first}{f' and {len(more)} more' if more else ''})"


def run_line(run: Run) -> str:
    """Title line: the run, its games, and its scale."""
    category = "" if run.category is None else f"; category {run.category}"
    return f"{run.name}: {run.meta.describe()}{category}; {scale_note(run)}"


def table_rows(run: Run, table: str, where: str | None = None) -> Rows:
    """`skills`, `players`, `games`, `people`, `evidence` or a curve; the first three are streamed.

    `where`: a condition on what is known of players, of skills in the period of the row.
    """
    if table == "evidence":
        columns, points = evidence_table(run.evidence_points())
        return Rows(columns, points, decimals={"log_evidence": 3})
    if table == "people":
        return people_rows(run, where)
    if table in CURVES:
        return Rows(CURVES[table], run.curve(table))
    query = PUBLIC[table]
    if where is not None:
        chosen = find_filter(run, where)
        query += f" WHERE {chosen.rows() if table == 'skills' else chosen.players()}"
    columns, rows = run.stream(query)
    parts = [f'"{column}"' for column in columns]
    if PERIOD in columns:
        year = f"CAST(substr({PERIOD}, 1, 4) AS BIGINT) AS {YEAR}"
        parts.insert(columns.index(PERIOD) + 1, year)
    with_year = f"SELECT {', '.join(parts)} FROM ({query})"
    return Rows(columns, rows, parquet=lambda path: run.write_parquet(path, with_year))


def curve_title(run: Run, name: CurveName) -> str:
    """Title of a curve."""
    params = run.meta.params
    by_player = "draw_margin" not in params
    return {
        "draws": "mean draw margin of newcomers" if by_player else "draw margin",
        "newcomers": "newcomers above the prior mean",
        "career": f"gain since {career_begin(params)}",
    }[name]


def career_begin(params: Mapping[str, Any]) -> str:
    """When the careers of a model begin: `the debut`, `the age of 15`."""
    return (
        f"the age of {params['career_age']:g}" if params.get("career_by") == "age" else "the debut"
    )


def model_line(meta: RunMeta) -> str:
    """The shipped config that a run resembles, and what its model assumes."""
    from ttt_cli.systems.registry import load

    words = (load(meta.model).__doc__ or "").splitlines()[0].partition(" (")[0].rstrip(".")
    if meta.label != meta.model:
        words += f"; skills rise in the years after {career_begin(meta.params)} and decline late"
    elif "growth" in meta.params:
        words += "; skills change at random from year to year"
    if meta.params.get("draw_margin_drift") or meta.params.get("draw_margin_strength"):
        words += "; draws depend on the year and on strength"
    return f"{meta.label}: {words}"
