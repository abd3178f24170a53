"""The evidence of parameters: grids and tuning."""
