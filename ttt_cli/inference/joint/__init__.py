"""The joint posterior of Gaussian systems: chosen, found by joint expectation propagation or by samples."""
