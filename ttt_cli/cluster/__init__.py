"""Work on a Dask cluster. Nothing of Dask is imported before one is asked for."""
