"""Tells operations whose text LLVM 22's form also fits from those that mean what the RFC says."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

_ATTRIBUTES = {
    "xegpu.create_nd_tdesc": {"boundary_check", "memory_scope", "mode"},
    "xegpu.create_tdesc": {"chunk_size", "chunk_size_per_lane", "memory_scope", "mode"},
    "xegpu.dpas": {"mode"},
    "xegpu.load": {"mode", "transpose"},
    "xegpu.load_nd": {"mode", "transpose_bit_width", "vnni_axis"},
    "xegpu.store": {"mode", "transpose"},
    "xegpu.store_nd": {"mode"},
}
"""The attributes with which an operation is the RFC's."""


def is_rfc(operation: Operation) -> bool:
    """Whether an operation that was read in LLVM 22's form has what only the RFC gives a meaning.

    To LLVM 22 these attributes are no more than names.
    """
    names = _ATTRIBUTES.get(operation.name)
    if names is None:
        return False
    # `transpose = [1, 0]` instead of LLVM's `array<i64: 1, 0>`.
    has_list = isinstance(operation.properties.get("transpose"), ArrayAttr)
    return has_list or not names.isdisjoint(operation.attributes)


def is_refused(operation: Operation) -> bool:
    """Whether LLVM 22 refuses an operation, such as a `dpas` of matrices split for VNNI."""
    try:
        operation.verify_()
    except VerifyException:
        return True
    return False
