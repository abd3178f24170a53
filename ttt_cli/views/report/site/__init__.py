"""A folder of pages: every player, year and event of a run."""
