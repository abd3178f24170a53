"""Helpers independent of games and ratings: errors, files, progress, signals, folded names."""
