"""Functions of the bits of integers.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.numbers import operand_number
from xtile.semantics.upstream import integers
from xtile.semantics.upstream.elementwise import apply


def _bitwise(name: str) -> Handler:
    def handler(operation: Operation, compiler: Compiler) -> Step:
        return apply(operation, compiler, integers.BINARY[name](operand_number(operation)))

    return handler


HANDLERS: dict[str, Handler] = {
    f"cuda_tile.{name}": _bitwise(name) for name in ("andi", "ori", "xori")
}
"""The handler of each operation, by name."""
