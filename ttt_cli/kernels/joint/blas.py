"""BLAS and LAPACK inside kernels: called by addresses handed in, so that compiled code on disk holds none."""

from typing import Any, Final, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ttt_cli.kernels.compile import inner

BYTES: Final = ir.IntType(8).as_pointer()
LOWER, LEFT, RIGHT, PLAIN, TURNED, FULL = (np.uint8(ord(letter)) for letter in "LLRNTN")


class Blas(NamedTuple):
    """Addresses of Fortran routines for double precision."""

    potrf: int
    potri: int
    trsm: int
    syrk: int
    symm: int
    gemm: int


@inner
def pointer(array, place):
    """The address of an entry of an array of numbers."""
    return np.uintp(array.ctypes.data) + np.uintp(8) * np.uintp(place)


def _called(typing: Any, address: Any, arguments: Any) -> Any:
    """Call the routine at `address`: every argument by reference, integers as C's, addresses (uintp) as they are."""

    def code(context: Any, builder: Any, _: Any, given: Any) -> Any:
        passed = []
        for place, kind in enumerate(arguments.types):
            value = builder.extract_value(given[1], place)
            if kind == types.uintp:
                passed.append(builder.inttoptr(value, BYTES))
                continue
            if kind == types.int64:
                value = builder.trunc(value, ir.IntType(32))
            room = cgutils.alloca_once(builder, value.type)
            builder.store(value, room)
            passed.append(builder.bitcast(room, BYTES))
        routine = ir.FunctionType(ir.VoidType(), [BYTES] * len(passed))
        builder.call(builder.inttoptr(given[0], routine.as_pointer()), passed)
        return context.get_dummy_value()

    return types.void(address, arguments), code


call: Any = intrinsic(_called)
