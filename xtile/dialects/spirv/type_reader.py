"""Types of a binary as attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IntAttr,
    IntegerType,
    Signedness,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.spirv.arguments import Argument, ConstantId
from xtile.dialects.spirv.binary import Binary, RawInstruction
from xtile.dialects.spirv.types import (
    ArrayType,
    CooperativeMatrixType,
    OtherType,
    PointerType,
    StructType,
    VoidType,
)
from xtile.dialects.spirv.words import ID_KINDS, WORD_BITS, enumerant_argument

MAXIMUM_SIZE = 4096
"""How many types one type may consist of: attributes have no references, so each counts again."""

MAXIMUM_DEPTH = 64
"""How deep types may nest: Python's stack is finite."""

_BFLOAT16 = 0
_FLOATS: dict[int, type[Attribute]] = {16: Float16Type, 32: Float32Type, 64: Float64Type}


class TypeReader:
    """Turns the instructions that declare types into attributes.

    Args:
        binary: What messages are about.
        constants: The integer constants so far, which sizes refer to.
    """

    def __init__(self, binary: Binary, constants: Mapping[int, int]) -> None:
        self._binary = binary
        self._constants = constants
        self._types: dict[int, Attribute] = {}
        self._sizes: dict[int, tuple[int, int]] = {}
        self._identities: dict[Attribute, int] = {}
        self.referenced: set[int] = set()
        """The constants that types refer to."""

    def get(self, number: int) -> Attribute | None:
        """The type with an id, or None."""
        return self._types.get(number)

    def read(self, instruction: RawInstruction) -> None:
        """Reads an instruction that declares a type.

        Raises:
            DiagnosticError: It declares a type that is not allowed or that is not supported.
        """
        if instruction.result is None:
            raise self._error(instruction, "types that contain themselves are not supported")
        self._check_size(instruction)
        try:
            type = self._type(instruction)
        except VerifyException as error:
            raise self._error(instruction, str(error)) from None
        self._types[instruction.result] = type

    def _check_size(self, instruction: RawInstruction) -> None:
        """Refuses types that are too large as attributes."""
        size, depth = 1, 1
        for kind, value in instruction.operands:
            if kind in ID_KINDS and isinstance(value, int):
                of_part, depth_of_part = self._sizes.get(value, (0, 0))
                size += of_part
                depth = max(depth, depth_of_part + 1)
        if size > MAXIMUM_SIZE:
            message = f"declares a type that consists of more than {MAXIMUM_SIZE} types"
            raise self._error(instruction, message)
        if depth > MAXIMUM_DEPTH:
            raise self._error(instruction, f"types nest deeper than {MAXIMUM_DEPTH} levels")
        assert instruction.result is not None
        self._sizes[instruction.result] = (size, depth)

    def _type(self, instruction: RawInstruction) -> Attribute:
        match instruction.name:
            case "TypeVoid":
                return VoidType()
            case "TypeBool":
                return IntegerType(1)
            case "TypeInt":
                return self._integer(instruction)
            case "TypeFloat":
                return self._float(instruction)
            case "TypeVector":
                return self._vector(instruction)
            case "TypePointer":
                return self._pointer(instruction)
            case _:
                return self._aggregate(instruction)

    def _aggregate(self, instruction: RawInstruction) -> Attribute:
        match instruction.name:
            case "TypeFunction":
                return self._function(instruction)
            case "TypeArray":
                return self._array(instruction)
            case "TypeStruct":
                elements = [self._part(instruction, i) for i in range(len(instruction.operands))]
                return self._distinct(StructType(elements))
            case "TypeCooperativeMatrixKHR":
                return self._matrix(instruction)
            case _:
                return OtherType(instruction.name, self._arguments(instruction))

    def _integer(self, instruction: RawInstruction) -> Attribute:
        width, signedness = instruction.number_at(0), instruction.number_at(1)
        # `i1` is OpTypeBool.
        if not 2 <= width <= 64:
            raise self._error(instruction, f"integers have 2 to 64 bits here, got {width}")
        return IntegerType(width, Signedness.SIGNED if signedness else Signedness.SIGNLESS)

    def _float(self, instruction: RawInstruction) -> Attribute:
        width = instruction.number_at(0)
        if len(instruction.operands) == 1 and width in _FLOATS:
            return _FLOATS[width]()
        if len(instruction.operands) == 2 and (width, instruction.number_at(1)) == (16, _BFLOAT16):
            return BFloat16Type()
        return OtherType("TypeFloat", self._arguments(instruction))

    def _vector(self, instruction: RawInstruction) -> Attribute:
        size = instruction.number_at(1)
        if size < 2:
            raise self._error(instruction, f"a vector has at least 2 components, got {size}")
        return VectorType(self._part(instruction, 0), (size,))

    def _pointer(self, instruction: RawInstruction) -> Attribute:
        storage_class = enumerant_argument("StorageClass", instruction.number_at(0))
        if not isinstance(storage_class, str):
            raise self._error(instruction, f"there is no storage class {storage_class}")
        return self._distinct(PointerType(self._part(instruction, 1), storage_class))

    def _function(self, instruction: RawInstruction) -> Attribute:
        result, *inputs = (self._part(instruction, i) for i in range(len(instruction.operands)))
        return FunctionType.from_lists(inputs, [] if result == VoidType() else [result])

    def _array(self, instruction: RawInstruction) -> Attribute:
        count = self._constant(instruction, 1)
        return self._distinct(ArrayType(self._part(instruction, 0), count))

    def _matrix(self, instruction: RawInstruction) -> Attribute:
        scope = enumerant_argument("Scope", self._constant(instruction, 1))
        use = enumerant_argument("CooperativeMatrixUse", self._constant(instruction, 4))
        if not (isinstance(scope, str) and isinstance(use, str)):
            raise self._error(instruction, f"there is no scope {scope} or no use {use} of matrices")
        rows, columns = self._constant(instruction, 2), self._constant(instruction, 3)
        return CooperativeMatrixType(self._part(instruction, 0), scope, rows, columns, use)

    def _distinct(self, type: PointerType | ArrayType | StructType) -> Attribute:
        """The type, or one that differs from it if the binary declared it before."""
        count = self._identities.get(type, 0)
        self._identities[type] = count + 1
        *parameters, _ = type.parameters
        return type if count == 0 else type.new((*parameters, IntAttr(count)))

    def _arguments(self, instruction: RawInstruction) -> Sequence[Argument]:
        return [
            self._argument(instruction, index, kind)
            for index, (kind, _) in enumerate(instruction.operands)
        ]

    def _argument(self, instruction: RawInstruction, index: int, kind: str) -> Argument:
        value = instruction.operands[index].value
        if kind not in ID_KINDS:
            assert isinstance(value, int | str)
            return enumerant_argument(kind, value) if isinstance(value, int) else value
        if value in self._types:
            return self._part(instruction, index)
        return ConstantId(self._constant(instruction, index))

    def _part(self, instruction: RawInstruction, index: int) -> Attribute:
        number = instruction.id_at(index)
        type = self._types.get(number)
        if type is None:
            raise self._error(instruction, f"%{number} is no type that is declared before")
        return type

    def _constant(self, instruction: RawInstruction, index: int) -> int:
        number = instruction.id_at(index)
        value = self._constants.get(number)
        if value is None or value >> WORD_BITS:
            message = f"%{number} is no 32-bit integer constant that is defined before"
            raise self._error(instruction, message)
        self.referenced.add(number)
        return value

    def _error(self, instruction: RawInstruction, message: str) -> Exception:
        return self._binary.error(instruction.offset, f"Op{instruction.name}: {message}")
