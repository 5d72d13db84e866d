"""What attributes promise of a kernel's arguments (docs/core-form.md, "Promises of arguments")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, MemRefType, UnitAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.gpu.functions import FuncOp

ALIGNMENT_ATTRIBUTE = "core.alignment"
"""Bytes that the address of the memory is a multiple of."""

SHAPE_GCD_ATTRIBUTE = "core.shape_gcd"
"""What divides the sizes of a memref, the outermost dimension first."""

STRIDE_GCD_ATTRIBUTE = "core.stride_gcd"
"""What divides the strides of a memref, the outermost dimension first."""

NOALIAS_ATTRIBUTE = "core.noalias"
"""What is written through the argument is accessed through no other one, and the reverse."""


def promises_of(function: FuncOp, index: int) -> Mapping[str, Attribute]:
    """The attributes of an argument."""
    return {} if function.arg_attrs is None else function.arg_attrs.data[index].data


def is_noalias(memory: SSAValue) -> bool:
    """Whether memory is an argument that overlaps no other one as far as either is written.

    So two arguments are different memory if this holds for one of them.
    """
    if not isinstance(memory, BlockArgument):
        return False
    function = memory.block.parent_op()
    if not isinstance(function, FuncOp) or memory not in function.arguments:
        return False
    return NOALIAS_ATTRIBUTE in promises_of(function, memory.index)


_SAME_MEMORY = frozenset(
    {
        "core.assume",
        "core.pointer_add",
        "core.pointer_cast",
        "vector.broadcast",
        "vector.extract",
        "vector.extract_strided_slice",
        "vector.shape_cast",
        "vector.splat",
        "vector.transpose",
    }
)
"""Operations whose pointers point to the memory that those of the first operand point to."""


def leads_to_memory(type: Attribute) -> bool:
    """Whether a type is that of a memref, of a pointer or of a vector of pointers."""
    return isinstance(type, MemRefType) or pointer_of(type) is not None


def source_of(operation: Operation) -> SSAValue | None:
    """The memref or the pointers that the result of an operation is a part of, or computed from.

    None where nothing tells: a pointer that was in memory may be any.
    """
    if operation.regions or operation.name == "func.call":
        return None
    if not operation.operands or not leads_to_memory(operation.operands[0].type):
        return None
    is_pointer = any(pointer_of(each.type) is not None for each in operation.results)
    if is_pointer and operation.name not in _SAME_MEMORY:
        return None
    return operation.operands[0]


def argument_of(memory: SSAValue) -> BlockArgument | None:
    """The argument of a kernel that memory is a part of; None for any other, or if nothing tells.

    A view is part of its source, and so is an entry of a group.
    """
    while isinstance(memory.owner, Operation):
        source = source_of(memory.owner)
        if source is None:
            return None
        memory = source
    function = memory.owner.parent_op()
    is_argument = isinstance(function, FuncOp) and memory in function.arguments
    return memory if is_argument and isinstance(memory, BlockArgument) else None


def forget_noalias(module: Operation) -> None:
    """Lets the arguments of all kernels overlap."""
    for function in module.walk():
        if isinstance(function, FuncOp) and function.arg_attrs is not None:
            left = [
                {name: value for name, value in each.data.items() if name != NOALIAS_ATTRIBUTE}
                for each in function.arg_attrs.data
            ]
            function.arg_attrs = ArrayAttr(map(DictionaryAttr, left)) if any(left) else None


def promise_noalias(function: FuncOp) -> None:
    """Lets a kernel rely on it that its arguments do not overlap."""
    attributes = [dict(promises_of(function, i)) for i in range(len(function.arguments))]
    for argument, own in zip(function.arguments, attributes, strict=True):
        if leads_to_memory(argument.type):
            own[NOALIAS_ATTRIBUTE] = UnitAttr()
    function.arg_attrs = ArrayAttr(map(DictionaryAttr, attributes))


def _given(function: Operation) -> Iterator[Mapping[str, Attribute]]:
    """The attributes of each argument of a function of any dialect."""
    arguments = function.properties["arg_attrs"]
    if isinstance(arguments, ArrayAttr):
        for each in cast("ArrayAttr[Attribute]", arguments):
            yield each.data if isinstance(each, DictionaryAttr) else {}


def find_problems(function: Operation) -> Iterator[str]:
    """What is wrong with what is promised of a function's arguments, in words."""
    if not isinstance(function, FuncOp):
        if any(NOALIAS_ATTRIBUTE in promises for promises in _given(function)):
            yield f"{NOALIAS_ATTRIBUTE} is for the arguments of a kernel"
        return
    for argument in function.arguments:
        promise = promises_of(function, argument.index).get(NOALIAS_ATTRIBUTE)
        what = f"{NOALIAS_ATTRIBUTE} of argument {argument.index}"
        if promise is None:
            continue
        if not isinstance(promise, UnitAttr):
            yield f"{what} takes no value, given {promise}"
        if not function.is_kernel:
            yield f"{what} is for the arguments of a kernel"
        if not leads_to_memory(argument.type):
            yield f"{what} is for memory, but the argument is of type {argument.type}"
