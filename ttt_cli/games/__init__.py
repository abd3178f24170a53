"""Batches of records to games: names, dates, results, weights; what is not used, and why."""
