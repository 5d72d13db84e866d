"""Lets kernels rely on it that memory of their arguments is aligned.

Hardware copies blocks of memory only where addresses and strides are multiples of some bytes.
Where the source does not promise it, whoever launches the kernel may have found it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    i64,
)
from xdsl.ir import Attribute

from xtile.arguments.calling_convention import DIVISIBLE_BY, KernelArgument
from xtile.dialects.core.arguments import (
    ALIGNMENT_ATTRIBUTE,
    STRIDE_GCD_ATTRIBUTE,
    promises_of,
)
from xtile.dialects.core.signature import Role
from xtile.dialects.gpu.functions import FuncOp
from xtile.rewrite.kernels import kernels_of
from xtile.text.source import clone_with_source
from xtile.translate.tiles.parameters import alignment_of, arguments_of, divisors_of
from xtile.translate.tiles.types import memref_type


def promise_divisors(module: ModuleOp, numbers: Collection[int] | None = None) -> ModuleOp:
    """Returns a module whose kernels rely on it that 16 divides addresses and strides of memrefs.

    Args:
        module: Kernels in the core form; it is not changed.
        numbers: Of which arguments, as the calling convention counts them; None for all.
    """
    result = clone_with_source(module)
    for function in kernels_of(result):
        attributes = [dict(promises_of(function, i)) for i in range(len(function.arguments))]
        for number, index, part in _parts(function):
            if numbers is None or number in numbers:
                _promise(attributes[index], memref_type(function.arguments[index].type), part)
        function.arg_attrs = ArrayAttr(map(DictionaryAttr, attributes))
    return result


def promised_divisors(function: FuncOp) -> tuple[int, ...]:
    """For each argument of the calling convention 16, if a kernel relies on it, or else 1."""
    divisors = [1] * sum(len(arguments_of(each.type)) for each in function.arguments)
    for number, index, part in _parts(function):
        if _divisor(function, index, part) % DIVISIBLE_BY == 0:
            divisors[number] = DIVISIBLE_BY
    return tuple(divisors)


def _parts(function: FuncOp) -> Iterator[tuple[int, int, KernelArgument]]:
    """Addresses and strides of memrefs: their numbers, and those of the kernel's own arguments."""
    number = 0
    for index, argument in enumerate(function.arguments):
        is_memory = isinstance(argument.type, MemRefType)
        for part in arguments_of(argument.type):
            if is_memory and part.role in (Role.POINTER, Role.STRIDE):
                yield number, index, part
            number += 1


def _divisor(function: FuncOp, index: int, part: KernelArgument) -> int:
    promises, type_ = promises_of(function, index), memref_type(function.arguments[index].type)
    if part.mode is None:
        return alignment_of(promises, type_.element_type)
    return divisors_of(promises, STRIDE_GCD_ATTRIBUTE, type_.get_num_dims())[part.mode]


def _promise(
    promises: dict[str, Attribute], type_: MemRefType[Attribute], part: KernelArgument
) -> None:
    if part.mode is None:
        alignment = math.lcm(alignment_of(promises, type_.element_type), DIVISIBLE_BY)
        promises[ALIGNMENT_ATTRIBUTE] = IntegerAttr(alignment, i64)
        return
    divisors = list(divisors_of(promises, STRIDE_GCD_ATTRIBUTE, type_.get_num_dims()))
    divisors[part.mode] = math.lcm(divisors[part.mode], DIVISIBLE_BY)
    promises[STRIDE_GCD_ATTRIBUTE] = DenseArrayBase.from_list(i64, divisors)
