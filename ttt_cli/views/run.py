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
from ttt_cli.views.columns import Described
from ttt_cli.views.rows import PERIOD, YEAR, Rows

# On skills of several periods
CAUTION: Final = (
    "skills of different times are tied only through chains of opponents: compare {} with caution"
)
# Points by which 100 Elo points may differ from 100 points and be taken for the same
_SAME_SIZE: Final = 1.0

SKILL_COLUMNS: Final = (
    Described("player", "", "name"),
    Described("period", "", "the period"),
    Described("mean", "points", "skill in the period"),
    Described("sd", "points", "uncertainty of the skill, one sd"),
    Described("games", "games", "games in the period; 0 where the skill is interpolated"),
    Described("draw_margin", "points", "draw margin of the player (TTT-D)", optional=True),
    Described("draw_margin_sd", "points", "its uncertainty, one sd", optional=True),
)
PLAYER_COLUMNS: Final = (
    Described("player", "", "name"),
    Described("first", "", "period of the first game", nullable=True),
    Described("last", "", "period of the last game", nullable=True),
    Described("games", "games", "games in all"),
    Described("wins", "games", "games won"),
    Described("draws", "games", "games drawn"),
    Described("losses", "games", "games lost"),
    Described("peak_period", "", "period of the highest skill with games", nullable=True),
    Described("peak_mean", "points", "skill in that period"),
    Described("peak_sd", "points", "its uncertainty, one sd"),
    Described("opponents", "players", "different opponents"),
)
GAME_COLUMNS: Final = (
    Described("period", "", "the period"),
    Described("date", "", "date of the game, as far as it is known"),
    Described("white", "", "player named first"),
    Described("black", "", "player named second"),
    Described("result", "", "`1-0`, `1/2-1/2` or `0-1`"),
    Described("weight", "games", "the game counts as so many"),
    Described("file", "", "file of the game"),
    Described("line", "", "line of the game in the file", value_type="integer"),
    Described("event", "", "event, empty if unknown"),
    Described("site", "", "site, empty if unknown"),
    Described("round", "", "round, empty if unknown"),
    Described("neutral", "", "whether on neutral ground", value_type="boolean"),
    Described("category", "", "category, empty for none"),
    Described("margin", "", "margin of victory; 0 of draws and where unknown", value_type="number"),
    Described("source", "", "where the game is from, empty for none"),
    Described("p_true", "probability", "that the record is right"),
)
CURVE_COLUMNS: Final[Mapping[CurveName, tuple[Described, ...]]] = {
    "draws": (
        Described("year", "", "calendar year", value_type="integer"),
        Described("margin", "points", "draw margin of players at the year's level"),
        Described("sd", "points", "its uncertainty, one sd"),
        Described("level", "points", "mean skill of the two players over the year's games"),
    ),
    "newcomers": (
        Described("year", "", "calendar year with newcomers", value_type="integer"),
        Described("mean", "points", "mean skill of newcomers above the prior mean"),
        Described("sd", "points", "its uncertainty, one sd"),
    ),
    "career": (
        Described("years", "years", "since the career began"),
        Described("mean", "points", "change of skill since then"),
        Described("sd", "points", "its uncertainty, one sd"),
    ),
}
PARAMETER: Final = Described("KEY", "", "value of a parameter", pattern=".*", value_type="any")
POINT_COLUMNS: Final = (
    PARAMETER,
    Described("log_evidence", "nats", "log-evidence at the point"),
    Described("converged", "", "whether the fit converged", value_type="boolean"),
    Described("sweeps", "sweeps", "length of the fit"),
    Described("remaining_error", "points", "at most so far from the solution"),
)


def load_numpy_meanwhile(run: Run) -> None:
    """Import numpy in a thread, while the first queries run, if the run has a joint posterior."""
    if run.meta.posterior.startswith("joint"):
        Thread(target=_load_numpy, daemon=True).start()


def load_influence_meanwhile() -> None:
    """Load what computes the influence of games in a thread, while the first queries run."""
    Thread(target=_load_influence, daemon=True).start()


def _load_influence() -> None:
    """Import the compiler, and load the kernels if they are compiled: it takes longer than all of the queries."""
    import_module("ttt_cli.inference.influence")
    sites = import_module("ttt_cli.kernels.joint")
    products = import_module("ttt_cli.kernels.products")
    for kernel in (sites.skill_update, sites.skill_evidence, products.multiply):
        if kernel.is_kept:
            kernel.compile()


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
        from ttt_cli.views.player_filter import people_rows

        return people_rows(run, where)
    if table in CURVES:
        return Rows(CURVES[table], run.curve(table))
    query = PUBLIC[table]
    if where is not None:
        from ttt_cli.views.player_filter import find_filter

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
