"""Constants and numbers given by the host, rounded once to their type.

Source: tensor language reference, section "Constant".
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute

from xtile.dialects.tensorlang import types
from xtile.dialects.tensorlang.operation import array_entries, integer_value
from xtile.semantics.casts import cast_function
from xtile.semantics.numeric_types import NUMPY_TYPES, is_integer


def constant_value(value: Attribute, type: Attribute) -> np.generic:
    """The number that a constant's attribute stands for, rounded once to the scalar `type`.

    Integers wrap around.

    Raises:
        ValueError: The attribute is no constant of that type.
    """
    if isinstance(value, IntegerAttr) and (type == types.BOOL or is_integer(type)):
        return number_of(integer_value(cast("Attribute", value)), type)
    if isinstance(value, FloatAttr) and type in types.FLOATING_TYPES:
        return number_of(_float_value(value), type)
    parts = array_entries(cast("Attribute", value))
    if parts is not None and type in types.COMPLEX_TYPES:
        return number_of(complex(*(_float_value(part) for part in parts)), type)
    raise ValueError(f"{value} is no constant of type {types.type_text(type)}")


def _float_value(attribute: Any) -> float:
    if not isinstance(attribute, FloatAttr):
        raise ValueError(f"expected a floating constant, but got {attribute}")
    return attribute.value.data


def number_of(value: Any, type: Attribute) -> np.generic:
    """A Python or numpy number, rounded once to `type`; integers wrap around."""
    if type == types.BOOL:
        return np.bool_(value)
    if is_integer(type):
        bits = np.uint64(int(value) % 2**64).astype(np.int64)
        return cast_function(types.I64, type)(bits)
    wide = types.C64 if type in types.COMPLEX_TYPES else types.F64
    return cast_function(wide, type)(NUMPY_TYPES[wide].type(value))
