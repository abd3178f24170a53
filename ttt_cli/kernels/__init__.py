"""Compiled functions on arrays and nothing else; one file per piece of mathematics."""
