"""What was asked for: the schema of a config, its YAML with places, and the axes of grids."""
