"""The number one of every period, and their reigns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ttt_cli.errors import LookupFailed
from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.top import DECIMALS, SEED, WIDER, titled
from ttt_cli.views.rows import Rows

if TYPE_CHECKING:
    from ttt_cli.views.rankings.dominance import Lead
    from ttt_cli.views.rankings.strongest import Contest

CHALLENGES: Final = 0.2  # the probability of being the strongest from which on somebody else is shown
_FIELD: Final = """
SELECT period_number, any_value(period) AS period, arg_min(games, (-mean, player)) AS games,
       list(player ORDER BY mean DESC, player)[:{named}] AS players, list(mean ORDER BY mean DESC, player) AS means,
       list(coalesce(sd, -1.0) ORDER BY mean DESC, player) AS sds
FROM ({rows}) GROUP BY period_number ORDER BY period_number
"""
_FIRSTS: Final = """
SELECT period_number, any_value(period), arg_min(player, (-mean, player)), max(mean),
       arg_min(coalesce(sd, 0.0), (-mean, player))
FROM ({rows}) WHERE {where} GROUP BY period_number ORDER BY period_number
"""
_PERIODS: Final = "SELECT period_number FROM periods ORDER BY period_number"
_AT_ONCE: Final = 1000  # periods: by days all together would be a hundred times as many rows as games


@dataclass(frozen=True)
class Leader:
    """The highest mean of one period; `p_best` is the probability of really being the strongest of `field` players.

    `dominance` is the lead over the best others (`ttt_cli.views.rankings.dominance`), None where these are too few;
    `others` are those who may be the strongest instead, with their probabilities. A system without uncertainty has
    neither `sd` nor `p_best`.
    """

    number: int
    period: str
    player: str
    mean: float
    sd: float | None
    games: float
    p_best: float | None
    field: int
    dominance: float | None = None
    sd_dominance: float | None = None
    others: tuple[tuple[str, float], ...] = ()


def leaders(run: Run, limits: Eligible, seed: int = SEED) -> list[Leader]:
    """The leader of every period in which anybody is eligible. Raises LookupFailed when there is none."""
    return leaders_and_remarks(run, limits, seed)[0]


def leaders_and_remarks(run: Run, limits: Eligible, seed: int = SEED) -> tuple[list[Leader], tuple[str, ...]]:
    """As `leaders`, and lines on how `p_best` and `sd_dominance` were found where they are known."""
    fields: list[_Field] = []
    with run:
        periods = [number for (number,) in run.query(_PERIODS)[1]]
        for begin in range(0, len(periods), _AT_ONCE):
            part = periods[begin : begin + _AT_ONCE]
            fields += _fields(run, *limits.between(run, part[0], part[-1]))
        if not fields:
            raise LookupFailed("nobody is eligible in any period", hint=WIDER)
        return _decided(run, fields, seed)


def number_ones(run: Run, limits: Eligible, where: str = "true") -> list[tuple[int, str, str, float, float]]:
    """Number and label of each period, its leader, mean and sd (or 0); of the periods that meet a SQL condition.

    What `leaders` says of them, at a fraction of its time for many periods.
    """
    rows, values = limits.always(run)
    return run.query(_FIRSTS.format(rows=rows, where=where), values)[1]


class _Field(NamedTuple):
    """The leader of a period, without what follows from all skills there; who else may be the strongest; the lead."""

    leader: Leader
    contest: Contest | None
    lead: Lead | None


def _fields(run: Run, rows: str, values: Sequence[Any]) -> Iterator[_Field]:
    """Those of the rows of skills of a SQL query."""
    from ttt_cli.views.rankings.dominance import lead_of
    from ttt_cli.views.rankings.strongest import NAMED, contest

    for number, period, games, players, means, sds in zip(
        *run.arrays(_FIELD.format(rows=rows, named=NAMED), values).values(), strict=True
    ):
        known, field = bool(sds.min() >= 0.0), (int(number), players, means, sds)
        lead = lead_of(int(number), 0, players, means, sds if known else [None] * len(sds))
        leader = Leader(
            int(number), period, players[0], float(means[0]), float(sds[0]) if known else None, games.item(),
            None, len(means), lead and lead.value,
        )  # fmt: skip
        yield _Field(leader, contest(*field, 1) if known else None, lead)


def _decided(run: Run, fields: Sequence[_Field], seed: int) -> tuple[list[Leader], tuple[str, ...]]:
    from ttt_cli.views.rankings import dominance
    from ttt_cli.views.rankings.strongest import settled

    contests = [field.contest for field in fields if field.contest]
    if len(contests) < len(fields):
        return [field.leader for field in fields], ()
    leads = [field.lead.skills if field.lead else [] for field in fields]
    found, remark, covariances = settled(run, contests, seed, leads)
    sds = (
        [dominance.apart(field.lead) for field in fields]
        if covariances is None
        else [dominance.together(one) if len(one) else None for one in covariances]
    )
    how = dominance.INDEPENDENT if covariances is None else dominance.JOINT
    return [
        replace(
            field.leader,
            p_best=float(one.p[0]),
            sd_dominance=sd,
            others=tuple((player, float(p)) for player, p in zip(one.players[1:], one.p[1:], strict=True)),
        )
        for field, one, sd in zip(fields, found, sds, strict=True)
    ], (remark, dominance.REMARK.format(how))


def leader_rows(run: Run, limits: Eligible, seed: int = SEED) -> Rows:
    """One row per period: `period,player,mean,sd,games,p_best,field,dominance,sd_dominance`."""
    found, remark = leaders_and_remarks(run, limits, seed)
    columns = ("period", "player", "mean", "sd", "games", "p_best", "field", "dominance", "sd_dominance")
    rows = [tuple(getattr(one, column) for column in columns) for one in found]
    title = titled(run, limits, f"The number one of every {run.meta.period}", *remark)
    return Rows(columns, rows, title, DECIMALS)


def reign_rows(run: Run, limits: Eligible, seed: int = SEED) -> Rows:
    """One row per reign: `first,last,player,periods,p_best,mean,sd,peak_period,least_p_best,dominance,sd_dominance`.

    The fourth column is named after the run's periods (`years`, ...). `mean`, `sd` and dominance are those of the
    reign's best period; `p_best` is the mean over its periods.
    """
    rows = []
    found, remark = leaders_and_remarks(run, limits, seed)
    for reign in reigns(found):
        peak = max(reign, key=lambda one: one.mean)
        chances = [one.p_best for one in reign if one.p_best is not None]
        average = sum(chances) / len(chances) if chances else None
        span = reign[0].period, reign[-1].period, peak.player, len(reign), average
        lead = peak.dominance, peak.sd_dominance
        rows.append((*span, peak.mean, peak.sd, peak.period, min(chances, default=None), *lead))
    span_columns = "first", "last", "player", f"{run.meta.period}s", "p_best"
    columns = "mean", "sd", "peak_period", "least_p_best", "dominance", "sd_dominance"
    return Rows((*span_columns, *columns), rows, titled(run, limits, "The number ones", *remark), DECIMALS)


def reigns(found: Sequence[Leader]) -> list[list[Leader]]:
    """Runs of consecutive periods with one leader; a period in which nobody is eligible ends a reign."""
    merged: list[list[Leader]] = []
    for leader in found:
        before = merged[-1][-1] if merged else None
        if before and before.player == leader.player and before.number == leader.number - 1:
            merged[-1].append(leader)
        else:
            merged.append([leader])
    return merged
