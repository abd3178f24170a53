"""The record book: the best performances, longest streaks, biggest upsets; a module for related kinds."""

from typing import Final

# What each kind of records shows, by its name.
KINDS: Final = {
    "performances": "the best results in an event",
    "events": "the strongest events",
    "unbeaten": "the longest series of games without a loss",
    "wins": "the longest series of wins",
    "upsets": "the least expected wins",
    "gains": "the largest gains of skill within a year",
    "reigns": "the longest times as number one",
    "peaks": "the highest skills",
    "uncrowned": "the highest skills of players who were never number one",
    "rivalries": "the pairs with most games",
    "games": "the players with most games",
}
DEFAULT: Final = "performances"
