"""The collective instructions: a whole work-group works on memrefs together.

Source: tensor language reference, section "Collective instructions".
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import NoTerminator

from xtile.dialects.definitions import op_definition
from xtile.dialects.tensorlang.constraints import INTEGER, MEMREF, NUMBER
from xtile.dialects.tensorlang.operation import (
    Execution,
    Operand,
    TensorLangOperation,
    integer_attribute,
    integer_list_attribute,
    region_of,
    unit,
)


class CollectiveOperation(TensorLangOperation, ABC):
    """An instruction that distributes its work among the work-items of the work-group."""

    EXECUTION: ClassVar[Execution] = Execution.COLLECTIVE


@op_definition
class AllocaOp(CollectiveOperation):
    """Temporary local memory, freed at the end of the enclosing region ("Alloca").

    ```
    %tmp = alloca {alignment=64} : memref<f32x16x8,local>
    ```

    The memref has a static shape and is local; `alignment` is in bytes.
    """

    name = "tensorlang.alloca"
    SYNTAX: ClassVar[str] = "{alignment} : $result"

    alignment = opt_prop_def(IntegerAttr[I64])
    result = result_def(MEMREF)

    def __init__(self, result_type: Attribute, alignment: int | None = None) -> None:
        attribute = None if alignment is None else integer_attribute(alignment)
        super().__init__(properties={"alignment": attribute}, result_types=[result_type])


@op_definition
class LifetimeStopOp(CollectiveOperation):
    """Ends the lifetime of a memref that alloca returned ("Additional instructions").

    ```
    lifetime_stop %tmp
    ```
    """

    name = "tensorlang.lifetime_stop"
    SYNTAX: ClassVar[str] = "$memref"

    memref = operand_def(MEMREF)

    def __init__(self, memref: Operand) -> None:
        super().__init__(operands=[memref])


class BlasOperation(CollectiveOperation, ABC):
    """A linear algebra instruction, which updates its last operand in place."""

    atomic = opt_prop_def(UnitAttr)


class BlasA2Operation(BlasOperation, ABC):
    """Operands alpha, A, beta, B; B is updated."""

    alpha = operand_def(NUMBER)
    a = operand_def(MEMREF)
    beta = operand_def(NUMBER)
    b = operand_def(MEMREF)


class BlasA3Operation(BlasOperation, ABC):
    """Operands alpha, A, B, beta, C; C is updated."""

    alpha = operand_def(NUMBER)
    a = operand_def(MEMREF)
    b = operand_def(MEMREF)
    beta = operand_def(NUMBER)
    c = operand_def(MEMREF)


class _TransposingA2Operation(BlasA2Operation, ABC):
    """An instruction whose A may be transposed."""

    SYNTAX: ClassVar[str] = ".atomic .transpose_a $alpha, $a, $beta, $b"

    transpose_a = opt_prop_def(UnitAttr)

    def __init__(
        self,
        alpha: Operand,
        a: Operand,
        beta: Operand,
        b: Operand,
        *,
        transpose_a: bool = False,
        atomic: bool = False,
    ) -> None:
        super().__init__(
            operands=[alpha, a, beta, b],
            properties={"atomic": unit(atomic), "transpose_a": unit(transpose_a)},
        )


class _PlainA3Operation(BlasA3Operation, ABC):
    """An instruction whose inputs are taken as they are."""

    SYNTAX: ClassVar[str] = ".atomic $alpha, $a, $b, $beta, $c"

    def __init__(
        self,
        alpha: Operand,
        a: Operand,
        b: Operand,
        beta: Operand,
        c: Operand,
        *,
        atomic: bool = False,
    ) -> None:
        super().__init__(operands=[alpha, a, b, beta, c], properties={"atomic": unit(atomic)})


@op_definition
class AxpbyOp(_TransposingA2Operation):
    """B := alpha op(A) + beta B, for scalars, vectors and matrices ("Axpby").

    ```
    axpby.t %alpha, %A, %beta, %B
    ```
    """

    name = "tensorlang.axpby"


@op_definition
class CumsumOp(BlasA2Operation):
    """B := alpha cumulative sum of A along a mode + beta B ("Cumulative sum").

    ```
    cumsum %alpha, %A, 1, %beta, %B
    ```
    """

    name = "tensorlang.cumsum"
    SYNTAX: ClassVar[str] = ".atomic $alpha, $a, #mode, $beta, $b"

    mode = prop_def(IntegerAttr[I64])

    def __init__(
        self,
        alpha: Operand,
        a: Operand,
        mode: int,
        beta: Operand,
        b: Operand,
        *,
        atomic: bool = False,
    ) -> None:
        super().__init__(
            operands=[alpha, a, beta, b],
            properties={"atomic": unit(atomic), "mode": integer_attribute(mode)},
        )


@op_definition
class SumOp(_TransposingA2Operation):
    """b := alpha op(A) 1 + beta b: sums the rows of a matrix or a vector ("Sum").

    ```
    sum.n %alpha, %A, %beta, %b
    ```
    """

    name = "tensorlang.sum"


@op_definition
class GemmOp(BlasA3Operation):
    """C := alpha op(A) op(B) + beta C ("GEMM").

    ```
    gemm.n.t %alpha, %A, %B, %beta, %C
    ```
    """

    name = "tensorlang.gemm"
    SYNTAX: ClassVar[str] = ".atomic .transpose_a .transpose_b $alpha, $a, $b, $beta, $c"

    transpose_a = opt_prop_def(UnitAttr)
    transpose_b = opt_prop_def(UnitAttr)

    def __init__(
        self,
        alpha: Operand,
        a: Operand,
        b: Operand,
        beta: Operand,
        c: Operand,
        *,
        transpose_a: bool = False,
        transpose_b: bool = False,
        atomic: bool = False,
    ) -> None:
        super().__init__(
            operands=[alpha, a, b, beta, c],
            properties={
                "atomic": unit(atomic),
                "transpose_a": unit(transpose_a),
                "transpose_b": unit(transpose_b),
            },
        )


@op_definition
class GemvOp(BlasA3Operation):
    """c := alpha op(A) b + beta c ("GEMV").

    ```
    gemv.t %alpha, %A, %b, %beta, %c
    ```
    """

    name = "tensorlang.gemv"
    SYNTAX: ClassVar[str] = ".atomic .transpose_a $alpha, $a, $b, $beta, $c"

    transpose_a = opt_prop_def(UnitAttr)

    def __init__(
        self,
        alpha: Operand,
        a: Operand,
        b: Operand,
        beta: Operand,
        c: Operand,
        *,
        transpose_a: bool = False,
        atomic: bool = False,
    ) -> None:
        super().__init__(
            operands=[alpha, a, b, beta, c],
            properties={"atomic": unit(atomic), "transpose_a": unit(transpose_a)},
        )


@op_definition
class GerOp(_PlainA3Operation):
    """C := alpha a b^T + beta C, the rank-1 update ("GER").

    ```
    ger %alpha, %a, %b, %beta, %C
    ```
    """

    name = "tensorlang.ger"


@op_definition
class HadamardOp(_PlainA3Operation):
    """C := alpha A * B + beta C, element by element ("Hadamard product").

    ```
    hadamard %alpha, %A, %B, %beta, %C
    ```
    """

    name = "tensorlang.hadamard"


@op_definition
class ForeachOp(CollectiveOperation):
    """Executes its SPMD region for all trip counts, in no certain order ("Foreach").

    ```
    foreach (%i,%j)=(%c0,%c0),(%m,%n) {
    }
    ```

    The region's arguments are the trip counts, one for each pair of bounds.
    """

    name = "tensorlang.foreach"
    SYNTAX: ClassVar[str] = "foreach()"
    OPENS_SPMD_REGION: ClassVar[bool] = True

    from_ = var_operand_def(INTEGER)
    to = var_operand_def(INTEGER)
    body = region_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoTerminator())

    def __init__(
        self, from_: Sequence[Operand], to: Sequence[Operand], body: Region | None = None
    ) -> None:
        types = [SSAValue.get(bound).type for bound in from_]
        super().__init__(operands=[from_, to], regions=[region_of(body, types)])


@op_definition
class ForeachTileOp(CollectiveOperation):
    """Executes its SPMD region for all tiles of a loop range ("Foreach tile").

    ```
    foreach_tile (%i,%j)=(%c0,%c0),(%m,%n) as (%ti,%tj)<=(32,32) {
    }
    ```

    The region's arguments are the tile offsets, then the tile sizes.
    """

    name = "tensorlang.foreach_tile"
    SYNTAX: ClassVar[str] = "foreach_tile()"
    OPENS_SPMD_REGION: ClassVar[bool] = True

    from_ = var_operand_def(INTEGER)
    to = var_operand_def(INTEGER)
    tile_shape = prop_def(DenseArrayBase[I64])
    body = region_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoTerminator())

    def __init__(
        self,
        from_: Sequence[Operand],
        to: Sequence[Operand],
        tile_shape: Sequence[int],
        body: Region | None = None,
    ) -> None:
        types = [SSAValue.get(bound).type for bound in from_]
        super().__init__(
            operands=[from_, to],
            properties={"tile_shape": integer_list_attribute(list(tile_shape))},
            regions=[region_of(body, [*types, *types])],
        )


@op_definition
class ParallelOp(CollectiveOperation):
    """Opens an SPMD region, which every work-item executes ("Parallel").

    ```
    parallel {
    }
    ```
    """

    name = "tensorlang.parallel"
    SYNTAX: ClassVar[str] = "region(body)"
    OPENS_SPMD_REGION: ClassVar[bool] = True

    body = region_def()
    traits = traits_def(NoTerminator())

    def __init__(self, body: Region | None = None) -> None:
        super().__init__(regions=[region_of(body)])
