"""Which spellings mean one player, and which names no player at all."""
