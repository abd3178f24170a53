"""PGN files as records."""
