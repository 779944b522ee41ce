"""Counting and finding bits of small sets kept in integers."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from .compilation import JIT_DISABLED, Integer, kernel

if JIT_DISABLED:

    def popcount(value: Any) -> Any:
        """Return the number of bits set in a non-negative integer."""
        return int(value).bit_count()
else:

    @intrinsic
    def popcount(typing_context: Any, value: Any) -> Any:
        """Return the number of bits set in a non-negative integer."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.int64), generate


@kernel
def nth_bit(value: Integer, n: Integer) -> Integer:
    """Return the position of the n-th bit set (from 0, lowest first) of a non-negative integer that has it."""
    # numba makes uint64 of small unsigned types, and a float of uint64 - int64
    rest: Any = np.int64(value)
    for _ in range(n):
        rest &= rest - 1
    return popcount((rest & -rest) - 1)
