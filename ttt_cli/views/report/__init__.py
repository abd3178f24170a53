"""One self-contained page of everything in a run."""
