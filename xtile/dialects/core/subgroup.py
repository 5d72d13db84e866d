"""Operations on a subgroup's matrices, which are two-dimensional vectors, and on its lanes."""

from __future__ import annotations

from typing import cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    VectorType,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, NoTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.core.attributes import AtomicKind, ScanKind
from xtile.dialects.definitions import op_definition
from xtile.dialects.memory_orders import ordering_of


@irdl_attr_definition
class AtomicKindAttr(EnumAttribute[AtomicKind], SpacedOpaqueSyntaxAttribute):
    """`#core<atomic_kind addf>`."""

    name = "core.atomic_kind"


@irdl_attr_definition
class ScanKindAttr(EnumAttribute[ScanKind], SpacedOpaqueSyntaxAttribute):
    """`#core<scan_kind add>`."""

    name = "core.scan_kind"


@op_definition
class ParallelOp(IRDLOperation):
    """A region of a block-level kernel that every work-item executes on its own.

    ```
    core.parallel {
      %lane = gpu.lane_id
    }
    ```
    """

    name = "core.parallel"

    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "$body attr-dict"


def is_collective(operation: Operation) -> bool:
    """Whether a work-group executes an operation as a whole: it stands in no `core.parallel`."""
    around = operation.parent_op()
    while around is not None and not isinstance(around, ParallelOp):
        around = around.parent_op()
    return around is None


@op_definition
class YieldOp(IRDLOperation):
    """Ends the region of `core.map` and returns one component of each of its results.

    ```
    core.yield %value : f32
    ```
    """

    name = "core.yield"

    values = var_operand_def(Attribute)

    traits = traits_def(IsTerminator())

    assembly_format = "$values attr-dict `:` type($values)"


@op_definition
class MapOp(IRDLOperation):
    """Computes each component of matrices from its row, its column and the values in its place.

    ```
    %r = core.map %m : vector<8x16xf32> -> vector<8x16xf32> {
    ^bb0(%row: index, %column: index, %value: f32):
      %twice = arith.addf %value, %value : f32
      core.yield %twice : f32
    }
    ```

    There may be several matrices and results, all of one shape, with a value for each matrix and a
    yielded one for each result. The region runs once for each component, by the work-item that
    holds it. A value from outside that differs between work-items is that work-item's.
    """

    name = "core.map"

    sources = var_operand_def(VectorType)
    mapped = var_result_def(VectorType)
    body = region_def("single_block")

    assembly_format = "$sources `:` type($sources) `->` type($mapped) $body attr-dict"

    @override
    def verify_(self) -> None:
        shapes = {cast("VectorType[Attribute]", v.type).get_shape() for v in self.operands}
        shapes |= {cast("VectorType[Attribute]", v.type).get_shape() for v in self.results}
        if not self.operands or not self.results or len(shapes) != 1:
            raise VerifyException("expected matrices and results of one shape")
        block = self.body.block
        elements = [cast("VectorType[Attribute]", v.type).element_type for v in self.operands]
        if [argument.type for argument in block.args] != [IndexType(), IndexType(), *elements]:
            raise VerifyException("expected a region of a row, a column and a value of each matrix")
        end = block.last_op
        elements = [cast("VectorType[Attribute]", v.type).element_type for v in self.results]
        if not isinstance(end, YieldOp) or [v.type for v in end.operands] != elements:
            raise VerifyException("expected core.yield with a value for each result")


@op_definition
class FragmentExtractOp(IRDLOperation):
    """The entry `index` of the calling work-item's part of a matrix.

    ```
    %s = core.fragment_extract %m[3] : vector<8x16xf32>
    ```

    Which entry is which component stands in docs/core-form.md, section "Fragments". An entry past
    the end of the matrix is 0.
    """

    name = "core.fragment_extract"

    source = operand_def(VectorType)
    index = prop_def(IntegerAttr[I64])
    result = result_def(Attribute)

    traits = traits_def(Pure())

    assembly_format = "$source `[` $index `]` attr-dict `:` type($source) `->` type($result)"


@op_definition
class FragmentInsertOp(IRDLOperation):
    """A matrix in which each work-item has replaced the entry `index` of its part.

    ```
    %r = core.fragment_insert %s, %m[3] : f32, vector<8x16xf32>
    ```

    Which entry is which component stands in docs/core-form.md, section "Fragments". A value for
    an entry past the end of the matrix is dropped.
    """

    name = "core.fragment_insert"

    value = operand_def(Attribute)
    dest = operand_def(VectorType)
    index = prop_def(IntegerAttr[I64])
    result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = (
        "$value `,` $dest `[` $index `]` attr-dict "
        "`:` type($value) `,` type($dest) `->` type($result)"
    )


@op_definition
class AtomicUpdateOp(IRDLOperation):
    """Updates elements of memory atomically and returns what they were before.

    ```
    %old = core.atomic_update addf %m, %memory[%i, %j] checked [1]
        : vector<8x16xf32>, memref<?x?xf32> -> vector<8x16xf32>
    ```

    A vector is the block of memory that starts at the indices; with `transpose`, the vector's
    rows are the memory's columns. An element outside of the memref's shape along one of the
    memory's `checked` dimensions is left alone, and its old value is 0. A scalar, also a
    complex one, updates one element; complex parts may be updated one after the other.
    """

    name = "core.atomic_update"

    value = operand_def(Attribute)
    memory = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    kind = prop_def(AtomicKindAttr)
    checked = prop_def(DenseArrayBase.constr(i64))
    transpose = opt_prop_def(UnitAttr)
    result = result_def(Attribute)

    assembly_format = (
        "$kind (`transpose` $transpose^)? $value `,` $memory `[` $indices `]` `checked` "
        "$checked attr-dict `:` type($value) `,` type($memory) `->` type($result)"
    )

    @override
    def verify_(self) -> None:
        ordering_of(self)


@op_definition
class PrefetchOp(IRDLOperation):
    """Asks for a block of memory to be brought into a cache.

    ```
    core.prefetch %memory[%i, %j] block [32, 16] level 1 : memref<64x64xf16>
    ```

    `block` is the number of rows and columns, `level` the cache level from 0, the nearest.
    """

    name = "core.prefetch"

    memory = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    block = prop_def(DenseArrayBase.constr(i64))
    level = prop_def(IntegerAttr[I64])

    assembly_format = (
        "$memory `[` $indices `]` `block` $block `level` $level attr-dict `:` type($memory)"
    )


@op_definition
class SubgroupScanOp(IRDLOperation):
    """Combines the values of the work-items of a subgroup up to and with each one.

    ```
    %r = core.subgroup_scan add exclusive %v : f32
    ```

    With `exclusive`, without the work-item's own value; the first one's result is then the
    identity: 0 for add, the smallest or largest value of the type for max and min, infinite for
    floats.
    """

    name = "core.subgroup_scan"

    value = operand_def(Attribute)
    kind = prop_def(ScanKindAttr)
    exclusive = opt_prop_def(UnitAttr)
    result = result_def(Attribute)

    assembly_format = (
        "$kind (`exclusive` $exclusive^)? $value attr-dict `:` type($value) `->` type($result)"
    )
