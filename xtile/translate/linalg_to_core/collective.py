"""Which structured operations are collective in the core form: products, and sums of rows.

A product adds up the products of two elements, a sum elements, in any order: that is what a loop
says that is not parallel. Numbers may be cast to the type of the output first, without loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, complex
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, UnitAttr, i64
from xdsl.dialects.memref import SubviewOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xtile.dialects.core.blas import GemmOp, GemvOp, SumOp
from xtile.dialects.linalg.structure import Structure
from xtile.dialects.memref.layouts import Layout, layout_of, with_layout
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.indices import Index
from xtile.translate.linalg_to_core.kernel import Kernel


def _slice_at(emitter: Emitter, memory: SSAValue, indices: Sequence[Index | None]) -> SSAValue:
    """The part of memory at some indices, whose other dimensions it keeps; None keeps one."""
    layout = layout_of(memory.type)
    assert layout is not None
    offsets: list[Index] = [0 if index is None else index for index in indices]
    sizes: list[Index] = [
        emitter.size((memory, dimension)) if index is None else 1
        for dimension, index in enumerate(indices)
    ]
    kept = [dimension for dimension, index in enumerate(indices) if index is None]
    start = layout.offset if all(offset == 0 for offset in offsets) else None
    shape = [layout.sizes[dimension] for dimension in kept]
    strides = [layout.strides[dimension] for dimension in kept]
    type_ = with_layout(memory.type, Layout(tuple(shape), tuple(strides), start))
    values = [
        [number for number in each if not isinstance(number, int)] for each in (offsets, sizes)
    ]
    none: list[SSAValue] = []
    return emitter.emit(
        SubviewOp.build(
            operands=[memory, *values, none],
            result_types=[type_],
            properties={
                "static_offsets": _static(offsets),
                "static_sizes": _static(sizes),
                "static_strides": _static([1] * len(sizes)),
            },
        )
    ).results[0]


def _static(numbers: Sequence[Index]) -> DenseArrayBase:
    known = [number if isinstance(number, int) else DYNAMIC_INDEX for number in numbers]
    return DenseArrayBase.from_list(i64, known)


_SUMS = (arith.AddfOp, arith.AddiOp, complex.AddOp)
_PRODUCTS = (arith.MulfOp, arith.MuliOp, complex.MulOp)
_CASTS = (arith.ExtFOp, arith.ExtSIOp)


@dataclass(frozen=True)
class Product:
    """A product of matrices, or of a matrix and a vector, for each number of some loops.

    Attributes:
        factors: The numbers of the two inputs, in the order of the product.
        are_transposed: Whether the matrices are transposed.
        is_of_vector: Whether the second factor is a vector.
        batch: The loops that all operands have in common.
    """

    factors: tuple[int, int]
    are_transposed: tuple[bool, bool]
    is_of_vector: bool
    batch: Sequence[int]


@dataclass(frozen=True)
class RowSum:
    """The sums of a matrix's rows, or the sum of a vector.

    Attributes:
        is_transposed: Whether the matrix is transposed.
    """

    is_transposed: bool


def as_product(structure: Structure) -> Product | None:
    """The product that an operation is; None if it is none."""
    if len(structure.inputs) != 2 or len(structure.outputs) != 1 or not _multiplies(structure):
        return None
    loops = [_loops(map_) for map_ in structure.maps]
    if any(each is None for each in loops):
        return None
    a, b, c = (each or [] for each in loops)
    batch = [loop for loop in c if loop in a and loop in b]
    rows, columns = _without(c, b), _without(c, a)
    depth = [loop for loop in a if loop in b and loop not in c]
    everything = sorted({*batch, *rows, *columns, *depth})
    if len(depth) != 1 or structure.is_parallel[depth[0]]:
        return None
    if everything != list(range(len(structure.is_parallel))) or len({*a, *b, *c}) != len(
        everything
    ):
        return None
    if any(not structure.is_parallel[loop] for loop in everything if loop != depth[0]):
        return None
    return _arranged([_without(each, batch) for each in (a, b, c)], rows, columns, batch)


def _arranged(
    operands: Sequence[Sequence[int]],
    rows: Sequence[int],
    columns: Sequence[int],
    batch: Sequence[int],
) -> Product | None:
    """The product in the order of its factors in which the output has rows first."""
    a, b, c = operands
    if len(rows) == len(columns) == 1:
        first, second, factors = (a, b, (0, 1)) if c == [*rows, *columns] else (b, a, (1, 0))
        return Product(factors, (first[0] != c[0], second[1] != c[1]), False, batch)
    if len(rows) + len(columns) == 1:
        matrix, factors = (a, (0, 1)) if rows else (b, (1, 0))
        return Product(factors, (matrix[0] != c[0], False), True, batch)
    return None


def as_sum(structure: Structure) -> RowSum | None:
    """The sum that an operation is; None if it is none."""
    if len(structure.inputs) != 1 or len(structure.outputs) != 1:
        return None
    added = _added(structure)
    loops = [_loops(map_) for map_ in structure.maps]
    if added is None or _uncast(added) is not structure.body.args[0] or None in loops:
        return None
    a, b = (each or [] for each in loops)
    if len(a) not in (1, 2) or len(b) != len(a) - 1 or not set(b) <= set(a):
        return None
    if [loop in b for loop in range(len(a))] != list(structure.is_parallel):
        return None
    return RowSum(len(a) == 2 and a[0] not in b)


def _loops(map_: AffineMap) -> list[int] | None:
    """The loops that the dimensions of an operand are; None if they are something else."""
    loops = [each.position for each in map_.results if isinstance(each, AffineDimExpr)]
    is_plain = len(loops) == len(map_.results) == len(set(loops))
    return loops if is_plain else None


def _without(loops: Sequence[int], others: Sequence[int]) -> list[int]:
    return [loop for loop in loops if loop not in others]


def _multiplies(structure: Structure) -> bool:
    """Whether the body adds the product of both inputs to the output."""
    product = _added(structure)
    operation = None if product is None else product.owner
    if not isinstance(operation, _PRODUCTS):
        return False
    factors = [_uncast(operand) for operand in operation.operands]
    a, b, _ = structure.body.args
    return factors in ([a, b], [b, a]) and a.type == b.type


def _added(structure: Structure) -> SSAValue | None:
    """What the body adds to the output; None if it does something else."""
    end = structure.body.last_op
    total = None if end is None else end.operands[0].owner
    out = structure.body.args[-1]
    if not isinstance(total, _SUMS) or out not in total.operands:
        return None
    left, right = total.operands
    return right if left is out else left


def _uncast(value: SSAValue) -> SSAValue:
    """What a number was before a cast that loses nothing."""
    operation = value.owner
    return operation.operands[0] if isinstance(operation, _CASTS) else value


def emit_product(product: Product, structure: Structure, kernel: Kernel) -> None:
    """Emits a product, or one for each number of the batch."""
    sizes = dict(enumerate(structure.sizes()))
    operands = structure.operands
    counts = [
        kernel.size((kernel.value(operands[sizes[loop][0]]), sizes[loop][1]))
        for loop in product.batch
    ]
    if counts:
        kernel.remark(
            "the products of a batch are computed one after the other, each by the work-group as "
            "a whole; a work-group for each, which gpu.block_id tells apart, computes them at once"
        )

    def one(numbers: Sequence[Index], carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        at = dict(zip(product.batch, numbers, strict=True))
        parts = [_part(structure, operand, at, kernel) for operand in (*product.factors, 2)]
        _emit_one(product, structure, parts, kernel)
        return ()

    kernel.nest(counts, (), one)


def _part(structure: Structure, operand: int, at: dict[int, Index], kernel: Kernel) -> SSAValue:
    """What one product has of an operand."""
    memory = kernel.value(structure.operands[operand])
    loops = _loops(structure.maps[operand]) or []
    indices = [at.get(loop) for loop in loops]
    return _slice_at(kernel, memory, indices) if at else memory


def _emit_one(
    product: Product, structure: Structure, parts: Sequence[SSAValue], kernel: Kernel
) -> None:
    a, b, c = parts
    in_type, out_type = (structure.body.args[number].type for number in (0, 2))
    alpha, beta = kernel.one(in_type), kernel.one(out_type)
    flags = {"transpose_a": product.are_transposed[0], "transpose_b": product.are_transposed[1]}
    kind = GemvOp if product.is_of_vector else GemmOp
    properties = {name: UnitAttr() for name, is_set in flags.items() if is_set}
    kernel.emit(kind.build(operands=[alpha, a, b, beta, c], properties=properties))


def emit_sum(row_sum: RowSum, structure: Structure, kernel: Kernel) -> None:
    """Emits a sum."""
    a, b = kernel.values(structure.operands)
    alpha, beta = (kernel.one(argument.type) for argument in structure.body.args)
    properties = {"transpose_a": UnitAttr()} if row_sum.is_transposed else {}
    kernel.emit(SumOp.build(operands=[alpha, a, beta, b], properties=properties))
