"""Modules and kernels: public functions with the arguments of the calling convention.

Also what programs know of themselves: promises, their place in the grid, prints and assertions.

Source: Triton 3.9, `TritonOps.td`, `tt.print` and `tt.assert`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import lcm
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region
from xdsl.utils.hints import isa

from xtile.arguments.calling_convention import KernelArgument, keep_signature
from xtile.dialects.core.arguments import promises_of
from xtile.dialects.core.assumptions import AssumeOp
from xtile.dialects.core.signature import Role
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.indices import DimensionOperation, dimension_number
from xtile.dialects.gpu.modules import ModuleOp
from xtile.dialects.triton.tt import ops as tt
from xtile.dialects.triton.tt.types import PointerType
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.barriers import Barriers
from xtile.translate.core_to_triton.lowering import Lowering
from xtile.translate.core_to_triton.types import element_of, pointer_to
from xtile.translate.tiles.parameters import alignment_of, arguments_of, parameter
from xtile.translate.tiles.types import (
    INDEX,
    memref_type,
    part_of,
    parts_per_element,
    size_in_bytes,
)


def _module(operation: ModuleOp, lowering: Lowering) -> None:
    kernels = [each for each in operation.body.ops if isinstance(each, FuncOp) and each.is_kernel]
    for kernel in kernels[1:]:
        lowering.remark(
            "Triton compiles one kernel of a module; give it a module of its own", kernel
        )
    lowering.translate_block(operation.body.block)


def _function(function: FuncOp, lowering: Lowering) -> None:
    name = function.sym_name.data
    if not function.is_kernel:
        raise lowering.error(f"@{name} is never launched: write 'kernel'")
    if function.workgroup_buffers or function.private_buffers:
        raise lowering.error(f"@{name} must allocate its local memory with memref.alloca")
    parameters = [arguments_of(argument.type) for argument in function.arguments]
    types = [_type(own) for several in parameters for own in several]
    block = Block(arg_types=types)
    attributes: list[DictionaryAttr] = []
    lowering.barriers = Barriers()
    with lowering.in_function(block):
        given = iter(block.args)
        for index, (old, own) in enumerate(zip(function.arguments, parameters, strict=True)):
            promises = promises_of(function, index)
            values = [(argument, next(given)) for argument in own]
            lowering.define(old, parameter(old, values, promises, lowering))
            divisor = _assumed(old)
            attributes += [_promise(each, old.type, promises, divisor) for each in own]
        lowering.translate_block(function.body.block)
    made = tt.FuncOp(name, (types, []), Region(block), arg_attrs=ArrayAttr(attributes))
    keep_signature(function, made, splits_complex=True)
    lowering.emit(made)


def _type(argument: KernelArgument) -> Attribute:
    """The type of an argument; groups are addresses."""
    if argument.pointer_depth == 0:
        return element_of(part_of(argument.type))
    return pointer_to(argument.type) if argument.role is Role.POINTER else PointerType(i64)


def _assumed(argument: BlockArgument) -> int:
    """What divides a parameter wherever the kernel is: it is assumed before anything branches."""
    divisors = [
        use.operation.divisor
        for use in argument.uses
        if isinstance(use.operation, AssumeOp)
        and use.operation.run is None
        and use.operation.parent_block() is argument.owner
    ]
    return lcm(*divisors)


def _promise(
    argument: KernelArgument, type_: Attribute, promises: Mapping[str, Attribute], divisor: int
) -> DictionaryAttr:
    """What Triton's compiler is told of an argument.

    Args:
        argument: The argument.
        type_: The type of the kernel's parameter.
        promises: What the kernel promises of the parameter.
        divisor: What is assumed to divide the parameter, if that is a number or a pointer.
    """
    known: dict[str, Attribute] = {}
    is_pointer = argument.role is Role.POINTER
    if is_pointer:
        divisor = lcm(divisor, alignment_of(promises, argument.type))
    if is_pointer or argument.role is Role.VALUE:
        power = min(divisor & -divisor, _MOST)
        if power > (size_in_bytes(argument.type) if is_pointer else 1):
            known["tt.divisibility"] = IntegerAttr(power, i32)
    if is_pointer and _is_in_reach(type_):
        known["tt.pointer_range"] = IntegerAttr(32, i32)
    return DictionaryAttr(known)


_MOST = 16
"""The bytes of the longest access of a lane; Triton has no use for a larger alignment."""


def _is_in_reach(type_: Attribute) -> bool:
    """Whether memory certainly ends below 2 GB, so that offsets in bytes have 32 bits."""
    if not isinstance(type_, MemRefType):
        return False
    memref = memref_type(cast("Attribute", type_))
    layout, element = layout_of(memref), memref.element_type
    if layout.unknowns or isinstance(element, MemRefType):
        return False
    count = parts_per_element(element) * layout.allocated_elements()
    return count * size_in_bytes(element) < 2**31


def _return(operation: Any, lowering: Lowering) -> None:
    if operation.operands:
        raise lowering.error("a kernel ends with gpu.return, without values")
    lowering.emit(tt.ReturnOp())


def _leave_out(operation: Any, lowering: Lowering) -> None:
    """A function of the host, of which a warning tells."""


# --- where a program stands in the grid ---


def _block_id(operation: DimensionOperation, lowering: Lowering) -> None:
    _of_grid(operation, lowering, tt.GetProgramIdOp)


def _grid_dim(operation: DimensionOperation, lowering: Lowering) -> None:
    sizes: Any = lowering.old_function().properties.get("known_grid_size")
    if sizes is None:
        _of_grid(operation, lowering, tt.GetNumProgramsOp)
    else:
        number = int(sizes.get_values()[dimension_number(operation)])
        lowering.define(operation.results[0], lowering.integer(number))


def _of_grid(
    operation: DimensionOperation,
    lowering: Lowering,
    kind: type[tt.GetNumProgramsOp | tt.GetProgramIdOp],
) -> None:
    """A number of the grid as an index; it is never negative."""
    number = lowering.pure(kind, dimension_number(operation))
    lowering.facts.assume(number, is_not_negative=True)
    lowering.define(operation.results[0], lowering.resize(number, INDEX))


# --- what kernels print, and where they stop ---

_CONVERSION = re.compile(r"%[-+ #0-9.]*(?:hh|h|ll|l)?([a-zA-Z])")


def _print(operation: Operation, lowering: Lowering) -> None:
    """A print for each text with the numbers behind it, which commas may separate."""
    format_ = cast("StringAttr", operation.properties["format"]).data.replace("%%", "\0")
    texts, letters = _CONVERSION.split(format_)[::2], _CONVERSION.split(format_)[1::2]
    values = lowering.values(operation.operands)
    begin = 0
    for end in range(1, len(texts)):
        if end + 1 < len(texts) and texts[end] == ", ":
            continue
        signs = [letter in "di" for letter in letters[begin:end]]
        of_integers = [isa(lowering.element(each), IntegerType) for each in values[begin:end]]
        lowering.emit(
            tt.PrintOp(
                _plain(texts[begin]),
                values[begin:end],
                hex="x" in letters[begin:end],
                is_signed=[sign and whole for sign, whole in zip(signs, of_integers, strict=True)],
            )
        )
        begin = end
    rest = _plain(texts[-1]).strip()
    if rest or not values:
        lowering.emit(tt.PrintOp(_plain(texts[-1]), []))


def _plain(text: str) -> str:
    """The text of a print, which ends its line by itself."""
    return text.replace("\0", "%").removesuffix("\n")


def _assert(operation: Operation, lowering: Lowering) -> None:
    (condition,) = lowering.values(operation.operands)
    message: str = cast("Any", operation.properties["msg"]).data
    lowering.emit(tt.AssertOp(condition, message))


def _assume(operation: AssumeOp, lowering: Lowering) -> None:
    """Arguments say it; of other numbers it is known here only."""
    value = lowering.value(operation.value)
    if operation.run is None and operation.divisor > 1:
        lowering.facts.learn_divisor(value, operation.divisor)
    lowering.define(operation.result, value)


RULES: dict[str, Rule] = {
    "cf.assert": _assert,
    "core.assume": _assume,
    "core.print": _print,
    "func.func": _leave_out,
    "gpu.block_id": _block_id,
    "gpu.func": _function,
    "gpu.grid_dim": _grid_dim,
    "gpu.module": _module,
    "gpu.printf": _print,
    "gpu.return": _return,
}
"""The rule of each operation, by name."""
