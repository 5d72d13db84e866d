"""What is said of code that cannot be written with tiles."""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.text.source import spelling_of

_INSTEAD = "collective instructions, foreach for numbers and foreach_tile for matrices"
_INSTEAD_IN_MLIR = "core's collective operations, or vectors in a kernel at level tile"


def not_lifted(operation: Operation) -> str:
    """The message for an operation of work-items or subgroups."""
    name = spelling_of(operation)
    is_mlir = name == operation.name
    return (
        f"subgroup-level kernels are not lifted to tiles yet; {name} tells work-items apart, use "
        f"{_INSTEAD_IN_MLIR if is_mlir else _INSTEAD} instead"
    )
