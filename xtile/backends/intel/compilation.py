"""Compiling kernels to SPIR-V for a chip: what the result is, and the steps to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation

from xtile.arguments.launch_checks import LaunchCheck, check_of
from xtile.dialects.core.launch_checks import check_words
from xtile.dialects.walk import walk
from xtile.garbage import without_collections
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.source import source_of

if TYPE_CHECKING:
    from xtile.dialects import spirv
    from xtile.dialects.gpu.functions import FuncOp


@dataclass(frozen=True)
class KernelInterface:
    """What a launch must know of a kernel.

    Attributes:
        name: The entry point.
        parameters: The types of the source function's parameters in order; what arguments of the
            kernel they are, `calling_convention` says.
        work_group_size: Work-items of a work-group in x, y and z; None if a launch chooses them.
        subgroup_size: Work-items of a subgroup; None if the driver chooses.
        local_memory: Bytes of local memory of a work-group.
        lanes_together: What the number of work-items of a work-group must be a multiple of.
        source_size: Work-items of a work-group as the source counts them, where that is known: a
            work-item of the kernel may do the work of several.
        ignores_block: Whether the source describes a whole work-group, whatever block it is given.
        checks: What it relies on that only a launch can tell.
    """

    name: str
    parameters: tuple[Attribute, ...]
    work_group_size: tuple[int, int, int] | None
    subgroup_size: int | None
    local_memory: int
    lanes_together: int = 1
    source_size: tuple[int, int, int] | None = None
    ignores_block: bool = False
    checks: tuple[LaunchCheck, ...] = ()


@dataclass(frozen=True)
class Program:
    """Kernels that a driver can build.

    Attributes:
        spirv: The SPIR-V module.
        kernels: Its entry points by name.
        build_options: What the driver is told when it builds.
        is_risky: Whether building it may abort or hang in a driver, which is then found out in a
            process of its own.
    """

    spirv: bytes
    kernels: Mapping[str, KernelInterface]
    build_options: str = ""
    is_risky: bool = False


@without_collections()
def compile_program(
    module: ModuleOp,
    target: LaneTarget,
    diagnostics: Diagnostics | None = None,
    *,
    may_overlap: bool = False,
    may_wrap: bool = False,
) -> Program:
    """Compiles the kernels of a module.

    Args:
        module: Kernels of any language.
        target: What they are compiled for.
        diagnostics: Collects warnings and remarks.
        may_overlap: Whether arguments may overlap although a kernel writes to one of them.
        may_wrap: Whether nobody checks at a launch that offsets of pointers do not wrap around.

    Raises:
        DiagnosticError: A kernel cannot be compiled for the chip.
    """
    from xtile.translate.route import Options, translate_to

    options = Options(target.name, target.spelling.name, may_overlap, may_wrap=may_wrap)
    lanes = translate_to(module, "lane", options, diagnostics)
    return program_from(module, lanes, translate_to(lanes, "spirv", options, diagnostics), target)


def program_from(source: ModuleOp, lanes: ModuleOp, spirv: ModuleOp, target: LaneTarget) -> Program:
    """Kernels that are translated already.

    Args:
        source: The kernels, in any language.
        lanes: What each work-item does.
        spirv: The same as SPIR-V.
        target: What they were translated for.
    """
    from xtile.dialects.spirv import encode
    from xtile.translate.forms import TILE, XEGPU_WORK_GROUP, forms_of

    of_source, of_lanes = list(_kernels(source)), list(_kernels(lanes))
    checks = {_name(kernel): tuple(map(check_of, check_words(kernel))) for kernel in of_lanes}
    parameters = parameter_types(source)
    sizes = {_name(kernel): _block_size(kernel) for kernel in of_source}
    of_work_groups = (TILE, XEGPU_WORK_GROUP)
    whole = {_name(each.operation) for each in forms_of(source) if each.form in of_work_groups}
    kernels = {
        (name := _name(kernel)): replace(
            _interface(kernel, parameters[name]),
            source_size=sizes[name],
            ignores_block=name in whole,
            checks=checks[name],
        )
        for kernel in of_lanes
    }
    is_risky = any(_multiplies_cooperatively(operation) for operation in walk(spirv))
    options = build_options_for(spirv, target, kernels.values())
    return Program(encode(spirv_in(spirv)), kernels, options, is_risky)


def build_options_for(
    spirv: Operation, target: LaneTarget, kernels: Iterable[KernelInterface]
) -> str:
    """What the driver is told when it builds kernels."""
    if not target.matrix_units:
        return ""
    from xtile.backends.intel.registers import build_options

    sizes = [kernel.subgroup_size or target.chip.subgroup_size for kernel in kernels]
    return build_options(spirv, target.chip, max(sizes, default=1))


def spirv_in(module: ModuleOp) -> spirv.ModuleOp:
    """The SPIR-V that a module holds.

    Raises:
        DiagnosticError: It holds something else, or several modules of SPIR-V.
    """
    from xtile.dialects.spirv import ModuleOp as SPIRVModuleOp

    operations = list(module.body.block.ops)
    if len(operations) == 1 and isinstance(operations[0], SPIRVModuleOp):
        return operations[0]
    message = "expected one module of SPIR-V"
    raise DiagnosticError([Diagnostic(Severity.ERROR, message, source_of(module), None)])


def _kernels(module: ModuleOp) -> Iterable[Operation]:
    """The kernels of a module, of any language."""
    from xtile.arguments.kernel import kernels_of

    return kernels_of(module).values()


def _name(kernel: Operation) -> str:
    from xtile.arguments.kernel import name_of

    return name_of(kernel)


def parameter_types(module: ModuleOp) -> dict[str, tuple[Attribute, ...]]:
    """For each kernel of a module the types of the parameters in its source."""
    from xtile.arguments.kernel import source_parameters_of

    return {
        _name(kernel): tuple(parameter.type for parameter in source_parameters_of(kernel))
        for kernel in _kernels(module)
    }


def _block_size(kernel: Operation) -> tuple[int, int, int] | None:
    """The work-items of a work-group of a `gpu.func`, if it says so."""
    size: Any = kernel.properties.get("known_block_size")
    if size is None:
        return None
    x, y, z = size.get_values()
    return x, y, z


def _interface(kernel: Operation, parameters: tuple[Attribute, ...]) -> KernelInterface:
    from xtile.dialects.gpu.subgroup_sizes import SUBGROUP_SIZE_ATTRIBUTE
    from xtile.translate.xegpu_to_spirv.kernel import lanes_together

    function = cast("FuncOp", kernel)
    size = _block_size(function)
    subgroup = function.attributes.get(SUBGROUP_SIZE_ATTRIBUTE)
    lanes = subgroup.value.data if isinstance(subgroup, IntegerAttr) else None
    memory, together = _local_memory(function), lanes_together(function)
    return KernelInterface(_name(kernel), parameters, size, lanes, memory, together)


def _local_memory(function: Operation) -> int:
    """Bytes of the variables in local memory that a kernel uses."""
    from xtile.transforms.distribute.local_memory import size_in_bytes

    types: dict[str, MemRefType[Attribute]] = {}
    for operation in walk(function):
        if operation.name == "memref.get_global":
            name = str(operation.properties["name"])
            types[name] = cast("MemRefType[Attribute]", operation.results[0].type)
    return sum(
        math.prod(type_.get_shape()) * size_in_bytes(type_.element_type) for type_ in types.values()
    )


def _multiplies_cooperatively(operation: Operation) -> bool:
    return operation.name == "spirv.CooperativeMatrixMulAddKHR"
