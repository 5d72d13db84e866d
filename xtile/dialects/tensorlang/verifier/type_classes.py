"""The classes of scalar types that instructions allow, and how to say them.

Source: the tables "allowed types" of the tensor language reference.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Attribute

from xtile.dialects.tensorlang.types import (
    BOOL,
    COMPLEX_TYPES,
    FLOATING_TYPES,
    INTEGER_TYPES,
    component_type,
    type_text,
)
from xtile.dialects.tensorlang.verifier.problem import listed

INTEGERS = ("integer",)
FLOATS = ("floating",)
COMPLEX = ("complex",)
FLOATS_OR_COMPLEX = ("floating", "complex")
REALS = ("integer", "floating")
NUMBERS = ("integer", "floating", "complex")
BOOL_OR_INTEGERS = ("bool", "integer")

_CLASS_OF: dict[Attribute, str] = {
    BOOL: "bool",
    **dict.fromkeys(INTEGER_TYPES, "integer"),
    **dict.fromkeys(FLOATING_TYPES, "floating"),
    **dict.fromkeys(COMPLEX_TYPES, "complex"),
}


def is_allowed(type: Attribute, allowed: Collection[str]) -> bool:
    """Whether the scalar or component type of `type` is in one of the allowed classes."""
    return _CLASS_OF.get(component_type(type)) in allowed


def not_allowed_message(what: str, mnemonic: str, type: Attribute, allowed: Collection[str]) -> str:
    """Says which type is wrong and which ones are right."""
    right = f"of {listed(allowed)} type"
    return f"{what} of {mnemonic} is {type_text(type)} but must be {right}"
