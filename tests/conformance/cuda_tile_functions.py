"""A stand-in for `testing$func`, in which NVIDIA's tests wrap much of their text.

It is an entry whose parameters may be of any type. NVIDIA's tools know it only where they are built
with their tests, so it is no operation of the dialect.

Source: NVIDIA/cuda-tile 13.3.0, `TestingOps.td`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.context import Context

from xtile.dialects.cuda_tile.ops.module import EntryOp
from xtile.dialects.registry import make_context
from xtile.text.mlir_printer import DEFAULT_DIALECTS


class TestingFunctionOp(EntryOp):
    """`testing$func @name(%a: tile<4xf32>) { return }`."""

    # Its definition is the entry's, so it needs no decorator.
    name = "cuda_tile.testing$func"

    @override
    def verify_(self) -> None:
        """Checks what an entry is made of, but not that its parameters are scalars."""
        self.get_irdl_definition().verify(self)


# As in an entry, the dialect's name is left out in it.
DEFAULT_DIALECTS[TestingFunctionOp.name] = "cuda_tile"


def make_testing_context(*, is_lenient: bool) -> Context:
    """Returns a context that knows `testing$func`.

    Args:
        is_lenient: Whether operations of unknown dialects are allowed.
    """
    context = make_context()
    context.allow_unregistered = is_lenient
    context.load_op(TestingFunctionOp)
    return context
