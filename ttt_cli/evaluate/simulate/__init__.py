"""Artificial histories."""
