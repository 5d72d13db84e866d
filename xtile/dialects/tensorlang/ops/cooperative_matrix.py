"""The cooperative matrix instructions: a subgroup works on a matrix together.

Source: tensor language reference, the sections "Cooperative matrix ...".
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.traits import NoTerminator

from xtile.dialects.definitions import op_definition
from xtile.dialects.tensorlang.attributes import (
    CheckedFlag,
    CheckedFlagAttr,
    MemoryScope,
    MemoryScopeAttr,
    MemorySemantics,
    MemorySemanticsAttr,
    ReduceMode,
    ReduceModeAttr,
)
from xtile.dialects.tensorlang.constraints import COOPMATRIX, INDEX_ONLY, MEMREF, NUMBER
from xtile.dialects.tensorlang.operation import (
    Execution,
    Operand,
    TensorLangOperation,
    integer_attribute,
    region_of,
    unit,
)
from xtile.dialects.tensorlang.ops.memory import AtomicOperation, atomic_modifiers
from xtile.dialects.tensorlang.types import I32, CoopmatrixType, component_type, type_text


class CooperativeMatrixOperation(TensorLangOperation, ABC):
    """An instruction that the work-items of a subgroup execute together."""

    EXECUTION: ClassVar[Execution] = Execution.SPMD


def _access(transpose: bool, checked: CheckedFlag | None) -> dict[str, Attribute | None]:
    """The modifiers of an access, as properties."""
    flag = None if checked is None else CheckedFlagAttr(checked)
    return {"transpose": unit(transpose), "checked": flag}


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


@op_definition
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

    def __init__(self, matrix: Operand, body: Region | None = None) -> None:
        type = SSAValue.get(matrix).type
        types = [I32, I32, component_type(type)]
        super().__init__(operands=[matrix], result_types=[type], regions=[region_of(body, types)])


@op_definition
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

    def __init__(
        self,
        memref: Operand,
        x: Operand,
        y: Operand,
        result_type: Attribute,
        *,
        transpose: bool = False,
        checked: CheckedFlag | None = None,
        scope: MemoryScope | None = None,
        semantics: MemorySemantics | None = None,
    ) -> None:
        super().__init__(
            operands=[memref, x, y],
            properties={**_access(transpose, checked), **atomic_modifiers(scope, semantics)},
            result_types=[result_type],
        )


@op_definition
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

    def __init__(
        self,
        matrix: Operand,
        memref: Operand,
        x: Operand,
        y: Operand,
        *,
        transpose: bool = False,
        checked: CheckedFlag | None = None,
        scope: MemoryScope | None = None,
        semantics: MemorySemantics | None = None,
    ) -> None:
        super().__init__(
            operands=[matrix, memref, x, y],
            properties={**_access(transpose, checked), **atomic_modifiers(scope, semantics)},
        )


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

    def __init__(
        self,
        matrix: Operand,
        memref: Operand,
        x: Operand,
        y: Operand,
        *,
        transpose: bool = False,
        checked: CheckedFlag | None = None,
        scope: MemoryScope | None = None,
        semantics: MemorySemantics | None = None,
    ) -> None:
        super().__init__(
            operands=[matrix, memref, x, y],
            properties={**_access(transpose, checked), **atomic_modifiers(scope, semantics)},
            result_types=[SSAValue.get(matrix).type],
        )


@op_definition
class CooperativeMatrixAtomicAddOp(CooperativeMatrixAtomicUpdate):
    """Adds a matrix to memory ("Cooperative matrix atomic update").

    ```
    %old = cooperative_matrix_atomic_add %m, %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_atomic_add"


@op_definition
class CooperativeMatrixAtomicMaxOp(CooperativeMatrixAtomicUpdate):
    """Raises memory to a matrix ("Cooperative matrix atomic update").

    ```
    %old = cooperative_matrix_atomic_max %m, %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_atomic_max"


