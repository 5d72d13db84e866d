"""Constants, which all functions of a module share, and the operations that name them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import AnyFloat, i1
from xdsl.ir import Attribute, Block, SSAValue

from xtile.dialects.spirv import ArgumentsAttr, instruction_class, operation
from xtile.dialects.spirv.arguments import FloatLiteral
from xtile.rewrite.folding import wrap
from xtile.text.mlir_numbers import float_bits
from xtile.translate.xegpu_to_spirv.types import element_type, integer_width, length_of


class Constants:
    """The constants of a module, each of them once.

    Args:
        block: Where they are declared.

    Attributes:
        numbers: What each integer constant is, and each element of a vector of equal ones.
    """

    def __init__(self, block: Block) -> None:
        self._block = block
        self._known: dict[Hashable, SSAValue] = {}
        # By the identities of their types, which take long to hash; those live as long as this.
        self._integers: dict[tuple[int, int], SSAValue] = {}
        self._types: list[Attribute] = []
        self.numbers: dict[SSAValue, int] = {}

    def integer(self, number: int, type_: Attribute) -> SSAValue:
        """An integer or a truth value, or a vector of equal ones; it wraps around in its type."""
        key = number, id(type_)
        value = self._integers.get(key)
        if value is None:
            width = integer_width(element_type(type_))
            bits = wrap(number, width) if width > 1 else number & 1
            value = self._integers[key] = self.of_bits(bits, type_)
            self._types.append(type_)
        return value

    def floating(self, number: float, type_: Attribute) -> SSAValue:
        """A number of a floating type, or a vector of equal ones; it is rounded to its type."""
        return self.of_bits(float_bits(number, cast(AnyFloat, element_type(type_))), type_)

    def of_bits(self, bits: int, type_: Attribute) -> SSAValue:
        """A constant by its bits: a floating one's, or those of an integer with its sign."""
        key = bits, type_
        value = self._known.get(key)
        if value is None:
            value = self._known[key] = self._make(bits, type_)
        return value

    def _make(self, bits: int, type_: Attribute) -> SSAValue:
        element = element_type(type_)
        if element != type_:
            entry = self.of_bits(bits, element)
            value = self._emit("ConstantComposite", type_, *[entry] * length_of(type_))
        elif type_ == i1:
            value = self._emit("ConstantTrue" if bits else "ConstantFalse", type_)
        elif integer_width(type_):
            value = self._literal(bits, type_)
        else:
            value = self._literal(FloatLiteral(bits, cast(AnyFloat, type_)), type_)
        if integer_width(element):
            self.numbers[value] = bits
        return value

    def composite(self, elements: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        """A vector of constants."""
        key = tuple(elements), type_
        value = self._known.get(key)
        if value is None:
            value = self._known[key] = self._emit("ConstantComposite", type_, *elements)
        return value

    def undefined(self, type_: Attribute) -> SSAValue:
        """A value of which nothing is known."""
        value = self._known.get(type_)
        if value is None:
            value = self._known[type_] = self._emit("Undef", type_)
        return value

    def _literal(self, literal: int | FloatLiteral, type_: Attribute) -> SSAValue:
        """A number, given as what the instruction holds."""
        instruction = instruction_class("Constant")((), type_, ArgumentsAttr((literal,)))
        self._block.add_op(instruction)
        return instruction.results[0]

    def _emit(self, name: str, type_: Attribute, *arguments: Any) -> SSAValue:
        instruction = operation(name, type_, *arguments)
        self._block.add_op(instruction)
        return instruction.results[0]

    def remove_unused(self) -> None:
        """Erases the constants that nothing uses, a vector before its elements."""
        for value in reversed(list(self._known.values())):
            if not value.uses:
                instruction = cast(Any, value.owner)
                instruction.detach()
                instruction.erase()
