"""Rating systems, one module each, and their registry."""
