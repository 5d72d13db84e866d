"""Modules and the kernels in them.

Source: CUDA Tile IR specification, "Operations", "Core"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.attributes import OptimizationHintsAttr
from xtile.dialects.cuda_tile.debug_info import verify_function, verify_variable
from xtile.dialects.cuda_tile.operation import CudaTileOperation
from xtile.dialects.cuda_tile.ops.control_flow import ReturnOp
from xtile.dialects.cuda_tile.ops.control_flow_rules import verify_end, verify_types
from xtile.dialects.cuda_tile.region_text import (
    parse_arguments,
    parse_optional_results,
    print_arguments,
    print_optional_results,
)
from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.cuda_tile.versions import V13_3, Version
from xtile.dialects.definitions import op_definition
from xtile.dialects.scf.assembly import ensure_terminator


@op_definition
class ModuleOp(CudaTileOperation):
    """Kernels and global variables.

    ```
    cuda_tile.module @kernels {
      entry @nothing() {
        return
      }
    }
    ```
    """

    name = "cuda_tile.module"
    OPCODE: ClassVar[int] = 0x4B
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType({"producer": V13_3})

    sym_name = prop_def(SymbolNameConstraint())
    producer = opt_prop_def(StringAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolTable())

    def __init__(
        self,
        name: str,
        body: Region | Sequence[Operation] = (),
        *,
        producer: str | None = None,
    ) -> None:
        region = body if isinstance(body, Region) else Region(Block(body))
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "producer": None if producer is None else StringAttr(producer),
            },
            regions=(region,),
        )

    @override
    def verify_(self) -> None:
        for operation in self.body.block.ops:
            if not isinstance(operation, EntryOp):
                verify_variable(operation)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ModuleOp:
        name = parser.parse_symbol_name()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        known = {} if attributes is None else dict(attributes.data)
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        return cls.build(
            properties={"sym_name": name, "producer": known.pop("producer", None)},
            attributes=known,
            regions=(body,),
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        attributes = dict(self.attributes)
        if self.producer is not None:
            attributes["producer"] = self.producer
        printer.print_op_attributes(dict(sorted(attributes.items())), print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@op_definition
class EntryOp(CudaTileOperation):
    """A kernel, which every tile block of a grid runs with the same scalar arguments.

    ```
    entry @kernel(%p: tile<ptr<f32>>, %n: tile<i32>)
        optimization_hints=<sm_90 = {num_worker_warps_per_cta = 8}> {
      return
    }
    ```
    """

    name = "cuda_tile.entry"
    OPCODE: ClassVar[int] = 0x16

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        argument_types: Sequence[Attribute],
        body: Region | None = None,
        *,
        optimization_hints: OptimizationHintsAttr | None = None,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(argument_types, ()),
                "optimization_hints": optimization_hints,
            },
            regions=(Region(Block(arg_types=argument_types)) if body is None else body,),
        )

    @override
    def verify_(self) -> None:
        type = self.function_type
        if type.outputs.data:
            raise VerifyException("a kernel must return nothing")
        for argument in type.inputs:
            if not isinstance(argument, TileType) or argument.rank:
                raise VerifyException(
                    f"the arguments of a kernel must be scalar tiles, not {argument}"
                )
        attributes = self.arg_attrs
        if attributes is not None and len(attributes) != len(type.inputs):
            raise VerifyException(
                f"expected a dictionary in arg_attrs for each of the {len(type.inputs)} arguments, "
                f"got {len(attributes)}"
            )
        arguments = self.body.blocks[0].arg_types
        verify_types("the arguments of the region", arguments, type.inputs.data)
        verify_end(self.body, (ReturnOp.name,))
        verify_function(self, self.sym_name.data)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> EntryOp:
        name = parser.parse_symbol_name()
        arguments, argument_attributes = parse_arguments(parser)
        results = parse_optional_results(parser)
        hints: OptimizationHintsAttr | None = None
        if parser.parse_optional_keyword("optimization_hints") is not None:
            parser.parse_punctuation("=")
            hints = OptimizationHintsAttr.new(OptimizationHintsAttr.parse_parameters(parser))
        body = parser.parse_region(arguments)
        ensure_terminator(body, ReturnOp)
        attributes = parser.parse_optional_attr_dict()
        types = [argument.type for argument in arguments]
        return cls.build(
            properties={
                "sym_name": name,
                "function_type": FunctionType.from_lists(types, results),
                "arg_attrs": argument_attributes,
                "optimization_hints": hints,
            },
            attributes=attributes,
            regions=(body,),
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        print_arguments(printer, self.body.blocks[0].args, self.arg_attrs)
        print_optional_results(printer, self.function_type.outputs.data)
        hints = self.optimization_hints
        if hints is not None and hints.value.data:
            printer.print_string(" optimization_hints=")
            hints.print_parameters(printer)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        printer.print_op_attributes(self.attributes)


OPERATIONS: list[type[Operation]] = [EntryOp, ModuleOp]
"""Every operation of this module."""
