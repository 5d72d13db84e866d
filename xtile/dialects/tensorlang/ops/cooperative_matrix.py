"""The cooperative matrix instructions: a subgroup works on a matrix together.

Source: tensor language reference, the sections "Cooperative matrix ...".
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.traits import NoTerminator

from xtile.dialects.tensorlang.attributes import (
    CheckedFlag,
    CheckedFlagAttr,
    MemoryScopeAttr,
    MemorySemanticsAttr,
    ReduceModeAttr,
)
from xtile.dialects.tensorlang.constraints import COOPMATRIX, INDEX_ONLY, MEMREF, NUMBER
from xtile.dialects.tensorlang.operation import Execution, TensorLangOperation
from xtile.dialects.tensorlang.ops.memory import AtomicOperation


class CooperativeMatrixOperation(TensorLangOperation, ABC):
    """An instruction that the work-items of a subgroup execute together."""

    EXECUTION: ClassVar[Execution] = Execution.SPMD


class CooperativeMatrixAccess(CooperativeMatrixOperation, ABC):
    """Accesses the block of a matrix memref that starts at row x and column y.

    With `transpose` component i, j stands at [x + j, y + i], otherwise at [x + i, y + j].
    `checked` skips what lies outside the memref's rows, columns or both.
    """

    transpose = opt_prop_def(UnitAttr)
    checked = opt_prop_def(CheckedFlagAttr)

    @property
    def rows_checked(self) -> bool:
        """Whether rows of the matrix are checked."""
        return self.checked is not None and self.checked.data != CheckedFlag.COLS

    @property
    def cols_checked(self) -> bool:
        """Whether columns of the matrix are checked."""
        return self.checked is not None and self.checked.data != CheckedFlag.ROWS


class CooperativeMatrixAtomicAccess(CooperativeMatrixAccess, AtomicOperation, ABC):
    """An access that is atomic for each component."""

    scope = opt_prop_def(MemoryScopeAttr)
    semantics = opt_prop_def(MemorySemanticsAttr)


@irdl_op_definition
class CooperativeMatrixApplyOp(CooperativeMatrixOperation):
    """Applies an action to every component ("Cooperative matrix apply").

    ```
    %r = cooperative_matrix_apply (%i,%j,%v)=%m -> coopmatrix<f32x16x16,matrix_acc> {
        %w = exp %v : f32
        yield (%w)
    }
    ```

    The region's arguments are the row (i32), the column (i32) and the component.
    """

    name = "tensorlang.cooperative_matrix_apply"
    SYNTAX: ClassVar[str] = "apply()"

    matrix = operand_def(COOPMATRIX)
    result = result_def(COOPMATRIX)
    body = region_def()
    traits = traits_def(NoTerminator())


@irdl_op_definition
class CooperativeMatrixAtomicLoadOp(CooperativeMatrixAtomicAccess):
    """Loads a matrix, each component atomically ("Cooperative matrix atomic load").

    ```
    %r = cooperative_matrix_atomic_load.t %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_atomic_load"
    SYNTAX: ClassVar[str] = ".transpose .checked .scope .semantics $memref[$x,$y] : $result"

    memref = operand_def(MEMREF)
    x = operand_def(INDEX_ONLY)
    y = operand_def(INDEX_ONLY)
    result = result_def(COOPMATRIX)


@irdl_op_definition
class CooperativeMatrixAtomicStoreOp(CooperativeMatrixAtomicAccess):
    """Stores a matrix, each component atomically ("Cooperative matrix atomic store").

    ```
    cooperative_matrix_atomic_store.t %m, %A[%x,%y]
    ```
    """

    name = "tensorlang.cooperative_matrix_atomic_store"
    SYNTAX: ClassVar[str] = ".transpose .checked .scope .semantics $matrix, $memref[$x,$y]"

    matrix = operand_def(COOPMATRIX)
    memref = operand_def(MEMREF)
    x = operand_def(INDEX_ONLY)
    y = operand_def(INDEX_ONLY)


class CooperativeMatrixAtomicUpdate(CooperativeMatrixAtomicAccess, ABC):
    """Updates each element atomically; returns the elements before the update."""

    SYNTAX: ClassVar[str] = (
        ".transpose .checked .scope .semantics $matrix, $memref[$x,$y] : $result"
    )

    matrix = operand_def(COOPMATRIX)
    memref = operand_def(MEMREF)
    x = operand_def(INDEX_ONLY)
    y = operand_def(INDEX_ONLY)
    result = result_def(COOPMATRIX)


@irdl_op_definition
class CooperativeMatrixAtomicAddOp(CooperativeMatrixAtomicUpdate):
    """Adds a matrix to memory ("Cooperative matrix atomic update").

    ```
    %old = cooperative_matrix_atomic_add %m, %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_atomic_add"


@irdl_op_definition
class CooperativeMatrixAtomicMaxOp(CooperativeMatrixAtomicUpdate):
    """Raises memory to a matrix ("Cooperative matrix atomic update").

    ```
    %old = cooperative_matrix_atomic_max %m, %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_atomic_max"


@irdl_op_definition
class CooperativeMatrixAtomicMinOp(CooperativeMatrixAtomicUpdate):
    """Lowers memory to a matrix ("Cooperative matrix atomic update").

    ```
    %old = cooperative_matrix_atomic_min %m, %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_atomic_min"


@irdl_op_definition
class CooperativeMatrixConstructOp(CooperativeMatrixOperation):
    """A matrix whose components are all one number ("Cooperative matrix construct").

    ```
    %r = cooperative_matrix_construct %x : coopmatrix<f32x16x8,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_construct"
    SYNTAX: ClassVar[str] = "$number : $result"

    number = operand_def(NUMBER)
    result = result_def(COOPMATRIX)


