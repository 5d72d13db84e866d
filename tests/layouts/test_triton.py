"""The layouts of Triton's attributes, against what Triton 3.8.0 says they are (ask_triton.py)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.layouts.ask_triton import FILE, cases
from xtile.layouts import LayoutError, triton
from xtile.layouts.linear import LinearLayout

ANSWERS: list[dict[str, Any]] = json.loads(FILE.read_text())


def attribute(case: dict[str, Any]) -> Any:
    match case["kind"]:
        case "blocked":
            return triton.Blocked(
                case["size_per_thread"],
                case["threads_per_warp"],
                case["warps_per_cta"],
                case["order"],
                case.get("cga_layout", ()),
            )
        case "mfma":
            return triton.Mfma(
                case["version"],
                case["warps_per_cta"],
                case["instr_shape"],
                case["transposed"],
                case["tiles_per_warp"],
                case["element_bitwidth"],
            )
        case "wmma":
            return triton.Wmma(
                case["version"],
                case["warp_bases"],
                case["instr_shape"],
                case["transposed"],
                case["reg_bases"],
            )
        case "slice":
            return triton.Slice(case["dim"], attribute(case["parent"]))
        case "dot":
            return triton.DotOperand(case["operand"], attribute(case["parent"]), case["k_width"])
        case _:
            return None


def layout(case: dict[str, Any]) -> LinearLayout:
    if case["kind"] == "swizzled":
        return triton.swizzled_shared(
            case["shape"], case["vec"], case["per_phase"], case["max_phase"], case["order"]
        )
    return attribute(case).layout(case["shape"])


def test_the_answers_are_those_to_the_cases() -> None:
    asked = [{k: v for k, v in answer.items() if k != "images"} for answer in ANSWERS]
    assert asked == cases()
    assert len(asked) > 200


@pytest.mark.parametrize("kind", ["blocked", "mfma", "wmma", "slice", "dot", "swizzled"])
def test_layouts_are_tritons(kind: str) -> None:
    of_kind = [answer for answer in ANSWERS if answer["kind"] == kind]
    assert of_kind
    for case in of_kind:
        sizes = {f"dim{i}": size for i, size in enumerate(case["shape"])}
        assert layout(case) == LinearLayout.of(case["images"], sizes), case


def test_warps_per_cta_are_the_bases_of_subgroups() -> None:
    assert triton.Wmma.of_warps(2, [2, 4]).subgroups == ((0, 1), (0, 2), (1, 0))


def test_linear_is_what_it_says() -> None:
    made = triton.Linear([[0, 1]], [[1, 0], [0, 2]], [[0, 0]], []).layout([2, 4])
    assert made == LinearLayout.of(
        {"register": [(0, 1)], "lane": [(1, 0), (0, 2)], "subgroup": [(0, 0)], "block": []},
        {"dim0": 2, "dim1": 4},
    )


def test_padded_memory() -> None:
    """The second example of Triton's documentation of `PaddedSharedLayout`."""
    padded = triton.PaddedShared.of([[0, 1], [0, 2], [2, 0], [4, 0], [1, 0]], [(8, 1)], [8, 4])
    rows: dict[int, list[tuple[int, ...]]] = {}
    for offset in range(32):
        address = padded.address(offset)
        rows.setdefault(address // 9, []).append(padded.linear.apply(offset=offset))
        assert address % 9 != 8
    assert [{row[0] for row in rows[i]} for i in range(4)] == [{0, 2}, {4, 6}, {1, 3}, {5, 7}]


def test_several_paddings_are_added() -> None:
    """The first example of Triton's documentation of `PaddedSharedLayout`."""
    padded = triton.PaddedShared.of([[1], [2], [4]], [(2, 1), (4, 2)], [8])
    assert [padded.address(offset) for offset in range(8)] == [0, 1, 3, 4, 8, 9, 11, 12]


def test_what_there_is_not() -> None:
    with pytest.raises(LayoutError, match=r"has no 4x4; it has 32x32, 16x16, 64x4 and 4x64"):
        triton.Mfma(3, [1, 1], [4, 4])
    with pytest.raises(LayoutError, match=r"there is no version 5 of MFMA; there are 1 to 4"):
        triton.Mfma(5, [1, 1], [16, 16])
    with pytest.raises(LayoutError, match=r"there is no version 4 of WMMA; there are 1, 2 and 3"):
        triton.Wmma(4, []).layout([16, 16])
