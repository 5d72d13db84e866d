"""The RFC's `dpas`, whose accumulator stands first or last."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import StringAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.xegpu.layout import LayoutAttr
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.dialects.xegpu.rfc.common import (
    SIMT,
    Properties,
    leftover,
    result_type,
    take_mode,
    vector_type,
)
from xtile.dialects.xegpu.rfc.names import MODE
from xtile.dialects.xegpu.rfc.operands import resolve
from xtile.dialects.xegpu.rfc.operation_text import OperationText
from xtile.dialects.xegpu.rfc.verifier import is_product

_LAYOUTS = ("layout_a", "layout_b", "layout_cd")


def read_dpas(text: OperationText) -> Operation:
    """Reads `dpas %a, %b, %c`, `dpas %c, %a, %b` or `dpas %a, %b`.

    The shapes tell which operand is the accumulator. Where both orders fit, it is the last one, as
    in every kernel and in LLVM.
    """
    values = resolve(text, 2, 3)
    mode = take_mode(text)
    result = vector_type(text, result_type(text, _accumulator_type(values)))
    lhs, rhs, acc = _operands(text, values, result)
    properties = _take_layouts(text)
    attributes = leftover(text)
    types = (vector_type(text, lhs.type), vector_type(text, rhs.type), result)
    is_for_lane = all(type.get_num_dims() == 1 for type in types)
    if not is_for_lane and (mode == "simt" or (mode is None and not is_product(*types))):
        attributes.update(SIMT)
    elif types[0].get_num_dims() == 3:
        attributes[MODE] = StringAttr("vc")
    return DpasOp.build(
        operands=[lhs, rhs, acc],
        properties=properties,
        attributes=attributes,
        result_types=[result],
    )


DPAS_READERS: dict[str, Callable[[OperationText], Operation]] = {"xegpu.dpas": read_dpas}
"""What reads the operation of this module."""


def _accumulator_type(values: list[SSAValue]) -> Attribute | None:
    return values[2].type if len(values) == 3 else None


def _operands(
    text: OperationText, values: list[SSAValue], result: VectorType[Attribute]
) -> tuple[SSAValue, SSAValue, list[SSAValue]]:
    """Returns the matrices A and B, and the accumulator if there is one."""
    if len(values) == 2:
        return values[0], values[1], []
    first, second, third = values
    types = [vector_type(text, value.type) for value in values]
    is_last = third.type == result and is_product(types[0], types[1], result)
    is_first = first.type == result and is_product(types[1], types[2], result)
    only_first = first.type == result and third.type != result
    if not is_last and (is_first or only_first):
        return second, third, [first]
    return first, second, [third]


def _take_layouts(text: OperationText) -> Properties:
    """Takes the layouts of A, B and the result, by name or in this order; one alone is C's."""
    layouts: Properties = {}
    for name in _LAYOUTS:
        given = text.take(name)
        if given is not None:
            if not isinstance(given.value, LayoutAttr):
                text.error(f"{name} must be a layout", given.position)
            layouts[name] = given.value
    names = _LAYOUTS[-1:] if len(text.unnamed) == 1 else _LAYOUTS
    if text.unnamed and len(text.unnamed) not in (1, 3):
        text.error(f"{text.spelling} takes one sg_map or three, not {len(text.unnamed)}")
    for name, layout in zip(names, text.unnamed, strict=False):
        if not isinstance(layout, LayoutAttr):
            text.error(f"{text.spelling} takes a sg_map, not {layout}")
        layouts[name] = layout
    text.unnamed.clear()
    return layouts
