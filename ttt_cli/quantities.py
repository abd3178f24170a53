"""Columns of texts of games."""

from typing import Final

TEXT_COLUMNS: Final = ("event", "site", "round")
