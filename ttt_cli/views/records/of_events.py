"""The best performances in an event, and the strongest events."""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.views.history.event_summaries import mean_skills, summarise_events
from ttt_cli.views.history.performances import rough_performances
from ttt_cli.views.records.record import Record, RecordSource
from ttt_cli.views.rows import integral

LEAST_GAMES: Final = 6  # of a performance
LEAST_PLAYERS: Final = 6  # of a strong event
_CANDIDATES: Final = 25  # times as many as records: rough performances are not far off
_LEAST_CANDIDATES: Final = 500


def performances(source: RecordSource) -> list[Record]:
    """The best performances in an event that is no exhibition."""
    events = source.events
    entries = events.entries
    year = np.repeat(
        np.array([event.year for event in events.rows], np.int32), np.diff(entries.starts)
    )
    candidates = np.flatnonzero(
        entries.is_contest
        & (entries.played >= LEAST_GAMES)
        & source.is_eligible[entries.player]
        & source.in_years(year)
    )
    if source.number is not None:
        rough = rough_performances(entries.totals)[entries.total_of_entry[candidates]]
        most = max(_LEAST_CANDIDATES, _CANDIDATES * source.number)
        candidates = candidates[np.argsort(-rough, kind="stable")[:most]]
    mean, sd = entries.performances_of(candidates)
    has_performance = np.flatnonzero(~np.isnan(mean))
    order = has_performance[np.argsort(-mean[has_performance], kind="stable")][: source.number]
    best = candidates[order]
    in_event = np.searchsorted(entries.starts, best, side="right") - 1
    summaries = summarise_events(events, source.played, in_event)
    return [
        Record(
            rank, source.played.players[entries.player[entry]], float(mean[index]), summary.first, summary.last,
            sd=None if np.isnan(sd[index]) else float(sd[index]), points=float(entries.points[entry]),
            games=integral(float(entries.played[entry])), event=summary.name,
        )
        for rank, (index, entry, summary) in enumerate(zip(order, best, summaries, strict=True), 1)
    ]  # fmt: skip


def strongest_events(source: RecordSource) -> list[Record]:
    """The events with the highest mean skill of the participants; the player is the winner."""
    events = source.events
    skills = mean_skills(events)
    year = np.array([event.year for event in events.rows], np.int32)
    is_large = np.diff(events.entries.starts) >= LEAST_PLAYERS
    candidates = np.flatnonzero(is_large & source.in_years(year))
    order = candidates[np.argsort(-skills[candidates], kind="stable")][: source.number]
    summaries = summarise_events(events, source.played, order)
    return [
        Record(
            rank, summary.winner, summary.mean_skill, summary.first, summary.last,
            games=integral(summary.games), event=summary.name,
        )
        for rank, summary in enumerate(summaries, 1)
    ]  # fmt: skip
