"""Compiled code of the Bradley-Terry systems."""
