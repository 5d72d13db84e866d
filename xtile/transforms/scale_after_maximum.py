"""Scales the maximum of a tile instead of the tile, where exponentials take what is left over.

A softmax computes powers of `s x - m`, where `m` is the largest `s x` of a row or column. A number
is scaled twice for that: once for the maximum, and once for the power. But the largest `s x` is `s`
times the largest `x`, or the smallest one if `s` is negative, because rounding never changes which
of two numbers is larger. And a fused multiply-add makes `s x - m` at the cost of the difference:

    m = max(s x)                 m = s (s < 0 ? min(x) : max(x))
    p = exp2(s x - m)    --->    p = exp2(fma(x, s, -m))

The power is rounded less often, which only those may notice that allow an approximation
(`fastmath<afn>`); docs/nvidia.md, "Powers relative to a maximum", says how large scores may be.
Elements that a mask leaves out are -inf before and after they are scaled, so that they are infinite
with the sign of `s`, and a factor nearer to 0 than 2^-126 counts as that: the powers of numbers
below 2^100 are the same, 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, f32
from xdsl.dialects.math import AbsFOp, FmaOp
from xdsl.dialects.vector import BroadcastOp, CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Operation, SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.number_attributes import allows_approximation, says_how_to_round
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.attributes import neutral_float
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.vector.shapes import ShapeCastOp
from xtile.dialects.walk import walk
from xtile.rewrite.contractions import iteration_maps
from xtile.rewrite.folding import constant_number
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rule, RuleTable, copy
from xtile.rewrite.tile_emitter import TileEmitter, shape_of
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source, source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code


def scale_after_maximum(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Returns a module whose kernels of tiles scale maxima instead of tiles, where powers follow.

    Everything else stays as it is; without such a tile it is the module itself.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go that tell which tiles these are; None drops them.
    """
    found: dict[FuncOp, _Tiles] = {}

    def is_chosen(kernel: FuncOp) -> bool:
        if level_of(kernel) is not Level.TILE:
            return False
        found[kernel] = _tiles_of(kernel)
        return bool(found[kernel].scales)

    source = source_of(module)
    result = with_kernels_replaced(
        module,
        is_chosen,
        lambda kernel: rebuilt(kernel, _Scaling(found[kernel], source, diagnostics)),
    )
    if result is not module:
        remove_dead_code(result)
    return result


# --- which tiles ---

_Scale: TypeAlias = "SSAValue | float"
"""What every element of a tile is multiplied by: a scalar, or a constant."""


@dataclass
class _Tiles:
    """Tiles that stay as they are before they are scaled.

    Attributes:
        scales: The scale of each of them.
        differences: What subtracts something else from one of them, as the argument of powers.
        maxima: The reductions of one of them.
    """

    scales: dict[SSAValue, _Scale] = field(default_factory=dict[SSAValue, _Scale])
    differences: set[Operation] = field(default_factory=set[Operation])
    maxima: set[Operation] = field(default_factory=set[Operation])


def _tiles_of(kernel: FuncOp) -> _Tiles:
    found = _Tiles()
    for power in walk(kernel):
        difference = power.operands[0].owner if _is_power(power) else None
        tile = _minuend(difference) if isinstance(difference, Operation) else None
        if tile is None or tile in found.scales:
            continue
        scales: dict[SSAValue, _Scale] = {}
        if _find_scale(tile, scales) is None:
            continue
        uses = _Tiles(scales)
        if all(_may_be_scaled_later(each, uses) for each in scales) and uses.maxima:
            found.scales |= uses.scales
            found.differences |= uses.differences
            found.maxima |= uses.maxima
    return found


def _is_power(operation: Operation) -> bool:
    """Whether an operation computes powers of a tile of f32, as exactly as the device likes."""
    is_known = operation.name in ("math.exp", "math.exp2")
    return is_known and _is_tile(operation.operands[0]) and allows_approximation(operation)


def _is_tile(value: SSAValue) -> bool:
    return bool(shape_of(value.type)) and value_type(value.type) == f32


def _minuend(operation: Operation) -> SSAValue | None:
    """The tile that an operation subtracts a number for each of its elements from."""
    if isinstance(operation, arith.SubfOp):
        return None if says_how_to_round(operation) else operation.lhs
    if isinstance(operation, ContractionOp) and _subtracted(operation) is not None:
        return operation.acc
    return None


def _subtracted(product: ContractionOp) -> tuple[SSAValue, tuple[int, ...]] | None:
    """What a product with numbers that are all -1 subtracts from another tile.

    Returns:
        A factor, and the dimension of the result that each of its dimensions is; None if it is no
        such product.
    """
    lhs, rhs, sums = iteration_maps(product)
    factors = ((product.lhs, lhs, product.rhs), (product.rhs, rhs, product.lhs))
    for factor, map_, other in factors:
        shape = shape_of(factor.type)
        is_thin = all(n == 1 for n, each in zip(shape, map_, strict=True) if each not in sums)
        is_sum = product.kind.data is CombiningKindFlag.ADD and value_type(factor.type) == f32
        is_in_order = list(map_) == sorted(map_)
        if _constant_of(other) == -1 and is_thin and is_sum and is_in_order:
            return factor, tuple(each for each in map_ if each in sums)
    return None