@irdl_op_definition
class CooperativeMatrixExtractOp(CooperativeMatrixOperation):
    """An entry of the work-item's vector ("Cooperative matrix extract").

    ```
    %r = cooperative_matrix_extract %m[0] : f32
    ```
    """

    name = "tensorlang.cooperative_matrix_extract"
    SYNTAX: ClassVar[str] = "$matrix[#index] : $result"

    matrix = operand_def(COOPMATRIX)
    index = prop_def(IntegerAttr[I64])
    result = result_def(NUMBER)


@irdl_op_definition
class CooperativeMatrixInsertOp(CooperativeMatrixOperation):
    """The matrix with one entry of the work-item's vector replaced ("... insert").

    ```
    %r = cooperative_matrix_insert %x, %m[0] : coopmatrix<f32x16x8,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_insert"
    SYNTAX: ClassVar[str] = "$value, $matrix[#index] : $result"

    value = operand_def(NUMBER)
    matrix = operand_def(COOPMATRIX)
    index = prop_def(IntegerAttr[I64])
    result = result_def(COOPMATRIX)


@irdl_op_definition
class CooperativeMatrixLoadOp(CooperativeMatrixAccess):
    """Loads a matrix ("Cooperative matrix load").

    ```
    %r = cooperative_matrix_load.t.rows_checked %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_load"
    SYNTAX: ClassVar[str] = ".transpose .checked $memref[$x,$y] : $result"

    memref = operand_def(MEMREF)
    x = operand_def(INDEX_ONLY)
    y = operand_def(INDEX_ONLY)
    result = result_def(COOPMATRIX)


@irdl_op_definition
class CooperativeMatrixMulAddOp(CooperativeMatrixOperation):
    """D := A B + C ("Cooperative matrix mul add").

    ```
    %d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<f32x16x16,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_mul_add"
    SYNTAX: ClassVar[str] = "$a, $b, $c : $result"

    a = operand_def(COOPMATRIX)
    b = operand_def(COOPMATRIX)
    c = operand_def(COOPMATRIX)
    result = result_def(COOPMATRIX)


@irdl_op_definition
class CooperativeMatrixPrefetchOp(CooperativeMatrixOperation):
    """Hints that a block of memory is needed soon ("Cooperative matrix prefetch").

    ```
    cooperative_matrix_prefetch 0, %A[%x,%y], 32, 16
    ```

    `level` 0 is the cache closest to the core; `rows` by `columns` elements are fetched.
    """

    name = "tensorlang.cooperative_matrix_prefetch"
    SYNTAX: ClassVar[str] = "#level, $memref[$x,$y], #rows, #columns"

    memref = operand_def(MEMREF)
    x = operand_def(INDEX_ONLY)
    y = operand_def(INDEX_ONLY)
    level = prop_def(IntegerAttr[I64])
    rows = prop_def(IntegerAttr[I64])
    columns = prop_def(IntegerAttr[I64])


class CooperativeMatrixReduce(CooperativeMatrixOperation, ABC):
    """Reduces rows (M x 1 result) or columns (1 x N result) of a matrix."""

    SYNTAX: ClassVar[str] = ".reduce_mode $matrix : $result"

    matrix = operand_def(COOPMATRIX)
    reduce_mode = prop_def(ReduceModeAttr)
    result = result_def(COOPMATRIX)


@irdl_op_definition
class CooperativeMatrixReduceAddOp(CooperativeMatrixReduce):
    """Sums of rows or columns ("Cooperative matrix reduce").

    ```
    %r = cooperative_matrix_reduce_add.row %m : coopmatrix<f32x16x1,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_reduce_add"


@irdl_op_definition
class CooperativeMatrixReduceMaxOp(CooperativeMatrixReduce):
    """Maxima of rows or columns ("Cooperative matrix reduce").

    ```
    %r = cooperative_matrix_reduce_max.column %m : coopmatrix<f32x1x16,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_reduce_max"


@irdl_op_definition
class CooperativeMatrixReduceMinOp(CooperativeMatrixReduce):
    """Minima of rows or columns ("Cooperative matrix reduce").

    ```
    %r = cooperative_matrix_reduce_min.row %m : coopmatrix<f32x16x1,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_reduce_min"


@irdl_op_definition
class CooperativeMatrixScaleOp(CooperativeMatrixOperation):
    """The matrix times a scalar ("Cooperative matrix scale").

    ```
    %r = cooperative_matrix_scale %x, %m : coopmatrix<f32x16x16,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_scale"
    SYNTAX: ClassVar[str] = "$scalar, $matrix : $result"

    scalar = operand_def(NUMBER)
    matrix = operand_def(COOPMATRIX)
    result = result_def(COOPMATRIX)


@irdl_op_definition
class CooperativeMatrixStoreOp(CooperativeMatrixAccess):
    """Stores a matrix ("Cooperative matrix store").

    ```
    cooperative_matrix_store.cols_checked %m, %A[%x,%y]
    ```
    """

    name = "tensorlang.cooperative_matrix_store"
    SYNTAX: ClassVar[str] = ".transpose .checked $matrix, $memref[$x,$y]"

    matrix = operand_def(COOPMATRIX)
    memref = operand_def(MEMREF)
    x = operand_def(INDEX_ONLY)
    y = operand_def(INDEX_ONLY)
