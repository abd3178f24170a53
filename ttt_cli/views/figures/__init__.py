"""Figures of a run as Vega-Lite specifications, the same for pictures, the page and the site."""

from typing import Final, NamedTuple

from ttt_cli.views.why_kinds import KINDS as WHY

FIGURE_FORMATS: Final = ("png", "svg", "pdf", "html")
_KINDS: Final = "ttt_cli.views.figures.kinds"


class FigureKind(NamedTuple):
    """A kind of figure.

    `draw`: module and name of its function, of a run and its `FigureOptions`. `summary`: its help. `options`: which of
    `names`, `with` (and --beside), `from` (and --every) and `at` it uses. `by`: choices of --by, the default first.
    """

    draw: str
    summary: str
    options: frozenset[str] = frozenset()
    by: tuple[str, ...] = ()


KINDS: Final = {
    "skills": FigureKind(
        f"{_KINDS}.skills:draw_skills",
        "curves of players",
        frozenset({"names", "with"}),
        by=("mean", "dominance"),
    ),
    "ages": FigureKind(
        f"{_KINDS}.ages:draw_ages", "curves of players by age", frozenset({"names"})
    ),
    "difference": FigureKind(
        f"{_KINDS}.difference:draw_difference",
        "lead of one player over another",
        frozenset({"names"}),
    ),
    "why": FigureKind(
        f"{_KINDS}.why:draw_why",
        "what moves a player's skill, or the lead over another, most",
        frozenset({"names", "at"}),
        by=WHY,
    ),
    "leaders": FigureKind(f"{_KINDS}.leaders:draw_leaders", "number ones"),
    "games": FigureKind(f"{_KINDS}.games:draw_games", "per year"),
    "evidence": FigureKind(f"{_KINDS}.evidence:draw_evidence", "the stored grid"),
    "top": FigureKind(f"{_KINDS}.top:draw_top", "mean of the best"),
    "calibration": FigureKind(
        f"{_KINDS}.calibration:draw_calibration", "expected and actual scores", frozenset({"from"})
    ),
    "draws": FigureKind(f"{_KINDS}.model_curves:draw_margins", "by year"),
    "newcomers": FigureKind(f"{_KINDS}.model_curves:draw_newcomers", "by year"),
    "career": FigureKind(f"{_KINDS}.model_curves:draw_career", "change of skill since the debut"),
}
