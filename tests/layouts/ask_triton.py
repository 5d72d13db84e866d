"""Asks Triton for the linear layouts of its attributes, and writes triton_layouts.json.

    python -m tests.layouts.ask_triton

needs triton 3.8.0 in the environment, whose Gluon answers without a GPU. Tests read the file.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("triton_layouts.json")

Case = dict[str, Any]


def cases() -> list[Case]:
    """The attributes that are asked for, each with a shape."""
    blocked = [*_blocked()]
    mfma, wmma = [*_mfma()], [*_wmma()]
    slices = [
        {"kind": "slice", "dim": dim, "parent": parent, "shape": [shape]}
        for parent in (blocked[0], mfma[0], wmma[0])
        for dim in (0, 1)
        for shape in (16, 64, 256)
    ]
    return [*blocked, *mfma, *wmma, *slices, *_dots(blocked, mfma, wmma), *_shared()]


def _blocked() -> list[Case]:
    boxes = (
        ([1, 4], [8, 8], [2, 2], [1, 0]),
        ([2, 2], [4, 8], [4, 1], [0, 1]),
        ([1, 1], [32, 2], [1, 4], [0, 1]),
    )
    found = [
        {
            "kind": "blocked",
            "size_per_thread": size,
            "threads_per_warp": threads,
            "warps_per_cta": warps,
            "order": order,
            "shape": shape,
        }
        for size, threads, warps, order in boxes
        for shape in ([64, 16], [16, 256], [1, 128], [4, 4])
    ]
    whole = {"kind": "blocked", "size_per_thread": [1, 2, 2], "threads_per_warp": [2, 4, 4]}
    found.append({**whole, "warps_per_cta": [1, 2, 2], "order": [2, 1, 0], "shape": [4, 32, 16]})
    for blocks in ([[1, 0]], [[0, 1], [1, 0]], [[0, 0], [0, 1]]):
        found.append({**found[0], "cga_layout": blocks, "shape": [128, 64]})
    return found


def _mfma() -> list[Case]:
    return [
        {
            "kind": "mfma",
            "version": version,
            "instr_shape": [*instruction, depth],
            "transposed": transposed,
            "warps_per_cta": warps,
            "element_bitwidth": bits,
            "tiles_per_warp": tiles,
            "shape": shape,
        }
        for version, instruction, depth, transposed, warps, bits, tiles in (
            (1, [32, 32], 8, False, [2, 4], 32, [1, 1]),
            (2, [32, 32], 8, True, [2, 2], 32, [1, 1]),
            (3, [16, 16], 16, False, [4, 1], 32, [1, 1]),
            (3, [16, 16], 16, True, [2, 4], 32, [2, 2]),
            (3, [32, 32], 8, False, [1, 4], 32, [2, 1]),
            (3, [64, 4], 4, True, [1, 1], 32, [1, 1]),
            (4, [4, 64], 4, False, [2, 1], 32, [1, 1]),
            (4, [16, 16], 4, False, [2, 2], 64, [1, 1]),
        )
        for shape in ([32, 32], [128, 128], [256, 64])
    ] + [
        {
            "kind": "mfma",
            "version": 3,
            "instr_shape": [16, 16, 16],
            "transposed": transposed,
            "warps_per_cta": [2, 1, 2],
            "element_bitwidth": 32,
            "tiles_per_warp": [1, 1, 1],
            "shape": [4, 32, 64],
        }
        for transposed in (False, True)
    ]


def _wmma() -> list[Case]:
    return [
        {
            "kind": "wmma",
            "version": version,
            "transposed": transposed,
            "warp_bases": warps,
            "reg_bases": repeats,
            "instr_shape": [16, 16, 32 if version == 3 else 16],
            "shape": shape,
        }
        for version, transposed in product((1, 2, 3), (False, True))
        for warps, repeats in (
            ([[0, 1], [1, 0]], []),
            ([[1, 0], [2, 0]], []),
            ([[0, 2], [2, 0]], [[0, 1], [1, 0]]),
        )
        for shape in ([16, 16], [64, 128])
    ]


def _dots(blocked: list[Case], mfma: list[Case], wmma: list[Case]) -> list[Case]:
    found: list[Case] = [
        {"kind": "dot", "operand": operand, "parent": parent, "k_width": 0, "shape": shape}
        for parent in (blocked[0], blocked[4], blocked[-3])
        for operand in (0, 1)
        for shape in ([64, 32], [16, 128])
    ]
    found += [
        {"kind": "dot", "operand": operand, "parent": parent, "k_width": width, "shape": shape}
        for parent in mfma[::3]
        for operand, width in product((0, 1), (4, 8))
        for shape in ([64, 64], [32, 256])
        if len(parent["warps_per_cta"]) == 2
    ]
    found += [
        {"kind": "dot", "operand": o, "parent": mfma[-1], "k_width": 4, "shape": [4, 64, 32]}
        for o in (0, 1)
    ]
    found += [
        {
            "kind": "dot",
            "operand": operand,
            "parent": parent,
            "k_width": 16 if parent["version"] == 1 else 8,
            "shape": shape,
        }
        for parent in wmma[::2]
        for operand in (0, 1)
        for shape in ([32, 64], [64, 128])
    ]
    return found


def _shared() -> list[Case]:
    return [
        {
            "kind": "swizzled",
            "vec": vec,
            "per_phase": per_phase,
            "max_phase": max_phase,
            "order": order,
            "shape": shape,
        }
        for vec, per_phase, max_phase in ((1, 1, 1), (4, 2, 4), (8, 1, 8), (2, 4, 16), (16, 1, 4))
        for order, shape in (
            ([1, 0], [16, 32]),
            ([0, 1], [64, 8]),
            ([2, 1, 0], [2, 16, 64]),
            ([0], [64]),
        )
        if len(shape) > 1 or max_phase == 1
    ]


def _attribute(case: Case) -> Any:
    """The case as a layout of Gluon."""
    from triton.experimental.gluon.language import _layouts as gluon  # pyright: ignore
    from triton.experimental.gluon.language.amd import _layouts as amd  # pyright: ignore

    given = {name: value for name, value in case.items() if name not in ("kind", "shape")}
    match case["kind"]:
        case "slice":
            return gluon.SliceLayout(given["dim"], _attribute(given["parent"]))
        case "dot":
            parent = _attribute(given["parent"])
            return gluon.DotOperandLayout(given["operand"], parent, given["k_width"])
        case kind:
            classes = {
                "blocked": gluon.BlockedLayout,
                "mfma": amd.AMDMFMALayout,
                "wmma": amd.AMDWMMALayout,
                "swizzled": gluon.SwizzledSharedLayout,
            }
            return classes[kind](**given)


def _answer(case: Case) -> dict[str, list[list[int]]]:
    """The images of the bits of each input, as Triton has them."""
    from triton._C.libtriton import amd, gluon_ir, ir  # pyright: ignore

    context = ir.context()
    ir.load_dialects(context)
    amd.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    layout = builder.to_linear_layout(_attribute(case)._to_ir(builder), case["shape"])
    if case["kind"] == "swizzled":
        return {"offset": layout.offset_bases, "block": layout.block_bases}
    return {
        "register": layout.reg_bases,
        "lane": layout.lane_bases,
        "subgroup": layout.warp_bases,
        "block": layout.block_bases,
    }


if __name__ == "__main__":
    rows = [
        json.dumps({**case, "images": _answer(case)}, separators=(",", ":")) for case in cases()
    ]
    FILE.write_text("[\n" + ",\n".join(rows) + "\n]\n")
