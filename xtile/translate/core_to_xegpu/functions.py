"""Modules and kernels: signatures, what is known of the arguments, local memory."""

from __future__ import annotations

from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region
from xdsl.utils.hints import isa

from xtile.dialects.core.arguments import promises_of
from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE, TILE_HINTS_ATTRIBUTE, level_of
from xtile.dialects.core.pointers import PointerCastOp, PointerType
from xtile.dialects.core.signature import SIGNATURE_ATTRIBUTE, source_signature
from xtile.dialects.gpu.functions import FuncOp, ReturnOp
from xtile.dialects.gpu.modules import ModuleOp
from xtile.dialects.gpu.subgroup_sizes import SUBGROUP_SIZE_ATTRIBUTE
from xtile.dialects.shapes import has_vectors
from xtile.dialects.walk import types_in, walk
from xtile.rewrite.rebuilder import Rule
from xtile.targets.compilers import XTILE
from xtile.text.value_names import copy_name
from xtile.translate.core_to_xegpu.lowering import Lowering, carried_type
from xtile.translate.core_to_xegpu.memory import reinterpreted
from xtile.translate.core_to_xegpu.narrow_floats import format_of


def _module(operation: ModuleOp, lowering: Lowering) -> None:
    """A module of kernels; the variables in local memory stand before them."""
    body = Block()
    lowering.globals = []
    region = lowering.translate_into(operation.body, body)
    kernels = list(body.ops)
    for variable in reversed(lowering.globals):
        body.insert_op_before(variable, kernels[0])
    lowering.emit(ModuleOp(operation.sym_name.data, region))


def _function(operation: FuncOp, lowering: Lowering) -> None:
    """A kernel at the level that is lowered; others stay what they are."""
    if level_of(operation) is not lowering.level:
        lowering.keep(operation)
        return
    lowering.local_bytes = 0
    attributes = dict(operation.attributes)
    attributes.pop(LEVEL_ATTRIBUTE, None)
    attributes.pop(TILE_HINTS_ATTRIBUTE, None)
    signature = source_signature(operation)
    if signature is not None:
        attributes[SIGNATURE_ATTRIBUTE] = signature.relying_on(operation).attribute()
    if lowering.has_lanes:
        _take_subgroup_size(operation, attributes, lowering)
    else:
        attributes.pop(SUBGROUP_SIZE_ATTRIBUTE, None)
    if lowering.SPREADS_VECTORS and lowering.target.compiler is not XTILE:
        _check_numbers(operation, lowering)
    if lowering.SPREADS_VECTORS or not lowering.has_lanes:
        _check_work_group(operation, lowering)
    body = operation.body.block
    types = [parameter_type(argument.type) for argument in body.args]
    block = Block(arg_types=types)
    with lowering.in_function(block):
        for index, (old, new) in enumerate(zip(body.args, block.args, strict=True)):
            _define_parameter(operation, lowering, index, old, new)
        lowering.translate_block(body)
    function = FuncOp(
        operation.sym_name.data,
        FunctionType.from_lists(types, []),
        Region([block]),
        kernel=operation.kernel is not None,
    )
    function.known_block_size = operation.known_block_size
    function.known_grid_size = operation.known_grid_size
    for name, attribute in attributes.items():
        function.attributes.setdefault(name, attribute)
    lowering.emit(function)


def _take_subgroup_size(
    function: FuncOp, attributes: dict[str, Attribute], lowering: Lowering
) -> None:
    """Makes the subgroup size that a kernel names, or the chip's, that of the result.

    Raises:
        DiagnosticError: The chip has no subgroups of that size.
    """
    lowering.subgroup_size = subgroup_size_of(function, lowering)
    attributes.setdefault(SUBGROUP_SIZE_ATTRIBUTE, IntegerAttr(lowering.subgroup_size, i32))
    if lowering.subgroup_size not in lowering.target.chip.subgroup_sizes:
        known = ", ".join(map(str, lowering.target.chip.subgroup_sizes))
        raise lowering.error(
            f"{lowering.target.name} has no subgroups of {lowering.subgroup_size} work-items; "
            f"its sizes are {known}"
        )


def subgroup_size_of(function: FuncOp, lowering: Lowering) -> int:
    """The subgroup size that a kernel names, or that of the chip."""
    size = function.attributes.get(SUBGROUP_SIZE_ATTRIBUTE)
    if isinstance(size, IntegerAttr):
        return cast("IntegerAttr[IntegerType]", size).value.data
    return lowering.target.chip.subgroup_size


def _check_numbers(function: FuncOp, lowering: Lowering) -> None:
    """Checks that a kernel whose vectors are spread over lanes has no narrow numbers.

    Raises:
        DiagnosticError: It has some.
    """
    if not any(map(format_of, types_in(function))):
        return
    for operation in walk(function):
        if any(format_of(type_) for type_ in (*operation.operand_types, *operation.result_types)):
            raise lowering.error("lanes have no numbers of 4 to 8 bits; use f16 or bf16", operation)


def _check_work_group(function: FuncOp, lowering: Lowering) -> None:
    """Checks that a kernel whose vectors belong to subgroups has all lanes.

    Raises:
        DiagnosticError: Its last subgroup is not full.
    """
    if function.known_block_size is None or not has_vectors(function):
        return
    items = prod(function.known_block_size.get_values())
    if items % lowering.subgroup_size:
        raise lowering.error(
            f"a work-group of {items} work-items is no multiple of the subgroup size "
            f"{lowering.subgroup_size}, whose lanes hold a vector together"
        )


def parameter_type(type_: Attribute) -> Attribute:
    """The type of a parameter: a scalar bf16 is passed as its bits, and f8 in memory, too."""
    element = type_
    if isa(type_, MemRefType):
        element = type_.element_type
    elif isinstance(type_, PointerType):
        element = type_.pointee_type
    if isinstance(type_, BFloat16Type) or format_of(element):
        return carried_type(type_)
    return type_


def _define_parameter(
    function: FuncOp, lowering: Lowering, index: int, old: BlockArgument, new: BlockArgument
) -> None:
    copy_name(new, old)
    if isinstance(old.type, PointerType) and new.type != (carried := carried_type(old.type)):
        cast_ = PointerCastOp.create(operands=[new], result_types=[carried])
        lowering.define(old, lowering.emit(cast_).result)
        return
    if not isa(old.type, MemRefType):
        lowering.define(old, new)
        return
    lowering.learn_parameter(new, _known(function, index))
    carried = cast("MemRefType[Attribute]", carried_type(old.type))
    view = reinterpreted(lowering, new, carried.element_type)
    lowering.define(old, view)
    if view is not new:
        copy_name(view, old)
        lowering.learn_parameter(view, _known(function, index), original=new)


def _known(function: FuncOp, index: int) -> dict[str, Any]:
    """What attributes of a parameter tell of its memory."""
    known: dict[str, Any] = {}
    for name, attribute in promises_of(function, index).items():
        if isinstance(attribute, DenseArrayBase):
            known[name] = attribute.get_values()
        elif isinstance(attribute, IntegerAttr):
            known[name] = cast("IntegerAttr[IntegerType]", attribute).value.data
    return known


def _return(operation: Operation, lowering: Lowering) -> None:
    lowering.emit(ReturnOp())


RULES: dict[str, Rule] = {
    FuncOp.name: _function,
    ModuleOp.name: _module,
    ReturnOp.name: _return,
}
