"""Work in several processes of this machine, or on a Dask cluster."""
