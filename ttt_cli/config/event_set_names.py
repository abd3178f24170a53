"""Names of the ready-made sets of games; loads nothing, as all commands with options of reading list them."""

from typing import Final, Literal, get_args

EventSet = Literal[
    "simul",
    "blindfold",
    "correspondence",
    "consultation",
    "odds",
    "rapid",
    "blitz",
    "variants",
    "set-up",
]
EVENT_SETS: Final[tuple[EventSet, ...]] = get_args(EventSet)
