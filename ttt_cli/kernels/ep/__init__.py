"""Compiled code of expectation propagation."""
