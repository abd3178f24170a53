"""Asking the processor for rows of memory before they are needed, for which numba has no word.

Loops over games read rows of nodes that are anywhere in a period. Where these do not fit into the cache, a loop would
wait for each; but it can see in its own indices which rows it comes to next.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ttt_cli.kernels.compile import flat
from ttt_cli.kernels.indices import at

AHEAD: Final = 16  # entries: what is asked for that far ahead arrives in time
_WRITE, _KEEP, _DATA = 1, 3, 1  # llvm.prefetch: rows are written, stay in the cache, are no instructions


@intrinsic
def _prefetch(context: Any, rows: Any, index: Any) -> Any:
    """Bring the row of an array at an index, 0 or more, into the cache."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        place = [arguments[1]] + [context.get_constant(types.intp, 0)] * (kind.ndim - 1)
        pointer = cgutils.get_item_pointer(context, builder, kind, array, place)
        address, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [address, flag, flag, flag]), "llvm.prefetch.p0"
        )
        builder.call(function, [builder.bitcast(pointer, address), flag(_WRITE), flag(_KEEP), flag(_DATA)])
        return context.get_dummy_value()

    return types.void(rows, types.uintp), emit


@flat
def fetch(k, end, indices, rows):
    """Ask for the row that a loop up to `end` needs `AHEAD` entries after its entry k, at the index found there."""
    _prefetch(rows, at(indices[at(min(np.intp(k) + AHEAD, end - 1))]))
