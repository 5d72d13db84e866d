"""Instructions of a binary as operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.spirv.arguments import (
    Argument,
    ArgumentsAttr,
    FloatLiteral,
    Target,
)
from xtile.dialects.spirv.binary import Binary, Extended, Number, RawInstruction, RawOperand
from xtile.dialects.spirv.grammar import OPENCL_SET, Entry
from xtile.dialects.spirv.instruction import (
    DECORATIONS,
    Instruction,
)
from xtile.dialects.spirv.instruction_classes import EXTENDED_PREFIX, instruction_class
from xtile.dialects.spirv.type_reader import TypeReader
from xtile.dialects.spirv.types import IdType, VoidType
from xtile.dialects.spirv.words import ID_KINDS, enumerant_argument
from xtile.text.diagnostics import DiagnosticError
from xtile.text.value_names import give_name

Forward = Callable[[int], Sequence[SSAValue]]
"""The values that a branch to a label gives to the block's arguments."""

_VOID = VoidType()
_SET_AND_NUMBER = 2


@dataclass(slots=True)
class Annotations:
    """What a binary says about ids before it defines them."""

    names: dict[int, str] = field(default_factory=dict[int, str])
    decorations: dict[int, list[ArgumentsAttr]] = field(
        default_factory=dict[int, list[ArgumentsAttr]]
    )


