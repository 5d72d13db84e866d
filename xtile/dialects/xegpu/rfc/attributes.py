"""What the RFC's form says and LLVM 22 has no word for, as attributes in the dialect.

An operation that both forms can say has none of these. The others carry what is named here among
their discardable attributes, and are verified by the RFC's rules (`verifier.py`).
"""

from __future__ import annotations

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
