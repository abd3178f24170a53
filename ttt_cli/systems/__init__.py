"""Rating systems: one module each, a registry, and what they share."""
