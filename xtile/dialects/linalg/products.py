"""Products of matrices and vectors, alone and in batches.

Source: MLIR (LLVM 22), `Dialect/Linalg/IR/LinalgOps.td` and `LinalgNamedStructuredOps.yaml`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.dialects.linalg import ops
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Operation
from xdsl.ir.affine import AffineMap
from xdsl.irdl import base, opt_prop_def, prop_def

from xtile.dialects.definitions import op_definition
from xtile.dialects.linalg.assembly import NamedText, map_attributes
from xtile.dialects.linalg.elementwise import CAST, Named
from xtile.dialects.linalg.structure import TypeFnAttr
from xtile.dialects.upstream import completes

Maps = tuple[AffineMap, AffineMap, AffineMap]
"""The maps of both factors and the product."""


@completes(properties=CAST)
class MatmulOp(NamedText, ops.MatmulOp):
    """C += A B; indexing maps may transpose A or B, or repeat a row or a column.

    ```
    linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
    ```
    """


class Contraction(Named):
    """A product that xDSL lacks. Numbers are cast to the type of the output first."""

    MAPS: ClassVar[Maps]

    @override
    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        return self.MAPS

    @override
    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        kept = self.MAPS[-1].results
        parallel, reduction = IteratorTypeAttr.parallel(), IteratorTypeAttr.reduction()
        loops = self.MAPS[-1].num_dims
        return ArrayAttr([parallel] * len(kept) + [reduction] * (loops - len(kept)))


def _maps(a: str, b: str, c: str) -> Maps:
    """The maps of operands whose dimensions are these loops; those of `c` come first."""
    loops = c + "".join(sorted({*a, *b} - {*c}))

    def map_of(letters: str) -> AffineMap:
        identity = AffineMap.identity(len(loops))
        return AffineMap(len(loops), 0, tuple(identity.results[loops.index(x)] for x in letters))

    return map_of(a), map_of(b), map_of(c)


@op_definition
class BatchMatmulOp(Contraction):
    """C[n] += A[n] B[n] for each n; indexing maps may transpose matrices.

    ```
    linalg.batch_matmul ins(%a, %b : memref<2x4x8xf32>, memref<2x8x6xf32>)
        outs(%c : memref<2x4x6xf32>)
    ```
    """

    name = "linalg.batch_matmul"
    MAPS: ClassVar[Maps] = _maps("nik", "nkj", "nij")

    indexing_maps = prop_def(ArrayAttr[AffineMapAttr], default_value=map_attributes(*MAPS))
    cast = opt_prop_def(base(TypeFnAttr))

    @override
    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        return self.indexing_maps


@op_definition
class MatvecOp(Contraction):
    """c += A b.

    ```
    linalg.matvec ins(%a, %b : memref<4x8xf32>, memref<8xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.matvec"
    IS_MEMOIZED: ClassVar[bool] = True
    MAPS: ClassVar[Maps] = _maps("ik", "k", "i")
    cast = opt_prop_def(base(TypeFnAttr))


@op_definition
class VecmatOp(Contraction):
    """c += a^T B.

    ```
    linalg.vecmat ins(%a, %b : memref<8xf32>, memref<8x6xf32>) outs(%c : memref<6xf32>)
    ```
    """

    name = "linalg.vecmat"
    IS_MEMOIZED: ClassVar[bool] = True
    MAPS: ClassVar[Maps] = _maps("k", "kj", "j")
    cast = opt_prop_def(base(TypeFnAttr))


@op_definition
class DotOp(Contraction):
    """c += a^T b.

    ```
    linalg.dot ins(%a, %b : memref<8xf32>, memref<8xf32>) outs(%c : memref<f32>)
    ```
    """

    name = "linalg.dot"
    IS_MEMOIZED: ClassVar[bool] = True
    MAPS: ClassVar[Maps] = _maps("k", "k", "")
    cast = opt_prop_def(base(TypeFnAttr))


@op_definition
class BatchMatvecOp(Contraction):
    """c[n] += A[n] b[n] for each n.

    ```
    linalg.batch_matvec ins(%a, %b : memref<2x4x8xf32>, memref<2x8xf32>) outs(%c : memref<2x4xf32>)
    ```
    """

    name = "linalg.batch_matvec"
    IS_MEMOIZED: ClassVar[bool] = True
    MAPS: ClassVar[Maps] = _maps("nik", "nk", "ni")
    cast = opt_prop_def(base(TypeFnAttr))


@op_definition
class BatchVecmatOp(Contraction):
    """c[n] += a[n]^T B[n] for each n.

    ```
    linalg.batch_vecmat ins(%a, %b : memref<2x8xf32>, memref<2x8x6xf32>) outs(%c : memref<2x6xf32>)
    ```
    """

    name = "linalg.batch_vecmat"
    IS_MEMOIZED: ClassVar[bool] = True
    MAPS: ClassVar[Maps] = _maps("nk", "nkj", "nj")
    cast = opt_prop_def(base(TypeFnAttr))


OPERATIONS: list[type[Operation]] = [
    BatchMatmulOp,
    BatchMatvecOp,
    BatchVecmatOp,
    DotOp,
    MatmulOp,
    MatvecOp,
    VecmatOp,
]
"""The operations of this module."""
