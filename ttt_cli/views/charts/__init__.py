"""Figures made from a run: skill curves, games per year, the evidence surface, the top through time."""
