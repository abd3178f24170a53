"""The stored run: write, open, look up."""
