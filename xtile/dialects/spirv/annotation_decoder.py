"""Names and decorations of a binary, which it gives before what they belong to.

Source: SPIR-V specification, sections 3.49.2 (Debug Instructions), 3.49.3 (Annotation
Instructions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import f32

from xtile.dialects.spirv.arguments import Argument, ArgumentsAttr, FloatLiteral
from xtile.dialects.spirv.binary import Binary, Number, RawInstruction, RawOperand
from xtile.dialects.spirv.builder import operation
from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.instruction_decoder import (
    Annotations,
    InstructionDecoder,
    literal_argument,
)
from xtile.dialects.spirv.words import ID_KINDS, enumerant_argument
from xtile.text.mlir_numbers import float_from_bits

MAXIMUM_GROUPED = 100_000
"""How many decorations groups may stand for, which a small binary could make any number of."""


class _Annotation(NamedTuple):
    """A name or a decoration of an id, in the order of the binary."""

    raw: RawInstruction
    number: int
    instruction: str
    arguments: tuple[Argument, ...]


_Take = Callable[["AnnotationDecoder", RawInstruction], None]


class AnnotationDecoder:
    """Collects names and decorations by id; groups of decorations are taken apart."""

    def __init__(self, binary: Binary) -> None:
        self.found = Annotations()
        self._binary = binary
        self._groups: set[int] = set()
        self._of_ids: list[_Annotation] = []
        self._with_ids: list[RawInstruction] = []
        self._firsts: dict[int, RawInstruction] = {}
        self._grouped = 0

    def take(self, raw: RawInstruction) -> bool:
        """Takes an instruction if it names or decorates."""
        take = _TAKES.get(raw.name)
        if take is not None:
            take(self, raw)
        return take is not None

    # --- what becomes operations, because types have no attributes ---

    def operations(self, decoder: InstructionDecoder) -> list[Instruction]:
        """The names and decorations of types and of their members.

        Raises:
            DiagnosticError: Something is named or decorated that the binary does not define.
        """
        found: list[Instruction] = []
        for annotation in self._of_ids:
            raw, number, name, arguments = annotation
            type = decoder.types.get(number)
            if type is None and name.startswith("Member"):
                raise decoder.error(raw, f"%{number} is no type")
            if type is not None:
                found.append(operation(name, None, type, *_pieces(arguments)))
        self._check_targets(decoder)
        return found

    def operations_with_ids(self, decoder: InstructionDecoder) -> list[Instruction]:
        """The decorations whose parameters are ids."""
        return [decoder.build(raw) for raw in self._with_ids]

    def _check_targets(self, decoder: InstructionDecoder) -> None:
        for number, raw in self._firsts.items():
            is_known = decoder.is_defined(number) or decoder.types.get(number) is not None
            if not is_known and number not in self._groups:
                raise decoder.error(raw, f"%{number} is not defined anywhere")

    # --- taking ---

    def take_name(self, raw: RawInstruction) -> None:
        """Takes `OpName`."""
        self._firsts.setdefault(raw.id_at(0), raw)
        self.found.names[raw.id_at(0)] = raw.text_at(1)
        self._of_ids.append(_Annotation(raw, raw.id_at(0), "Name", (raw.text_at(1),)))

    def take_decoration(self, raw: RawInstruction) -> None:
        """Takes `OpDecorate` and `OpDecorateString`."""
        number = raw.id_at(0)
        self._firsts.setdefault(number, raw)
        if any(operand.kind in ID_KINDS for operand in raw.operands[1:]):
            self._with_ids.append(raw)
        else:
            self._decorate(raw, number, _decoration(raw.operands[1:]))

    def take_member(self, raw: RawInstruction) -> None:
        """Takes what names or decorates a member of a structure."""
        arguments = _decoration(raw.operands[1:]).data
        self._of_ids.append(_Annotation(raw, raw.id_at(0), raw.name, arguments))

    def take_with_ids(self, raw: RawInstruction) -> None:
        """Takes `OpDecorateId`."""
        self._with_ids.append(raw)

    def take_group(self, raw: RawInstruction) -> None:
        """Takes `OpDecorationGroup`, whose decorations stand before it."""
        assert raw.result is not None
        self._groups.add(raw.result)

    def take_group_targets(self, raw: RawInstruction) -> None:
        """Takes `OpGroupDecorate`."""
        decorations = self._of_group(raw, len(raw.operands) - 1)
        for index in range(1, len(raw.operands)):
            number = raw.id_at(index)
            self._firsts.setdefault(number, raw)
            for decoration in decorations:
                self._decorate(raw, number, decoration)

    def take_group_members(self, raw: RawInstruction) -> None:
        """Takes `OpGroupMemberDecorate`."""
        decorations = self._of_group(raw, len(raw.operands) // 2)
        for index in range(1, len(raw.operands) - 1, 2):
            for decoration in decorations:
                arguments = (raw.number_at(index + 1), *decoration.data)
                member = _Annotation(raw, raw.id_at(index), "MemberDecorate", arguments)
                self._of_ids.append(member)

    def _decorate(self, raw: RawInstruction, number: int, decoration: ArgumentsAttr) -> None:
        self.found.decorations.setdefault(number, []).append(decoration)
        self._of_ids.append(_Annotation(raw, number, "Decorate", decoration.data))

    def _of_group(self, raw: RawInstruction, targets: int) -> Sequence[ArgumentsAttr]:
        number = raw.id_at(0)
        if number not in self._groups:
            message = f"Op{raw.name}: %{number} is no OpDecorationGroup that stands before"
            raise self._binary.error(raw.offset, message)
        decorations = tuple(self.found.decorations.get(number, ()))
        self._grouped += targets * len(decorations)
        if self._grouped > MAXIMUM_GROUPED:
            message = f"Op{raw.name}: groups stand for more than {MAXIMUM_GROUPED} decorations"
            raise self._binary.error(raw.offset, message)
        return decorations


_TAKES: dict[str, _Take] = {
    "Name": AnnotationDecoder.take_name,
    "MemberName": AnnotationDecoder.take_member,
    "Decorate": AnnotationDecoder.take_decoration,
    "DecorateString": AnnotationDecoder.take_decoration,
    "DecorateId": AnnotationDecoder.take_with_ids,
    "MemberDecorate": AnnotationDecoder.take_member,
    "MemberDecorateString": AnnotationDecoder.take_member,
    "DecorationGroup": AnnotationDecoder.take_group,
    "GroupDecorate": AnnotationDecoder.take_group_targets,
    "GroupMemberDecorate": AnnotationDecoder.take_group_members,
}
"""What takes each instruction."""


def _decoration(operands: Sequence[RawOperand]) -> ArgumentsAttr:
    """The attribute of a decoration and its parameters."""
    arguments: list[Argument] = []
    for kind, value in operands:
        if isinstance(value, Number):
            arguments.append(literal_argument(value, f32))
        elif isinstance(value, int):
            arguments.append(enumerant_argument(kind, value))
        else:
            assert isinstance(value, str)
            arguments.append(value)
    return ArgumentsAttr(tuple(arguments))


def _pieces(arguments: Sequence[Argument]) -> list[int | str | float]:
    """Literals and enumerants as `operation` takes them."""
    return [
        float_from_bits(argument.bits, argument.type)
        if isinstance(argument, FloatLiteral)
        else argument
        for argument in arguments
        if isinstance(argument, int | str | FloatLiteral)
    ]
