"""A counter, int64 [1], from which several threads take numbers while they run kernels.

Its functions are atomic in compiled code. In plain Python they are not, so nothing uses threads there.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from .compilation import JIT_DISABLED

if JIT_DISABLED:

    def fetch_add(counter: Any, number: Any) -> Any:
        """Add a number to the counter and return what it was before."""
        before = int(counter[0])
        counter[0] = before + number
        return before

    def store(counter: Any, number: Any) -> None:
        """Set the counter."""
        counter[0] = number
else:

    @intrinsic
    def fetch_add(typing_context: Any, counter: Any, number: Any) -> Any:
        """Add a number to the counter and return what it was before."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            return builder.atomic_rmw("add", array.data, arguments[1], "seq_cst")

        return types.int64(counter, types.int64), generate

    @intrinsic
    def store(typing_context: Any, counter: Any, number: Any) -> Any:
        """Set the counter."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            builder.atomic_rmw("xchg", array.data, arguments[1], "seq_cst")
            return context.get_dummy_value()

        return types.void(counter, types.int64), generate


def make_counter() -> np.ndarray:
    """Return a counter, in a cache line of its own."""
    return np.zeros(16, np.int64)[8:9]
