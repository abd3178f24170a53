"""Tables of games (CSV, TSV, Parquet, JSON) as records."""
