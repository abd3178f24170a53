"""What commands show: streams, tables, bars, pictures."""
