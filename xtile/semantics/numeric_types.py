"""How numbers of the tensor language's types are held in numpy.

Every operation on numpy scalars and arrays of a type gives numbers of the same type, so results are
rounded (or wrap around) at each operation.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from xdsl.ir import Attribute

from xtile.dialects.tensorlang import types

NUMPY_TYPES: dict[Attribute, np.dtype[Any]] = {
    types.BOOL: np.dtype(np.bool_),
    types.I8: np.dtype(np.int8),
    types.I16: np.dtype(np.int16),
    types.I32: np.dtype(np.int32),
    types.I64: np.dtype(np.int64),
    types.INDEX: np.dtype(np.int64),
    types.BF16: np.dtype(ml_dtypes.bfloat16),
    types.F16: np.dtype(np.float16),
    types.F32: np.dtype(np.float32),
    types.F64: np.dtype(np.float64),
    types.C32: np.dtype(np.complex64),
    types.C64: np.dtype(np.complex128),
}
"""The numpy type of each scalar type."""


def numpy_type(type: Attribute) -> np.dtype[Any]:
    """The numpy type of a scalar type, or of a cooperative matrix's or memref's elements."""
    if isinstance(type, types.MemrefType):
        return NUMPY_TYPES[type.element_type]
    return NUMPY_TYPES[types.component_type(type)]


def is_integer(type: Attribute) -> bool:
    """Whether `type` is an integer type, and not bool."""
    return type in types.INTEGER_TYPES
