"""The number one of every period, and reigns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.columns import build_rows
from ttt_cli.views.rankings.columns import LEADER_COLUMNS, REIGN_COLUMNS, REIGN_PERIODS
from ttt_cli.views.rankings.eligible import WIDER, Eligible
from ttt_cli.views.rankings.period import ALONE, SEED
from ttt_cli.views.rankings.rows import Leader, Reign
from ttt_cli.views.rankings.title import title_lines
from ttt_cli.views.rows import Rows

if TYPE_CHECKING:
    from ttt_cli.views.rankings.dominance import Lead
    from ttt_cli.views.rankings.strongest import Contenders

# Of each period: the players by mean, the first {named} by name; games of the first; sds are -1 where there are none
_PLAYERS_OF_PERIODS: Final = """
SELECT period_number, any_value(period) AS period, arg_min(games, (-mean, player)) AS games,
       list(player ORDER BY mean DESC, player)[:{named}] AS players, list(mean ORDER BY mean DESC, player) AS means,
       list(coalesce(sd, -1.0) ORDER BY mean DESC, player) AS sds
FROM ({rows}) GROUP BY period_number HAVING count(*) >= {fewest} ORDER BY period_number
"""
_NUMBER_ONES: Final = """
SELECT period_number, any_value(period), arg_min(player, (-mean, player)), max(mean),
       arg_min(coalesce(sd, 0.0), (-mean, player))
