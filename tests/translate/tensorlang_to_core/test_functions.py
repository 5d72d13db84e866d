"""Functions, their parameters and attributes, and what cannot be translated."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from xtile.dialects.core.signature import SIGNATURE_ATTRIBUTE
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.tensorlang_to_core import translate_module


def _translated(text: str) -> str:
    return _without_signature(translate_module(xtile.parse(text, language="tensorlang")))


def _without_signature(module: ModuleOp) -> str:
    """The text of a module whose kernels do not say what they were."""
    for function in module.walk():
        function.attributes.pop(SIGNATURE_ATTRIBUTE, None)
    return xtile.to_text(module, "mlir")


def _header(parameters: str, attributes: str = "") -> str:
    """The line with the function's name that a signature becomes."""
    text = _translated(f"func @f({parameters}) {attributes} {{\n}}\n")
    (line,) = (line.strip() for line in text.splitlines() if "gpu.func" in line)
    return line


SIGNATURES = {
    "": "",
    "%a: bool, %b: i16, %c: index, %d: bf16, %e: c64": (
        "%a: i1, %b: i16, %c: index, %d: bf16, %e: complex<f64>"
    ),
    "%A: memref<f32>": "%A: memref<f32> {core.noalias}",
    "%A: memref<f32x?>": "%A: memref<?xf32> {core.noalias}",
    "%A: memref<f32x4x8x2>": "%A: memref<2x8x4xf32> {core.noalias}",
    "%A: memref<f32x4x?>": "%A: memref<?x4xf32> {core.noalias}",
    "%A: memref<f32x?x4>": "%A: memref<4x?xf32, strided<[?, 1]>> {core.noalias}",
    "%A: memref<f32x4x8,strided<1,16>>": "%A: memref<8x4xf32, strided<[16, 1]>> {core.noalias}",
    "%A: memref<f32x?x?x3,strided<2,?,?>>": (
        "%A: memref<3x?x?xf32, strided<[?, ?, 2]>> {core.noalias}"
    ),
    "%G: group<memref<f32x4x?>x?>": "%G: memref<?xmemref<?x4xf32>> {core.noalias}",
    "%G: group<memref<f32>x5, offset: 3>, %x: f32": (
        "%G: memref<5xmemref<f32>> {core.noalias}, %x: f32"
    ),
    "%G: group<memref<f32x4>x?, offset: ?>, %x: f32": (
        "%G: memref<?xmemref<4xf32>> {core.noalias}, %G_offset: index, %x: f32"
    ),
    "%A: memref<f32x?x?> {alignment=64, shape_gcd=[8], stride_gcd=[1,16]}, %x: f32": (
        "%A: memref<?x?xf32, strided<[?, 1]>> {core.alignment = 64 : i64, "
        "core.noalias, core.shape_gcd = array<i64: 1, 8>, core.stride_gcd = array<i64: 16, 1>}, "
        "%x: f32"
    ),
    "%x: f32, %G: group<memref<f32x?x4>x?, offset: ?> {shape_gcd=[8]}, %y: f32": (
        "%x: f32, %G: memref<?xmemref<4x?xf32, strided<[?, 1]>>> "
        "{core.noalias, core.shape_gcd = array<i64: 1, 8>}, %G_offset: index, %y: f32"
    ),
}
"""Parameters, and what they become."""


@pytest.mark.parametrize("parameters", SIGNATURES)
def test_parameters(parameters: str) -> None:
    expected = (
        f'gpu.func @f({SIGNATURES[parameters]}) kernel attributes {{core.level = "block"}} {{'
    )
    assert _header(parameters) == expected


def test_parameters_that_may_overlap() -> None:
    parameters = "%A: memref<f32> {alignment=64}, %G: group<memref<f32>x5>"
    module = xtile.parse(f"func @f({parameters}) {{\n}}\n", language="tensorlang")
    text = _without_signature(translate_module(module, may_overlap=True))
    expected = "%A: memref<f32> {core.alignment = 64 : i64}, %G: memref<5xmemref<f32>>"
    assert f"gpu.func @f({expected}) kernel" in text


def test_sizes_of_the_launch() -> None:
    assert _header("", "attributes {work_group_size=[32,4], subgroup_size=16}") == (
        'gpu.func @f() kernel attributes {core.level = "block", '
        "intel_reqd_sub_group_size = 16 : i32, known_block_size = array<i32: 32, 4, 1>} {"
    )
    assert _header("", "attributes {work_group_size=[64,1]}") == (
        'gpu.func @f() kernel attributes {core.level = "block", '
        "known_block_size = array<i32: 64, 1, 1>} {"
    )


def test_all_functions_share_a_module() -> None:
    text = _translated("func @f() {\n}\nfunc @g() {\n}\n")
    assert [line.strip() for line in text.splitlines()] == [
        "module attributes {gpu.container_module} {",
        "gpu.module @kernels {",
        'gpu.func @f() kernel attributes {core.level = "block"} {',
        "gpu.return",
        "}",
        'gpu.func @g() kernel attributes {core.level = "block"} {',
        "gpu.return",
        "}",
        "}",
        "}",
    ]


REFUSED = {
    "func @f(%x: i8) {\n    parallel {\n"
    "        %m = cooperative_matrix_construct %x : coopmatrix<i8x64x8,matrix_b>\n"
    "        %y = cooperative_matrix_extract %m[1] : i8\n    }\n}\n": (
        "<text>:4.14-50: error: which component entry 1 of coopmatrix<i8x64x8,matrix_b> is depends "
        "on the subgroup size; give the function the attribute subgroup_size"
    ),
}
"""Functions without a counterpart, and the errors."""


@pytest.mark.parametrize("text", REFUSED)
def test_refuses(text: str) -> None:
    with pytest.raises(DiagnosticError) as error:
        _translated(text)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.render().splitlines()[0] == REFUSED[text]
