"""Joint posteriors: one Gaussian over all skills."""
