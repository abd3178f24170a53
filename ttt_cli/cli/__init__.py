"""The command line: one command per file, shared options, the console."""
