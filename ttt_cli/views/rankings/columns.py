"""The columns of every table of `ttt top`, in their order; CONTRIBUTING shows how to add one."""

from __future__ import annotations

from typing import Final

from ttt_cli.views.columns import Column, each
from ttt_cli.views.rankings.rows import BestYears, Leader, Peak, RankedPlayer, Reign

POINTS: Final = "points"
_LEAD: Final = "mean minus the mean of the ten best others who are eligible"
_LEAD_SD: Final = "uncertainty of `dominance`, one sd"

PERIOD_COLUMNS: Final[tuple[Column[RankedPlayer], ...]] = (
    Column("rank", "", "place in the ranking", each(lambda player: player.rank), value_type="integer"),
    Column("player", "", "name", each(lambda player: player.player)),
    Column("period", "", "the period", each(lambda player: player.period), hidden=True),
    Column("mean", POINTS, "skill in the period", each(lambda player: player.mean), decimals=1),
    Column("sd", POINTS, "uncertainty of the skill, one sd", each(lambda player: player.sd), decimals=1),
    Column("games", "games", "games in the period", each(lambda player: player.games)),
    Column(
        "p_best", "probability", "of being the strongest of all eligible players",
        each(lambda player: player.p_best), decimals=3,
    ),
    Column("lower", POINTS, "mean - 2 sd", each(lambda player: player.lower), decimals=1, by="lower"),
    Column("dominance", POINTS, _LEAD, each(lambda player: player.dominance), decimals=1, by="dominance"),
    Column(
        "sd_dominance", POINTS, _LEAD_SD, each(lambda player: player.sd_dominance), decimals=1,
        by="dominance",
    ),
    Column(
        "rank_low", "", "best rank of the 95 % interval of the rank by skill",
        each(lambda player: player.rank_low), by="mean", value_type="integer",
    ),
    Column(
        "rank_high", "", "worst rank of that interval", each(lambda player: player.rank_high), by="mean",
        value_type="integer",
    ),
    # New columns of a period go last, since programs may read columns by position.
)  # fmt: skip

PEAK_COLUMNS: Final[tuple[Column[Peak], ...]] = (
    Column("rank", "", "place in the ranking", each(lambda peak: peak.rank), value_type="integer"),
    Column("player", "", "name", each(lambda peak: peak.player)),
    Column("period", "", "period of the peak", each(lambda peak: peak.period)),
    Column("lower", POINTS, "mean - 2 sd", each(lambda peak: peak.lower), decimals=1, by="lower"),
    Column(
        "dominance", POINTS, _LEAD, each(lambda peak: peak.dominance), decimals=1, by="dominance"
    ),
    Column(
        "sd_dominance",
        POINTS,
        _LEAD_SD,
        each(lambda peak: peak.sd_dominance),
        decimals=1,
        by="dominance",
    ),
    Column("mean", POINTS, "skill in that period", each(lambda peak: peak.mean), decimals=1),
    Column(
        "sd", POINTS, "uncertainty of the skill, one sd", each(lambda peak: peak.sd), decimals=1
    ),
    Column("games", "games", "games in all", each(lambda peak: peak.games)),
    Column("period_games", "games", "games in that period", each(lambda peak: peak.period_games)),
)

BEST_YEARS_COLUMNS: Final[tuple[Column[BestYears], ...]] = (
    Column("rank", "", "place in the ranking", each(lambda best: best.rank), value_type="integer"),
    Column("player", "", "name", each(lambda best: best.player)),
    Column("first", "", "first period of the best years", each(lambda best: best.first)),
    Column("last", "", "last period of the best years", each(lambda best: best.last)),
    Column("mean", POINTS, "mean skill over the years", each(lambda best: best.mean), decimals=1),
    Column("sd", POINTS, "mean of the sds of the periods", each(lambda best: best.sd), decimals=1),
    Column("games", "games", "games in the years", each(lambda best: best.games)),
)

LEADER_COLUMNS: Final[tuple[Column[Leader], ...]] = (
    Column("period", "", "the period", each(lambda leader: leader.period)),
    Column("player", "", "the number one", each(lambda leader: leader.player)),
    Column("mean", POINTS, "skill in the period", each(lambda leader: leader.mean), decimals=1),
    Column("sd", POINTS, "uncertainty of the skill, one sd", each(lambda leader: leader.sd), decimals=1),
    Column("games", "games", "games in the period", each(lambda leader: leader.games)),
    Column(
        "p_best", "probability", "of being the strongest of all eligible players",
        each(lambda leader: leader.p_best), decimals=3,
    ),
    Column("field", "players", "eligible players in the period", each(lambda leader: leader.field)),
    Column("dominance", POINTS, _LEAD, each(lambda leader: leader.dominance), decimals=1),
    Column("sd_dominance", POINTS, _LEAD_SD, each(lambda leader: leader.sd_dominance), decimals=1),
)  # fmt: skip

REIGN_PERIODS: Final[Column[Reign]] = Column(
    "years", "periods", "length; the column is named after the run's periods",
    each(lambda reign: len(reign.leaders)), pattern="years|quarters|months|weeks|days",
)  # fmt: skip
REIGN_COLUMNS: Final[tuple[Column[Reign], ...]] = (
    Column("first", "", "first period of the reign", each(lambda reign: reign.first.period)),
    Column("last", "", "last period of the reign", each(lambda reign: reign.last.period)),
    Column("player", "", "the number one", each(lambda reign: reign.best.player)),
    REIGN_PERIODS,
    Column(
        "p_best", "probability", "of being the strongest, mean over the periods",
        each(lambda reign: reign.mean_p_best), decimals=3,
    ),
    Column("mean", POINTS, "skill in the best period", each(lambda reign: reign.best.mean), decimals=1),
    Column("sd", POINTS, "its uncertainty, one sd", each(lambda reign: reign.best.sd), decimals=1),
    Column("peak_period", "", "the best period", each(lambda reign: reign.best.period)),
    Column(
        "least_p_best", "probability", "lowest `p_best` of the periods",
        each(lambda reign: reign.least_p_best), decimals=3,
    ),
    Column("dominance", POINTS, f"{_LEAD}, in the best period", each(lambda reign: reign.best.dominance), decimals=1),
    Column("sd_dominance", POINTS, _LEAD_SD, each(lambda reign: reign.best.sd_dominance), decimals=1),
)  # fmt: skip
