"""Modules and kernels: entries with the arguments of the calling convention, and promises."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xdsl.dialects.builtin import (
    i64,
)
from xdsl.ir import Attribute, Block, Region

from xtile.arguments.calling_convention import KernelArgument, keep_signature
from xtile.dialects.core.arguments import (
    promises_of,
)
from xtile.dialects.core.signature import Role
from xtile.dialects.cuda_tile.ops import control_flow
from xtile.dialects.cuda_tile.ops.module import EntryOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.modules import ModuleOp
from xtile.rewrite.rebuilder import Rule
from xtile.targets.nvidia import GREATEST_SIZE, GREATEST_STRIDE
from xtile.translate.core_to_cuda_tile.hints import hints_of
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import (
    part_of,
    pointer_tile,
    scalar_tile,
)
from xtile.translate.tiles.parameters import arguments_of, parameter


def _module(operation: ModuleOp, lowering: Lowering) -> None:
    lowering.translate_block(operation.body.block)


def _function(function: FuncOp, lowering: Lowering) -> None:
    name = function.sym_name.data
    _check(function, lowering)
    parameters = [arguments_of(argument.type) for argument in function.arguments]
    block = Block(arg_types=[_type(own) for several in parameters for own in several])
    lowering.start_function(function)
    _tell_of_promises(function, parameters, lowering)
    with lowering.in_function(block):
        given = iter(block.args)
        for index, (old, own) in enumerate(zip(function.arguments, parameters, strict=True)):
            values = [(argument, next(given)) for argument in own]
            lowering.define(old, parameter(old, values, promises_of(function, index), lowering))
        lowering.translate_block(function.body.block)
    types = [argument.type for argument in block.args]
    hints = hints_of(function, lowering.target)
    entry = EntryOp(name, types, Region(block), optimization_hints=hints)
    keep_signature(function, entry, splits_complex=True)
    lowering.emit(entry)


def _check(function: FuncOp, lowering: Lowering) -> None:
    """Checks that a function can become an entry.

    Raises:
        DiagnosticError: It cannot.
    """
    name = function.sym_name.data
    if not function.is_kernel:
        raise lowering.error(f"@{name} is never launched: write 'kernel'")
    if function.workgroup_buffers or function.private_buffers:
        raise lowering.error(f"@{name} must allocate its local memory with memref.alloca")


def _type(argument: KernelArgument) -> Attribute:
    """The type of an argument; groups are addresses."""
    if argument.pointer_depth == 0:
        return scalar_tile(part_of(argument.type))
    return pointer_tile(i64 if argument.role is not Role.POINTER else part_of(argument.type))


def _tell_of_promises(
    function: FuncOp, parameters: Iterable[Iterable[KernelArgument]], lowering: Lowering
) -> None:
    """Tells what the code takes for granted of sizes and strides."""
    roles = {argument.role for own in parameters for argument in own}
    assumed = [words for words, about in _ASSUMED.items() if roles & about]
    if assumed:
        lowering.remark(
            f"relies on {' and '.join(assumed)} of arguments, which a launch checks", function
        )


_ASSUMED = {
    f"sizes from 0 to 2^{GREATEST_SIZE.bit_length()} - 1": {Role.SIZE, Role.SIZES},
    f"strides from 1 to 2^{GREATEST_STRIDE.bit_length()} - 1": {Role.STRIDE, Role.STRIDES},
}
"""What is assumed of the arguments with some roles, in words."""


def _return(operation: Any, lowering: Lowering) -> None:
    if operation.operands:
        raise lowering.error("a kernel ends with gpu.return, without values")
    lowering.emit(control_flow.ReturnOp())


def _leave_out(operation: Any, lowering: Lowering) -> None:
    """A function of the host, of which a warning tells."""


RULES: dict[str, Rule] = {
    "func.func": _leave_out,
    "gpu.func": _function,
    "gpu.module": _module,
    "gpu.return": _return,
}
"""The rule of each operation, by name."""
