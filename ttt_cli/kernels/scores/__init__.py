"""Compiled code of filters."""
