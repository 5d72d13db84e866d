"""Multiplies matrices of f32 as parts in tf32, for matrix units that do not take f32.

A factor x is h + 2^-24 l: h is x in tf32, and l is what that leaves over, times 2^24, in tf32, so
that no bit of it is too small to be kept. Of the product of two factors

    (h + 2^-24 l) (h' + 2^-24 l') = h h' + 2^-24 (h l' + l h') + 2^-48 l l'

the last term is left out: it is 2^-22 of the first at most. Each step of a loop adds its own
product to the sum in f32, because matrix units cut off what they add. The largest error against f64
is then below that of a chain of fused multiply-adds where a sum has many terms (docs/nvidia.md,
"Products of f32"); a loop with fewer stays as it is.

Parts of what is infinite, no number or close to overflow are not finite, and those of subnormal
numbers, for which the last term is larger, are made so. Where a sum is not finite, the loop is run
again with factors in f32; else that loop has no iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, prod
from typing import Any, TypeGuard

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseArrayBase, FloatTF32Type, ModuleOp, f32, i64
from xdsl.dialects.math import AbsFOp
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Operation, SSAValue

from xtile.dialects.arith.casts import ExtFOp, TruncFOp
from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.effects import is_pure, only_reads
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import with_element
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.walk import walk
from xtile.rewrite.contractions import iteration_maps
from xtile.rewrite.facts import constant_of
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rule, RuleTable, again, copy
from xtile.rewrite.tile_emitter import TileEmitter, shape_of
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source, source_of

_LEAST_DEPTHS = {16: 64}
_LEAST_DEPTH = 256
"""Sums of fewer products are not split: their errors in f32 are less than half of what is left out.

In steps of 16 matrix units cut off less of what they add. Measured on an H200, 10,000 products of
64 x 64 x 64 in steps of 16 and of 32, as parts of the error of fused multiply-adds: 1.2 and 1.4 for
standard normal factors, 1.1 and 1.4 if they are positive, 1.9 and 2.1 if times 2^-30 to 2^29.
"""

_LEAST_STEP = 16
"""Products whose steps are less deep are no products of matrices that matrix units would take."""

_SHIFT = 24
"""How far what tf32 leaves over is moved: it is a multiple of 2^-149, and tf32 has of 2^-136."""


def split_products(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Returns a module whose kernels of tiles multiply parts of f32.

    Everything else stays as it is; without such products it is the module itself.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go that tell which products these are; None drops them.
    """

    def is_chosen(kernel: FuncOp) -> bool:
        loops = (each for each in walk(kernel) if isinstance(each, scf.ForOp))
        return level_of(kernel) is Level.TILE and any(map(_sums_of, loops))

    source = source_of(module)
    return with_kernels_replaced(
        module, is_chosen, lambda kernel: rebuilt(kernel, _Splitting(source, diagnostics))
    )


# --- which products ---


def _sums_of(loop: scf.ForOp) -> dict[ContractionOp, int]:
    """The products that a loop adds up, each with the number of its sum among what is carried.

    There are none if another run of the loop would change anything, if something else uses a sum
    in the loop, or if there are too few terms.
    """
    products = [each for each in loop.body.block.ops if _is_split(each)]
    if not products or not all(_repeats(each) for each in walk(loop) if each is not loop):
        return {}
    found = {each: _number_of_sum(each, loop) for each in products}
    sums = {product: number for product, number in found.items() if number is not None}
    trips = _trips(loop)
    is_deep = trips is None or all(trips >= _least_trips(_depth(each)) for each in sums)
    return sums if is_deep and len(sums) == len(products) else {}


def _is_split(operation: Operation) -> TypeGuard[ContractionOp]:
    if not isinstance(operation, ContractionOp):
        return False
    is_f32 = all(value_type(each.type) == f32 for each in operation.operands)
    is_sum = operation.kind.data is CombiningKindFlag.ADD
    return is_f32 and is_sum and _depth(operation) >= _LEAST_STEP


