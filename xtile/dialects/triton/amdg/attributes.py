"""The attributes of `amdg`: hints that releases from 3.8 on do not know.

Source: Triton 3.4 to 3.7, `third_party/amd`, `TritonAMDGPUAttrDefs.td`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


@irdl_attr_definition
class OpIdxAttr(ParametrizedAttribute):
    """Which operand of a product a value becomes.

    ```
    #amdg.OpIdx<0>
    ```
    """

    name = "amdg.OpIdx"

    value: IntAttr

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (IntAttr(parser.parse_integer(allow_boolean=False)),)

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_int(self.value.data)


@irdl_attr_definition
class InstCounterAttr(ParametrizedAttribute):
    """How many instructions of a kind there are, and for which type.

    ```
    #amdg.InstCounter<4, f16>
    ```
    """

    name = "amdg.InstCounter"

    value: IntAttr
    type: Attribute

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            value = IntAttr(parser.parse_integer(allow_boolean=False))
            parser.parse_punctuation(",")
            return value, parser.parse_type()

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.value.data}, ")
            printer.print_attribute(self.type)


@irdl_attr_definition
class SchedHintVariantAttr(ParametrizedAttribute):
    """How instructions are to be interleaved.

    ```
    #amdg.SchedHintVariant<local_prefetch>
    ```
    """

    name = "amdg.SchedHintVariant"

    variant: StringAttr

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (StringAttr(parser.parse_identifier()),)

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.variant.data)


ATTRIBUTES: list[type[Attribute]] = [OpIdxAttr, InstCounterAttr, SchedHintVariantAttr]
"""Every attribute of the dialect."""
