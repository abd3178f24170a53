"""Views of what was read."""
