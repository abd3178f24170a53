"""Which records are used: filters, duplicates, groups."""
