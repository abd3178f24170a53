"""One module for each kind of figure; CONTRIBUTING shows how to add one."""