def _find_scale(tile: SSAValue, found: dict[SSAValue, _Scale]) -> _Scale | None:
    """What a tile is multiplied by, which is recorded for it and for what it is chosen of."""
    owner = tile.owner
    scale: _Scale | None = None
    if isinstance(owner, arith.MulfOp) and _is_tile(tile) and not says_how_to_round(owner):
        scale = next(filter(None, map(_scale_of, owner.operands)), None)
    elif isinstance(owner, SelectOp | scf.IfOp):
        scales = [_find_scale(each, found) for each in _choices(owner, tile)]
        if scales and all(each == scales[0] for each in scales):
            scale = scales[0]
    if scale is not None:
        found[tile] = scale
    return scale


def _choices(operation: SelectOp | scf.IfOp, result: SSAValue) -> Iterator[SSAValue]:
    """What a result is one of, but for what a mask leaves out."""
    if isinstance(operation, SelectOp):
        yield from (
            each for each in (operation.lhs, operation.rhs) if _constant_of(each) != -math.inf
        )
        return
    number = list[SSAValue](operation.results).index(result)
    for region in operation.regions:
        last = region.block.last_op
        if last is not None:
            yield last.operands[number]


def _scale_of(factor: SSAValue) -> _Scale | None:
    """The number that all elements of a factor are, if it can be taken out of a maximum."""
    constant = _constant_of(factor)
    if constant is not None:
        return constant if _LEAST <= abs(constant) < math.inf else None
    origin = _origin(factor)
    return None if shape_of(origin.type) else origin


def _origin(tile: SSAValue) -> SSAValue:
    """What is repeated and reshaped to a tile."""
    while isinstance(tile.owner, BroadcastOp | ShapeCastOp):
        tile = tile.owner.operands[0]
    return tile


_LEAST = 2.0**-126
"""The least factor that is not counted as a larger one."""


def _constant_of(tile: SSAValue) -> float | None:
    """The constant that all elements of a tile are."""
    tile = _origin(tile)
    owner = tile.owner
    if not isinstance(owner, arith.ConstantOp):
        return None
    value = owner.value
    if isinstance(value, DenseIntOrFPElementsAttr):
        numbers = cast("tuple[float, ...]", value.get_values()[:1])
        return numbers[0] if value.is_splat() else None
    return constant_number(tile)


def _may_be_scaled_later(tile: SSAValue, found: _Tiles) -> bool:
    """Whether all that use a tile can do so before it is scaled; it records them."""
    for use in tile.uses:
        user = use.operation
        if isinstance(user, SelectOp) and user.result in found.scales:
            continue
        if isinstance(user, scf.YieldOp):
            choice = user.parent_op()
            if isinstance(choice, scf.IfOp) and choice.results[use.index] in found.scales:
                continue
        is_maximum = isinstance(user, MultiDimReductionOp) and user.kind.data in _OPPOSITES
        # It is not what the reduction begins with.
        if is_maximum and use.index == 0:
            found.maxima.add(user)
            continue
        is_minuend = _minuend(user) is tile and list(user.operands).count(tile) == 1
        if is_minuend and all(_is_power(each.operation) for each in user.results[0].uses):
            found.differences.add(user)
            continue
        return False
    return True


_OPPOSITES: Mapping[CombiningKindFlag, CombiningKindFlag] = {
    CombiningKindFlag.MAXIMUMF: CombiningKindFlag.MINIMUMF,
    CombiningKindFlag.MAXNUMF: CombiningKindFlag.MINNUMF,
}
"""For maxima of numbers that are scaled, what is taken where the scale is negative."""


# --- the kernel with scaled maxima ---


@dataclass(frozen=True)
class _Factor:
    """What tiles are scaled by.

    Attributes:
        scale: The number.
        is_negative: Whether it is negative: a truth value, or known.
        lowest: What becomes -inf when it is scaled.
    """

    scale: SSAValue
    is_negative: SSAValue | bool
    lowest: SSAValue


