"""Bytes to batches of records: streams, text, archives, formats."""
