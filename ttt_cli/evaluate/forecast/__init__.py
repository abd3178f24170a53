"""Games predicted from earlier ones: scores and comparisons of systems."""
