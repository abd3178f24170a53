"""Gaussian expectation propagation over the timeline."""
