"""What `ttt why` may leave out together, and chains of opponents."""

from typing import Final

GAME: Final = "game"
OPPONENT: Final = "opponent"
CHAIN: Final = "chain"
KINDS: Final = (GAME, OPPONENT, "event", "year", "source", CHAIN)
