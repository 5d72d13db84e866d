"""A kernel is called by the names of its parameters, digits at their end included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.arguments.kernel import choose_function, parameters_of
from xtile.backends.intel.compilation import spirv_in
from xtile.dialects.spirv import decode, encode
from xtile.launch import ArgumentError
from xtile.text.value_names import clone_with_names, unique_names
from xtile.translate.route import ROUTES, Options, translate

KERNEL = """
func @k(%x_1: memref<f32x?>, %x_2: memref<f32x?>, %a_10_3: f32, %x: memref<f32x?>) {
    %one_1 = constant 1.0 : f32
    axpby %a_10_3, %x_1, %one_1, %x_2
}
"""
NAMES = ["x_1", "x_2", "a_10_3", "x"]


def names_of(kernel: Any) -> list[str]:
    module = xtile.parse(kernel) if isinstance(kernel, str) else kernel
    return [parameter.name for parameter in parameters_of(choose_function(module, None))]


@pytest.mark.parametrize("device", ["reference", "opencl"])
def test_arguments_by_name(device: str) -> None:
    first, second = fresh_generator().standard_normal((2, 8)).astype(np.float32)
    expected = second + np.float32(2) * first
    arguments = {"x_2": second, "a_10_3": 2.0, "x": first.copy(), "x_1": first}
    xtile.run(KERNEL, arguments, device=device)
    np.testing.assert_allclose(second, expected, rtol=1e-6, atol=0)


def test_messages_say_the_whole_names() -> None:
    with pytest.raises(ArgumentError, match=r"its parameters are x_1, x_2, a_10_3, x$"):
        xtile.run(KERNEL, {"y": 1})


def test_text_keeps_them() -> None:
    module = xtile.parse(KERNEL)
    assert names_of(xtile.to_text(module)) == NAMES
    assert names_of(xtile.to_text(module, "mlir")) == NAMES
    assert names_of(clone_with_names(module)) == NAMES


ROUTES_TO_KERNELS = [
    name
    for name, route in ROUTES.routes.items()
    if route.source == "tensorlang" and route.target != "spirv"
]


@pytest.mark.parametrize("route", ROUTES_TO_KERNELS)
def test_every_translation_keeps_them(route: str) -> None:
    text = xtile.to_text(translate(xtile.parse(KERNEL), route, Options()), "mlir")
    assert [name for name in names_of(text) if "size" not in name] == NAMES


def test_spirv_keeps_them() -> None:
    again = decode(encode(spirv_in(xtile.port(KERNEL, "spirv"))))
    function = next(op for op in again.walk() if op.name == "spirv.func")
    names = [argument.name_hint for argument in function.regions[0].blocks[0].args]
    assert [name for name in names if name is not None and "size" not in name] == NAMES


@pytest.mark.parametrize(
    "text",
    [
        "func @k(%1: f32, %0: memref<f32x1>) {\n %c = constant 0 : index store %1, %0[%c] }",
        """gpu.module @m {
             gpu.func @k(%1: f32, %0: memref<1xf32>) kernel {
               %c = arith.constant 0 : index
               memref.store %1, %0[%c] : memref<1xf32>
               gpu.return
             }
           }""",
    ],
)
def test_numbers_are_names_too(text: str) -> None:
    assert names_of(text) == ["1", "0"]
    result = np.zeros(1, np.float32)
    xtile.run(text, {"0": result, "1": 3.0})
    assert result == 3


def test_no_two_are_alike() -> None:
    module = xtile.parse(KERNEL)
    for argument in choose_function(module, None).regions[0].blocks[0].args:
        argument.name_hint = "x_7"
    assert names_of(module) == ["x", "x_0", "x_1", "x_2"]
    assert unique_names(["x", "x", "x_0", "0", "0"]) == ["x", "x_1", "x_0", "0", "0_0"]
