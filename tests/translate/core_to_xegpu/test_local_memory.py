"""Local memory: as much as a work-group can have."""

from __future__ import annotations

import pytest

import xtile
from xtile.text.diagnostics import DiagnosticError

_KERNELS = """
func @small(%A: memref<f64x128x64>) {{
    %one = constant 1.0 : f64
    %a = alloca : memref<f64x{first}x64,local>
    %b = alloca : memref<f64x{second}x64,local>
    axpby %one, %A, %one, %A
}}

func @other(%A: memref<f64x128x64>) {{
    %c = alloca : memref<f64x128x64,local>
}}
"""


def _port(first: int, second: int, chip: str) -> None:
    text = _KERNELS.format(first=first, second=second)
    xtile.port(xtile.parse(text, language="tensorlang"), "xegpu", chip=chip)  # type: ignore


def test_each_kernel_can_have_all_of_it() -> None:
    _port(128, 128, "pvc")


@pytest.mark.parametrize(
    ("first", "second", "chip", "message"),
    [
        (128, 129, "pvc", ("5.10-42: error: a work-group of pvc can have 131072 bytes of local "
         "memory, but with these 66048 the kernel needs 131584")),
        (129, 1, "dg2", ("4.10-42: error: a work-group of dg2 can have 65536 bytes of local "
         "memory, but with these 66048 the kernel needs 66048")),
    ],
)  # fmt: skip
def test_more_is_an_error(first: int, second: int, chip: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        _port(first, second, chip)
    assert str(caught.value).startswith(f"<text>:{message}")
