"""Operations that stay what they are, on values of the whole work-group."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from xtile.dialects.effects import OF_WORK_ITEMS
from xtile.rewrite.rebuilder import copy as copied
from xtile.text.mlir_attributes import splat_constant
from xtile.text.source import spelling_of
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.kernel import Kernel

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


def copy(operation: Operation, kernel: Kernel) -> None:
    """The operation stays what it is; the values are the whole work-group's."""
    if operation.name in OF_WORK_ITEMS:
        raise kernel.error(not_lifted(operation))
    if operation.regions:
        name = spelling_of(operation)
        raise kernel.error(f"{name} cannot become code on tiles; use scf.for or scf.if")
    copied(operation, kernel)


def constant(operation: ConstantOp, kernel: Kernel) -> None:
    """A constant matrix becomes a constant tile."""
    type_: Any = tiles.tile_type(operation.result.type)
    if type_ == operation.result.type:
        copy(operation, kernel)
        return
    value = operation.value
    if not isa(value, DenseIntOrFPElementsAttr) or not value.is_splat():
        raise kernel.error("a matrix of different constants is not lifted to tiles yet")
    attribute = splat_constant(type_, value.get_values()[0])
    kernel.replace(operation, ConstantOp(attribute))
