"""What the lanes of a wave hold of the matrices that AMD's matrix instructions multiply.

D (M x N) := A (M x K) B (K x N) + C. Results have the indices `dim0` (M) and `dim1` (N), operands
`outer` (the row of A or the column of B) and `inner` (K). An instruction with several blocks
multiplies as many pairs of matrices, counted by `batch`.

Source: AMD, "CDNA3 Instruction Set Architecture", chapter "Matrix Arithmetic Instructions", and
"RDNA3" and "RDNA4 Instruction Set Architecture", "Wave Matrix Multiply Accumulate"; AMD Matrix
Instruction Calculator (github.com/ROCm/amd_matrix_instruction_calculator).
"""

from __future__ import annotations

from xtile.layouts.linear import LayoutError, LinearLayout

WAVE = 64
"""Lanes of a wave of CDNA."""

_EXTENT = 16
"""Rows and columns of what WMMA multiplies at once."""

_identity = LinearLayout.identity


def mfma_result(rows: int, columns: int, blocks: int = 1, bits: int = 32) -> LinearLayout:
    """C and D of an MFMA instruction.

    Groups of four rows (one in f64) are registers; then lanes go through the columns, then through
    the groups of rows, and what is left are registers again.

    Args:
        rows: M.
        columns: N.
        blocks: How many products the instruction computes.
        bits: Bits of an element of the result.
    """
    height = 1 if bits == 64 else 4
    lanes = min(WAVE // columns, rows // height)
    lane_blocks = WAVE // (columns * lanes)
    if blocks % lane_blocks:
        raise LayoutError(f"MFMA has no {rows}x{columns} results in {blocks} blocks")
    return (
        (
            _identity(height, "register", "dim0")
            * _identity(columns, "lane", "dim1")
            * _identity(lanes, "lane", "dim0")
            * _identity(rows // (height * lanes), "register", "dim0")
            * _identity(lane_blocks, "lane", "batch")
            * _identity(blocks // lane_blocks, "register", "batch")
        )
        .reordered("register", "lane")
        .transpose("batch", "dim0", "dim1")
    )


def mfma_operand(extent: int, depth: int, blocks: int = 1) -> LinearLayout:
    """A or B of an MFMA instruction: lanes go through rows (columns), then blocks, then K.

    Args:
        extent: M for A, N for B.
        depth: K.
        blocks: How many products the instruction computes.
    """
    groups = WAVE // (extent * blocks)
    if groups < 1 or depth % groups:
        raise LayoutError(f"MFMA has no operands of {extent}x{depth} in {blocks} blocks")
    return (
        _identity(depth // groups, "register", "inner")
        * _identity(extent, "lane", "outer")
        * _identity(blocks, "lane", "batch")
        * _identity(groups, "lane", "inner")
    ).transpose("batch", "outer", "inner")


def wmma_result(version: int, rows: int = _EXTENT) -> LinearLayout:
    """C and D of a WMMA instruction, with 16 columns.

    Args:
        version: 1 for gfx11, whose registers hold every second row; 2 for gfx12, 3 for gfx1250.
        rows: M; 32 in some instructions of gfx1250.
    """
    _check_version(version)
    if version == 1:
        lanes = _identity(_EXTENT, "lane", "dim1") * _identity(2, "lane", "dim0")
        return (
            (lanes * _identity(8, "register", "dim0"))
            .reordered("register", "lane")
            .transpose("dim0", "dim1")
        )
    return (
        _identity(8, "register", "dim0")
        * _identity(_EXTENT, "lane", "dim1")
        * _identity(2, "lane", "dim0")
        * _identity(rows // _EXTENT, "register", "dim0")
    )


def wmma_operand(version: int, width: int, depth: int, extent: int = _EXTENT) -> LinearLayout:
    """A or B of a WMMA instruction.

    Lanes go through 16 rows (columns). The two halves of a wave hold the same in version 1, and
    alternate in groups along K in the later ones.

    Args:
        version: 1 for gfx11, 2 for gfx12, 3 for gfx1250.
        width: How many elements along K follow each other in registers.
        depth: K.
        extent: M for A, N for B.
    """
    _check_version(version)
    half = LinearLayout.zeros if version == 1 else _identity
    tile = (
        _identity(width, "register", "inner")
        * _identity(_EXTENT, "lane", "outer")
        * half(2, "lane", "inner")
    )
    repeats = depth // dict(tile.outputs)["inner"] if version > 1 else depth // (2 * width)
    rest = _identity(max(1, repeats), "register", "inner")
    return (tile * rest * _identity(extent // _EXTENT, "register", "outer")).transpose(
        "outer", "inner"
    )


def _check_version(version: int) -> None:
    if version not in (1, 2, 3):
        raise LayoutError(f"there is no version {version} of WMMA; there are 1, 2 and 3")
