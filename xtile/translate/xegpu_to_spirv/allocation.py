"""New memory: variables in local and in private memory, and constants.

Source: SPIR-V Specification, 3.52.8, "OpVariable".
"""

from __future__ import annotations

from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    MemRefType,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.spirv import ArrayType, PointerType, decorate, operation
from xtile.rewrite.descriptors import Descriptor
from xtile.rewrite.memref_layouts import Layout, layout_of
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import (
    memory_type,
    memref_type,
    natural_alignment,
    size_in_bytes,
    storage_class_of,
)

_MOST_PRIVATE_MEMORY = 2**31 - 1
"""Bytes of a variable: drivers count them in 32 bits."""

_VARIABLE_ALIGNMENT = 64
"""Bytes that variables are aligned to, so that the widest vectors are, too."""


def allocate(
    lowering: Lowering, type_: MemRefType[Attribute], storage_class: str, name: str | None
) -> Descriptor:
    """New memory for a memref type.

    Args:
        lowering: Where to emit.
        type_: The type; its sizes and its layout must be known.
        storage_class: `Workgroup` for local memory, `Function` for private memory.
        name: What it is called.
    """
    layout = layout_of(type_)
    if layout.unknowns:
        raise lowering.error(
            f"memory of type {type_} cannot be allocated: kernels of OpenCL have variables of "
            "known size only"
        )
    count = max(layout.allocated_elements(), 1)
    element = memory_type(type_.element_type)
    size = count * size_in_bytes(type_.element_type)
    if storage_class == "Workgroup":
        count_local_memory(lowering, size)
    elif size > _MOST_PRIVATE_MEMORY:
        raise lowering.error(
            f"a work-item cannot have {size} bytes of private memory; it has at most "
            f"{_MOST_PRIVATE_MEMORY}"
        )
    array = PointerType(ArrayType(element, count), storage_class)
    variable = operation("Variable", array, storage_class)
    variable.results[0].name_hint = name
    decorate(variable, ("Alignment", _VARIABLE_ALIGNMENT))
    if storage_class == "Workgroup":
        lowering.declarations.add_op(variable)
    else:
        lowering.place_at_entry(variable)
    pointer = first_element(lowering, variable.results[0], element)
    return _described(type_, pointer, layout)


def first_element(lowering: Lowering, variable: SSAValue, element: Attribute) -> SSAValue:
    """Points to the first element of an array."""
    storage_class = cast(PointerType, variable.type).storage_class
    type_ = PointerType(element, storage_class)
    zero = lowering.integer(0, i64)
    return lowering.shared(
        ("first", variable),
        (),
        lambda: lowering.compute("InBoundsAccessChain", type_, variable, zero),
    )


def _described(type_: MemRefType[Attribute], pointer: SSAValue, layout: Layout) -> Descriptor:
    offset, sizes, strides = layout.filled(())
    element = type_.element_type
    alignment = max(_VARIABLE_ALIGNMENT, natural_alignment(element))
    return Descriptor(pointer, element, offset, tuple(sizes), tuple(strides), alignment)


def count_local_memory(lowering: Lowering, size: int) -> None:
    """Counts the bytes of a variable in local memory.

    Raises:
        DiagnosticError: A work-group cannot have so much.
    """
    kernel, target = lowering.kernel, lowering.target
    kernel.local_bytes += size
    most = target.chip.local_memory
    if kernel.local_bytes > most:
        raise lowering.error(
            f"a work-group of {target.name} can have {most} bytes of local memory, "
            f"but with these {size} the kernel needs {kernel.local_bytes}"
        )


def _alloca(operation: Operation, lowering: Lowering) -> None:
    """A variable, which is the same memory each time; its content is undefined."""
    (result,) = operation.results
    type_ = memref_type(result.type)
    storage_class = storage_class_of(type_.memory_space, "Function")
    if storage_class == "CrossWorkgroup":
        raise lowering.error("a kernel cannot allocate global memory; pass it as an argument")
    lowering.define(result, allocate(lowering, type_, storage_class, result.name_hint))


# --- variables of the module ---


def _get_global(operation: Operation, lowering: Lowering) -> None:
    name = cast(SymbolRefAttr, operation.properties["name"]).string_value()
    (result,) = operation.results
    type_ = memref_type(result.type)
    key = "global", name
    lowering.define(result, lowering.shared(key, (), lambda: _global_memory(lowering, name, type_)))


def _global_memory(lowering: Lowering, name: str, type_: MemRefType[Attribute]) -> Descriptor:
    variable = lowering.globals.get(name)
    if variable is None:
        raise lowering.error(f"there is no @{name}")
    initial = variable.properties.get("initial_value")
    storage_class = storage_class_of(type_.memory_space)
    if storage_class == "Workgroup":
        if not isinstance(initial, UnitAttr):
            raise lowering.error(f"local memory has no initial value; make @{name} uninitialized")
        return _shared_variable(lowering, name, type_)
    raise lowering.error(
        f"@{name} is in global memory, which kernels of OpenCL get as arguments only"
    )


def _shared_variable(lowering: Lowering, name: str, type_: MemRefType[Attribute]) -> Descriptor:
    """A variable in local memory, which several kernels of a module may use."""
    layout = layout_of(type_)
    element = memory_type(type_.element_type)
    count = prod(cast("tuple[int, ...]", layout.sizes))
    count_local_memory(lowering, count * size_in_bytes(type_.element_type))
    pointer = lowering.variables.get(name)
    if pointer is None:
        array = PointerType(ArrayType(element, count), "Workgroup")
        made = operation("Variable", array, "Workgroup")
        made.results[0].name_hint = name
        decorate(made, ("Alignment", _VARIABLE_ALIGNMENT))
        lowering.declarations.add_op(made)
        pointer = lowering.variables[name] = made.results[0]
    return _described(type_, first_element(lowering, pointer, element), layout)


RULES: dict[str, Rule] = {
    "memref.alloca": _alloca,
    "memref.get_global": _get_global,
    # Memory is allocated for those that a kernel uses.
    "memref.global": lambda operation, lowering: None,
}
"""The rule of each operation, by name."""
