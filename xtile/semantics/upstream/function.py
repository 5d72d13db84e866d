"""How functions of the `gpu` and `func` dialects are launched.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast, get_args

import numpy as np
from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    StringAttr,
    UnrankedMemRefType,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.effects import updates_memory
from xtile.dialects.gpu.subgroup_sizes import (
    DEFAULT_SUBGROUP_SIZE,
    SUBGROUP_SIZE_ATTRIBUTE,
    given_subgroup_size,
)
from xtile.dialects.linalg.kernels import first_of_linalg
from xtile.dialects.pointer_types import is_pointer
from xtile.semantics.arguments import (
    Argument,
    GroupArgument,
    MemrefArgument,
    ScalarArgument,
    WordsArgument,
)
from xtile.semantics.binding import Buffers
from xtile.semantics.compiler import Body, Compiler
from xtile.semantics.configuration import Configuration, Level, Size3, require_full_subgroups
from xtile.semantics.errors import ExecutionError
from xtile.semantics.language import Language
from xtile.semantics.memory import Group
from xtile.semantics.upstream.allocation import attributions
from xtile.semantics.upstream.numbers import memref_type, number_of
from xtile.semantics.upstream.unspecified import FollowingUpstream
from xtile.semantics.values import Value


def _configure(function: Operation, grid: Size3, block: Size3 | None) -> Configuration:
    level = _level(function)
    if level == "tile":
        # Tiles are the whole work-group's, whatever threads the device has for it.
        return Configuration(1, (1, 1, 1), (1, 1, 1), grid, level)
    if block is None:
        block = _known_size(function, "known_block_size") or (1, 1, 1)
    if any(size < 1 for size in block):
        raise ExecutionError(function, f"the block size {block} is not positive")
    size = _subgroup_size(function)
    subgroups = -(-math.prod(block) // size)
    configuration = Configuration(size, block, (subgroups, 1, 1), grid, level)
    if level == "subgroup" and SUBGROUP_SIZE_ATTRIBUTE in function.attributes:
        _check_vectors(function, configuration)
    return configuration


def _check_vectors(function: Operation, configuration: Configuration) -> None:
    """Checks that the subgroups that hold a kernel's vectors have all of their work-items.

    Raises:
        ExecutionError: They do not.
    """
    for operation in function.walk():
        if any(isinstance(result.type, VectorType) for result in operation.results):
            try:
                require_full_subgroups(configuration)
            except ValueError as error:
                raise ExecutionError(operation, str(error)) from None


def _known_size(function: Operation, name: str) -> Size3 | None:
    sizes: Any = function.get_attr_or_prop(name)
    return None if sizes is None else tuple(sizes.get_values())


def _subgroup_size(function: Operation) -> int:
    size = given_subgroup_size(function)
    if size is None:
        return 1 if function.name == "func.func" else DEFAULT_SUBGROUP_SIZE
    if size < 1:
        raise ExecutionError(function, f"the subgroup size {size} is not positive")
    return size


def _level(function: Operation) -> Level | None:
    attribute = function.attributes.get("core.level")
    if attribute is None:
        return _level_without_name(function)
    levels = get_args(Level)
    if not isinstance(attribute, StringAttr) or attribute.data not in levels:
        raise ExecutionError(
            function, f"core.level must be one of {', '.join(levels)}, but is {attribute}"
        )
    return cast("Level", attribute.data)


def _level_without_name(function: Operation) -> Level | None:
    """What a kernel describes that does not say: a work-group if it is written in `linalg`."""
    if function.name != "gpu.func" or first_of_linalg(function) is None:
        return None
    return "block"


def _parameters(function: Operation) -> Sequence[SSAValue]:
    if not function.regions or not function.regions[0].blocks:
        raise ExecutionError(function, "the function is declared only: it has no body to execute")
    type_ = cast("FunctionType", function.properties["function_type"])
    return function.regions[0].blocks[0].args[: len(type_.inputs)]


def _bind(type: Attribute, name: str, argument: Argument, buffers: Buffers) -> Value:
    match type, argument:
        case MemRefType(), GroupArgument():
            return _group(memref_type(type), name, argument, buffers)
        case MemRefType(), MemrefArgument():
            rank = type.get_num_dims()
            if len(argument.shape) != rank or len(argument.strides) != rank:
                raise ValueError(f"{name} has type {type}, given {argument}")
            return buffers.view(argument, number_of(type).dtype, name)
        case UnrankedMemRefType(), MemrefArgument():
            return buffers.view(argument, number_of(type).dtype, name)
        case MemRefType(), WordsArgument() if type.get_num_dims() == 1:
            return buffers.view(buffers.words(argument, name), number_of(type).dtype, name)
        case IntegerType() | IndexType(), MemrefArgument() if argument.base is not None:
            return _address(type, name, argument, buffers)
        case _, MemrefArgument() if is_pointer(type) or type == i64:
            return _address(type, name, argument, buffers)
        case _, WordsArgument() if is_pointer(type) or type == i64:
            return _address(type, name, buffers.words(argument, name), buffers)
        case _, ScalarArgument() if not isinstance(type, MemRefType | UnrankedMemRefType):
            return number_of(type).number(argument.value)
        case _:
            raise ValueError(f"{name} has type {type}, given {argument}")


def _group(
    type: MemRefType[Attribute], name: str, argument: GroupArgument, buffers: Buffers
) -> Group:
    """Memory for a memref of memrefs."""
    element = memref_type(type.element_type)
    views = [
        buffers.view(entry, number_of(element).dtype, f"entry {index} of {name}")
        for index, entry in enumerate(argument.entries)
    ]
    return Group(views, argument.offset, argument.is_associated, name)


def _address(type: Attribute, name: str, argument: MemrefArgument, buffers: Buffers) -> Value:
    """Memory that is given for an integer or a pointer: the address of its first element."""
    number = number_of(type)
    if number.bits < np.dtype(np.int64).itemsize * 8:
        raise ValueError(f"{name} has type {type}, which cannot hold an address")
    return number.number(buffers.address(argument, name))


def _compile(function: Operation, compiler: Compiler) -> Body:
    body = compiler.region(function.regions[0])
    made = attributions(function, len(_parameters(function)), compiler)
    operations = [function] * len(made) + body.operations
    return Body(operations, made + body.steps, body.yields, body.allocated)


def _compiler(configuration: Configuration, is_observed: bool) -> Compiler:
    kind = FollowingUpstream if is_observed else Compiler
    return kind(configuration, is_observed)


_PROCESS_LOCAL = ("memref.get_global", "func.call")
"""What operations do that have an effect in one process only, or may have, as updates have."""


def _may_share(function: Operation) -> bool:
    return not any(
        updates_memory(operation) or operation.name in _PROCESS_LOCAL
        for operation in function.walk()
    )


LANGUAGE = Language(
    configure=_configure,
    parameters=_parameters,
    bind=_bind,
    compile=_compile,
    is_collective=False,
    may_share=_may_share,
    compiler=_compiler,
)
