"""How good models are: evidence over grids, and artificial histories to test them on."""