@op_definition
class CooperativeMatrixAtomicMinOp(CooperativeMatrixAtomicUpdate):
    """Lowers memory to a matrix ("Cooperative matrix atomic update").

    ```
    %old = cooperative_matrix_atomic_min %m, %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_atomic_min"


@op_definition
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

    def __init__(self, number: Operand, result_type: Attribute) -> None:
        super().__init__(operands=[number], result_types=[result_type])


@op_definition
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

    def __init__(self, matrix: Operand, index: int) -> None:
        super().__init__(
            operands=[matrix],
            properties={"index": integer_attribute(index)},
            result_types=[component_type(SSAValue.get(matrix).type)],
        )


@op_definition
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

    def __init__(self, value: Operand, matrix: Operand, index: int) -> None:
        super().__init__(
            operands=[value, matrix],
            properties={"index": integer_attribute(index)},
            result_types=[SSAValue.get(matrix).type],
        )


@op_definition
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

    def __init__(
        self,
        memref: Operand,
        x: Operand,
        y: Operand,
        result_type: Attribute,
        *,
        transpose: bool = False,
        checked: CheckedFlag | None = None,
    ) -> None:
        super().__init__(
            operands=[memref, x, y],
            properties={**_access(transpose, checked)},
            result_types=[result_type],
        )


@op_definition
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

    def __init__(
        self, a: Operand, b: Operand, c: Operand, result_type: Attribute | None = None
    ) -> None:
        super().__init__(operands=[a, b, c], result_types=[result_type or SSAValue.get(c).type])


@op_definition
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

    def __init__(
        self, level: int, memref: Operand, x: Operand, y: Operand, rows: int, columns: int
    ) -> None:
        super().__init__(
            operands=[memref, x, y],
            properties={
                "level": integer_attribute(level),
                "rows": integer_attribute(rows),
                "columns": integer_attribute(columns),
            },
        )


class CooperativeMatrixReduce(CooperativeMatrixOperation, ABC):
    """Reduces rows (M x 1 result) or columns (1 x N result) of a matrix."""

    SYNTAX: ClassVar[str] = ".reduce_mode $matrix : $result"

    matrix = operand_def(COOPMATRIX)
    reduce_mode = prop_def(ReduceModeAttr)
    result = result_def(COOPMATRIX)

    def __init__(self, reduce_mode: ReduceMode, matrix: Operand) -> None:
        type = SSAValue.get(matrix).type
        if not isinstance(type, CoopmatrixType):
            raise ValueError(f"expected a cooperative matrix, but got {type_text(type)}")
        rows, columns = (type.rows, 1) if reduce_mode is ReduceMode.ROW else (1, type.columns)
        reduced = CoopmatrixType.get(type.component_type, rows, columns, type.use)
        super().__init__(
            operands=[matrix],
            properties={"reduce_mode": ReduceModeAttr(reduce_mode)},
            result_types=[reduced],
        )


@op_definition
class CooperativeMatrixReduceAddOp(CooperativeMatrixReduce):
    """Sums of rows or columns ("Cooperative matrix reduce").

    ```
    %r = cooperative_matrix_reduce_add.row %m : coopmatrix<f32x16x1,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_reduce_add"


@op_definition
class CooperativeMatrixReduceMaxOp(CooperativeMatrixReduce):
    """Maxima of rows or columns ("Cooperative matrix reduce").

    ```
    %r = cooperative_matrix_reduce_max.column %m : coopmatrix<f32x1x16,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_reduce_max"


@op_definition
class CooperativeMatrixReduceMinOp(CooperativeMatrixReduce):
    """Minima of rows or columns ("Cooperative matrix reduce").

    ```
    %r = cooperative_matrix_reduce_min.row %m : coopmatrix<f32x16x1,matrix_acc>
    ```
    """

    name = "tensorlang.cooperative_matrix_reduce_min"


@op_definition
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

    def __init__(self, scalar: Operand, matrix: Operand) -> None:
        super().__init__(operands=[scalar, matrix], result_types=[SSAValue.get(matrix).type])


@op_definition
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

    def __init__(
        self,
        matrix: Operand,
        memref: Operand,
        x: Operand,
        y: Operand,
        *,
        transpose: bool = False,
        checked: CheckedFlag | None = None,
    ) -> None:
        super().__init__(
            operands=[matrix, memref, x, y], properties={**_access(transpose, checked)}
        )
