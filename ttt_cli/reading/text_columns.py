"""Columns of texts that every game may have; nothing else, as queries of runs need no readers."""

from typing import Final

TEXT_COLUMNS: Final = ("event", "site", "round")