FROM ({rows}) WHERE {where} GROUP BY period_number HAVING count(*) >= {fewest} ORDER BY period_number
"""
_NAMED: Final = 5  # periods
_OF_REIGNS: Final = (
    "of a reign: p_best is the mean over its periods, mean and sd are those of peak_period"
)
# Periods: by days all together would be a hundred times as many rows as games
_AT_ONCE: Final = 1000


class Leaders(NamedTuple):
    """The leader of every period that has one, and lines on how `p_best` and `sd_dominance` were computed."""

    leaders: list[Leader]
    remarks: tuple[str, ...]


class NumberOne(NamedTuple):
    """The player with the highest mean of a period; `sd` is 0 without uncertainty."""

    period_number: int
    period: str
    player: str
    mean: float
    sd: float


LeaderOfPeriod = TypeVar("LeaderOfPeriod", Leader, NumberOne)


def leaders(run: Run, limits: Eligible, seed: int = SEED) -> Leaders:
    """The leader of every period that has one. Raises LookupFailed when there is none."""
    from ttt_cli.views.rankings.dominance import DOMINANCE_REMARK, lead_sds_from
    from ttt_cli.views.rankings.strongest import compute_probabilities

    with run:
        period_leaders = _period_leaders(run, limits)
        if not period_leaders:
            few = "nobody is" if limits.fewest <= 1 else f"fewer than {limits.fewest} players are"
            raise LookupFailed(f"{few} eligible in any period", hint=WIDER)
        if any(period_leader.leader.sd is None for period_leader in period_leaders):
            return Leaders([period_leader.leader for period_leader in period_leaders], ())
        leads = [period_leader.lead for period_leader in period_leaders]
        contenders_of_periods = [
            period_leader.contenders for period_leader in period_leaders if period_leader.contenders
        ]
        # the covariances of these skills give the sds of the leads
        skills_of_leads = [lead.skills if lead else [] for lead in leads]
        probabilities = compute_probabilities(run, contenders_of_periods, seed, skills_of_leads)
    sds, method = lead_sds_from(leads, probabilities.covariances)
    by_period = {contenders.period_number: contenders for contenders in probabilities.periods}
    complete_leaders = []
    for period_leader, sd in zip(period_leaders, sds, strict=True):
        leader = period_leader.leader._replace(sd_dominance=sd)
        if leader.period_number in by_period:
            contenders = by_period[leader.period_number]
            p_best, *p_of_rivals = contenders.p.tolist()
            rivals = tuple(zip(contenders.players[1:], p_of_rivals, strict=True))
            leader = leader._replace(p_best=p_best, rivals=rivals)
        complete_leaders.append(leader)
    remarks = [probabilities.remark, DOMINANCE_REMARK.format(method)]
    has_leader_without_others = len(contenders_of_periods) < len(period_leaders)
    if has_leader_without_others:
        remarks.append(ALONE)
    return Leaders(complete_leaders, tuple(remarks))


@dataclass(frozen=True)
class _PeriodLeader:
    """A period's leader, before probabilities are computed.

    `lead`: None if there are too few others. `contenders`: None without sds, or if nobody else is eligible.
    """

    leader: Leader
    lead: Lead | None
    contenders: Contenders | None


def _period_leaders(run: Run, limits: Eligible) -> list[_PeriodLeader]:
    """The leaders of every period that has enough eligible players."""
    from ttt_cli.views.rankings.dominance import lead_of
    from ttt_cli.views.rankings.strongest import NAMED, find_contenders

    period_leaders = []
    rows_of_periods = run.select("SELECT period_number FROM periods ORDER BY period_number")[1]
    period_numbers = [period_number for (period_number,) in rows_of_periods]
    for start in range(0, len(period_numbers), _AT_ONCE):
        part = period_numbers[start : start + _AT_ONCE]
        rows = limits.skills(run, part[0], part[-1])
        columns = run.arrays(
            _PLAYERS_OF_PERIODS.format(rows=rows, named=NAMED, fewest=limits.fewest)
        )
        for number, period, games, players, means, sds in zip(*columns.values(), strict=True):
            period_number = int(number)
            has_sds = bool(sds.min() >= 0.0)
            sds_or_none = sds.tolist() if has_sds else [None] * len(sds)
            lead = lead_of(period_number, players, means, sds_or_none, index=0)
            leader = Leader(
                period_number, period, players[0], float(means[0]), sds_or_none[0], games.item(),
                p_best=None, field=len(means), dominance=lead and lead.value,
            )  # fmt: skip
            contenders = None
            if has_sds and len(means) > 1:
                contenders = find_contenders(period_number, players, means, sds, n_shown=1)
            period_leaders.append(_PeriodLeader(leader, lead, contenders))
    return period_leaders


def number_ones(run: Run, limits: Eligible, where: str = "true") -> list[NumberOne]:
    """The leader of each period that has one and meets a SQL condition.

    The same players as in `leaders`, without probabilities and much faster.
    """
    query = _NUMBER_ONES.format(rows=limits.skills(run), where=where, fewest=limits.fewest)
    return [NumberOne(*row) for row in run.select(query)[1]]


def leader_rows(run: Run, limits: Eligible, seed: int = SEED) -> Rows:
    """One row per period, with `LEADER_COLUMNS`."""
    with run:
        all_leaders, remarks = leaders(run, limits, seed)
        title = title_lines(run, limits, f"The number one of every {run.meta.period}", *remarks)
        return build_rows(run, LEADER_COLUMNS, all_leaders, title)


def reign_rows(run: Run, limits: Eligible, seed: int = SEED) -> Rows:
    """One row per reign, with `REIGN_COLUMNS`; the column of its length is named after the periods: `years`."""
    with run:
        all_leaders, remarks = leaders(run, limits, seed)
        length = replace(REIGN_PERIODS, name=f"{run.meta.period}s")
        columns = [length if column is REIGN_PERIODS else column for column in REIGN_COLUMNS]
        periods = run.select("SELECT period FROM periods ORDER BY period_number")[1]
        vacant = vacancies([period for (period,) in periods], all_leaders)
        title = title_lines(run, limits, "The number ones", *vacant, _OF_REIGNS, *remarks)
        return build_rows(run, columns, reigns(all_leaders), title)


def vacancies(periods: Sequence[str], leaders: Sequence[Leader]) -> list[str]:
    """A line that names the periods between reigns without a number one; no line where there are none.

    `periods`: those of the run with games, in order.
    """
    with_leader = [leader.period for leader in leaders]
    between = periods[periods.index(with_leader[0]) : periods.index(with_leader[-1])]
    vacant = sorted({*between} - {*with_leader})
    if not vacant:
        return []
    more = f" and {len(vacant) - _NAMED} more" if len(vacant) > _NAMED else ""
    return [f"too few were eligible for a number one in {', '.join(vacant[:_NAMED])}{more}"]


def reigns(leaders: Sequence[Leader]) -> list[Reign]:
    """Consecutive periods with one leader."""
    return [Reign(tuple(reign)) for reign in consecutive_periods(leaders)]


def consecutive_periods(leaders: Sequence[LeaderOfPeriod]) -> list[list[LeaderOfPeriod]]:
    """The leaders of periods, by period, divided where another player follows or a period is missing."""
    reigns: list[list[LeaderOfPeriod]] = []
    for leader in leaders:
        before = reigns[-1][-1] if reigns else None
        continues = (
            before is not None
            and before.player == leader.player
            and before.period_number == leader.period_number - 1
        )
        if continues:
            reigns[-1].append(leader)
        else:
            reigns.append([leader])
    return reigns
