"""Which instructions of matrix units layouts and products of Triton name, chip by chip.

`xtile.targets.amd` has the table of the chips' instructions; here is what Triton adds to it.

Source: Triton 3.9, `third_party/amd`, `MfmaGroup.cpp` and `WmmaGroup.cpp`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from xtile.dialects.triton.encodings.matrix_units import AMDMfmaEncodingAttr, AMDWmmaEncodingAttr
from xtile.dialects.triton.module_attributes import TARGET
from xtile.dialects.triton.operation import element_of, encoding_of, shape_of
from xtile.dialects.triton.tt.enumerations import InputPrecision
from xtile.dialects.triton.tt.ops.products import DotOp
from xtile.targets import AMD
from xtile.targets.target import MatrixUnit, Target

_CHIP_OF_MFMA = {2: "gfx90a", 3: "gfx942", 4: "gfx950"}
"""The chip whose instructions a version of MFMA has."""

_SMALL = {"f32": 16, "f16": 64, "bf16": 64, "i8": 64}
"""K of the instructions of 4 x 64 and 64 x 4, which all chips with MFMA have, by A and B."""

_SCALED = {(16, 16): 128, (32, 32): 64}
"""K of the instructions of version 4 with scales, by M and N."""

_FLOATS_OF_OCP = frozenset({"f8E4M3FN", "f8E5M2"})
"""The floats of 8 bits that are multiplied as f16 before version 4."""


def chip_of(module: Operation | None) -> Target | None:
    """The chip of AMD that a module is for; None for others and for those that are not known."""
    target = None if module is None else module.attributes.get(TARGET)
    if not isinstance(target, StringAttr):
        return None
    return AMD.chips.get(target.data.removeprefix("hip:"))


def wmma_version(chip: Target) -> int | None:
    """The version of a chip's WMMA instructions; None if it has none."""
    versions = {unit.version for unit in chip.matrix_units if unit.instruction == "WMMA"}
    return next(iter(versions), None)


def mfma_version(chip: Target) -> int | None:
    """The version of a chip's MFMA instructions; None if it has none."""
    return next((number for number, name in _CHIP_OF_MFMA.items() if name == chip.name), None)


def depths(product: DotOp, chip: Target | None = None) -> list[int]:
    """K of the instructions that compute a `tt.dot`, the preferred one first.

    Args:
        product: Its result has a layout of MFMA or WMMA.
        chip: The chip; None takes all of the layout's version.
    """
    result = product.d.type
    layout = encoding_of(result)
    factors = str(element_of(product.a.type)), str(element_of(product.b.type))
    if isinstance(layout, AMDWmmaEncodingAttr):
        units = [unit for unit in _all_units("WMMA", chip) if unit.version == layout.version.data]
        sums = str(element_of(result))
        if layout.version.data == 3 and sums not in ("f32", "i32"):
            # The chip has such instructions, but Triton does not use them.
            return []
        units = [unit for unit in units if unit.sums == sums]
        rows, columns, *_ = layout.instr_shape.data
        return _depths(units, rows, columns, factors)
    assert isinstance(layout, AMDMfmaEncodingAttr)
    version = layout.version.data
    is_tf32 = product.precision is InputPrecision.TF32
    if version == 3 and is_tf32 and set(factors) == {"f32"}:
        factors = "tf32", "tf32"
    elif version < 4 and set(factors) <= _FLOATS_OF_OCP:
        factors = "f16", "f16"
    rows, columns = layout.result_shape
    if rows != columns:
        depth = _SMALL.get(factors[0]) if factors[0] == factors[1] else None
        return [] if depth is None else [depth]
    of_version = AMD.chips.get(_CHIP_OF_MFMA.get(version, ""))
    if of_version is None:
        return []
    known = _depths(list(of_version.matrix_units), rows, columns, factors)
    if chip is None:
        return known
    there = _depths(list(chip.matrix_units), rows, columns, factors)
    return [depth for depth in known if depth in there]


def problem_of_product(product: DotOp, chip: Target) -> str | None:
    """Why a chip cannot compute a `tt.dot` as its layout says; None where it can."""
    layout = encoding_of(product.d.type)
    if not isinstance(layout, AMDMfmaEncodingAttr | AMDWmmaEncodingAttr):
        return None
    if isinstance(layout, AMDMfmaEncodingAttr) and layout.version.data == 1:
        return None
    known = depths(product, chip)
    rows, columns, *given = layout.instr_shape.data
    if known and (not given or given[0] in known):
        return None
    name = "MFMA" if isinstance(layout, AMDMfmaEncodingAttr) else "WMMA"
    a, b = element_of(product.a.type), element_of(product.b.type)
    shape = "x".join(map(str, layout.instr_shape.data))
    there = ", ".join(f"{rows}x{columns}x{depth}" for depth in known)
    what = f"of {a} and {b} with results of {element_of(product.d.type)}"
    return f"{chip.name} has no {name} version {layout.version.data} of {shape} {what}; " + (
        f"it has {there}" if there else f"nor another one of {rows}x{columns}"
    )


def depth_of(product: DotOp) -> int | None:
    """K of the instruction that Triton takes for a `tt.dot` whose layout does not say it."""
    known = depths(product)
    size = shape_of(product.a.type)[-1]
    return next((depth for depth in known if depth <= size), known[-1] if known else None)


def scaled_depth(layout: AMDMfmaEncodingAttr) -> int | None:
    """K of the instruction for a `tt.dot_scaled` whose layout does not say it."""
    rows, columns, *_ = layout.result_shape
    return _SCALED.get((rows, columns)) if layout.version.data == 4 else None


def _all_units(instruction: str, chip: Target | None) -> list[MatrixUnit]:
    chips = AMD.chips.values() if chip is None else (chip,)
    return [unit for each in chips for unit in each.matrix_units if unit.instruction == instruction]


def _depths(
    units: list[MatrixUnit], rows: int, columns: int, factors: tuple[str, str]
) -> list[int]:
    return [
        unit.depth
        for unit in units
        if (unit.rows, unit.columns) == (rows, columns) and (unit.a, unit.b) == factors
    ]