class InstructionDecoder:
    """Builds operations, and knows what each id is.

    Args:
        binary: What messages are about.
        annotations: The names and decorations of ids.
        functions: The names of functions by id.
    """

    def __init__(self, binary: Binary, annotations: Annotations, functions: dict[int, str]) -> None:
        self.binary = binary
        self.annotations = annotations
        self.functions = functions
        self.constants: dict[int, int] = {}
        """The integer constants by id, which types refer to."""
        self.types = TypeReader(binary, self.constants)
        self.labels: dict[int, Block] = {}
        """The blocks of the function that is being read."""
        self.strings: dict[int, str] = {}
        self._values: dict[int, SSAValue] = {}
        self._defined: set[int] = set()
        self._location: LocationAttr = UnknownLoc()

    def error(self, raw: RawInstruction, message: str) -> DiagnosticError:
        """An error at an instruction."""
        return self.binary.error(raw.offset, f"Op{raw.name}: {message}")

    # --- ids ---

    def reserve(self, raw: RawInstruction) -> None:
        """Makes sure that an instruction's result is the only one with its id.

        Raises:
            DiagnosticError: It is not.
        """
        if raw.result is None:
            return
        if raw.result in self._defined:
            raise self.error(raw, f"%{raw.result} is defined twice")
        self._defined.add(raw.result)

    def define(self, number: int, value: SSAValue) -> None:
        """Records what an id stands for, and gives the value its name."""
        self._values[number] = value
        self.give_name(number, value)

    def give_name(self, number: int, item: SSAValue | Block) -> None:
        """Gives a value or a block the name of its id, if it can have it."""
        name = self.annotations.names.get(number)
        if name is not None and item.is_valid_name(name):
            give_name(item, name)

    def is_defined(self, number: int) -> bool:
        """Whether anything has an id."""
        return number in self._defined

    def value(self, raw: RawInstruction, number: int) -> SSAValue:
        """The value of an id.

        Raises:
            DiagnosticError: No value has it yet.
        """
        found = self._values.get(number)
        if found is None:
            raise self.error(raw, f"%{number} is no value that is defined before")
        return found

    def type(self, raw: RawInstruction, number: int | None) -> Attribute:
        """The type of an id.

        Raises:
            DiagnosticError: No type has it.
        """
        found = self.types.get(number or 0)
        if found is None:
            raise self.error(raw, f"%{number} is no type")
        return found

    @property
    def type_of_nothing(self) -> Attribute:
        """The void type."""
        return _VOID

    def parameter_decorations(self, number: int) -> ArrayAttr[ArgumentsAttr]:
        """The decorations of an id as an attribute."""
        return ArrayAttr(self.annotations.decorations.get(number, ()))

    # --- instructions ---

    def set_line(self, raw: RawInstruction) -> None:
        """Takes `OpLine` or `OpNoLine`: where the next instructions come from."""
        self._location = UnknownLoc()
        if raw.name == "Line":
            file = self.strings.get(raw.id_at(0))
            if file is None:
                raise self.error(raw, f"%{raw.id_at(0)} is no OpString")
            line, column = raw.number_at(1), raw.number_at(2)
            self._location = FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))

    def build(self, raw: RawInstruction, forward: Forward | None = None) -> Instruction:
        """Builds the operation of an instruction, and defines its result.

        Args:
            raw: The instruction.
            forward: What branches give to blocks; None if the instruction is no branch.

        Raises:
            DiagnosticError: It uses an id that is not defined, or not as what it is used for.
        """
        result_type = self._result_type(raw)
        operands: list[SSAValue] = []
        successors: list[Block] = []
        arguments: list[Argument] = []
        name, raw_operands = _name_and_operands(raw)
        for operand in raw_operands:
            if operand.kind not in ID_KINDS:
                arguments.append(self._literal(raw, operand, result_type))
                continue
            number = operand.value
            assert isinstance(number, int)
            value = self._values.get(number)
            if value is not None:
                arguments.append(None)
                operands.append(value)
            elif number in self.labels:
                forwarded = () if forward is None else forward(number)
                arguments.append(Target(len(forwarded)))
                operands += forwarded
                successors.append(self.labels[number])
            else:
                arguments.append(self._type_or_function(raw, number))
        has_values_only = all(argument is None for argument in arguments)
        attribute = None if has_values_only else ArgumentsAttr(tuple(arguments))
        made = instruction_class(name)(operands, result_type, attribute, successors)
        made.location = self._location
        self._finish(raw, made)
        return made

    def _finish(self, raw: RawInstruction, made: Instruction) -> None:
        """Defines the result of an operation, and decorates it."""
        if raw.result is None or not made.results:
            return
        self.define(raw.result, made.result)
        decorations = self.annotations.decorations.get(raw.result)
        if decorations:
            made.attributes[DECORATIONS] = ArrayAttr(decorations)

    def _result_type(self, raw: RawInstruction) -> Attribute | None:
        if raw.result is None:
            return None
        if raw.type is None:
            return IdType()
        type = self.type(raw, raw.type)
        return None if type == _VOID and not _has_void_result(raw) else type

    def _type_or_function(self, raw: RawInstruction, number: int) -> Attribute | str:
        type = self.types.get(number)
        if type is not None:
            return type
        name = self.functions.get(number)
        if name is None:
            raise self.error(raw, f"%{number} is not defined before")
        return name

    def _literal(
        self, raw: RawInstruction, operand: RawOperand, result_type: Attribute | None
    ) -> Argument:
        kind, value = operand
        if isinstance(value, str):
            return value
        if isinstance(value, Number):
            return literal_argument(value, result_type)
        if isinstance(value, Extended):
            return f"{value.set}:{value.entry.name}"
        if isinstance(value, Entry):
            return value.name
        return enumerant_argument(kind, value)


def literal_argument(number: Number, type: Attribute | None) -> Argument:
    """A literal number: an integer as a signed one, a float with its type."""
    width = number.type.width
    bits = number.bits & (1 << width) - 1
    if number.type.is_float:
        return FloatLiteral(bits, type) if isa(type, AnyFloat) else bits
    return bits - (1 << width) if bits >> (width - 1) else bits


def _name_and_operands(raw: RawInstruction) -> tuple[str, Sequence[RawOperand]]:
    """The name of an operation, and what of an instruction's operands are its arguments."""
    extended = raw.operands[1].value if raw.name == "ExtInst" else None
    if isinstance(extended, Extended) and extended.set == OPENCL_SET:
        return EXTENDED_PREFIX + extended.entry.name, raw.operands[_SET_AND_NUMBER:]
    return raw.name, raw.operands


def _has_void_result(raw: RawInstruction) -> bool:
    """Whether other instructions may refer to a result although its type is void.

    Those are inline assembly, and what sets that describe programs consist of.
    """
    name, _ = _name_and_operands(raw)
    return name in ("AsmINTEL", "ExtInst")
