"""Units of device code, as operations or compiled.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td` and `GPUDialect.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    StringAttr,
    SymbolNameConstraint,
)
from xdsl.ir import Attribute, Block, BuiltinAttribute, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    NoTerminator,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.gpu.objects import ObjectAttr, SelectObjectAttr
from xtile.text.extensions import generic_elsewhere


@generic_elsewhere
@op_definition
class ModuleOp(IRDLOperation):
    """A unit of device code.

    ```
    gpu.module @kernels [#xevm.target<chip = "pvc">] {
    }
    ```
    """

    name = "gpu.module"

    sym_name = prop_def(SymbolNameConstraint())
    targets = opt_prop_def(ArrayAttr[Attribute])
    offloadingHandler = opt_prop_def(Attribute)  # noqa: N815
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface(), SymbolTable())

    def __init__(self, name: str, body: Region, targets: Sequence[Attribute] = ()) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "targets": ArrayAttr(targets) if targets else None,
            },
            regions=[body],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ModuleOp:
        name = parser.parse_symbol_name().data
        handler = None
        if parser.parse_optional_punctuation("<") is not None:
            handler = parser.parse_attribute()
            parser.parse_punctuation(">")
        targets = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_attribute
        )
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        module = ModuleOp(name, body, targets or ())
        module.offloadingHandler = handler
        if attributes is not None:
            module.attributes |= attributes.data
        return module

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.offloadingHandler is not None:
            printer.print_string("<")
            printer.print_attribute(self.offloadingHandler)
            printer.print_string(">")
        if self.targets is not None:
            printer.print_string(" ")
            printer.print_attribute(self.targets)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

    @override
    def verify_(self) -> None:
        if self.targets is not None:
            self._verify_targets(self.targets)
        if self.body.block.args:
            raise VerifyException("a gpu.module has no arguments")

    @staticmethod
    def _verify_targets(targets: ArrayAttr[Attribute]) -> None:
        if not targets.data:
            raise VerifyException("the list of targets must not be empty")
        for target in targets:
            if isinstance(target, BuiltinAttribute):
                raise VerifyException(f"expected targets such as #xevm.target, got {target}")


@op_definition
class BinaryOp(IRDLOperation):
    """Compiled device code.

    ```
    gpu.binary @kernels [#gpu.object<#xevm.target, bin = "...">]
    ```
    """

    name = "gpu.binary"

    sym_name = prop_def(SymbolNameConstraint())
    offloadingHandler = opt_prop_def(Attribute)  # noqa: N815
    objects = prop_def(ArrayAttr[ObjectAttr])

    traits = traits_def(SymbolOpInterface())

    @classmethod
    @override
    def parse(cls, parser: Parser) -> BinaryOp:
        name = parser.parse_symbol_name()
        handler: Attribute = SelectObjectAttr.first()
        if parser.parse_optional_punctuation("<") is not None:
            handler = parser.parse_attribute()
            parser.parse_punctuation(">")
        attributes = parser.parse_optional_attr_dict()
        objects = parser.parse_attribute()
        return BinaryOp.create(
            properties={"sym_name": name, "offloadingHandler": handler, "objects": objects},
            attributes=attributes,
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        # Upstream prints this space even where nothing follows.
        printer.print_string(" ")
        handler = self.offloadingHandler
        if handler is not None and handler != SelectObjectAttr.first():
            printer.print_string("<")
            printer.print_attribute(handler)
            printer.print_string(">")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.objects)

    @override
    def verify_(self) -> None:
        if not self.objects.data:
            raise VerifyException("a gpu.binary holds at least one object")


OPERATIONS: list[type[Operation]] = [
    BinaryOp,
    ModuleOp,
]
"""The operations of this module."""
