"""Reductions and scans with any combination of two elements.

Source: CUDA Tile IR specification, "Operations", "Core"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, IntegerAttr, i32
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.hints import isa

from xtile.dialects.cuda_tile.constraints import TILE
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.aggregate_rules import (
    verify_combination,
    verify_identities,
    verify_operands,
    verify_results,
)
from xtile.dialects.cuda_tile.ops.control_flow import YieldOp
from xtile.dialects.cuda_tile.region_text import (
    parse_arguments,
    parse_types,
    print_arguments,
    print_new_line,
    print_types,
)
from xtile.dialects.cuda_tile.types import TileType, tile_type
from xtile.dialects.definitions import op_definition
from xtile.dialects.scf.assembly import ensure_terminator


class _AggregateOperation(CudaTileOperation, ABC):
    """Combines the elements of tiles along a dimension.

    The region has two arguments for each tile, in which order is not said: an element or what was
    combined before. It yields a value for each tile.
    """

    sources = var_operand_def(TILE)
    result_values = var_result_def(TILE)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    @property
    def dimension(self) -> int:
        """Along which dimension."""
        dimension = self.properties["dim"]
        assert isinstance(dimension, IntegerAttr)
        return dimension.value.data

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        properties = cls._parse_properties(parser)
        parser.parse_punctuation(":")
        start = parser.pos
        types = parse_types(parser)
        sources = parser.resolve_operands(operands, types, start)
        parser.parse_punctuation("->")
        results = parse_types(parser)
        arguments, _ = parse_arguments(parser)
        body = parser.parse_region(arguments)
        ensure_terminator(body, YieldOp)
        return cls.build(
            operands=(sources,),
            properties=properties,
            attributes=attributes,
            result_types=(results,),
            regions=(body,),
        )

    @classmethod
    def _parse_properties(cls, parser: Parser) -> dict[str, Attribute]:
        """Reads `dim=0 identities=[0.000000e+00 : f32]`."""
        parser.parse_keyword("dim")
        parser.parse_punctuation("=")
        dimension = parser.parse_integer(allow_boolean=False)
        properties: dict[str, Attribute] = {"dim": IntegerAttr(dimension, i32)}
        if "reverse" in cls.get_irdl_definition().properties:
            parser.parse_keyword("reverse")
            parser.parse_punctuation("=")
            properties["reverse"] = BoolAttr.from_bool(parser.parse_boolean())
        parser.parse_keyword("identities")
        parser.parse_punctuation("=")
        properties["identities"] = parser.parse_attribute()
        return properties

    @override
    def verify_(self) -> None:
        sources = [tile_type(source) for source in self.sources]
        verify_operands(sources, self.dimension, len(self.result_values))
        verify_results(self.expected_results(sources), self.result_values.types)
        identities = self.properties["identities"]
        assert isa(identities, ArrayAttr)
        verify_identities(sources, identities)
        verify_combination(self, sources)

    @abstractmethod
    def expected_results(self, sources: Sequence[TileType]) -> list[TileType]:
        """The types of the results for tiles of some types."""

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.sources, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" dim={self.dimension}")
        reverse = self.properties.get("reverse")
        if isinstance(reverse, IntegerAttr):
            printer.print_string(f" reverse={'true' if reverse.value.data else 'false'}")
        printer.print_string(" identities=")
        printer.print_attribute(self.properties["identities"])
        printer.print_string(" : ")
        print_types(printer, self.sources.types)
        printer.print_string(" -> ")
        print_types(printer, self.result_types)
        printer.print_string(" ")
        print_new_line(printer)
        body = self.regions[0]
        print_arguments(printer, body.blocks[0].args)
        printer.print_string(" ")
        printer.print_region(body, print_entry_block_args=False)


def _reduced(sources: Sequence[TileType], dim: int) -> list[TileType]:
    """Tiles without a dimension."""
    shapes = [source.get_shape() for source in sources]
    return [
        TileType((*shape[:dim], *shape[dim + 1 :]), source.element_type)
        for shape, source in zip(shapes, sources, strict=True)
    ]


@op_definition
class ReduceOp(_AggregateOperation):
    """Combines all elements along a dimension, which the results have no more.

    ```
    %s = reduce %x dim=0 identities=[0.000000e+00 : f32] : tile<8x4xf32> -> tile<4xf32>
    (%a: tile<f32>, %b: tile<f32>) {
      %c = addf %a, %b : tile<f32>
      yield %c : tile<f32>
    }
    ```
    """

    name = "cuda_tile.reduce"
    OPCODE: ClassVar[int] = 0x58

    dim = prop_def(IntegerAttr.constr(i32))
    identities = prop_def(ArrayAttr)

    def __init__(
        self,
        sources: Sequence[Operand],
        dim: int,
        identities: Sequence[Attribute],
        body: Region,
    ) -> None:
        types = _reduced([tile_type(source) for source in sources], dim)
        super().__init__(
            operands=(sources,),
            properties={"dim": IntegerAttr(dim, i32), "identities": ArrayAttr(identities)},
            result_types=(types,),
            regions=(body,),
        )

    @override
    def expected_results(self, sources: Sequence[TileType]) -> list[TileType]:
        return _reduced(sources, self.dimension)


@op_definition
class ScanOp(_AggregateOperation):
    """Combines each element along a dimension with all before it; with all after it in reverse.

    ```
    %s = scan %x dim=0 reverse=false identities=[0.000000e+00 : f32]
      : tile<8x4xf32> -> tile<8x4xf32>
    (%a: tile<f32>, %b: tile<f32>) {
      %c = addf %a, %b : tile<f32>
      yield %c : tile<f32>
    }
    ```
    """

    name = "cuda_tile.scan"
    OPCODE: ClassVar[int] = 0x5E

    dim = prop_def(IntegerAttr.constr(i32))
    reverse = prop_def(BoolAttr)
    identities = prop_def(ArrayAttr)

    def __init__(
        self,
        sources: Sequence[Operand],
        dim: int,
        identities: Sequence[Attribute],
        body: Region,
        *,
        reverse: bool = False,
    ) -> None:
        super().__init__(
            operands=(sources,),
            properties={
                "dim": IntegerAttr(dim, i32),
                "reverse": BoolAttr.from_bool(reverse),
                "identities": ArrayAttr(identities),
            },
            result_types=([SSAValue.get(source).type for source in sources],),
            regions=(body,),
        )

    @override
    def expected_results(self, sources: Sequence[TileType]) -> list[TileType]:
        return [*sources]


OPERATIONS: list[type[Operation]] = [ReduceOp, ScanOp]
"""Every operation of this module."""