def _depth(product: ContractionOp) -> int:
    """How many products of two elements are added up in a step."""
    factor, _, sums = iteration_maps(product)
    sizes = zip(factor, shape_of(product.lhs.type), strict=True)
    return prod(size for number, size in sizes if number not in sums)


def _least_trips(depth: int) -> int:
    """How many iterations a loop must have for products of a depth to be split."""
    return -(-_LEAST_DEPTHS.get(depth, _LEAST_DEPTH) // depth)


def _trips(loop: scf.ForOp) -> int | None:
    """How many iterations a loop has, if that is known."""
    first, last, step = map(constant_of, (loop.lb, loop.ub, loop.step))
    if first is None or last is None or not step:
        return None
    return max(0, -(-(last - first) // step))


def _repeats(operation: Operation) -> bool:
    """Whether an operation does nothing that doing it twice would change."""
    is_control = isinstance(operation, scf.ForOp | scf.IfOp | scf.YieldOp)
    return is_control or only_reads(operation) or is_pure(operation)


def _number_of_sum(product: ContractionOp, loop: scf.ForOp) -> int | None:
    body = loop.body.block
    assert body.last_op is not None
    carried = [i for i, each in enumerate(body.args[1:]) if each is product.acc]
    if not carried or not (product.acc.has_one_use() and product.result.has_one_use()):
        return None
    return carried[0] if body.last_op.operands[carried[0]] is product.result else None


# --- writing it ---


class _Splitting(TileEmitter):
    """Rebuilds one kernel."""

    def __init__(self, source: Source | None, diagnostics: Diagnostics | None) -> None:
        super().__init__(_RULES, "products of parts", source, diagnostics)

    def parts(self, factor: SSAValue) -> tuple[SSAValue, SSAValue]:
        """A factor in tf32, and what that leaves over times 2^24 in tf32."""
        short = with_element(factor.type, FloatTF32Type())
        return self.shared(("parts", factor), (factor,), lambda: self._parts(factor, short))

    def _parts(self, factor: SSAValue, short: Any) -> tuple[SSAValue, SSAValue]:
        type_ = factor.type
        high = self.compute(TruncFOp, [factor], short)
        rest = self.compute(arith.SubfOp, [factor, self.compute(ExtFOp, [high], type_)], type_)
        rest = self.compute(arith.MulfOp, [rest, self.constant(2.0**_SHIFT, type_)], type_)
        rest = self.compute(
            SelectOp, [self._is_subnormal(factor), self.constant(nan, type_), rest], type_
        )
        return high, self.compute(TruncFOp, [rest], short)

    def _is_subnormal(self, factor: SSAValue) -> SSAValue:
        type_ = factor.type
        size = self.compute(AbsFOp, [factor], type_)
        is_small = self.compare_floats("olt", size, self.constant(2.0**-126, type_))
        is_some = self.compare_floats("one", factor, self.constant(0.0, type_))
        return self.compute(arith.AndIOp, [is_small, is_some], is_small.type)

    def product(self, operation: ContractionOp) -> SSAValue:
        """A sum and the product of parts."""
        lhs, rhs, sums = self.values(operation.operands)
        type_ = sums.type

        def added(a: SSAValue, b: SSAValue, total: SSAValue) -> SSAValue:
            operands = [a, b, total]
            return self.compute(
                ContractionOp, operands, type_, operation.properties, operation.attributes
            )

        (high, low), (other_high, other_low) = self.parts(lhs), self.parts(rhs)
        crossed = added(low, other_high, self.constant(0.0, type_))
        crossed = added(high, other_low, crossed)
        scale = self.constant(2.0**-_SHIFT, type_)
        crossed = self.compute(arith.MulfOp, [crossed, scale], type_)
        total = added(high, other_high, crossed)
        return self.compute(arith.AddfOp, [sums, total], type_)

    def any_of(self, conditions: Sequence[SSAValue]) -> SSAValue:
        """Whether one of several conditions holds."""
        result, *others = conditions
        for other in others:
            result = self.compute(arith.OrIOp, [result, other], result.type)
        return result

    def is_not_finite(self, sums: SSAValue) -> SSAValue:
        """Whether an element of a vector is infinite or no number."""
        dimensions = DenseArrayBase.from_list(i64, list(range(len(shape_of(sums.type)))))
        largest = self.compute(
            MultiDimReductionOp,
            [self.compute(AbsFOp, [sums], sums.type), self.constant(0.0, f32)],
            f32,
            {"kind": CombiningKindAttr(CombiningKindFlag.MAXIMUMF), "reduction_dims": dimensions},
        )
        return self.compare_floats("uge", largest, self.constant(inf, f32))

    def chosen(self, condition: SSAValue, if_true: SSAValue, if_false: SSAValue) -> SSAValue:
        """One of two values, vectors as well."""
        return self.compute(SelectOp, [condition, if_true, if_false], if_true.type)

    def has_fewer_iterations(self, loop: scf.ForOp, number: int) -> SSAValue:
        """Whether a loop has fewer iterations than a number."""
        type_ = loop.lb.type
        least = self.constant(number, type_)
        least = self.compute(arith.MuliOp, [self.value(loop.step), least], type_)
        span = self.compute(arith.SubiOp, [self.value(loop.ub), self.value(loop.lb)], type_)
        return self.emit(arith.CmpiOp(span, least, "slt")).result


def _loop(operation: scf.ForOp, kernel: _Splitting) -> None:
    """A loop that adds products up, whose sums are checked behind it."""
    sums = _sums_of(operation)
    if not sums:
        copy(operation, kernel)
        return
    for product in sums:
        kernel.remark(
            "the product of f32 is three products of tf32 parts, and is computed in f32 where a "
            "sum is not finite or has few terms; --exact keeps it in f32",
            product,
        )
    first, last = kernel.value(operation.lb), kernel.value(operation.ub)
    initial = kernel.values(operation.iter_args)
    results = _run(operation, kernel, _OF_PARTS, last, initial)
    conditions = [kernel.is_not_finite(results[number]) for number in sums.values()]
    if _trips(operation) is None:
        least = max(_least_trips(_depth(each)) for each in sums)
        conditions.append(kernel.has_fewer_iterations(operation, least))
    is_wrong = kernel.any_of(conditions)
    # A branch around the loop would do, but tileiras 13.5 dies of some (docs/nvidia.md).
    last = kernel.chosen(is_wrong, last, first)
    initial = [kernel.chosen(is_wrong, *each) for each in zip(initial, results, strict=True)]
    for old, new in zip(
        operation.results, _run(operation, kernel, _IN_F32, last, initial), strict=True
    ):
        kernel.define(old, new)


def _run(
    loop: scf.ForOp,
    kernel: _Splitting,
    rules: RuleTable,
    last: SSAValue,
    initial: Sequence[SSAValue],
) -> list[SSAValue]:
    """The results of a loop with another end and other initial values."""
    with kernel.using(rules):
        made = again(
            loop,
            [kernel.value(loop.lb), last, kernel.value(loop.step), *initial],
            regions=[kernel.region(loop.body)],
        )
    return list(kernel.emit(made).results)


def _product(operation: ContractionOp, kernel: _Splitting) -> None:
    if _is_split(operation):
        kernel.define(operation.result, kernel.product(operation))
    else:
        copy(operation, kernel)


_ROWS: dict[str, Rule] = {scf.ForOp.name: _loop}

_RULES = RuleTable(_ROWS, otherwise=copy, keeps_rounding=True)
"""The rule of each operation, by name."""

_OF_PARTS = RuleTable({ContractionOp.name: _product}, otherwise=copy, keeps_rounding=True)
"""Those in a loop that is checked behind it."""

_IN_F32 = RuleTable(otherwise=copy, keeps_rounding=True)
"""Those in the same loop where it is run again."""
