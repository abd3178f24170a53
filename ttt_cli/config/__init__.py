"""The schema of a config, and its YAML with line numbers."""
