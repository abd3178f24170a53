"""A fit whose timeline lies in slices of time that are held apart: by threads, processes or other machines."""
