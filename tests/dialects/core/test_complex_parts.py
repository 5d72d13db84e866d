"""The text of parts of complex numbers in memory, and what their verifier refuses."""

from __future__ import annotations

import pytest

from tests.dialects.core.core_text import check_error, check_round_trip

PARAMETERS = (
    "%m: memref<4x8xf32>, %c: memref<4x8xcomplex<f32>>, "
    "%d: memref<?x?xcomplex<f64>, strided<[?, 2], offset: ?>>"
)

RIGHT = [
    (
        "%r = core.complex_part real %c : memref<4x8xcomplex<f32>> "
        "to memref<4x8xf32, strided<[16, 2]>>"
    ),
    (
        "%r = core.complex_part imaginary %c : memref<4x8xcomplex<f32>> "
        "to memref<4x8xf32, strided<[16, 2], offset: 1>>"
    ),
    (
        "%r = core.complex_part imaginary %d "
        ": memref<?x?xcomplex<f64>, strided<[?, 2], offset: ?>> "
        "to memref<?x?xf64, strided<[?, 4], offset: ?>>"
    ),
]

WRONG = [
    (
        "%r = core.complex_part real %m : memref<4x8xf32> to memref<4x8xf32>",
        "expected a memref of complex numbers, got memref<4x8xf32>",
    ),
    (
        "%r = core.complex_part real %c : memref<4x8xcomplex<f32>> to memref<4x8xf32>",
        "expected the type memref<4x8xf32, strided<[16, 2]>>, got memref<4x8xf32>",
    ),
]


@pytest.mark.parametrize("line", RIGHT)
def test_round_trip(line: str) -> None:
    check_round_trip(PARAMETERS, line)


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_errors(line: str, message: str) -> None:
    check_error(PARAMETERS, line, message)
