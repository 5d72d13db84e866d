"""The tensor language dialect (Intel's tinytc).

Source: tensor language reference of tinytc v0.4.0.
"""

from __future__ import annotations

from xdsl.ir import Dialect, Operation

from xtile.dialects.tensorlang import attributes, types
from xtile.dialects.tensorlang.ops import OPERATIONS

_operations: list[type[Operation]] = [*OPERATIONS]

TensorLang = Dialect(
    "tensorlang",
    _operations,
    [
        types.VoidType,
        types.MemrefType,
        types.GroupType,
        types.CoopmatrixType,
        attributes.AddressSpaceAttr,
        attributes.MatrixUseAttr,
        attributes.CheckedFlagAttr,
        attributes.MemoryScopeAttr,
        attributes.MemorySemanticsAttr,
        attributes.ComponentAttr,
        attributes.ReduceModeAttr,
    ],
)
