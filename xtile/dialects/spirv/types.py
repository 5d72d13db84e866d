"""The dialect's types; the others are builtin's.

| SPIR-V | here |
|---|---|
| `OpTypeBool` | `i1` |
| `OpTypeInt 32 0`, `OpTypeInt 32 1` | `i32`, `si32` |
| `OpTypeFloat 32`, `OpTypeFloat 16 BFloat16KHR` | `f32`, `bf16` |
| `OpTypeVector` | `vector<4xf32>` |
| `OpTypeFunction` | `(f32) -> i32` |

Source: SPIR-V specification, section 3.49.6 (Type-Declaration Instructions). The text of pointers,
arrays, structures and cooperative matrices is that of MLIR's own dialect `spirv`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from typing_extensions import override
from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xtile.dialects.shared_attributes import string_attribute
from xtile.dialects.spirv.arguments import Argument, ArgumentsAttr, parse_argument, print_arguments


@irdl_attr_definition
class VoidType(ParametrizedAttribute, TypeAttribute):
    """What a function returns that returns nothing: `!spirv.void`."""

    name = "spirv.void"


@irdl_attr_definition
class IdType(ParametrizedAttribute, TypeAttribute):
    """The type of results that have none in SPIR-V, such as those of `OpString`: `!spirv.id`."""

    name = "spirv.id"


_POINTERS_KEPT = 1024
"""How many types of pointers are kept to be used again."""


@irdl_attr_definition
class PointerType(ParametrizedAttribute, TypeAttribute):
    """A pointer: `!spirv.ptr<f32, CrossWorkgroup>`.

    Pointers, arrays and structures that differ only in `identity` are different types, which may be
    decorated differently.
    """

    name = "spirv.ptr"

    pointee: Attribute
    storage_class: StringAttr
    identity: IntAttr

    def __init__(
        self,
        pointee: Attribute,
        storage_class: str | StringAttr,
        identity: int | IntAttr = 0,
    ) -> None:
        super().__init__(pointee, _text(storage_class), _integer(identity))

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            pointee = parser.parse_type()
            parser.parse_punctuation(",")
            storage_class = StringAttr(parser.parse_identifier())
            return pointee, storage_class, _parse_identity(parser)

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.pointee)
            printer.print_string(f", {self.storage_class.data}")
            _print_identity(printer, self.identity)


@lru_cache(_POINTERS_KEPT)
def pointer_type(pointee: Attribute, storage_class: str) -> PointerType:
    """`!spirv.ptr<f32, CrossWorkgroup>`, made once: kernels point to few types."""
    return PointerType(pointee, storage_class)


@irdl_attr_definition
class ArrayType(ParametrizedAttribute, TypeAttribute):
    """An array: `!spirv.array<4 x f32>`."""

    name = "spirv.array"

    element_type: Attribute
    count: IntAttr
    identity: IntAttr

    def __init__(
        self, element_type: Attribute, count: int | IntAttr, identity: int | IntAttr = 0
    ) -> None:
        super().__init__(element_type, _integer(count), _integer(identity))

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            count = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_characters("x")
            element = parser.parse_type()
            return element, IntAttr(count), _parse_identity(parser)

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.count.data} x ")
            printer.print_attribute(self.element_type)
            _print_identity(printer, self.identity)


@irdl_attr_definition
class StructType(ParametrizedAttribute, TypeAttribute):
    """A structure: `!spirv.struct<(f32, i32)>`."""

    name = "spirv.struct"

    elements: ArrayAttr[Attribute]
    identity: IntAttr

    def __init__(self, elements: Iterable[Attribute], identity: int | IntAttr = 0) -> None:
        super().__init__(ArrayAttr(elements), _integer(identity))

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            delimiter = parser.Delimiter.PAREN
            elements = parser.parse_comma_separated_list(delimiter, parser.parse_type)
            return ArrayAttr[Attribute](elements), _parse_identity(parser)

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            with printer.in_parens():
                printer.print_list(self.elements.data, printer.print_attribute)
            _print_identity(printer, self.identity)


@irdl_attr_definition
class CooperativeMatrixType(ParametrizedAttribute, TypeAttribute):
    """A matrix that a scope's invocations hold: `!spirv.coopmatrix<8x16xf32, Subgroup, MatrixA>`.

    Source: SPV_KHR_cooperative_matrix.
    """

    name = "spirv.coopmatrix"

    component_type: Attribute
    scope: StringAttr
    rows: IntAttr
    columns: IntAttr
    use: StringAttr

    def __init__(
        self,
        component_type: Attribute,
        scope: str | StringAttr,
        rows: int | IntAttr,
        columns: int | IntAttr,
        use: str | StringAttr,
    ) -> None:
        super().__init__(
            component_type, _text(scope), _integer(rows), _integer(columns), _text(use)
        )

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            rows = parser.parse_shape_dimension()
            parser.parse_shape_delimiter()
            columns = parser.parse_shape_dimension()
            parser.parse_shape_delimiter()
            component = parser.parse_type()
            parser.parse_punctuation(",")
            scope = parser.parse_identifier()
            parser.parse_punctuation(",")
            use = parser.parse_identifier()
        return (
            component,
            StringAttr(scope),
            IntAttr(rows),
            IntAttr(columns),
            StringAttr(f"{use}KHR"),
        )

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.rows.data}x{self.columns.data}x")
            printer.print_attribute(self.component_type)
            printer.print_string(f", {self.scope.data}, {self.use.data.removesuffix('KHR')}")


@irdl_attr_definition
class OtherType(ParametrizedAttribute, TypeAttribute):
    """Any other type, by its instruction: `!spirv.type<TypeOpaque, "name">`."""

    name = "spirv.type"

    instruction: StringAttr
    arguments: ArgumentsAttr

    def __init__(
        self, instruction: str | StringAttr, arguments: Iterable[Argument] | ArgumentsAttr
    ) -> None:
        if not isinstance(arguments, ArgumentsAttr):
            arguments = ArgumentsAttr(tuple(arguments))
        super().__init__(_text(instruction), arguments)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            instruction = StringAttr(parser.parse_identifier())
            arguments: list[Argument] = []
            while parser.parse_optional_punctuation(",") is not None:
                arguments.append(parse_argument(parser))
            return instruction, ArgumentsAttr(tuple(arguments))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.instruction.data)
            if self.arguments.data:
                printer.print_string(", ")
                print_arguments(printer, self.arguments.data)


TYPES: list[type[TypeAttribute]] = [
    VoidType,
    IdType,
    PointerType,
    ArrayType,
    StructType,
    CooperativeMatrixType,
    OtherType,
]
"""Every type of the dialect."""


_SAME = IntAttr(0)
"""The identity of types of which there are no two that differ in it only."""


def _integer(value: int | IntAttr) -> IntAttr:
    if value == 0:
        return _SAME
    return IntAttr(value) if isinstance(value, int) else value


def _text(value: str | StringAttr) -> StringAttr:
    return string_attribute(value) if isinstance(value, str) else value


def _parse_identity(parser: AttrParser) -> IntAttr:
    if parser.parse_optional_punctuation(",") is None:
        return _SAME
    parser.parse_keyword("identity")
    parser.parse_punctuation("=")
    return IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))


def _print_identity(printer: Printer, identity: IntAttr) -> None:
    if identity.data:
        printer.print_string(f", identity = {identity.data}")
