"""What of the core form is not lowered, and why."""

from __future__ import annotations

import pytest

from tests.translate.core_to_xegpu.lowered import refusal

PARAMETERS = "%A: memref<64x64xf32>, %x: f32, %i: index"
START = (
    "%c0 = arith.constant 0 : index\n"
    "%m = vector.transfer_read %A[%c0, %c0], %x {in_bounds = [true, true]} : "
    "memref<64x64xf32>, vector<8x16xf32>\n"
)

REFUSALS = {
    "a constant with different components": (
        "%r = arith.constant dense<[[1.0, 2.0]]> : vector<1x2xf32>",
        "only constant matrices whose components are equal are translated",
    ),
    "a shuffle": (
        (
            "%v = arith.constant dense<1.0> : vector<4xf32>\n"
            "%r = vector.shuffle %v, %v [0, 1] : vector<4xf32>, vector<4xf32>"
        ),
        (
            "vector.shuffle on vectors cannot be spread over a subgroup's lanes; "
            "use element-wise arithmetic, vector.contract or vector.multi_reduction"
        ),
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    body, message = REFUSALS[name]
    assert refusal(PARAMETERS, START + body) == message


@pytest.mark.parametrize(
    ("chip", "size", "known"),
    [("pvc", 8, "16, 32"), ("bmg", 64, "16, 32"), ("dg2", 4, "8, 16, 32")],
)
def test_subgroup_sizes(chip: str, size: int, known: str) -> None:
    message = refusal("", "", chip, f"intel_reqd_sub_group_size = {size} : i32")
    assert message == f"{chip} has no subgroups of {size} work-items; its sizes are {known}"
