"""What is compiled of inner functions kept, too.

What only kernels call is compiled into them; where a test calls it, it is compiled by itself.
"""

from __future__ import annotations

import sys

from ttt_cli import kernels


def keep_inner() -> None:
    """Have what is compiled of inner functions that are loaded kept from now on."""
    from numba.core.dispatcher import Dispatcher

    from ttt_cli.kernels.cache import KernelCache
    from ttt_cli.kernels.compile import kept_in

    for name, module in [*sys.modules.items()]:
        if kept_in() and name.startswith(f"{kernels.__name__}."):
            for value in vars(module).values():
                if isinstance(value, Dispatcher) and value._can_compile:
                    value._cache = KernelCache(value.py_func, kept_in())
