"""Which attributes and types MLIR prints as aliases, and what it calls them.

A dialect adds its own when it is loaded:

    ALIAS_NAMES[BlockedEncodingAttr] = "blocked"

Source: LLVM 22, the `getAlias` methods of `mlir/lib/IR/BuiltinDialect.cpp` and
`mlir/include/mlir/IR/BuiltinAttributes.td`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    TupleType,
    UnitAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute

from xtile.text.mlir_attributes import DistinctAttr, FileLineColRange

ALIAS_NAMES: dict[type[Attribute], str] = {
    AffineMapAttr: "map",
    AffineSetAttr: "set",
    CallSiteLoc: "loc",
    DistinctAttr: "distinct",
    FileLineColLoc: "loc",
    FileLineColRange: "loc",
    FusedLoc: "loc",
    NameLoc: "loc",
    TupleType: "tuple",
    UnknownLoc: "loc",
}
"""The names by the class of the attribute or type, without prefix and number."""

_SHORT_TUPLE = 16


def alias_name(attribute: Attribute) -> str | None:
    """Returns what an alias of an attribute is called, or None if it is printed in full."""
    name = ALIAS_NAMES.get(type(attribute))
    if name is None:
        return None
    if isinstance(attribute, DistinctAttr) and isinstance(attribute.referenced, UnitAttr):
        return None
    if isinstance(attribute, TupleType) and len(attribute.types) <= _SHORT_TUPLE:
        return None
    return name
