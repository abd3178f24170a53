"""Evaluation of models: evidence grids, tuning, comparison of systems by prediction, simulation."""
