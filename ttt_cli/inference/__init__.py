"""What the rating systems share."""