class _Scaling(TileEmitter):
    """Rebuilds one kernel.

    Args:
        tiles: The tiles that are not scaled any more.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(
        self, tiles: _Tiles, source: Source | None, diagnostics: Diagnostics | None
    ) -> None:
        super().__init__(_RULES, "scaled maxima", source, diagnostics)
        self.tiles = tiles

    def factor(self, old: _Scale) -> _Factor:
        """A scale, with what follows from its sign."""
        if not isinstance(old, SSAValue):
            lowest = math.copysign(math.inf, -old)
            return _Factor(self.constant(old, f32), old < 0, self.constant(lowest, f32))
        scale = self.value(old)
        return self.shared(("factor", scale), (scale,), lambda: self._factor(scale))

    def _factor(self, scale: SSAValue) -> _Factor:
        zero, least = self.constant(0.0, f32), self.constant(_LEAST, f32)
        infinity, lowest = (self.constant(each, f32) for each in (math.inf, -math.inf))
        is_negative = self.compare_floats("olt", scale, zero)
        size = self.emit(AbsFOp(scale)).result
        is_small = self.compare_floats("olt", size, least)
        size = self._chosen(is_small, least, size)
        opposite = self.emit(arith.NegfOp(size)).result
        return _Factor(
            self._chosen(is_negative, opposite, size),
            is_negative,
            self._chosen(is_negative, infinity, lowest),
        )

    def _chosen(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return self.emit(SelectOp(condition, yes, no)).result

    def scaled_maximum(self, old: MultiDimReductionOp, factor: _Factor) -> SSAValue:
        """The largest number of a tile when it is scaled."""
        largest = old.kind.data
        kinds = (largest, _OPPOSITES[largest])
        if isinstance(factor.is_negative, bool):
            found = self._reduced(old, kinds[factor.is_negative])
        else:
            found = self.choose(
                factor.is_negative,
                lambda: self._reduced(old, kinds[True]),
                lambda: self._reduced(old, kinds[False]),
            )
        scales = self.spread(factor.scale, shape_of(found.type))
        return self.emit(arith.MulfOp(found, scales)).result

    def _reduced(self, old: MultiDimReductionOp, kind: CombiningKindFlag) -> SSAValue:
        neutral = self.constant(neutral_float(kind.value), old.acc.type)
        properties = {**old.properties, "kind": CombiningKindAttr(kind)}
        operands = [self.value(old.source), neutral]
        return self.compute(MultiDimReductionOp, operands, old.dest.type, properties)

    def subtracted(self, difference: Operation) -> SSAValue:
        """What is added instead of being subtracted, for each element of a tile."""
        if isinstance(difference, arith.SubfOp):
            return self.emit(arith.NegfOp(self.value(difference.rhs))).result
        assert isinstance(difference, ContractionOp)
        found = _subtracted(difference)
        assert found is not None
        factor, dimensions = found
        shape = shape_of(difference.acc.type)
        thin = [n if d in dimensions else 1 for d, n in enumerate(shape)]
        opposite = self.emit(arith.NegfOp(self.value(factor))).result
        return self.spread(self.reshape(opposite, thin), shape)


def _product(operation: arith.MulfOp, kernel: _Scaling) -> None:
    if operation.result not in kernel.tiles.scales:
        copy(operation, kernel)
        return
    is_first = _scale_of(operation.lhs) is not None
    kernel.define(operation.result, kernel.value(operation.rhs if is_first else operation.lhs))
    kernel.remark("the maximum is scaled instead of the tile, for native powers", operation)


def _select(operation: SelectOp, kernel: _Scaling) -> None:
    scale = kernel.tiles.scales.get(operation.result)
    if scale is None:
        copy(operation, kernel)
        return
    shape = shape_of(operation.result.type)
    sides = [
        kernel.value(each)
        if each in kernel.tiles.scales
        else kernel.spread(kernel.factor(scale).lowest, shape)
        for each in (operation.lhs, operation.rhs)
    ]
    kernel.replace(operation, SelectOp(kernel.value(operation.cond), *sides))


def _maximum(operation: MultiDimReductionOp, kernel: _Scaling) -> None:
    if operation not in kernel.tiles.maxima:
        copy(operation, kernel)
        return
    maximum = kernel.scaled_maximum(operation, kernel.factor(kernel.tiles.scales[operation.source]))
    combine = (
        arith.MaxnumfOp if operation.kind.data is CombiningKindFlag.MAXNUMF else arith.MaximumfOp
    )
    kernel.replace(operation, combine(kernel.value(operation.acc), maximum))


def _difference(operation: Operation, kernel: _Scaling) -> None:
    tile = _minuend(operation)
    if tile is None or operation not in kernel.tiles.differences:
        copy(operation, kernel)
        return
    scale = kernel.factor(kernel.tiles.scales[tile]).scale
    scales = kernel.spread(scale, shape_of(tile.type))
    kernel.replace(operation, FmaOp(kernel.value(tile), scales, kernel.subtracted(operation)))


_ROWS: Mapping[str, Rule] = {
    "arith.mulf": _product,
    "arith.select": _select,
    "arith.subf": _difference,
    "vector.contract": _difference,
    "vector.multi_reduction": _maximum,
}

_RULES = RuleTable(_ROWS, otherwise=copy, keeps_rounding=True)
"""The rule of each operation, by name."""
