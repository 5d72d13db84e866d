"""Modules, kernels with their signatures, the grid, and what a kernel checks and prints.

Source: Triton 3.9, `TritonOps.td`; docs/core-form.md, "Signatures".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import AnyFloat, ModuleOp, StringAttr
from xdsl.dialects.cf import AssertOp
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.core.printing import PrintOp
from xtile.dialects.core.signature import Role
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.functions import ReturnOp as GpuReturnOp
from xtile.dialects.gpu.indices import BlockIdOp, DimensionOperation, GridDimOp
from xtile.dialects.gpu.modules import ModuleOp as GpuModuleOp
from xtile.dialects.triton.tt.ops import AssertOp as TritonAssertOp
from xtile.dialects.triton.tt.ops import CallOp, FuncOp
from xtile.dialects.triton.tt.ops import PrintOp as TritonPrintOp
from xtile.dialects.triton.tt.ops.programs import GridOperation
from xtile.dialects.triton.tt.types import PointerType
from xtile.dialects.upstream import value_type
from xtile.rewrite.kernels import emit_tile_kernel
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import passed_type
from xtile.translate.triton_to_core.control import run_function
from xtile.translate.triton_to_core.raising import Raising

LANGUAGE = "triton"
"""What signatures call the language."""

MODULE = "kernels"
"""What the module of the kernels is called, which Triton gives no name."""


def translate_kernels(module: ModuleOp, raising: Raising) -> None:
    """Translates public functions that no other calls into one `gpu.module`; keeps other things."""
    called = {each.callee.root_reference.data for each in module.walk() if isinstance(each, CallOp)}
    kernels: list[FuncOp] = []
    for operation in module.body.block.ops:
        if not isinstance(operation, FuncOp):
            raising.keep(operation)
        elif operation.is_public and operation.sym_name.data not in called:
            kernels.append(operation)
    body = Block()
    with raising.at_end_of(body):
        for kernel in kernels:
            raising.translate(kernel)
    if kernels:
        raising.emit(GpuModuleOp(MODULE, Region(body)))


def _function(operation: FuncOp, raising: Raising) -> None:
    if operation.is_declaration:
        return
    if operation.function_type.outputs.data:
        raise raising.error("a kernel returns nothing; functions that others call are private")
    arguments = operation.body.blocks[0].args
    types = raising.types(arguments)
    body = Block(arg_types=map(passed_type, types))
    promises = operation.arg_attrs
    with raising.in_function(body):
        for position, (was, becomes) in enumerate(zip(arguments, body.args, strict=True)):
            given: Mapping[str, Attribute] = (
                {} if promises is None else promises.data[position].data
            )
            raising.define(was, becomes)
            value = raising.received(becomes, types[position])
            raising.define(was, raising.promised(value, given))
        run_function(operation, raising)
        raising.emit(GpuReturnOp())
    name = operation.sym_name.data
    parameters = (_parameter(argument, raising) for argument in arguments)
    emit_tile_kernel(raising, operation, name, body, LANGUAGE, parameters)


def _parameter(argument: SSAValue, raising: Raising) -> tuple[str | None, str, Role]:
    role = Role.POINTER if isinstance(argument.type, PointerType) else Role.VALUE
    return raising.name_of(argument), str(argument.type), role


def _of_grid(kind: Callable[[Dimension], DimensionOperation]) -> Rule:
    """The rule of an operation with a number for a dimension of the grid."""

    def rule(operation: GridOperation, raising: Raising) -> None:
        along = list(Dimension)[operation.dimension]
        number = raising.shared((kind, along), (), lambda: raising.emit(kind(along)).result)
        type_ = raising.type(operation.result.type)
        raising.define(operation.result, raising.from_index(number, type_))

    return rule


def _assert(operation: TritonAssertOp, raising: Raising) -> None:
    """A tensor of conditions holds where all of them do."""
    condition = raising.combined(raising.value(operation.condition), CombiningKindFlag.AND)
    raising.emit(AssertOp(condition, operation.message))


def _print(operation: TritonPrintOp, raising: Raising) -> None:
    values = raising.values(operation.args)
    signs = [int(sign) for sign in operation.isSigned.get_values()]
    is_hex = operation.hex.value.data != 0
    words = [
        "%f" if isinstance(value_type(value.type), AnyFloat) else _conversion(is_hex, sign)
        for value, sign in zip(values, signs, strict=True)
    ]
    text = operation.prop_prefix.data.replace("%", "%%") + ", ".join(words) + "\n"
    raising.emit(PrintOp.build(operands=[values], properties={"format": StringAttr(text)}))


def _conversion(is_hex: bool, sign: int) -> str:
    return "%x" if is_hex else "%d" if sign else "%u"


RULES: dict[str, Rule] = {
    "tt.assert": _assert,
    "tt.func": _function,
    "tt.get_num_programs": _of_grid(GridDimOp),
    "tt.get_program_id": _of_grid(BlockIdOp),
    "tt.print": _print,
}
"""The rule of each operation, by name."""
