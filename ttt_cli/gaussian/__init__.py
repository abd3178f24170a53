"""Sparse joint Gaussians: precision matrices, their factors and solutions."""
