"""Atomic updates of memory.

Source: CUDA Tile IR specification, "Operations", "Atomics"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
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
    parse_optional_inbounds,
    parse_optional_token,
    print_access,
    print_index_types,
    print_optional_inbounds,
    print_optional_token,
    resolve_optional,
    verify_inbounds,
)
from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.attributes import enumerated
from xtile.dialects.cuda_tile.constraints import (
    BOOLEAN_TILE,
    INTEGER_TILE,
    POINTER_TILE,
    TILE,
    TILE_VIEW,
    TOKEN,
    SameType,
)
from xtile.dialects.cuda_tile.enumerations import (
    AtomicRMWMode,
    MemoryOrderingSemantics,
    MemoryScope,
)
from xtile.dialects.cuda_tile.keywords import (
    AtomicMode,
    MemorySemantics,
    keyword_of,
    parse_mode,
    parse_optional_scope,
    parse_ordering,
    print_semantics,
)
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.memory_rules import (
    ATOMIC_ORDERINGS,
    verify_exchangeable,
    verify_mask,
    verify_mode,
    verify_ordering,
    verify_pointees,
    verify_view_mode,
    verify_view_ordering,
    verify_view_update,
)
from xtile.dialects.cuda_tile.type_text import parse_type, print_type
from xtile.dialects.cuda_tile.types import TokenType, tile_type
from xtile.dialects.cuda_tile.versions import V13_3, V13_5, Version
from xtile.dialects.definitions import op_definition


@op_definition
class AtomicCASTkoOp(CudaTileOperation):
    """Puts values where pointers point if what lies there has the bits of others.

    The result is what was there before.

    ```
    %old, %t1 = atomic_cas_tko relaxed device %p, %c, %v, %m token=%t
      : tile<8xptr<i32>>, tile<8xi32>, tile<8xi1> -> tile<8xi32>, token
    ```
    """

    name = "cuda_tile.atomic_cas_tko"
    OPCODE: ClassVar[int] = 0x07

    T: ClassVar = SameType("T", TILE)

    memory_ordering_semantics = prop_def(IntegerAttr.constr(i32))
    memory_scope = prop_def(IntegerAttr.constr(i32))
    pointers = operand_def(POINTER_TILE)
    cmp = operand_def(T)
    val = operand_def(T)
    mask = opt_operand_def(BOOLEAN_TILE)
    token = opt_operand_def(TOKEN)
    result = result_def(T)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "custom<MemorySemantics>($memory_ordering_semantics, $memory_scope) $pointers `,` $cmp "
        "`,` $val (`,` $mask^)? (`token` `` `=` `` $token^)? attr-dict `:` "
        "custom<CudaTileType>(type($pointers)) `,` custom<CudaTileType>(type($val)) "
        "(`,` custom<CudaTileType>(type($mask))^)? `->` custom<CudaTileType>(type($result)) `,` "
        "custom<CudaTileType>(type($result_token))"
    )
    custom_directives: ClassVar = (CudaTileType, MemorySemantics)

    def __init__(
        self,
        pointers: Operand,
        cmp: Operand,
        val: Operand,
        mask: Operand | None = None,
        token: Operand | None = None,
        *,
        ordering: MemoryOrderingSemantics = MemoryOrderingSemantics.RELAXED,
        scope: MemoryScope = MemoryScope.DEVICE,
    ) -> None:
        super().__init__(
            operands=(pointers, cmp, val, mask, token),
            properties={
                "memory_ordering_semantics": enumerated(ordering),
                "memory_scope": enumerated(scope),
            },
            result_types=(SSAValue.get(val).type, TokenType()),
        )

    @override
    def verify_(self) -> None:
        verify_pointees(self.pointers, self.val)
        verify_exchangeable(tile_type(self.val).element_type)
        verify_mask(self.pointers, self.mask)
        verify_ordering(ATOMIC_ORDERINGS, self.memory_ordering_semantics, self.memory_scope)


@op_definition
class AtomicRMWTkoOp(CudaTileOperation):
    """Combines what lies where pointers point with operands; the result is what was there before.

    ```
    %old, %t1 = atomic_rmw_tko acq_rel sys %p, addf, %x, %m token=%t
      : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> tile<8xf32>, token
    ```
    """

    name = "cuda_tile.atomic_rmw_tko"
    OPCODE: ClassVar[int] = 0x08

    T: ClassVar = SameType("T", TILE)

    memory_ordering_semantics = prop_def(IntegerAttr.constr(i32))
    memory_scope = prop_def(IntegerAttr.constr(i32))
    pointers = operand_def(POINTER_TILE)
    mode = prop_def(IntegerAttr.constr(i32))
    arg = operand_def(T)
    mask = opt_operand_def(BOOLEAN_TILE)
    token = opt_operand_def(TOKEN)
    result = result_def(T)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "custom<MemorySemantics>($memory_ordering_semantics, $memory_scope) $pointers `,` "
        "custom<AtomicMode>($mode) `,` $arg (`,` $mask^)? (`token` `` `=` `` $token^)? attr-dict "
        "`:` custom<CudaTileType>(type($pointers)) `,` custom<CudaTileType>(type($arg)) "
        "(`,` custom<CudaTileType>(type($mask))^)? `->` custom<CudaTileType>(type($result)) `,` "
        "custom<CudaTileType>(type($result_token))"
    )
    custom_directives: ClassVar = (CudaTileType, MemorySemantics, AtomicMode)

    def __init__(
        self,
        pointers: Operand,
        mode: AtomicRMWMode,
        arg: Operand,
        mask: Operand | None = None,
        token: Operand | None = None,
        *,
        ordering: MemoryOrderingSemantics = MemoryOrderingSemantics.RELAXED,
        scope: MemoryScope = MemoryScope.DEVICE,
    ) -> None:
        super().__init__(
            operands=(pointers, arg, mask, token),
            properties={
                "memory_ordering_semantics": enumerated(ordering),
                "memory_scope": enumerated(scope),
                "mode": enumerated(mode),
            },
            result_types=(SSAValue.get(arg).type, TokenType()),
        )

    @override
    def verify_(self) -> None:
        verify_pointees(self.pointers, self.arg)
        verify_mode(self.mode, tile_type(self.arg).element_type)
        verify_mask(self.pointers, self.mask)
        verify_ordering(ATOMIC_ORDERINGS, self.memory_ordering_semantics, self.memory_scope)


@op_definition
class AtomicRedViewTkoOp(CudaTileOperation):
    """Combines the tile at an index of a view with another; each element is updated by itself.

    ```
    %t1 = atomic_red_view_tko relaxed device %view[%i, %j], addf, %x token = %t
      : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32>
      -> token
    ```
    """

    name = "cuda_tile.atomic_red_view_tko"
    OPCODE: ClassVar[int] = 0x75
    SINCE: ClassVar[Version] = V13_3
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType({"inbounds": V13_5})

    memory_ordering_semantics = prop_def(IntegerAttr.constr(i32))
    memory_scope = prop_def(IntegerAttr.constr(i32))
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INTEGER_TILE)
    mode = prop_def(IntegerAttr.constr(i32))
    value = operand_def(TILE)
    token = opt_operand_def(TOKEN)
    inbounds = opt_prop_def(DenseArrayBase.constr(i1))
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        view: Operand,
        index: Sequence[Operand],
        mode: AtomicRMWMode,
        value: Operand,
        token: Operand | None = None,
        *,
        ordering: MemoryOrderingSemantics = MemoryOrderingSemantics.RELAXED,
        scope: MemoryScope = MemoryScope.DEVICE,
        inbounds: Sequence[bool] = (),
    ) -> None:
        super().__init__(
            operands=(view, index, value, token),
            properties={
                "memory_ordering_semantics": enumerated(ordering),
                "memory_scope": enumerated(scope),
                "mode": enumerated(mode),
                "inbounds": inbounds_of(inbounds),
            },
            result_types=(TokenType(),),
        )

    @override
    def verify_(self) -> None:
        verify_view_update(self.view.type, self.index, self.value)
        verify_view_mode(self.mode, tile_type(self.value).element_type)
        verify_view_ordering(self.memory_ordering_semantics, self.memory_scope)
        verify_inbounds(self.inbounds, self.index)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> AtomicRedViewTkoOp:
        ordering = parse_ordering(parser)
        scope = parse_optional_scope(parser)
        if scope is None:
            parser.raise_error("expected a memory_scope: tl_blk or device")
        view, indices = parse_access(parser)
        parser.parse_punctuation(",")
        mode = parse_mode(parser)
        parser.parse_punctuation(",")
        value = parser.parse_unresolved_operand()
        token = parse_optional_token(parser)
        inbounds = parse_optional_inbounds(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        value_type = parse_type(parser)
        parser.parse_punctuation(",")
        view_type = parse_type(parser)
        index_types = parse_index_types(parser, indices)
        parser.parse_punctuation("->")
        result = parse_type(parser)
        return cls.build(
            operands=(
                parser.resolve_operand(view, view_type),
                parser.resolve_operands(indices, index_types, parser.pos),
                parser.resolve_operand(value, value_type),
                resolve_optional(parser, token),
            ),
            properties={
                "memory_ordering_semantics": ordering,
                "memory_scope": scope,
                "mode": mode,
                "inbounds": inbounds,
            },
            attributes={} if attributes is None else dict(attributes.data),
            result_types=(result,),
        )

    @override
    def print(self, printer: Printer) -> None:
        print_semantics(printer, self.memory_ordering_semantics, self.memory_scope)
        printer.print_string(" ")
        print_access(printer, self.view, self.index)
        printer.print_string(f", {keyword_of(AtomicRMWMode, self.mode)}, ")
        printer.print_ssa_value(self.value)
        print_optional_token(printer, self.token)
        print_optional_inbounds(printer, self.inbounds)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        print_type(printer, self.value.type)
        printer.print_string(", ")
        print_type(printer, self.view.type)
        print_index_types(printer, self.index)
        printer.print_string(" -> ")
        print_type(printer, self.result_token.type)


OPERATIONS: list[type[Operation]] = [AtomicCASTkoOp, AtomicRMWTkoOp, AtomicRedViewTkoOp]
"""Every operation of this module."""
