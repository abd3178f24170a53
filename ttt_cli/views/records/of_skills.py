"""The largest gains of skill, the longest reigns, and the highest peaks, also of those who never were number one."""

from __future__ import annotations

from typing import Final

from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.views.rankings.eligible import periods_of
from ttt_cli.views.rankings.leaders import consecutive_periods, number_ones
from ttt_cli.views.rankings.peaks import find_peaks
from ttt_cli.views.rankings.rows import Peak
from ttt_cli.views.records.record import Record, RecordSource
from ttt_cli.views.rows import integral

_GAINS: Final = """
WITH eligible AS (SELECT player, period, period_number, mean, games FROM ({rows})),
     gains AS (SELECT after.player, before.period AS first, after.period AS last, after.period_number,
                      after.mean - before.mean AS gain
               FROM eligible after JOIN eligible before
               ON after.player = before.player AND after.period_number = before.period_number + {steps}
               WHERE after.games > 0 AND {periods})
SELECT player, gain, first, last FROM gains
QUALIFY row_number() OVER (PARTITION BY player ORDER BY gain DESC, period_number) = 1
ORDER BY gain DESC, player LIMIT ?
"""


def gains(source: RecordSource) -> list[Record]:
    """The largest gain of skill of each player within a year, at whose end the player had games."""
    run = source.run
    query = _GAINS.format(
        rows=source.limits.skills(run), steps=periods_of(run, 1.0),
        periods=source.periods.replace("period", "after.period"),
    )  # fmt: skip
    return [
        Record(rank, player, gain, first, last)
        for rank, (player, gain, first, last) in enumerate(run.select(query, [source.number])[1], 1)
    ]


def reigns(source: RecordSource) -> list[Record]:
    """The longest times as number one without interruption, of equally long ones the earliest."""
    run = source.run
    longest = consecutive_periods(number_ones(run, source.limits, source.periods))
    longest.sort(key=lambda reign: (-len(reign), reign[0].period_number))
    steps = STEPS_PER_YEAR[run.meta.period]
    return [
        Record(
            rank, reign[0].player, integral(len(reign) / steps), reign[0].period, reign[-1].period
        )
        for rank, reign in enumerate(longest[: source.number], 1)
    ]


def peaks(source: RecordSource) -> list[Record]:
    """The highest skills of players in a period with games."""
    return _as_records(find_peaks(source.run, source.limits, source.number, within=source.periods))


def uncrowned(source: RecordSource) -> list[Record]:
    """The highest skills, in a period with games, of players who were number one in no period of the run."""
    crowned = {number_one.player for number_one in number_ones(source.run, source.limits)}
    all_peaks = find_peaks(source.run, source.limits, None, within=source.periods)
    return _as_records([peak for peak in all_peaks if peak.player not in crowned][: source.number])


def _as_records(highest: list[Peak]) -> list[Record]:
    return [
        Record(rank, peak.player, peak.mean, peak.period, peak.period, sd=peak.sd)
        for rank, peak in enumerate(highest, 1)
    ]
