"""By how much the mean at a player's peak would change without events and games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Change(NamedTuple):
    """By how much a mean would change without an event or a game, shown points; `number`: of it in the book."""

    number: int
    points: float


class PeakInfluence(NamedTuple):
    """The events and the games with the most influence on the mean at a player's peak, the largest changes first."""

    events: list[Change]
    games: list[Change]


Influences = Mapping[int, PeakInfluence]
