"""The skill, or the lead, that `ttt why` explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from ttt_cli.periods import label
from ttt_cli.runs.run import Run
from ttt_cli.runs.skills_at_periods import Skill
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.versus import PEAK, period_number

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period


@dataclass(frozen=True)
class Question:
    """Whose skill, or lead over another player, is asked about, and when."""

    player: str
    opponent: str | None
    period: int
    words: str
    skills: tuple[Skill, ...]
    weights: Array


def find_question(run: Run, name: str, at: str | int | None, versus: str | None) -> Question:
    """What is asked; `at`: the peak by default. Raises LookupFailed."""
    player = run.find_player(name).player
    period = period_number(run, player, PEAK if at is None else at)
    when = label(period, cast("Period", run.meta.period))
    skills: tuple[Skill, ...] = ((player, period),)
    if versus is None:
        return Question(player, None, period, f"{player} in {when}", skills, np.array([1.0]))
    opponent = run.find_player(versus).player
    if opponent == player:
        raise LookupFailed(
            f"{name!r} and {versus!r} both match {player}", hint="give more of the names"
        )
    skills = (*skills, (opponent, period))
    words = f"{player} minus {opponent} in {when}"
    return Question(player, opponent, period, words, skills, np.array([1.0, -1.0]))
