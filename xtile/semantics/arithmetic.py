"""Arithmetic, comparison and math functions on scalars and arrays of one number type.

Source: tensor language reference, sections "Arithmetic (binary)", "Arithmetic (unary)",
"Comparison" and "Math (unary)"; docs/semantics.md, "Arithmetic".
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from xtile.dialects.tensorlang import types
from xtile.dialects.tensorlang.ops import arithmetic as ops
from xtile.semantics.numeric_types import NUMPY_TYPES, is_integer
from xtile.semantics.values import Value

Binary = Callable[[Value, Value], Value]
Unary = Callable[[Value], Value]

# Its functions take anything, which the type checker cannot say.
_OPERATOR: Any = operator

_ANY_TYPE: dict[type[Any], Binary] = {
    ops.AddOp: _OPERATOR.add,
    ops.SubOp: _OPERATOR.sub,
    ops.MulOp: _OPERATOR.mul,
    ops.AndOp: _OPERATOR.and_,
    ops.OrOp: _OPERATOR.or_,
    ops.XorOp: _OPERATOR.xor,
}

_FLOATING: dict[type[Any], Binary] = {
    ops.DivOp: _OPERATOR.truediv,
    ops.RemOp: np.fmod,
    # A NaN is ignored unless both operands are NaN, as OpenCL's fmax and fmin do.
    ops.MaxOp: np.fmax,
    ops.MinOp: np.fmin,
}


def integer_quotient(a: Value, b: Value) -> Value:
    """The quotient rounded towards zero; the smallest integer divided by -1 gives itself."""
    return (a - np.fmod(a, b)) // b


_INTEGER: dict[type[Any], Binary] = {
    ops.DivOp: integer_quotient,
    ops.RemOp: np.fmod,
    ops.MaxOp: np.maximum,
    ops.MinOp: np.minimum,
}


def _shift(shift: Binary, type: Attribute) -> Binary:
    """A shift by the amount modulo the width in bits, as in OpenCL C."""
    dtype = NUMPY_TYPES[type]
    mask = dtype.type(8 * dtype.itemsize - 1)
    return lambda a, b: shift(a, b & mask)


def binary_function(operation: type[Any], type: Attribute) -> Binary:
    """The meaning of a binary instruction on scalar type `type`."""
    if operation in _ANY_TYPE:
        return _ANY_TYPE[operation]
    if operation is ops.ShlOp:
        return _shift(_OPERATOR.lshift, type)
    if operation is ops.ShrOp:
        return _shift(_OPERATOR.rshift, type)
    return (_INTEGER if is_integer(type) else _FLOATING)[operation]


_UNARY: dict[type[Any], Unary] = {
    # The absolute value of the smallest integer wraps around to itself.
    ops.AbsOp: np.abs,
    ops.NegOp: _OPERATOR.neg,
    ops.NotOp: _OPERATOR.invert,
    ops.ConjOp: np.conj,
    ops.ImOp: np.imag,
    ops.ReOp: np.real,
}


def unary_function(operation: type[Any]) -> Unary:
    """The meaning of a unary arithmetic instruction."""
    return _UNARY[operation]


_COMPARISONS: dict[type[Any], tuple[Binary, Binary]] = {
    ops.EqualOp: (_OPERATOR.eq, np.equal),
    ops.NotEqualOp: (_OPERATOR.ne, np.not_equal),
    ops.GreaterThanOp: (_OPERATOR.gt, np.greater),
    ops.GreaterThanEqualOp: (_OPERATOR.ge, np.greater_equal),
    ops.LessThanOp: (_OPERATOR.lt, np.less),
    ops.LessThanEqualOp: (_OPERATOR.le, np.less_equal),
}


def comparison_function(operation: type[Any], type: Attribute) -> Binary:
    """The meaning of a comparison; a NaN is unequal to everything and in no order."""
    # Operators are faster on numpy's scalars, but those of bf16 return Python's bool.
    fast, general = _COMPARISONS[operation]
    return general if type == types.BF16 else fast


def _complex_exp2(value: Value) -> Value:
    """2^(x + iy) = 2^x (cos(y log 2) + i sin(y log 2))."""
    part = value.real.dtype.type
    angle = value.imag * part(np.log(2.0))
    result = np.exp2(value.real) * (np.cos(angle) + value.dtype.type(1j) * np.sin(angle))
    return result.astype(value.dtype)


_MATH: dict[type[Any], Unary] = {
    ops.CosOp: np.cos,
    ops.SinOp: np.sin,
    ops.ExpOp: np.exp,
    ops.Exp2Op: np.exp2,
    ops.LogOp: np.log,
    ops.Log2Op: np.log2,
    ops.NativeCosOp: np.cos,
    ops.NativeSinOp: np.sin,
    ops.NativeExpOp: np.exp,
    ops.NativeExp2Op: np.exp2,
    ops.NativeLogOp: np.log,
    ops.NativeLog2Op: np.log2,
}


def math_function(operation: type[Any], type: Attribute) -> Unary:
    """The meaning of a math instruction; 16-bit types are computed in f32 and rounded."""
    function = _MATH[operation]
    return _complex_exp2 if function is np.exp2 and type in types.COMPLEX_TYPES else function


def identity_of(operation: type[Any], type: Attribute) -> np.generic:
    """The identity of add, max or min, as section "Subgroup operation" lists them."""
    dtype = NUMPY_TYPES[type]
    if operation is ops.AddOp:
        return dtype.type(0)
    is_max = operation is ops.MaxOp
    if is_integer(type):
        info = np.iinfo(dtype)
        return dtype.type(info.min if is_max else info.max)
    return dtype.type(-np.inf if is_max else np.inf)


def reduction_ufunc(operation: type[Any], type: Attribute) -> np.ufunc:
    """The ufunc that reduces, scans and updates in place with add, max or min."""
    if operation is ops.AddOp:
        return np.add
    if is_integer(type):
        return np.maximum if operation is ops.MaxOp else np.minimum
    return np.fmax if operation is ops.MaxOp else np.fmin
