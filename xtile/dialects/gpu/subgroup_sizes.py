"""Where a kernel says how many work-items a subgroup has.

Source: MLIR (LLVM 22), `Conversion/GPUToLLVMSPV` and `Dialect/SPIRV/IR/TargetAndABI.h`; intel/
mlir-extensions, `VectorComputeFunctionINTEL`.
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

SUBGROUP_SIZE_ATTRIBUTE = "intel_reqd_sub_group_size"
"""The attribute by which LLVM asks for a subgroup size."""

SUBGROUP_SIZE_ATTRIBUTES = (
    SUBGROUP_SIZE_ATTRIBUTE,
    "subgroup_size",
    "spirv.entry_point_abi",
    "passthrough",
)
"""Where the size of a subgroup may stand, in this order."""

DEFAULT_SUBGROUP_SIZE = 16
"""Work-items in a subgroup of a `gpu.func` that does not say."""

VECTOR_COMPUTE = "VectorComputeFunctionINTEL"
"""The attribute of a function in which each work-item is a whole subgroup."""

_SIZE_TEXT = re.compile(r"(?:subgroup_size|intel_reqd_sub_group_size)\"?\s*[=,]\s*\"?(\d+)")


def given_subgroup_size(function: Operation) -> int | None:
    """How many work-items a function says that a subgroup has; None if it does not say."""
    if VECTOR_COMPUTE in function.attributes:
        return 1
    for name in SUBGROUP_SIZE_ATTRIBUTES:
        attribute = function.get_attr_or_prop(name)
        if isinstance(attribute, IntegerAttr):
            return attribute.value.data
        found = None if attribute is None else _SIZE_TEXT.search(str(attribute))
        if found is not None:
            return int(found[1])
    return None
