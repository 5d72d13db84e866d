"""Where instructions stand, and may stand: collective and SPMD regions, and functions.

Source: tensor language reference, sections "Execution model" and "Functions".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain

from typing_extensions import TypeIs
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from xtile.dialects.tensorlang.operation import Execution, TensorLangOperation
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.verifier.constants import positive_integer
from xtile.dialects.tensorlang.verifier.problem import Note, Problem, Problems, mnemonic_of

Visit = tuple[Operation, bool, bool]
"""An operation, whether it is entered (else left), and whether it stands in an SPMD region."""


def is_instruction(operation: Operation) -> TypeIs[TensorLangOperation]:
    """Whether `operation` is of this dialect; quicker than isinstance on abstract classes."""
    return _is_instruction_class(type(operation))


@cache
def _is_instruction_class(cls: type[Operation]) -> bool:
    return issubclass(cls, TensorLangOperation)


def function_of(operation: Operation) -> FuncOp | None:
    """The function that `operation` stands in."""
    current: Operation | None = operation
    while current is not None and not isinstance(current, FuncOp):
        current = current.parent_op()
    return current


def subgroup_size_of(operation: Operation) -> int | None:
    """The subgroup size where the function's attributes give one."""
    function = function_of(operation)
    return None if function is None else positive_integer(function.properties.get("subgroup_size"))


def block_of(region: Region) -> Block | None:
    """The region's only block; None for a region that was left out or is empty."""
    return region.first_block


def walk(root: Operation) -> Iterator[Visit]:
    """Visits `root` and all operations in it in source order.

    An operation with regions is entered and left. Nesting may be as deep as memory allows.
    """
    yield root, True, False
    stack = [(root, _nested(root), opens_spmd_region(root))]
    while stack:
        parent, operations, in_spmd = stack[-1]
        for operation in operations:
            yield operation, True, in_spmd
            if operation.regions:
                opens = in_spmd or opens_spmd_region(operation)
                stack.append((operation, _nested(operation), opens))
                break
        else:
            stack.pop()
            yield parent, False, len(stack) > 0 and stack[-1][2]


def _nested(operation: Operation) -> Iterator[Operation]:
    """The operations directly in the regions of `operation`."""
    return chain.from_iterable(block.ops for region in operation.regions for block in region.blocks)


def opens_spmd_region(operation: Operation) -> bool:
    """Whether the regions of `operation` are SPMD regions wherever it stands."""
    return is_instruction(operation) and (
        operation.OPENS_SPMD_REGION or operation.EXECUTION is Execution.SPMD
    )


def nesting_problems(operation: TensorLangOperation, in_spmd: bool) -> Problems:
    """Collective instructions stand in collective regions, SPMD instructions in SPMD regions."""
    if isinstance(operation.parent_op(), ModuleOp) and type(operation) is not FuncOp:
        yield Problem(operation, f"{mnemonic_of(operation)} must stand in a function", "header")
    elif operation.EXECUTION is Execution.COLLECTIVE and in_spmd:
        opener = _opener(operation)
        message = f"{mnemonic_of(operation)} is a collective instruction but stands in an SPMD "
        message += f"region; move it out of the {mnemonic_of(opener)}"
        note = Note(opener, "the SPMD region is opened here")
        yield Problem(operation, message, "header", (note,))
    elif operation.EXECUTION is Execution.SPMD and not in_spmd:
        message = f"{mnemonic_of(operation)} is an SPMD instruction but stands in a collective "
        message += "region; put it into a parallel, foreach or foreach_tile"
        yield Problem(operation, message, "header")
    elif type(operation) is FuncOp:
        parent = operation.parent_op()
        if parent is not None and function_of(parent) is not None:
            yield Problem(operation, "a function must stand outside of other functions", "header")


def _opener(operation: Operation) -> Operation:
    """The innermost operation around `operation` that opens an SPMD region."""
    parent = operation.parent_op()
    while parent is not None and not opens_spmd_region(parent):
        parent = parent.parent_op()
    assert parent is not None
    return parent
