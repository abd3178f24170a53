"""Sparse joint Gaussians: one factorisation for all systems that need one."""
