"""How functions of the tensor language are launched, and what is chosen where nothing is said.

Source: tensor language reference, section "Functions"; docs/semantics.md, "Sizes of subgroups and
work-groups".
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.tensorlang.operation import array_entries, integer_value
from xtile.dialects.tensorlang.ops.collective import BlasOperation
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.memory import AtomicOperation
from xtile.dialects.tensorlang.types import GroupType, MemrefType, type_text
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.binding import Buffers
from xtile.semantics.compiler import Body, Compiler
from xtile.semantics.configuration import Configuration, Size3
from xtile.semantics.errors import ExecutionError
from xtile.semantics.language import Language
from xtile.semantics.memory import Group, View
from xtile.semantics.numeric_types import number_of, numpy_type
from xtile.semantics.values import Value

DEFAULT_SUBGROUP_SIZES = (16, 32, 8)
"""Tried in this order; the first that divides the rows of the work-group is taken."""

DEFAULT_BLAS_TILING = (2, 2)
"""Subgroups in each mode of the work-group of a function with linear algebra instructions."""


def _configure(function: FuncOp, grid: Size3, block: Size3 | None) -> Configuration:
    if block is not None:
        raise ExecutionError(
            function,
            "the work-group size of a function of the tensor language is given by its attribute "
            "work_group_size, and not by the launch",
        )
    given = array_entries(function.work_group_size)
    size = _subgroup_size(function, None if given is None else integer_value(given[0]))
    if given is None:
        has_blas = any(isinstance(op, BlasOperation) for op in function.body.walk())
        rows, columns = DEFAULT_BLAS_TILING if has_blas else (1, 1)
        return _configuration(size, rows * size, columns, grid)
    rows, columns = (integer_value(entry) for entry in given)
    if rows < 1 or columns < 1 or rows % size:
        raise ExecutionError(
            function,
            f"work_group_size=[{rows},{columns}] is not a positive multiple of subgroup size "
            f"{size}",
        )
    return _configuration(size, rows, columns, grid)


def _configuration(size: int, rows: int, columns: int, grid: Size3) -> Configuration:
    return Configuration(size, (rows, columns), (rows // size, columns, 1), grid)


def _subgroup_size(function: FuncOp, rows: int | None) -> int:
    if function.subgroup_size is not None:
        size = integer_value(function.subgroup_size)
        if size < 1:
            raise ExecutionError(function, f"subgroup_size={size} is not positive")
        return size
    if rows is None:
        return DEFAULT_SUBGROUP_SIZES[0]
    for size in DEFAULT_SUBGROUP_SIZES:
        if rows % size == 0:
            return size
    raise ExecutionError(
        function,
        f"the first work-group size {rows} is no multiple of a subgroup size "
        f"({', '.join(map(str, sorted(DEFAULT_SUBGROUP_SIZES)))})",
    )


def _parameters(function: FuncOp) -> Sequence[SSAValue]:
    return function.parameters


def _bind(type: Attribute, name: str, argument: Argument, buffers: Buffers) -> Value:
    match type, argument:
        case MemrefType(), MemrefArgument():
            return _view(type, name, argument, buffers)
        case GroupType(), GroupArgument():
            views = [
                _view(type.element, f"entry {i} of {name}", entry, buffers)
                for i, entry in enumerate(argument.entries)
            ]
            return Group(views, argument.offset, argument.is_associated, name)
        case _, ScalarArgument() if not isinstance(type, MemrefType | GroupType):
            return number_of(argument.value, type)
        case _:
            raise ValueError(f"{name} has type {type_text(type)}, given {argument}")


def _view(type: MemrefType, name: str, argument: MemrefArgument, buffers: Buffers) -> View:
    if len(argument.shape) != type.order or len(argument.strides) != type.order:
        raise ValueError(f"{name} has type {type_text(type)}, given {argument}")
    return buffers.view(argument, numpy_type(type), name)


def _compile(function: FuncOp, compiler: Compiler) -> Body:
    return compiler.block(function.body.block)


def _may_share(function: FuncOp) -> bool:
    """Atomic instructions are atomic in one process only."""
    return not any(_is_atomic(op) for op in function.body.walk())


def _is_atomic(operation: Operation) -> bool:
    if isinstance(operation, BlasOperation):
        return operation.atomic is not None
    return isinstance(operation, AtomicOperation)


LANGUAGE = Language(
    configure=_configure,
    parameters=_parameters,
    bind=_bind,
    compile=_compile,
    is_collective=True,
    may_share=_may_share,
)
