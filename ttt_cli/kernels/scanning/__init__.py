"""Compiled code that reads bytes."""
