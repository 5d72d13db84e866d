"""Which matrix unit computes a product, and the layouts that it asks for.

Source: Triton 3.9, `third_party/amd`, `AccelerateAMDMatmul.cpp`; `xtile/targets/amd.py` has the
instructions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.triton.encodings.distributed import LinearEncodingAttr
from xtile.dialects.triton.encodings.encoding import DistributedEncodingAttr
from xtile.dialects.triton.encodings.matrix_units import (
    AMDMfmaEncodingAttr,
    AMDWmmaEncodingAttr,
    DotOperandEncodingAttr,
)
from xtile.dialects.triton.matrix_instructions import mfma_version
from xtile.dialects.triton.operation import element_of, shape_of
from xtile.dialects.triton.tt.enumerations import InputPrecision, ScaleDotElemType
from xtile.dialects.triton.tt.ops.products import DotOp, DotScaledOp
from xtile.layouts.triton import Wmma
from xtile.targets.target import MatrixUnit, Target
from xtile.translate.triton_to_amdg.blocked import Machine
from xtile.translate.triton_to_amdg.scaled_products import (
    WIDTH,
    ScaledUnit,
    layout_of_scales,
    scaled_unit,
    unscaled_unit,
)

_FILLED_UP = 3
"""The version of WMMA whose operands may have less depth than the instruction."""

_SUMS = 2
"""The operand of a product that is added; before it are factors, and behind it scales."""

_WMMA_WIDTHS = {1: 16, 2: 8}
"""The elements along K that a lane has in a row, by the version of WMMA."""


@dataclass(frozen=True)
class Product:
    """How a product is computed.

    Attributes:
        layout: The layout of the result.
        width: The elements along K that a lane of an operand has in a row; 0 where each lane
            computes its own elements.
        factors: The types of the operands' elements.
        sums: The type of the result's elements, before it is what the source asks for.
        precision: What factors of f32 are rounded to.
        scales: The layouts of the scales of both factors, where these have scales.
        elements: What the factors are, where an instruction for scales multiplies them without.
    """

    layout: DistributedEncodingAttr
    width: int
    factors: tuple[Attribute, Attribute]
    sums: Attribute
    precision: InputPrecision = InputPrecision.IEEE
    scales: tuple[LinearEncodingAttr, LinearEncodingAttr] | None = None
    elements: tuple[ScaleDotElemType, ScaleDotElemType] | None = None

    def operand(self, index: int) -> DotOperandEncodingAttr:
        """The layout of the left or the right operand."""
        return DotOperandEncodingAttr(index, self.layout, self.width)

    def wanted(self, index: int) -> DistributedEncodingAttr | None:
        """The layout that is asked for of an operand; None of factors, which come in any one."""
        if index < _SUMS:
            return None
        return self.layout if index == _SUMS or self.scales is None else self.scales[index - 3]


def product_of(operation: DotOp | DotScaledOp, chip: Target, machine: Machine) -> Product:
    """How a chip computes a product: with the first unit that fits, or in each lane."""
    if isinstance(operation, DotScaledOp):
        return _scaled_product(operation, chip, machine)
    sums = _sums(operation)
    unscaled = unscaled_unit(operation, chip)
    if unscaled is not None:
        unit, elements = unscaled
        layout = _layout_of_scaled(unit, operation, chip, machine)
        factors = element_of(operation.a.type), element_of(operation.b.type)
        return Product(layout, WIDTH, factors, f32, elements=elements)
    for factors, precision in _ways(operation):
        names = [str(factor) for factor in factors]
        if precision is InputPrecision.TF32:
            names = ["tf32", "tf32"]
        units = [
            unit
            for unit in chip.units("MFMA", "WMMA")
            if [unit.a, unit.b, unit.sums] == [*names, str(sums)] and _fits(unit, operation)
        ]
        if units:
            unit = max(units, key=lambda unit: _preference(unit, operation, machine))
            layout = _layout(unit, operation, chip, machine)
            return Product(layout, _width(unit), factors, sums, precision)
    shape = shape_of(operation.d.type)
    fair = prod(shape) // (machine.lanes * machine.warps)
    # A lane has a square of the result, so that it needs few elements of the operands for it.
    side = max((each for each in (4, 2) if each * each <= fair), default=1)
    # Lanes multiply floats of the type of the sums; of integers they take dot products of bytes.
    is_float = str(sums).startswith("f")
    given = element_of(operation.a.type), element_of(operation.b.type)
    factors = (sums, sums) if is_float else given
    return Product(machine.blocked(shape, None, side, side), 0, factors, sums)


def _sums(operation: DotOp) -> Attribute:
    """The type of sums: narrow floats are rounded once, at the end."""
    result = element_of(operation.d.type)
    return f32 if str(result) in ("f16", "bf16") else result


def _ways(operation: DotOp) -> Iterator[tuple[tuple[Attribute, Attribute], InputPrecision]]:
    """The types of factors that give the product, without loss, and how these are rounded."""
    given = element_of(operation.a.type), element_of(operation.b.type)
    if operation.precision is InputPrecision.TF32 and given == (f32, f32):
        yield given, InputPrecision.TF32
    yield given, InputPrecision.IEEE
    if all(str(factor).startswith("f8") for factor in given):
        # f16 has all numbers of all floats of 8 bits.
        yield (f16, f16), InputPrecision.IEEE


def _scaled_product(operation: DotScaledOp, chip: Target, machine: Machine) -> Product:
    """A product with scales, which `compose_scaled` has left alone."""
    unit = scaled_unit(operation, chip)
    assert unit is not None
    assert operation.a_scale is not None
    assert operation.b_scale is not None
    layout = _layout_of_scaled(unit, operation, chip, machine)
    warps = tuple(layout.warps_per_cta.data)
    scales = (
        layout_of_scales(unit, shape_of(operation.a_scale.type), warps, 0),
        layout_of_scales(unit, shape_of(operation.b_scale.type), warps, 1),
    )
    factors = element_of(operation.a.type), element_of(operation.b.type)
    return Product(layout, WIDTH, factors, f32, scales=scales)


def _layout_of_scaled(
    unit: ScaledUnit, operation: DotOp | DotScaledOp, chip: Target, machine: Machine
) -> AMDMfmaEncodingAttr:
    shape = shape_of(operation.d.type)
    warps = _warps(unit.rows, unit.rows, operation, shape, machine.warps)
    version = mfma_version(chip)
    assert version is not None
    return AMDMfmaEncodingAttr(version, warps, (unit.rows, unit.rows, unit.depth), True)


def _fits(unit: MatrixUnit, operation: DotOp) -> bool:
    *_, rows, columns = shape_of(operation.d.type)
    depth = shape_of(operation.a.type)[-1]
    # WMMA of gfx1250 is filled up with zeros.
    is_deep_enough = unit.depth <= depth or unit.version == _FILLED_UP
    return unit.rows <= rows and unit.columns <= columns and is_deep_enough


def _preference(unit: MatrixUnit, operation: DotOp, machine: Machine) -> tuple[bool, int, int]:
    """Units that leave no warp without work, then large results, then deep ones."""
    *_, rows, columns = shape_of(operation.d.type)
    batches = prod(shape_of(operation.d.type)) // (rows * columns)
    # Warps of products that feed each other go along rows only.
    across = 1 if _is_chained(operation) else columns // unit.columns
    count = batches * (rows // unit.rows) * across
    depth = shape_of(operation.a.type)[-1]
    useful = unit.depth if unit.depth <= depth else -unit.depth
    return count >= machine.warps, unit.rows * unit.columns, useful


def _width(unit: MatrixUnit) -> int:
    """The elements along K that a lane of an operand has in a row."""
    assert unit.lanes is not None
    if unit.instruction == "MFMA":
        return unit.depth * unit.rows // unit.lanes
    return _WMMA_WIDTHS.get(unit.version) or {4: 2, 128: 16}.get(unit.depth, 8)


def _layout(
    unit: MatrixUnit, operation: DotOp, chip: Target, machine: Machine
) -> DistributedEncodingAttr:
    shape = shape_of(operation.d.type)
    warps = _warps(unit.rows, unit.columns, operation, shape, machine.warps)
    instruction = (unit.rows, unit.columns, unit.depth)
    if unit.instruction == "MFMA":
        bits = 64 if unit.sums == "f64" else 32
        version = mfma_version(chip)
        assert version is not None
        return AMDMfmaEncodingAttr(version, warps, instruction, True, element_bit_width=bits)
    return AMDWmmaEncodingAttr(
        unit.version,
        unit.version > 1,
        Wmma.of_warps(unit.version, warps).subgroups,
        instr_shape=(16, 16, 16) if unit.version < 3 else instruction,
        rank=len(shape),
    )


def _warps(
    rows: int, columns: int, operation: DotOp | DotScaledOp, shape: Sequence[int], warps: int
) -> tuple[int, ...]:
    """The warps along each dimension of the result.

    They go along rows only where a product feeds another one, so that a row stays in its warp;
    else along both, so that operands are shared.
    """
    if len(shape) == 3:
        return warps, 1, 1
    tiles = [max(1, shape[0] // rows), max(1, shape[1] // columns)]
    shares = [1, 1]
    while prod(shares) < warps:
        left = [tiles[d] // shares[d] for d in (0, 1)]
        is_row = _is_chained(operation) or left[0] >= left[1]
        shares[0 if is_row else 1] *= 2
    return shares[0], shares[1]


def _is_chained(operation: DotOp | DotScaledOp) -> bool:
    """Whether the left operand comes from a product, or the result becomes one's left operand."""
    return _comes_from_product(operation.a) or any(
        isinstance(other, DotOp) and other is not operation and operation.d in _sources(other.a)
        for other in _neighbours(operation)
    )


def _neighbours(operation: Operation) -> Iterator[Operation]:
    block = operation.parent
    return iter(()) if block is None else iter(block.ops)


def _comes_from_product(value: SSAValue) -> bool:
    return any(isinstance(source.owner, DotOp) for source in _sources(value))


def _sources(value: SSAValue) -> set[SSAValue]:
    """What a value is computed of in its block."""
    found: set[SSAValue] = set()
    rest = [value]
    while rest:
        each = rest.pop()
        owner = each.owner
        if each in found:
            continue
        found.add(each)
        if isinstance(owner, Operation) and (owner.parent is getattr(value.owner, "parent", None)):
            rest += owner.operands if not isinstance(owner, DotOp) else owner.operands[2:]
    return found
