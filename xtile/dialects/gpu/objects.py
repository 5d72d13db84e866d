"""The attributes that describe compiled device code.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/CompilationAttrs.td`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    NoneAttr,
    StringAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.gpu.enumerations import CompilationTarget


@irdl_attr_definition
class SelectObjectAttr(ParametrizedAttribute):
    """Picks one object of a `gpu.binary`: `#gpu.select_object<1 : i64>`, or the first one."""

    name = "gpu.select_object"

    target: Attribute

    @staticmethod
    def first() -> SelectObjectAttr:
        """Picks the first object."""
        return SelectObjectAttr(NoneAttr())

    @override
    def print_parameters(self, printer: Printer) -> None:
        if not isinstance(self.target, NoneAttr):
            with printer.in_angle_brackets():
                printer.print_attribute(self.target)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return (NoneAttr(),)
        target = parser.parse_attribute()
        parser.parse_punctuation(">")
        return (target,)

    @override
    def verify(self) -> None:
        if isa(self.target, IntegerAttr) and self.target.value.data < 0:
            raise VerifyException("the object index must not be negative")


@irdl_attr_definition
class KernelMetadataAttr(ParametrizedAttribute):
    """What is known of a compiled kernel.

    `#gpu.kernel_metadata<"name", (i32) -> (), metadata = {registers = 10 : i32}>`
    """

    name = "gpu.kernel_metadata"

    kernel_name: StringAttr
    function_type: FunctionType
    arg_attrs: ArrayAttr[DictionaryAttr] | NoneAttr
    metadata: DictionaryAttr | NoneAttr

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.kernel_name)
            printer.print_string(", ")
            printer.print_attribute(self.function_type)
            for name in ("arg_attrs", "metadata"):
                value: Attribute = getattr(self, name)
                if not isinstance(value, NoneAttr):
                    printer.print_string(f", {name} = ")
                    printer.print_attribute(value)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kernel_name = parser.parse_attribute()
            parser.parse_punctuation(",")
            function_type = parser.parse_type()
            optional: dict[str, Attribute] = {"arg_attrs": NoneAttr(), "metadata": NoneAttr()}
            while parser.parse_optional_punctuation(",") is not None:
                name = parser.parse_identifier()
                if name not in optional:
                    parser.raise_error(f"expected 'arg_attrs' or 'metadata', got '{name}'")
                parser.parse_punctuation("=")
                optional[name] = parser.parse_attribute()
        return (kernel_name, function_type, *optional.values())

    @override
    def verify(self) -> None:
        if not self.kernel_name.data:
            raise VerifyException("the kernel name must not be empty")


@irdl_attr_definition
class KernelTableAttr(ParametrizedAttribute):
    """The kernels of an object: `#gpu.kernel_table<[#gpu.kernel_metadata<...>]>`."""

    name = "gpu.kernel_table"

    kernels: ArrayAttr[KernelMetadataAttr]

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            if self.kernels.data:
                printer.print_attribute(self.kernels)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kernels = parser.parse_optional_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_attribute
            )
        return (ArrayAttr(kernels or ()),)

    @override
    def verify(self) -> None:
        names = [kernel.kernel_name.data for kernel in self.kernels]
        if len(set(names)) != len(names):
            raise VerifyException("all kernels of a table must have different names")


@irdl_attr_definition
class CompilationTargetAttr(EnumAttribute[CompilationTarget]):
    """The format of an object, as a parameter of `#gpu.object`."""

    name = "gpu.compilation_target"


@irdl_attr_definition
class ObjectAttr(ParametrizedAttribute):
    """A compiled object: `#gpu.object<#nvvm.target, bin = "...">`.

    The format `fatbin` is not written.
    """

    name = "gpu.object"

    target: Attribute
    format: CompilationTargetAttr
    object: StringAttr | BytesAttr
    properties: DictionaryAttr | NoneAttr
    kernels: KernelTableAttr | NoneAttr

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.target)
            printer.print_string(", ")
            if isinstance(self.properties, DictionaryAttr):
                printer.print_string("properties = ")
                printer.print_attribute(self.properties)
                printer.print_string(", ")
            if isinstance(self.kernels, KernelTableAttr):
                printer.print_string("kernels = ")
                self.kernels.print_parameters(printer)
                printer.print_string(", ")
            if self.format.data is not CompilationTarget.FATBIN:
                printer.print_string(f"{self.format.data.value} = ")
            printer.print_attribute(self.object)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        properties: Attribute = NoneAttr()
        kernels: Attribute = NoneAttr()
        format = CompilationTarget.FATBIN
        with parser.in_angle_brackets():
            target = parser.parse_attribute()
            parser.parse_punctuation(",")
            if parser.parse_optional_keyword("properties") is not None:
                parser.parse_punctuation("=")
                properties = parser.parse_attribute()
                parser.parse_punctuation(",")
            if parser.parse_optional_keyword("kernels") is not None:
                parser.parse_punctuation("=")
                kernels = KernelTableAttr.new(KernelTableAttr.parse_parameters(parser))
                parser.parse_punctuation(",")
            for candidate in CompilationTarget:
                if parser.parse_optional_keyword(str(candidate)) is not None:
                    parser.parse_punctuation("=")
                    format = candidate
            object = parser.parse_attribute()
        return (target, CompilationTargetAttr(format), object, properties, kernels)


ATTRIBUTES: list[type[Attribute]] = [
    KernelMetadataAttr,
    KernelTableAttr,
    ObjectAttr,
    SelectObjectAttr,
]
"""The attributes of this module."""
