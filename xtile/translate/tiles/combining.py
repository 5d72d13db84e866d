"""How reductions, scans and atomic updates combine two numbers."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    f32,
    i1,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.vector.attributes import neutral_float, neutral_integer
from xtile.translate.tiles.casts import narrow
from xtile.translate.tiles.elementwise import arithmetic
from xtile.translate.tiles.lowering import TileLowering

_INTEGER_NAMES = {
    "add": "addi",
    "and": "andi",
    "maxs": "maxsi",
    "maxu": "maxui",
    "mins": "minsi",
    "minu": "minui",
    "mul": "muli",
    "or": "ori",
    "xor": "xori",
}
_FLOAT_NAMES = {"add": "addf", "mul": "mulf"}
"""Names of kinds that differ from those of `arith`."""

_OF_INTEGERS = frozenset(_INTEGER_NAMES.values())
_OF_FLOATS = frozenset({"addf", "maximumf", "maxnumf", "minimumf", "minnumf", "mulf"})
"""The operations of `arith` that combine numbers."""


def combine(lowering: TileLowering, kind: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """Combines two tiles element by element.

    Args:
        lowering: Where to emit.
        kind: How: `add`, `mul`, `and`, `maxsi`, `maxs`, `maximumf` and so on.
        a: The first tile.
        b: The second one, of the same type.
    """
    name = _name(lowering, kind, lowering.element(a))
    return narrow(arithmetic(name))(lowering, a, b)


def _name(lowering: TileLowering, kind: str, element: Attribute) -> str:
    of_integers = isa(element, IntegerType)
    name = (_INTEGER_NAMES if of_integers else _FLOAT_NAMES).get(kind, kind)
    if name not in (_OF_INTEGERS if of_integers else _OF_FLOATS):
        raise lowering.error(f"<{kind}> cannot combine numbers of type {element}")
    return name


def wide_type(element: Attribute) -> Attribute:
    """The type in which numbers are added up: f32 for narrower floats."""
    return f32 if isinstance(element, Float16Type | BFloat16Type) else element


def neutral(lowering: TileLowering, kind: str, element: Attribute) -> Attribute:
    """The number that changes no other one."""
    name = _name(lowering, kind, element)
    if isa(element, IntegerType):
        number = neutral_integer(_KINDS.get(name, name), element.width.data)
        if element == i1:
            number &= 1
        return IntegerAttr(number, element)
    assert isinstance(element, AnyFloat)
    return FloatAttr(neutral_float(_KINDS.get(name, name)), element)


_KINDS = {
    "addf": "add",
    "addi": "add",
    "andi": "and",
    "mulf": "mul",
    "muli": "mul",
    "ori": "or",
    "xori": "xor",
}
"""The kinds that the operations of `arith` are, where the names differ."""
