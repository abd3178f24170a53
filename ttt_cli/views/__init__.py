"""Rows, texts and charts made from a run."""
