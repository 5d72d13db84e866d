"""The layouts of the three matrices of a matrix unit's product D (M x N) := A B + C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xtile.layouts import amd, intel
from xtile.layouts.layout import Layout
from xtile.layouts.linear import LayoutError, LinearLayout


@dataclass(frozen=True)
class Operands:
    """What registers of lanes, or for AMX elements of rows of tiles, hold of the matrices.

    Attributes:
        a: A, with the indices M and K as `dim0` and `dim1`.
        b: B, with K and N.
        c: C and D, with M and N.
    """

    a: Layout
    b: Layout
    c: Layout


def operands(
    instruction: str, rows: int, columns: int, depth: int, bits: int, version: int = 2
) -> Operands:
    """The layouts of a product, as a chip's table has it in a row.

    Args:
        instruction: `dpas`, `AMX`, `MFMA` or `WMMA`.
        rows: M.
        columns: N.
        depth: K.
        bits: Bits of an element of A and B.
        version: Of WMMA: 1 for gfx11, 2 for gfx12, 3 for gfx1250.

    Raises:
        LayoutError: There is no such instruction, or none of this shape.
    """
    make = _INSTRUCTIONS.get(instruction)
    if make is None:
        names = ", ".join(_INSTRUCTIONS)
        raise LayoutError(f"there is no matrix instruction {instruction}; there are {names}")
    return make(rows, columns, depth, bits, version)


def _dpas(rows: int, columns: int, depth: int, bits: int, _version: int) -> Operands:
    words = depth // intel.elements_of_a_word(bits)
    return Operands(
        intel.dpas_a(rows, words, columns, bits),
        intel.dpas_b(words, columns, bits),
        intel.dpas_c(rows, columns),
    )


def _amx(rows: int, columns: int, depth: int, bits: int, _version: int) -> Operands:
    return Operands(
        intel.amx_a(rows, depth, bits),
        intel.amx_b(depth, columns, bits),
        intel.amx_c(rows, columns),
    )


def _mfma(rows: int, columns: int, depth: int, bits: int, _version: int) -> Operands:
    return Operands(
        _left(amd.mfma_operand(rows, depth)),
        _right(amd.mfma_operand(columns, depth)),
        Layout.of(amd.mfma_result(rows, columns, bits=bits).project("dim0", "dim1")),
    )


def _wmma(rows: int, columns: int, depth: int, _bits: int, version: int) -> Operands:
    # How lanes share K does not matter, as long as A and B share it in the same way.
    width = depth if version == 1 else depth // 2
    return Operands(
        _left(amd.wmma_operand(version, width, depth, rows)),
        _right(amd.wmma_operand(version, width, depth, columns)),
        Layout.of(amd.wmma_result(version, rows)),
    )


def _left(operand: LinearLayout) -> Layout:
    operand = operand.project("outer", "inner")
    return Layout.of(operand.renamed(outputs={"outer": "dim0", "inner": "dim1"}))


def _right(operand: LinearLayout) -> Layout:
    operand = operand.project("inner", "outer")
    return Layout.of(operand.renamed(outputs={"inner": "dim0", "outer": "dim1"}))


_INSTRUCTIONS: dict[str, Callable[[int, int, int, int, int], Operands]] = {
    "dpas": _dpas,
    "AMX": _amx,
    "MFMA": _mfma,
    "WMMA": _wmma,
}
