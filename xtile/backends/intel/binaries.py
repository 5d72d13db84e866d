"""Kernels that are SPIR-V already: by what they say of their source, or by their source itself.

The reference compiler of the tensor language keeps the same calling convention, so its binaries run
here, and those of xtile run there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, FunctionType, IntegerType, VectorType
from xdsl.dialects.builtin import ModuleOp as BuiltinModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from xtile.arguments.calling_convention import source_arguments
from xtile.backends.intel.compilation import (
    KernelInterface,
    Program,
    build_options_for,
    parameter_types,
    spirv_in,
)
from xtile.dialects.spirv import (
    ArrayType,
    FuncOp,
    Instruction,
    ModuleOp,
    PointerType,
)
from xtile.dialects.spirv.entry_points import entry_points, execution_modes
from xtile.dialects.walk import walk
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import source_of

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

    kernels = _interfaces(decode(data, name), name, parameters)
    # What other compilers write may be of a form that ends a driver's process.
    return Program(data, kernels, is_risky=True)


def program_of(module: BuiltinModuleOp, target: LaneTarget) -> Program:
    """Kernels that are SPIR-V, and say what their arguments are.

    Args:
        module: One module of SPIR-V.
        target: What they are for.

    Raises:
        ArgumentError: A kernel does not say what its arguments are.
        DiagnosticError: There is something else in the module, or kernels have other arguments.
    """
    from xtile.dialects.spirv import encode

    spirv, parameters = spirv_in(module), parameter_types(module)
    try:
        kernels = _interfaces(spirv, "the module", parameters)
    except ValueError as error:
        found = Diagnostic(Severity.ERROR, str(error), source_of(module), None)
        raise DiagnosticError([found]) from None
    options = build_options_for(spirv, target, kernels.values())
    is_risky = any(map(_may_be_of_another_device, walk(spirv)))
    return Program(encode(spirv), kernels, options, is_risky)


def _may_be_of_another_device(operation: Operation) -> bool:
    """Whether only some drivers know an instruction, or a function; others may end on it."""
    if operation.name == "spirv.func":
        return not operation.regions[0].blocks
    return operation.name.endswith("INTEL") or "CooperativeMatrix" in operation.name


def _interfaces(
    module: ModuleOp, name: str, parameters: Mapping[str, Sequence[Attribute]]
) -> dict[str, KernelInterface]:
    """The kernels of a module.

    Args:
        module: The module.
        name: What messages call it.
        parameters: For each kernel the types of the parameters in its source.

    Raises:
        ValueError: It lacks a kernel, or one has other arguments than the calling convention says.
    """
    functions = {op.sym_name: op for op in module.block.ops if isinstance(op, FuncOp)}
    entries = entry_points(module)
    kernels: dict[str, KernelInterface] = {}
    for kernel, types in parameters.items():
        function = functions.get(entries.get(kernel, ""))
        if function is None:
            known = ", ".join(f"'{entry}'" for entry in entries) or "none"
            raise ValueError(f"{name} has no kernel '{kernel}'; it has {known}")
        _check_arguments(kernel, function.function_type, types)
        modes = execution_modes(module, entries[kernel])
        kernels[kernel] = KernelInterface(
            kernel, tuple(types), _size(modes), _subgroup_size(modes), _local_memory(module)
        )
    return kernels


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
