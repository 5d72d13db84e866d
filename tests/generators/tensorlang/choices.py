"""Random types, constants, names and attributes of the tensor language.

Every function takes the source of its random choices first. Choices lean towards the values that
readers and printers get wrong: extremes, signs, empty lists, names that look like keywords.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from random import Random

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, FloatAttr, StringAttr, f64
from xdsl.ir import Attribute

from xtile.dialects.tensorlang.attributes import MatrixUse
from xtile.dialects.tensorlang.operation import BLANK_LINE, integer_attribute
from xtile.dialects.tensorlang.types import (
    BF16,
    BOOL,
    C32,
    C64,
    COMPLEX_TYPES,
    DYNAMIC,
    F16,
    F32,
    F64,
    FLOATING_TYPES,
    I8,
    I16,
    I32,
    I64,
    INDEX,
    SIZE_IN_BYTES,
    CoopmatrixType,
    GroupType,
    MemrefType,
    component_type,
    is_promotable,
    promote,
)

INTEGERS: tuple[Attribute, ...] = (I8, I16, I32, I64, INDEX)
FLOATS: tuple[Attribute, ...] = (BF16, F16, F32, F64)
COMPLEX: tuple[Attribute, ...] = (C32, C64)
REALS: tuple[Attribute, ...] = INTEGERS + FLOATS
NUMBERS: tuple[Attribute, ...] = REALS + COMPLEX
SCALARS: tuple[Attribute, ...] = (BOOL, *NUMBERS)

LARGEST_ORDER = 5

_INTEGER_BITS: dict[Attribute, int] = {I8: 8, I16: 16, I32: 32, I64: 64, INDEX: 64}
_MODE_SIZES = (1, 2, 3, 4, 7, 8, 16, 32)

_FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 0.1, 1e-5, 1e5, 1e16, 1e22, 1e-7, 123456789.0),
    *(math.pi, -math.e, 2.0**-14, 65504.0, 3.4028234663852886e38),
    *(math.inf, -math.inf, math.nan, -math.nan),
    *(sys.float_info.max, -sys.float_info.max, sys.float_info.min, 5e-324, -5e-324),
    *(float.fromhex("0x1.8p3"), float.fromhex("0x1.fffffffffffffp-1"), 1.0 + 2.0**-52),
)

_NAMES = (
    *("a", "b", "i", "x", "x2", "X", "A", "B", "alpha", "tmp", "acc", "c0", "c0_0", "e5", "f32"),
    *("inf", "nan", "for", "if", "func", "load", "init", "attributes", "as", "_u", "a.b", "a$b"),
)

_COMMENTS = (
    "",
    "; twice",
    "ends with a brace {",
    'a "quoted" word',
    "%x = $y : f32 ⪯ f64",
    "// no",
)


def integer_constant(random: Random, type: Attribute) -> Attribute:
    """An integer of the type's range, as `ConstantOp.value` holds it."""
    limit = 2 ** (_INTEGER_BITS[type] - 1)
    # The reference leaves -2^63 out.
    least = -limit if limit < 2**63 else -limit + 1
    value = random.choice(
        (0, 1, -1, 2, 16, 100, least, limit - 1, random.randint(least, limit - 1))
    )
    return integer_attribute(value)


def float_constant(random: Random) -> FloatAttr:
    """A double."""
    value = random.choice(_FLOATS)
    if random.random() < 0.3:
        value = math.ldexp(random.uniform(-1.0, 1.0), random.randint(-1070, 1020))
    return FloatAttr(value, f64)


def constant(random: Random, type: Attribute) -> Attribute:
    """A constant of a scalar type, or of a coopmatrix's component type."""
    type = component_type(type)
    if type == BOOL:
        return BoolAttr.from_bool(random.random() < 0.5)
    if type in FLOATING_TYPES:
        return float_constant(random)
    if type in COMPLEX_TYPES:
        return ArrayAttr([float_constant(random), float_constant(random)])
    return integer_constant(random, type)


def plain_constant(type: Attribute, value: int) -> Attribute:
    """A small integer as a constant of a number type."""
    type = component_type(type)
    if type in FLOATING_TYPES:
        return FloatAttr(float(value), f64)
    if type in COMPLEX_TYPES:
        return ArrayAttr([FloatAttr(float(value), f64), FloatAttr(0.0, f64)])
    return integer_attribute(value)


