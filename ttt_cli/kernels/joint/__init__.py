"""Compiled code of sparse joint Gaussians."""
