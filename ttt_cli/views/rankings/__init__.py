"""Views of rankings."""
