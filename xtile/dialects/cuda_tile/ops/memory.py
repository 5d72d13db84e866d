"""Memory through pointers, and tokens, which order accesses to memory.

Source: CUDA Tile IR specification, "Operations", "Memory"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i32, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.attributes import OptimizationHintsAttr, enumerated
from xtile.dialects.cuda_tile.constraints import (
    BOOLEAN_TILE,
    NUMBER_TILE,
    POINTER_TILE,
    SCALAR_POINTER,
    TILE,
    TOKEN,
)
from xtile.dialects.cuda_tile.enumerations import MemoryOrderingSemantics, MemoryScope
from xtile.dialects.cuda_tile.keywords import MemorySemantics
from xtile.dialects.cuda_tile.mask_text import (
    MaskAndPadding,
    MaskAndPaddingTypes,
    reads_as_mask,
)
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.memory_rules import (
    LOAD_ORDERINGS,
    STORE_ORDERINGS,
    verify_allocation,
    verify_mask,
    verify_ordering,
    verify_padding,
    verify_pointees,
)
from xtile.dialects.cuda_tile.types import PointerType, TokenType, tile_type
from xtile.dialects.cuda_tile.versions import V13_3, V13_4, Version
from xtile.dialects.definitions import op_definition
from xtile.text.extensions import GenericFormIf, never_ambiguous


@op_definition
class AllocaOp(CudaTileOperation):
    """Memory of this tile block; with `global` its address may be given to others.

    ```
    %p = alloca num_elem = 64, alignment = 16 : tile<ptr<f32>>
    ```
    """

    name = "cuda_tile.alloca"
    OPCODE: ClassVar[int] = 0x71
    SINCE: ClassVar[Version] = V13_3

    num_elem = prop_def(IntegerAttr.constr(i64))
    alignment = prop_def(IntegerAttr.constr(i64))
    is_global = opt_prop_def(UnitAttr, prop_name="global")
    result = result_def(SCALAR_POINTER)

    assembly_format = (
        "`num_elem` `=` $num_elem `,` `alignment` `=` $alignment (`global` $global^)? "
        "attr-dict `:` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(
        self, num_elem: int, alignment: int, result_type: Attribute, *, is_global: bool = False
    ) -> None:
        super().__init__(
            properties={
                "num_elem": IntegerAttr(num_elem, i64),
                "alignment": IntegerAttr(alignment, i64),
                "global": UnitAttr() if is_global else None,
            },
            result_types=(result_type,),
        )

    @override
    def verify_(self) -> None:
        pointer = tile_type(self.result).element_type
        verify_allocation(self.num_elem.value.data, self.alignment.value.data, pointer)


@op_definition
class MakeTokenOp(CudaTileOperation):
    """A token that comes after nothing.

    ```
    %t = make_token : token
    ```
    """

    name = "cuda_tile.make_token"
    OPCODE: ClassVar[int] = 0x44

    result = result_def(TOKEN)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` custom<CudaTileType>(type($result))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self) -> None:
        super().__init__(result_types=(TokenType(),))


@op_definition
class JoinTokensOp(CudaTileOperation):
    """A token that comes after all of several.

    ```
    %t = join_tokens %a, %b : token
    ```
    """

    name = "cuda_tile.join_tokens"
    OPCODE: ClassVar[int] = 0x3C

    tokens = var_operand_def(TOKEN)
    result = result_def(TOKEN)

    traits = traits_def(Pure())
    assembly_format = "$tokens attr-dict `:` custom<CudaTileType>(type($result))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, tokens: Sequence[Operand]) -> None:
        super().__init__(operands=(tokens,), result_types=(TokenType(),))

    @override
    def verify_(self) -> None:
        if len(self.tokens) < 2:
            raise VerifyException(f"expected two or more tokens, got {len(self.tokens)}")


@never_ambiguous
@op_definition
class LoadPtrTkoOp(CudaTileOperation):
    """What lies at pointers; where a mask is false the padding, or anything without one.

    ```
    %x, %t1 = load_ptr_tko weak %p, %m, %z token=%t
      : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
    ```

    Padding without a mask (`%p, %z`) is told from a mask by its type. With elements of i1 it cannot
    be, so there the generic form is printed.
    """

    name = "cuda_tile.load_ptr_tko"
    OPCODE: ClassVar[int] = 0x3D

    memory_ordering_semantics = prop_def(IntegerAttr.constr(i32))
    memory_scope = opt_prop_def(IntegerAttr.constr(i32))
    source = operand_def(POINTER_TILE)
    mask = opt_operand_def(BOOLEAN_TILE)
    padding_value = opt_operand_def(NUMBER_TILE)
    token = opt_operand_def(TOKEN)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    result = result_def(TILE)
    result_token = result_def(TOKEN)

    traits = traits_def(GenericFormIf(reads_as_mask))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "custom<MemorySemantics>($memory_ordering_semantics, $memory_scope) $source "
        "custom<MaskAndPadding>($mask, $padding_value) (`token` `` `=` `` $token^)? "
        "(`optimization_hints` `=` $optimization_hints^)? attr-dict `:` "
        "custom<CudaTileType>(type($source)) "
        "custom<MaskAndPaddingTypes>(type($mask), type($padding_value)) `->` "
        "custom<CudaTileType>(type($result)) `,` custom<CudaTileType>(type($result_token))"
    )
    custom_directives: ClassVar = (
        CudaTileType,
        MaskAndPadding,
        MaskAndPaddingTypes,
        MemorySemantics,
    )

    def __init__(
        self,
        source: Operand,
        mask: Operand | None = None,
        padding_value: Operand | None = None,
        token: Operand | None = None,
        *,
        ordering: MemoryOrderingSemantics = MemoryOrderingSemantics.WEAK,
        scope: MemoryScope | None = None,
        optimization_hints: OptimizationHintsAttr | None = None,
    ) -> None:
        type = tile_type(source)
        pointer = type.element_type
        assert isinstance(pointer, PointerType)
        super().__init__(
            operands=(source, mask, padding_value, token),
            properties={
                "memory_ordering_semantics": enumerated(ordering),
                "memory_scope": None if scope is None else enumerated(scope),
                "optimization_hints": optimization_hints,
            },
            result_types=(type.with_element_type(pointer.pointee_type), TokenType()),
        )

    @override
    def verify_(self) -> None:
        verify_pointees(self.source, self.result)
        verify_mask(self.source, self.mask)
        verify_padding(self.result, self.padding_value)
        verify_ordering(LOAD_ORDERINGS, self.memory_ordering_semantics, self.memory_scope)


@op_definition
class StorePtrTkoOp(CudaTileOperation):
    """Puts a tile where pointers point, but nothing where a mask is false.

    ```
    %t1 = store_ptr_tko release device %p, %x, %m token=%t
      : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
    ```
    """

    name = "cuda_tile.store_ptr_tko"
    OPCODE: ClassVar[int] = 0x65

    memory_ordering_semantics = prop_def(IntegerAttr.constr(i32))
    memory_scope = opt_prop_def(IntegerAttr.constr(i32))
    destination = operand_def(POINTER_TILE)
    value = operand_def(TILE)
    mask = opt_operand_def(BOOLEAN_TILE)
    token = opt_operand_def(TOKEN)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "custom<MemorySemantics>($memory_ordering_semantics, $memory_scope) $destination `,` "
        "$value (`,` $mask^)? (`token` `` `=` `` $token^)? "
        "(`optimization_hints` `=` $optimization_hints^)? attr-dict `:` "
        "custom<CudaTileType>(type($destination)) `,` custom<CudaTileType>(type($value)) "
        "(`,` custom<CudaTileType>(type($mask))^)? `->` "
        "custom<CudaTileType>(type($result_token))"
    )
    custom_directives: ClassVar = (CudaTileType, MemorySemantics)

    def __init__(
        self,
        destination: Operand,
        value: Operand,
        mask: Operand | None = None,
        token: Operand | None = None,
        *,
        ordering: MemoryOrderingSemantics = MemoryOrderingSemantics.WEAK,
        scope: MemoryScope | None = None,
        optimization_hints: OptimizationHintsAttr | None = None,
    ) -> None:
        super().__init__(
            operands=(destination, value, mask, token),
            properties={
                "memory_ordering_semantics": enumerated(ordering),
                "memory_scope": None if scope is None else enumerated(scope),
                "optimization_hints": optimization_hints,
            },
            result_types=(TokenType(),),
        )

    @override
    def verify_(self) -> None:
        verify_pointees(self.destination, self.value)
        verify_mask(self.destination, self.mask)
        verify_ordering(STORE_ORDERINGS, self.memory_ordering_semantics, self.memory_scope)


@op_definition
class MemoryFenceAliasTkoOp(CudaTileOperation):
    """Orders accesses to one position through addresses that differ.

    ```
    %t1 = memory_fence_alias_tko %t
    ```

    Source: the writer of the Python package cuda-tile 1.7.0.
    """

    name = "cuda_tile.memory_fence_alias_tko"
    OPCODE: ClassVar[int] = 0x7A
    SINCE: ClassVar[Version] = V13_4

    token = operand_def(TOKEN)
    result_token = result_def(TOKEN)

    assembly_format = "$token attr-dict"

    def __init__(self, token: Operand) -> None:
        super().__init__(operands=(token,), result_types=(TokenType(),))


OPERATIONS: list[type[Operation]] = [
    AllocaOp,
    JoinTokensOp,
    LoadPtrTkoOp,
    MakeTokenOp,
    MemoryFenceAliasTkoOp,
    StorePtrTkoOp,
]
"""Every operation of this module."""
