"""The command line: one command per file, shared options, streams, messages, output, tables and bars."""
