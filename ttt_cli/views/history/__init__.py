"""People, events, games and years of a run as typed tables, for the site and other views."""
