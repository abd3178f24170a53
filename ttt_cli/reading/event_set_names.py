"""Names of the ready-made sets of games; loads nothing, as all commands with options of reading list them."""

from typing import Final

EVENT_SETS: Final = (
    "simul",
    "blindfold",
    "correspondence",
    "consultation",
    "odds",
    "rapid",
    "blitz",
    "variants",
    "set-up",
)
