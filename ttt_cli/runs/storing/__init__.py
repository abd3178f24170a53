"""Writing runs: whole or not at all, one command at a time."""
