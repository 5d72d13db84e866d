"""What a tile-level kernel prints: numbers at once, tiles number by number between brackets."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.printing import CONVERSION, PrintOp
from xtile.dialects.gpu.memory import PrintfOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.tile import Tile
from xtile.translate.core_to_xegpu import bfloat16, narrow_floats
from xtile.translate.core_to_xegpu.bfloat16 import is_bfloat16


def _print(operation: PrintOp, lowering: Vectors) -> None:
    text, given = operation.format.data, iter(operation.args)
    start, numbers = 0, list[SSAValue]()
    for match in CONVERSION.finditer(text):
        if match["letter"] == "%":
            continue
        argument = next(given)
        element = value_type(argument.type)
        if not lowering.is_tile(argument):
            numbers.append(_number(lowering, lowering.value(argument), element))
            continue
        _printf(lowering, text[start : match.start()], *numbers)
        _print_tile(lowering, lowering.kept(argument), element, match[0])
        start, numbers = match.end(), []
    _printf(lowering, text[start:], *numbers)


def _print_tile(
    lowering: Vectors, tile: Tile, element: Attribute, text: str, *indices: Index
) -> None:
    """Prints what has these indices: a number, or parts between brackets."""
    if len(indices) == len(tile.shape):
        number = tile.piece(lowering.position(tile.shape, indices), 1)
        _printf(lowering, text, _number(lowering, number, element))
        return
    _printf(lowering, "[")
    with lowering.loop(0, tile.shape[len(indices)]) as i:
        if not isinstance(i, int):
            with lowering.when(lowering.compare("sgt", i, 0)):
                _printf(lowering, ", ")
        _print_tile(lowering, tile, element, text, *indices, i)
    _printf(lowering, "]")


def _number(lowering: Vectors, value: SSAValue, element: Attribute) -> SSAValue:
    """A number as `gpu.printf` takes it: those that are carried as their bits in f32."""
    format_ = narrow_floats.format_of(element)
    if format_ is not None:
        return narrow_floats.widen(lowering, value, format_)
    return bfloat16.widen(lowering, value) if is_bfloat16(element) else value


def _printf(lowering: Vectors, text: str, *numbers: SSAValue) -> None:
    if text:
        made = PrintfOp.build(operands=[numbers], properties={"format": StringAttr(text)})
        lowering.emit(made)


RULES: dict[str, Rule] = {PrintOp.name: _print}
"""The rule of each operation, by name."""
