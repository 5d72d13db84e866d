"""Modules and kernels: entries with the arguments of the calling convention, and promises.

Also what tile blocks know of themselves: their place in the grid, prints, assertions, assumptions.

Source: CUDA Tile IR specification, "print_tko", "assert", "assume".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.hints import isa

from xtile.arguments.calling_convention import KernelArgument, keep_signature
from xtile.dialects.core.arguments import (
    promises_of,
)
from xtile.dialects.core.signature import Role
from xtile.dialects.cuda_tile.attributes import (
    AssumePredicateAttr,
    BoundedAttr,
    DivByAttr,
    SameElementsAttr,
)
from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.dialects.cuda_tile.ops import control_flow, conversions, grid, miscellaneous
from xtile.dialects.cuda_tile.ops.miscellaneous import PrintTkoOp
from xtile.dialects.cuda_tile.ops.miscellaneous_rules import MAXIMUM_DIVISOR
from xtile.dialects.cuda_tile.ops.module import EntryOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.indices import dimension_number
from xtile.dialects.gpu.modules import ModuleOp
from xtile.rewrite.rebuilder import Rule
from xtile.targets.nvidia import GREATEST_SIZE, GREATEST_STRIDE
from xtile.translate.core_to_cuda_tile.hints import hints_of
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.memory_plan import OUTPUT
from xtile.translate.core_to_cuda_tile.types import (
    part_of,
    pointer_tile,
    scalar_tile,
)
from xtile.translate.tiles.parameters import arguments_of, parameter
from xtile.translate.tiles.types import INDEX

if TYPE_CHECKING:
    from xtile.dialects.core.assumptions import AssumeOp


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


# --- the grid ---


def _of_grid(kind: Callable[[], Operation]) -> Rule:
    """The rule of a number for each dimension of the grid, as an index."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        numbers = lowering.shared(kind, (), lambda: lowering.emit(kind()).results)
        value = lowering.pure(
            conversions.ExtIOp,
            numbers[dimension_number(operation)],
            scalar_tile(INDEX),
            signedness=Signedness.UNSIGNED,
        )
        lowering.define(operation.results[0], value)

    return rule


def _grid_dim(operation: Operation, lowering: Lowering) -> None:
    function = operation.parent_op()
    while function is not None and function.name != "gpu.func":
        function = function.parent_op()
    sizes = None if function is None else function.properties.get("known_grid_size")
    if isa(sizes, DenseArrayBase):
        number = int(cast(Any, sizes).get_values()[dimension_number(operation)])
        lowering.define(operation.results[0], lowering.integer(number))
    else:
        _of_grid(grid.GetNumTileBlocksOp)(operation, lowering)


# --- what kernels print, where they stop, and what is assumed of integers ---


def _print(operation: Operation, lowering: Lowering) -> None:
    """Texts come out in the order of the program, as writes of one position."""
    text = cast("StringAttr", operation.properties["format"]).data
    token = lowering.order.before_write(OUTPUT)
    printed = lowering.emit(PrintTkoOp(text, lowering.values(operation.operands), token))
    lowering.order.after_write(OUTPUT, printed.result_token)


def _assert(operation: Operation, lowering: Lowering) -> None:
    (condition,) = lowering.values(operation.operands)
    message = cast(Any, operation.properties["msg"]).data
    lowering.emit(control_flow.AssertOp(condition, message))


def _assume(operation: AssumeOp, lowering: Lowering) -> None:
    """An assumption holds where it stands, so that it is not emitted any earlier."""
    value = lowering.value(operation.value)
    for predicate in _predicates(operation):
        value = lowering.compute(miscellaneous.AssumeOp, value, predicate)
    if operation.run is None and operation.divisor > 1:
        lowering.facts.learn_divisor(value, operation.divisor)
    lowering.define(operation.result, value)


def _predicates(operation: AssumeOp) -> list[AssumePredicateAttr]:
    """What CUDA Tile IR can say of it: of a divisor the power of two in it."""
    predicates: list[AssumePredicateAttr] = []
    if operation.least is not None or operation.most is not None:
        predicates.append(BoundedAttr(operation.least, operation.most))
    if operation.groups is not None:
        predicates.append(SameElementsAttr(operation.groups))
    power = min(operation.divisor & -operation.divisor, MAXIMUM_DIVISOR)
    if operation.run is not None or power > 1:
        predicates.append(DivByAttr(power, *(operation.run or ())))
    return predicates


RULES: dict[str, Rule] = {
    "cf.assert": _assert,
    "core.assume": _assume,
    "core.print": _print,
    "func.func": _leave_out,
    "gpu.block_id": _of_grid(grid.GetTileBlockIdOp),
    "gpu.func": _function,
    "gpu.grid_dim": _grid_dim,
    "gpu.module": _module,
    "gpu.printf": _print,
    "gpu.return": _return,
}
"""The rule of each operation, by name."""
