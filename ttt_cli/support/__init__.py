"""Helpers independent of games and ratings: errors, files, progress, signals, folded names; the version."""

VERSION = "0.1.0"
