"""The names of the driver's functions, as C++ mangles them.

Source: the Itanium C++ ABI, section 5.1 "External Names"; the OpenCL extensions
cl_intel_subgroup_matrix_multiply_accumulate and cl_intel_subgroup_2d_block_io; MLIR (LLVM 22),
`Conversion/XeVMToLLVM/XeVMToLLVM.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

_BUILTIN_TYPES = {
    "i8": "c",
    "u8": "h",
    "i16": "s",
    "u16": "t",
    "i32": "i",
    "u32": "j",
    "f16": "Dh",
    "f32": "f",
    "void": "v",
}
"""How the ABI abbreviates types."""

GLOBAL_POINTER = "PU3AS1"
"""A pointer to global memory."""


def vector(element: str, length: int) -> str:
    """A vector type, or the element's where the length is 1."""
    return f"Dv{length}_{_BUILTIN_TYPES[element]}" if length > 1 else _BUILTIN_TYPES[element]


def mangled(name: str, parameters: Sequence[str]) -> str:
    """The name of a function with parameters of mangled types.

    A vector type that was written before is a reference to it: `S_`, then `S0_`, and so on.
    """
    seen: list[str] = []
    words: list[str] = []
    for parameter in parameters:
        if parameter in seen:
            index = seen.index(parameter)
            words.append("S_" if index == 0 else f"S{index - 1}_")
            continue
        words.append(parameter)
        if parameter.startswith("D") and "_" in parameter:
            seen.append(parameter)
    return f"_Z{len(name)}{name}{''.join(words)}"


def product_name(
    precision: str, depth: int, parameters: Sequence[tuple[str, int]], suffix: str = ""
) -> str:
    """The function that multiplies matrices.

    Args:
        precision: The type of A and B, such as `bf16`.
        depth: The columns of A.
        parameters: The element and the length of a lane's A, B and C.
        suffix: What follows the depth.
    """
    name = f"intel_sub_group_{precision}_{precision}_matrix_mad_k{depth}{suffix}"
    return mangled(name, [vector(*parameter) for parameter in parameters])


def block_name(verb: str, bits: int, shape: tuple[int, int], count: int, element: str = "") -> str:
    """The function that accesses a block.

    Args:
        verb: `read`, `read_transform`, `read_transpose`, `write` or `prefetch`.
        bits: The width of an element.
        shape: Rows and columns of a block.
        count: How many blocks next to each other.
        element: What a lane's elements are in private memory; nothing for a prefetch.
    """
    rows, columns = shape
    name = f"intel_sub_group_2d_block_{verb}_{bits}b_{rows}r{columns}x{count}c"
    pointer = f"P{_BUILTIN_TYPES[element]}" if element else ""
    return f"_Z{len(name)}{name}{GLOBAL_POINTER}viiiDv2_i{pointer}"
