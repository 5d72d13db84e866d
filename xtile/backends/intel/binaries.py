"""SPIR-V of other compilers, launched by the signatures of the kernels' own source.

The reference compiler of the tensor language keeps the same calling convention, so its binaries run
here, and those of xtile run there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, FunctionType, IntegerType, VectorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xtile.arguments.calling_convention import source_arguments
from xtile.backends.intel.compilation import KernelInterface, Program
from xtile.dialects.spirv import (
    ArrayType,
    FuncOp,
    Instruction,
    ModuleOp,
    PointerType,
)

_LOCAL_SIZE = "LocalSize"
_SUBGROUP_SIZE = "SubgroupSize"


def read_program(data: bytes, name: str, parameters: Mapping[str, Sequence[Attribute]]) -> Program:
    """The kernels of a binary.

    Args:
        data: The binary.
        name: What messages call it.
        parameters: For each kernel the types of the parameters in its source.

    Raises:
        DiagnosticError: The binary is damaged.
        ValueError: It lacks a kernel, or one has other arguments than the calling convention says.
    """
    from xtile.dialects.spirv import decode

    module = decode(data, name)
    functions = {op.sym_name: op for op in module.block.ops if isinstance(op, FuncOp)}
    entries = dict(_entry_points(module))
    kernels: dict[str, KernelInterface] = {}
    for kernel, types in parameters.items():
        function = functions.get(entries.get(kernel, ""))
        if function is None:
            known = ", ".join(f"'{entry}'" for entry in entries) or "none"
            raise ValueError(f"{name} has no kernel '{kernel}'; it has {known}")
        _check_arguments(kernel, function.function_type, types)
        modes = _execution_modes(module, entries[kernel])
        kernels[kernel] = KernelInterface(
            kernel, tuple(types), _size(modes), _subgroup_size(modes), _local_memory(module)
        )
    # What other compilers write may be of a form that ends a driver's process.
    return Program(data, kernels, is_risky=True)


def _entry_points(module: ModuleOp) -> Iterator[tuple[str, str]]:
    """The name of each kernel, and that of its function."""
    for operation in module.block.ops:
        if isinstance(operation, Instruction) and operation.entry.name == "EntryPoint":
            _, function, name, *_ = operation.arguments
            yield str(name), str(function)


def _execution_modes(module: ModuleOp, function: str) -> dict[str, tuple[int, ...]]:
    modes: dict[str, tuple[int, ...]] = {}
    for operation in module.block.ops:
        if isinstance(operation, Instruction) and operation.entry.name == "ExecutionMode":
            of, mode, *numbers = operation.arguments
            if of == function:
                modes[str(mode)] = tuple(number for number in numbers if isinstance(number, int))
    return modes


def _size(modes: Mapping[str, tuple[int, ...]]) -> tuple[int, int, int] | None:
    return cast("tuple[int, int, int] | None", modes.get(_LOCAL_SIZE))


def _subgroup_size(modes: Mapping[str, tuple[int, ...]]) -> int | None:
    return modes.get(_SUBGROUP_SIZE, (None,))[0]


def _check_arguments(kernel: str, type: FunctionType, parameters: Sequence[Attribute]) -> None:
    expected = [argument for parameter in parameters for argument in source_arguments(parameter)]
    depths = [1 if isinstance(given, PointerType) else 0 for given in type.inputs]
    if depths != [min(argument.pointer_depth, 1) for argument in expected]:
        raise ValueError(
            f"kernel '{kernel}' takes {len(depths)} arguments, {sum(depths)} of them pointers, "
            f"but its source has {len(expected)} by the calling convention, "
            f"{sum(argument.pointer_depth > 0 for argument in expected)} of them pointers"
        )


def _local_memory(module: ModuleOp) -> int:
    """Bytes of all variables in local memory."""
    return sum(
        _bytes(operation.result.type.pointee)
        for operation in module.block.ops
        if isinstance(operation, Instruction)
        and operation.results
        and isinstance(operation.result.type, PointerType)
        and operation.result.type.storage_class.data == "Workgroup"
    )


def _bytes(type: Attribute) -> int:
    if isinstance(type, ArrayType):
        return type.count.data * _bytes(type.element_type)
    if isa(type, VectorType):
        return math.prod(type.get_shape()) * _bytes(type.element_type)
    if isa(type, IntegerType):
        return max(1, type.width.data // 8)
    return type.bitwidth // 8 if isinstance(type, AnyFloat) else 8
