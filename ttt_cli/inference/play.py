"""How differences of skills become outcomes, in all slices of a timeline alike."""

from dataclasses import dataclass

from ttt_cli.arrays import Array
from ttt_cli.inference.ep.merged import points_given
from ttt_cli.kernels.ep.structures import Rule


@dataclass(frozen=True)
class Play:
    """What a `Rule` has but for its games; `unit`: points in an Elo point; `drift`, `strength`: how margins move.

    `own_margins`: the sd of newcomers' draw margins, counted from `margin`, 0 where players have none of their own.
    """

    noise: float
    margin: float
    unit: float
    advantage: float = 0.0
    own_margins: float = 0.0
    drift: float = 0.0
    strength: float = 0.0

    def rule(self, margin: Array, handicap: Array) -> Rule:
        """That of games with these draw margins and the handicaps of `MergedGames`."""
        given = points_given(handicap, self.unit, self.advantage)
        return Rule(self.noise, margin, self.margin, self.advantage, given)
