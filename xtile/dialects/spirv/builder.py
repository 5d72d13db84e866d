"""Builds instructions.

```
operation("FAdd", f32, a, b)
operation("Load", f32, pointer, ("Aligned", 4))
operation("CL.exp", f32, x)
operation("BranchConditional", None, condition, (loop, i, sum), exit)
```
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import AnyFloat, ArrayAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.construction import VALUE_CLASSES
from xtile.dialects.spirv.arguments import Argument, ArgumentsAttr, FloatLiteral, Target
from xtile.dialects.spirv.instruction import (
    DECORATIONS,
    NUMBERS_OF_RESULT,
    Instruction,
    decorations_of,
)
from xtile.dialects.spirv.instruction_classes import instruction_class
from xtile.text.value_names import give_name

Piece: TypeAlias = SSAValue | Operation | Block | float | str | Attribute
BuildArgument: TypeAlias = Piece | Sequence[Piece]
"""What `operation` takes as an argument."""


def operation(
    name: str, result_type: Attribute | None, *arguments: BuildArgument, name_hint: str = ""
) -> Instruction:
    """Builds an instruction.

    Args:
        name: Its name without `Op`, or `CL.` and the name of an instruction of OpenCL.std.
        result_type: The type of its result. None if it has no result or a void one; `IdType()` if
            its result has no type.
        arguments: The operands after the result, in the grammar's order. A value, or an operation
            with one result, for an id; a block for a label, in a tuple with the values that its
            arguments become; the name of a function for its id; a type for a type's id; a number or
            a text for a literal; the name of an enumerant (`"Aligned|Volatile"`), in a tuple with
            its parameters. Numbers of constants are rounded to the result's type.
        name_hint: What the result is called.

    Raises:
        ValueError: There is no such instruction, or a block's arguments become something else than
            values.
    """
    cls = instruction_class(name)
    for argument in arguments:
        if type(argument) not in VALUE_CLASSES:
            made = _Builder(result_type if cls.entry.name in NUMBERS_OF_RESULT else None)
            made.add(arguments)
            instruction = made.build(cls, result_type)
            break
    else:
        instruction = cls(cast(tuple[SSAValue, ...], arguments), result_type)
    if name_hint:
        give_name(instruction.results[0], name_hint)
    return instruction


def decorate(target: Operation, *decorations: str | tuple[str | int | float, ...]) -> None:
    """Decorates an instruction's result or a function.

    Args:
        target: The instruction or the function.
        decorations: The name of a decoration, in a tuple with its parameters:
            `("BuiltIn", "GlobalInvocationId")`, `"Constant"`. They come after those it has.
    """
    before = decorations_of(target)
    target.attributes[DECORATIONS] = ArrayAttr((*before, *map(decoration, decorations)))


def decoration(description: str | tuple[str | int | float, ...]) -> ArgumentsAttr:
    """The attribute of a decoration: its name, in a tuple with its parameters."""
    builder = _Builder(None)
    builder.add((description,))
    return ArgumentsAttr(tuple(builder.arguments))


_shared: dict[tuple[Argument, ...], ArgumentsAttr] = {}
_MAXIMUM_SHARED = 10_000


def _shared_arguments(arguments: tuple[Argument, ...]) -> ArgumentsAttr | None:
    """The attribute of arguments, one for equal ones; None if all of them are values."""
    found = _shared.get(arguments)
    if found is None:
        if all(argument is None for argument in arguments):
            return None
        if len(_shared) >= _MAXIMUM_SHARED:
            _shared.clear()
        found = _shared[arguments] = ArgumentsAttr(arguments)
    return found


class _Builder:
    """Sorts what `operation` is given into operands, successors and the rest."""

    def __init__(self, number_type: Attribute | None) -> None:
        self._number_type = number_type
        self.arguments: list[Argument] = []
        self._operands: list[SSAValue] = []
        self._successors: list[Block] = []

    def add(self, arguments: Iterable[BuildArgument]) -> None:
        """Adds arguments in their order."""
        for argument in arguments:
            # The classes that are met most are compared first, because `isinstance` is slow here.
            cls = type(argument)
            if cls in VALUE_CLASSES:
                self.arguments.append(None)
                self._operands.append(cast(SSAValue, argument))
            elif cls is tuple:
                self._add_group(cast(Sequence[Piece], argument))
            elif cls is str or (cls is int and self._number_type is None):
                self.arguments.append(cast("int | str", argument))
            else:
                self._add_other(argument)

    def build(self, cls: type[Instruction], result_type: Attribute | None) -> Instruction:
        """Builds the instruction."""
        arguments = _shared_arguments(tuple(self.arguments))
        return cls(self._operands, result_type, arguments, self._successors)

    def _add_group(self, group: Sequence[Piece]) -> None:
        if group and isinstance(group[0], Block):
            self._add_block(group[0], group[1:])
        else:
            self.add(group)

    def _add_other(self, argument: BuildArgument) -> None:
        if isinstance(argument, SSAValue | Operation):
            self.add((SSAValue.get(argument),))
        elif isinstance(argument, Block):
            self._add_block(argument, ())
        elif isinstance(argument, float | int | str | Attribute):
            self.arguments.append(self._literal(argument))
        else:
            self._add_group(argument)

    def _add_block(self, block: Block, forwarded: Sequence[Piece]) -> None:
        self.arguments.append(Target(len(forwarded)))
        self._successors.append(block)
        for value in forwarded:
            if not isinstance(value, SSAValue | Operation):
                raise ValueError(f"a block's arguments become values, not {value}")
            self._operands.append(SSAValue.get(value))

    def _literal(self, argument: float | str | Attribute) -> Argument:
        if isinstance(argument, str | Attribute):
            return argument
        type = self._number_type
        if isinstance(argument, float) or isa(type, AnyFloat):
            return _float_literal(float(argument), type)
        return _signed(int(argument), type)


def _signed(number: int, type: Attribute | None) -> int:
    """A number, as a signed one if it fits the type: equal constants are equal numbers."""
    if isa(type, IntegerType):
        width = type.width.data
        if number >> (width - 1) == 1:
            return number - (1 << width)
    return number


def _float_literal(number: float, type: Attribute | None) -> FloatLiteral:
    from xdsl.dialects.builtin import f32

    from xtile.text.mlir_numbers import float_bits

    # Parameters of enumerants are `LiteralFloat`, which takes one word.
    literal_type = type if isa(type, AnyFloat) else f32
    return FloatLiteral(float_bits(number, literal_type), literal_type)
