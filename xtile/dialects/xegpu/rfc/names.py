"""The names that the XeGPU RFC gives to operations, types and attributes, beside LLVM's.

What only the RFC says is verified by its rules (`verifier.py`).

Source: Intel, "RFC for XeGPU Dialect" (`docs/rfcs/XeGPU.md` of mlir-extensions), all revisions from
December 2023 to February 2025; the kernels of that repository until LLVM took the dialect over.
"""

from __future__ import annotations

import re

PREFIX = "XeGPU."
"""How the RFC begins the names of operations and types. Its examples also write `XeGpu.`."""

OPERATIONS = {
    "alloc_nbarrier": "alloc_nbarrier",
    "atomic_rmw": "atomic_rmw",
    "compile_hint": "compile_hint",
    "creat_nbarrier": "alloc_nbarrier",
    "create_nbarrier": "create_nbarrier",
    "create_nd_tdesc": "create_nd_tdesc",
    "create_tdesc": "create_tdesc",
    "dpas": "dpas",
    "fence": "fence",
    "init_nbarrier": "init_nbarrier",
    "load": "load",
    "load_gather": "load",
    "load_nd": "load_nd",
    "mfence": "mfence",
    "nbarrier_arrive": "nbarrier_arrive",
    "nbarrier_wait": "nbarrier_wait",
    "prefetch": "prefetch",
    "prefetch_nd": "prefetch_nd",
    "store": "store",
    "store_nd": "store_nd",
    "store_scatter": "store",
    "update_nd_offset": "update_nd_offset",
    "update_offset": "update_offset",
    "update_offsets": "update_offset",
}
"""The operations that the RFC's form has, by its spelling, and their names in the dialect.

`create_nbarrier` and `mfence` are of the first kernels, before the RFC had `init_nbarrier` and
`fence`.
"""

PRINTED_OPERATIONS = {"load": "load_gather", "store": "store_scatter"}
"""What the RFC calls an operation, where that is not the operation's name in the dialect."""

WITHOUT_OPERANDS = {"xegpu.compile_hint", "xegpu.fence", "xegpu.mfence"}
"""The operations without operands; a `%` after their names begins the next operation."""

ATTRIBUTES = {"block_tdesc_attr", "scatter_tdesc_attr", "scattered", "sg_map", "tdesc_attr"}
"""The attributes of descriptors, some of which the RFC marks with `!` instead of `#`."""

CACHE_HINTS = {
    f"{level}{ending}": f"{level}_hint" for level in ("l1", "l2", "l3") for ending in ("", "_hint")
}
"""The cache hints in lower case, and their names in the dialect."""

CACHE_POLICIES = {"read_invaldiate": "read_invalidate"}
"""Cache policies that the RFC also spells in another way."""

MEMORY_SPACES = {"shared": "slm"}
"""Memory spaces that the RFC also names in another way."""

ATOMIC_KINDS = {"maxf": "maximumf", "minf": "minimumf"}
"""Atomic updates that LLVM has renamed since."""

# What the RFC's form says and LLVM 22 has no word for. An operation that both forms can say has
# none of these; the others carry them among their discardable attributes.

MODE = "mode"
"""`"vc"`: `dpas` works on whole matrices of which the left one is split for VNNI (VC mode).
`"simt"`: the operation's vectors are the fragments that one work item owns (SIMT mode).

Elsewhere the mode follows from the vectors' shapes and is not stored.
"""

VNNI_AXIS = "vnni_axis"
"""The axis that `load_nd` splits into groups of 32 bits: 1 : i32. Axis 0 is LLVM 22's `packed`."""

TRANSPOSE = "transpose"
"""`load` returns and `store` takes the chunks along the first dimension: array<i64: 1, 0>."""

TRANSPOSE_BIT_WIDTH = "transpose_bit_width"
"""The bits that `load_nd` moves as one when it transposes: 32 : i32."""

MEMORY_SCOPE = "memory_scope"
"""`"slm"`: the address that `create_nd_tdesc` gets is one of shared local memory."""

BOUNDARY_CHECK = "boundary_check"
"""`false`: `create_nd_tdesc` switches off the check that its result's type still has."""

RFC_ATTRIBUTES = {
    "xegpu.create_nd_tdesc": frozenset({BOUNDARY_CHECK, MEMORY_SCOPE}),
    "xegpu.create_tdesc": frozenset({MEMORY_SCOPE}),
    "xegpu.dpas": frozenset({MODE}),
    "xegpu.load": frozenset({MODE, TRANSPOSE}),
    "xegpu.load_nd": frozenset({MODE, VNNI_AXIS, TRANSPOSE_BIT_WIDTH}),
    "xegpu.store": frozenset({MODE, TRANSPOSE}),
    "xegpu.store_nd": frozenset({MODE}),
}
"""The discardable attributes of an operation that the RFC's form defines."""

_FLOATS = {"float": "f32", "fp16": "f16", "fp32": "f32", "fp64": "f64"}
_INTEGER = re.compile(r"(u?)int(8|16|32|64)(?:_t)?")


def operation_name(name: str) -> str | None:
    """The dialect's name of an operation that the RFC's form has.

    `XeGPU.load_gather` and `xegpu.load_gather` are `xegpu.load`.

    Args:
        name: The name as the text has it; its prefix may be written in any case.

    Returns:
        The name, or None if it is not of the RFC's form.
    """
    prefix, separator, mnemonic = name.partition(".")
    if not separator or prefix.lower() != "xegpu" or mnemonic not in OPERATIONS:
        return None
    return f"xegpu.{OPERATIONS[mnemonic]}"


def scalar_type_name(name: str) -> str | None:
    """MLIR's name of a number type that the RFC calls `float`, `uint64` or the like.

    The RFC's `int64` is MLIR's `i64`, and `uint64` is `ui64`.
    """
    spelling = name.lower()
    if spelling in _FLOATS:
        return _FLOATS[spelling]
    match = _INTEGER.fullmatch(spelling)
    if match is None:
        return None
    return ("ui" if match[1] else "i") + match[2]