def element_types(random: Random) -> tuple[Attribute, Attribute, Attribute, Attribute, Attribute]:
    """Types of alpha, A, B, beta and C: alpha ⪯ promote(A, B) ⪯ C and beta ⪯ C."""
    while True:
        c = random.choice(NUMBERS)
        a, b = promotable_to(random, c), promotable_to(random, c)
        product = promote(a, b)
        if product is not None and is_promotable(product, c):
            return promotable_to(random, product), a, b, promotable_to(random, c), c


def promotable_to(random: Random, type: Attribute) -> Attribute:
    """A type whose values are all values of `type`."""
    return random.choice([source for source in NUMBERS if is_promotable(source, type)])


def shape(random: Random, order: int) -> tuple[int, ...]:
    """The sizes of `order` modes, some of them dynamic."""
    return tuple(size(random) for _ in range(order))


def size(random: Random) -> int:
    """The size of a mode, or DYNAMIC."""
    return DYNAMIC if random.random() < 0.35 else random.choice(_MODE_SIZES)


def strides(random: Random, shape: Sequence[int]) -> list[int]:
    """Strides that a memref of `shape` may have, some of them padded or dynamic."""
    result: list[int] = []
    least = random.choice((1, 1, 1, 2))
    for size in shape:
        stride = DYNAMIC if random.random() < 0.25 else least + random.choice((0, 0, 1, 8))
        result.append(stride)
        # Dynamic sizes and strides are at least 1, as far as a type can tell.
        least = (least if stride == DYNAMIC else stride) * (1 if size == DYNAMIC else size)
    return result


def memref_type(random: Random, element: Attribute, shape: Sequence[int]) -> MemrefType:
    """A global memref with any layout."""
    return MemrefType.get(element, shape, strides(random, shape) if random.random() < 0.4 else None)


def group_type(random: Random) -> GroupType:
    """A group of memrefs."""
    element = memref_type(random, random.choice(NUMBERS), shape(random, random.randint(0, 3)))
    return GroupType.get(element, size(random), random.choice((0, 0, 4, 100, DYNAMIC, DYNAMIC)))


def matrix_type(
    random: Random, component: Attribute, rows: int, columns: int | None = None
) -> CoopmatrixType:
    """A coopmatrix of `rows` rows with any use."""
    columns = random.choice((1, 2, 4, 8, 16)) if columns is None else columns
    return CoopmatrixType.get(component, rows, columns, random.choice(list(MatrixUse)))


def alignment(random: Random, element: Attribute) -> int:
    """An alignment in bytes that memory of the element type may have."""
    size = SIZE_IN_BYTES[element]
    return random.choice([a for a in (1, 2, 4, 8, 16, 32, 64) if a % size == 0])


def name(random: Random) -> str | None:
    """A name hint; None leaves the value unnamed."""
    return random.choice(_NAMES) if random.random() < 0.5 else None


def comment(random: Random) -> str:
    """One line of a comment."""
    return random.choice(_COMMENTS)


def comment_lines(random: Random) -> list[str]:
    """The lines of a comment, with single blank lines between some of them."""
    lines = [comment(random)]
    for _ in range(random.randint(0, 2)):
        lines += [BLANK_LINE, comment(random)] if random.random() < 0.3 else [comment(random)]
    return lines


def named_attributes(random: Random) -> dict[str, Attribute]:
    """Attributes that no instruction knows, as a dictionary may hold them."""
    names = ("note", "a name", "x", "f32", "alignment.hint")
    return {name: _attribute(random, 2) for name in random.sample(names, random.randint(0, 2))}


def _attribute(random: Random, depth: int) -> Attribute:
    kind = random.randint(0, 4 if depth else 2)
    if kind == 0:
        return BoolAttr.from_bool(random.random() < 0.5)
    if kind == 1:
        return integer_constant(random, I64)
    if kind == 2:
        return StringAttr(random.choice(("", "text", "%x = {;}", "it's 100 % a\\b")))
    entries = [_attribute(random, depth - 1) for _ in range(random.randint(0, 3))]
    if kind == 3:
        return ArrayAttr(entries)
    return DictionaryAttr({f"k{i}": entry for i, entry in enumerate(entries)})
