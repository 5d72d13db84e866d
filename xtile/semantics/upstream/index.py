"""The `index` dialect.

Source: MLIR (LLVM 22), `Dialect/Index/IR/IndexOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.upstream import casts, integers
from xtile.semantics.upstream.constants import constant_value, word_attribute
from xtile.semantics.upstream.elementwise import apply, constant, division, elementwise, shift
from xtile.semantics.upstream.numbers import INDEX_BITS, number_of

_SAME_AS_ARITH = {
    "add": "addi",
    "sub": "subi",
    "mul": "muli",
    "divs": "divsi",
    "divu": "divui",
    "ceildivs": "ceildivsi",
    "ceildivu": "ceildivui",
    "floordivs": "floordivsi",
    "rems": "remsi",
    "remu": "remui",
    "maxs": "maxsi",
    "maxu": "maxui",
    "mins": "minsi",
    "minu": "minui",
    "shl": "shli",
    "shrs": "shrsi",
    "shru": "shrui",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
}
"""The operation of `arith` that computes the same."""


def _handler(name: str) -> Handler:
    """The handler of an operation of `arith` on integers."""
    if name in integers.DIVISIONS:
        return division(integers.DIVISIONS[name])
    if name in integers.SHIFTS:
        return shift(integers.SHIFTS[name])
    return elementwise(integers.BINARY[name])


def _constant(operation: Operation, compiler: Compiler) -> Step:
    (result,) = operation.results
    value = operation.properties["value"]
    return constant(operation, compiler, constant_value(value, result.type))


def _sizeof(operation: Operation, compiler: Compiler) -> Step:
    return constant(operation, compiler, np.int64(INDEX_BITS))


def _cmp(operation: Operation, compiler: Compiler) -> Step:
    predicate = word_attribute(operation, "pred", tuple(integers.COMPARISONS))
    return apply(operation, compiler, integers.COMPARISONS[predicate](number_of(IndexType())))


def _cast(operation: Operation, compiler: Compiler) -> Step:
    source, target = (
        number_of(value.type) for value in (operation.operands[0], operation.results[0])
    )
    is_signed = operation.name == "index.casts"
    convert = casts.sign_extension if is_signed else casts.zero_extension
    return apply(operation, compiler, convert(source, target))


HANDLERS: dict[str, Handler] = {
    "index.bool.constant": _constant,
    "index.casts": _cast,
    "index.castu": _cast,
    "index.cmp": _cmp,
    "index.constant": _constant,
    "index.sizeof": _sizeof,
    **{f"index.{name}": _handler(other) for name, other in _SAME_AS_ARITH.items()},
}
"""The handler of each operation, by name."""
