"""Views of evidence, tuning and comparisons."""
