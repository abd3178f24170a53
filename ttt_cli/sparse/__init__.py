"""Sparse symmetric matrices: the order of elimination, one factorisation for all who need one."""
