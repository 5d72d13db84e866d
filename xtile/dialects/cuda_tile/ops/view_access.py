"""Loads and stores of tiles through views.

Source: CUDA Tile IR specification, "Operations", "Views"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i1, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from xtile.dialects.cuda_tile.access_text import (
    inbounds_of,
    parse_access,
    parse_index_types,
    parse_optional_hints,
    parse_optional_inbounds,
    parse_optional_token,
    print_access,
    print_index_types,
    print_optional_hints,
    print_optional_inbounds,
    print_optional_token,
    resolve_optional,
    verify_inbounds,
)
from xtile.dialects.cuda_tile.attributes import OptimizationHintsAttr, enumerated
from xtile.dialects.cuda_tile.constraints import INTEGER_TILE, TILE, TILE_VIEW, TOKEN
from xtile.dialects.cuda_tile.enumerations import MemoryOrderingSemantics, MemoryScope
from xtile.dialects.cuda_tile.keywords import parse_optional_scope, parse_ordering, print_semantics
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.memory_rules import (
    LOAD_ORDERINGS,
    STORE_ORDERINGS,
    verify_ordering,
    verify_view_access,
)
from xtile.dialects.cuda_tile.type_text import parse_type, print_type
from xtile.dialects.cuda_tile.types import TileView, TokenType
from xtile.dialects.cuda_tile.versions import V13_4, Version
from xtile.dialects.definitions import op_definition


@op_definition
class LoadViewTkoOp(CudaTileOperation):
    """The tile at an index of a view.

    ```
    %x, %t1 = load_view_tko weak %view[%i, %j] token = %t
      : partition_view<tile=(8x8), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32>
      -> tile<8x8xf32>, token
    ```
    """

    name = "cuda_tile.load_view_tko"
    OPCODE: ClassVar[int] = 0x3E
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType({"inbounds": V13_4})

    memory_ordering_semantics = prop_def(IntegerAttr.constr(i32))
    memory_scope = opt_prop_def(IntegerAttr.constr(i32))
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INTEGER_TILE)
    token = opt_operand_def(TOKEN)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    inbounds = opt_prop_def(DenseArrayBase.constr(i1))
    tile = result_def(TILE)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        view: Operand,
        index: Sequence[Operand],
        token: Operand | None = None,
        *,
        ordering: MemoryOrderingSemantics = MemoryOrderingSemantics.WEAK,
        scope: MemoryScope | None = None,
        optimization_hints: OptimizationHintsAttr | None = None,
        inbounds: Sequence[bool] = (),
    ) -> None:
        type = SSAValue.get(view).type
        assert isinstance(type, TileView)
        super().__init__(
            operands=(view, index, token),
            properties={
                "memory_ordering_semantics": enumerated(ordering),
                "memory_scope": None if scope is None else enumerated(scope),
                "optimization_hints": optimization_hints,
                "inbounds": inbounds_of(inbounds),
            },
            result_types=(type.tile_type, TokenType()),
        )

    @override
    def verify_(self) -> None:
        verify_view_access(self.view.type, self.index, self.tile)
        verify_ordering(LOAD_ORDERINGS, self.memory_ordering_semantics, self.memory_scope)
        verify_inbounds(self.inbounds, self.index)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> LoadViewTkoOp:
        ordering = parse_ordering(parser)
        scope = parse_optional_scope(parser)
        view, indices = parse_access(parser)
        token = parse_optional_token(parser)
        hints = parse_optional_hints(parser)
        inbounds = parse_optional_inbounds(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        view_type = parse_type(parser)
        index_types = parse_index_types(parser, indices)
        parser.parse_punctuation("->")
        tile = parse_type(parser)
        parser.parse_punctuation(",")
        result_token = parse_type(parser)
        return cls.build(
            operands=(
                parser.resolve_operand(view, view_type),
                parser.resolve_operands(indices, index_types, parser.pos),
                resolve_optional(parser, token),
            ),
            properties={
                "memory_ordering_semantics": ordering,
                "memory_scope": scope,
                "optimization_hints": hints,
                "inbounds": inbounds,
            },
            attributes={} if attributes is None else dict(attributes.data),
            result_types=(tile, result_token),
        )

    @override
    def print(self, printer: Printer) -> None:
        print_semantics(printer, self.memory_ordering_semantics, self.memory_scope)
        printer.print_string(" ")
        print_access(printer, self.view, self.index)
        print_optional_token(printer, self.token)
        print_optional_hints(printer, self.optimization_hints)
        print_optional_inbounds(printer, self.inbounds)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        print_type(printer, self.view.type)
        print_index_types(printer, self.index)
        printer.print_string(" -> ")
        print_type(printer, self.tile.type)
        printer.print_string(", ")
        print_type(printer, self.result_token.type)


@op_definition
class StoreViewTkoOp(CudaTileOperation):
    """Puts a tile at an index of a view; elements outside of the tensor go nowhere.

    ```
    %t1 = store_view_tko weak %x, %view[%i, %j] token = %t
      : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32>
      -> token
    ```
    """

    name = "cuda_tile.store_view_tko"
    OPCODE: ClassVar[int] = 0x66
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType({"inbounds": V13_4})

    memory_ordering_semantics = prop_def(IntegerAttr.constr(i32))
    memory_scope = opt_prop_def(IntegerAttr.constr(i32))
    tile = operand_def(TILE)
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INTEGER_TILE)
    token = opt_operand_def(TOKEN)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    inbounds = opt_prop_def(DenseArrayBase.constr(i1))
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        tile: Operand,
        view: Operand,
        index: Sequence[Operand],
        token: Operand | None = None,
        *,
        ordering: MemoryOrderingSemantics = MemoryOrderingSemantics.WEAK,
        scope: MemoryScope | None = None,
        optimization_hints: OptimizationHintsAttr | None = None,
        inbounds: Sequence[bool] = (),
    ) -> None:
        super().__init__(
            operands=(tile, view, index, token),
            properties={
                "memory_ordering_semantics": enumerated(ordering),
                "memory_scope": None if scope is None else enumerated(scope),
                "optimization_hints": optimization_hints,
                "inbounds": inbounds_of(inbounds),
            },
            result_types=(TokenType(),),
        )

    @override
    def verify_(self) -> None:
        verify_view_access(self.view.type, self.index, self.tile)
        verify_ordering(STORE_ORDERINGS, self.memory_ordering_semantics, self.memory_scope)
        verify_inbounds(self.inbounds, self.index)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> StoreViewTkoOp:
        ordering = parse_ordering(parser)
        scope = parse_optional_scope(parser)
        tile = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        view, indices = parse_access(parser)
        token = parse_optional_token(parser)
        hints = parse_optional_hints(parser)
        inbounds = parse_optional_inbounds(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        tile_type = parse_type(parser)
        parser.parse_punctuation(",")
        view_type = parse_type(parser)
        index_types = parse_index_types(parser, indices)
        parser.parse_punctuation("->")
        result_token = parse_type(parser)
        return cls.build(
            operands=(
                parser.resolve_operand(tile, tile_type),
                parser.resolve_operand(view, view_type),
                parser.resolve_operands(indices, index_types, parser.pos),
                resolve_optional(parser, token),
            ),
            properties={
                "memory_ordering_semantics": ordering,
                "memory_scope": scope,
                "optimization_hints": hints,
                "inbounds": inbounds,
            },
            attributes={} if attributes is None else dict(attributes.data),
            result_types=(result_token,),
        )

    @override
    def print(self, printer: Printer) -> None:
        print_semantics(printer, self.memory_ordering_semantics, self.memory_scope)
        printer.print_string(" ")
        printer.print_ssa_value(self.tile)
        printer.print_string(", ")
        print_access(printer, self.view, self.index)
        print_optional_token(printer, self.token)
        print_optional_hints(printer, self.optimization_hints)
        print_optional_inbounds(printer, self.inbounds)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        print_type(printer, self.tile.type)
        printer.print_string(", ")
        print_type(printer, self.view.type)
        print_index_types(printer, self.index)
        printer.print_string(" -> ")
        print_type(printer, self.result_token.type)


OPERATIONS: list[type[Operation]] = [LoadViewTkoOp, StoreViewTkoOp]
"""Every operation of this module."""
