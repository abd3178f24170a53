"""What systems that move ratings by scores share."""
