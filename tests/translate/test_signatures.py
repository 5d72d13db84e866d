"""Ports say what became of each parameter of their source, and a launch takes the source's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.mlir_opt import run_mlir_opt
from tests.seeds import fresh_generator
from xtile.arguments.kernel import signatures_of
from xtile.dialects.core.signature import SIGNATURE_ATTRIBUTE, source_signature
from xtile.launch import ArgumentError, Group

SOURCE = """
func @k(%c: c32, %A: memref<f32x?x?,strided<1,?>> {alignment=16, shape_gcd=[2]}, %h: bf16,
        %G: group<memref<f32x?>x?, offset: ?>, %n: index, %B: memref<c32x4>, %C: memref<f32x?x?>)
    attributes {subgroup_size=16, work_group_size=[16,1]} {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    axpby.t %one, %A, %zero, %C
    %i = constant 1 : index
    %E = load %G[%n] : memref<f32x?>
    parallel {
        %x = load %E[%i] : f32
        %f = cast %h : f32
        %s = add %x, %f : f32
        %y = cast %s : c32
        %z = mul %y, %c : c32
        store %z, %B[%i]
    }
}
"""

FLAT = {
    "A": ["pointer", "size 0", "size 1", "stride 1"],
    "G": ["pointers", "sizes 0", "count", "offset"],
    "B": ["pointer"],
    "C": ["pointer", "size 0", "size 1", "stride 1"],
}
MEMREFS = {"A": ["memref 1 0"], "G": ["memref 0", "offset"], "B": ["memref 0"], "C": ["memref 1 0"]}
SCALARS = {"c": ["value"], "h": ["value"], "n": ["value"]}

BECOMES = {
    "core": MEMREFS | SCALARS,
    "tile": MEMREFS | SCALARS,
    "subgroup": MEMREFS | SCALARS,
    "xegpu": MEMREFS | SCALARS,
    "lane": MEMREFS | SCALARS,
    "spirv": FLAT | SCALARS,
    "cuda_tile": FLAT | SCALARS | {"c": ["real", "imaginary"]},
}
"""For each language or level what the parameters become."""

LAUNCHED = [name for name in BECOMES if name != "spirv"]


def ported(target: str, chip: str | None = None) -> ModuleOp:
    return xtile.translate(SOURCE, target, chip=chip)


@pytest.mark.parametrize("target", BECOMES)
def test_what_parameters_become(target: str) -> None:
    (kernel,) = (each for each in ported(target).walk() if SIGNATURE_ATTRIBUTE in each.attributes)
    signature = source_signature(kernel)
    assert signature is not None
    found = {each.name: [str(piece) for piece in each.becomes] for each in signature.parameters}
    assert found == BECOMES[target]
    assert list(found) == ["c", "A", "h", "G", "n", "B", "C"]
    assert signature.parameters[3].type == "group<memref<f32x?>x?, offset: ?>"
    assert {*signature.parameters[1].attributes} == {"alignment", "shape_gcd"}


@pytest.mark.parametrize("target", BECOMES)
def test_a_launch_knows_what_it_knows_of_the_source(target: str) -> None:
    assert signatures_of(ported(target)) == signatures_of(xtile.parse(SOURCE))
    again = xtile.parse(xtile.to_text(ported(target), "mlir"), language="mlir")
    assert signatures_of(again) == signatures_of(xtile.parse(SOURCE))


def arguments() -> dict[str, Any]:
    generator = fresh_generator()
    memory = [generator.standard_normal(9).astype(np.float32) for _ in range(3)]
    return {
        "c": 1.5 - 2j,
        "A": np.asfortranarray(generator.standard_normal((6, 5)).astype(np.float32)),
        "h": ml_dtypes.bfloat16(0.75),
        "G": Group(memory, offset=2, shapes=[(4,)] * 3),
        "n": 1,
        "B": np.full(4, np.nan, np.complex64),
        "C": np.full((5, 6), np.nan, np.float32, order="F"),
    }


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize(
    ("target", "device"),
    [*((name, "reference") for name in LAUNCHED), ("xegpu", "opencl"), ("spirv", "opencl")],
)
def test_a_port_takes_the_arguments_of_its_source(target: str, device: str, by_name: bool) -> None:
    given = arguments()
    module = ported(target, "cpu" if device == "opencl" else None)
    xtile.run(module, given if by_name else [*given.values()], device=device)
    np.testing.assert_array_equal(given["C"], given["A"].T)
    expected = (given["G"].entries[1][3] + np.float32(0.75)) * np.complex64(given["c"])
    np.testing.assert_allclose(given["B"][1], expected, rtol=1e-6)
    assert np.isnan(given["B"][[0, 2, 3]]).all()


REFUSED = {
    "A": (
        np.zeros((5, 5), np.float32, order="F"),
        "argument 'A' (memref<f32x?x?>): expected sizes divisible by shape_gcd=[2]",
    ),
    "B": (
        np.zeros(4, np.float32),
        "argument 'B' (memref<c32x4>): expected elements of type complex64, given float32",
    ),
    "G": ([np.zeros(4, np.float64)], "argument 'G' (group<memref<f32x?>x?, offset: ?>): entry 0"),
    "c": ("x", "argument 'c' (c32): expected a"),
}


@pytest.mark.parametrize("target", ["xegpu", "cuda_tile"])
@pytest.mark.parametrize("name", REFUSED)
def test_it_refuses_in_the_words_of_the_source(name: str, target: str) -> None:
    value, message = REFUSED[name]
    messages: list[str] = []
    for kernel in (ported(target), SOURCE):
        with pytest.raises(ArgumentError) as raised:
            xtile.run(kernel, arguments() | {name: value})
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
    assert message in messages[0]


def test_too_few() -> None:
    with pytest.raises(ArgumentError) as raised:
        xtile.run(ported("cuda_tile"), [1, 2])
    assert str(raised.value) == "@k takes 7 arguments (c, A, h, G, n, B, C), given 2"


def test_mlir_opt_reads_what_says_so() -> None:
    text = xtile.to_text(ported("xegpu"), "mlir")
    assert "core.signature" in text
    result = run_mlir_opt(text)
    assert (result.returncode, result.stderr) == (0, "")
    assert "core.signature" in result.stdout


def test_the_sidecar_of_a_port() -> None:
    """It is the one of the source: what became of the parameters follows from their types."""
    from xtile.arguments.signature import signature_words

    of_port, of_source = (
        json.dumps(signature_words(signatures_of(module)["k"]))
        for module in (ported("cuda_tile"), xtile.parse(SOURCE))
    )
    assert of_port == of_source
    assert '"name": "G"' in of_port


def test_arguments_that_a_translation_relies_on() -> None:
    text = "func @k(%A: memref<f32x8>, %B: memref<f32x8>) {\n"
    text += "%zero = constant 0.0 : f32\n%one = constant 1.0 : f32\n"
    text += "axpby %one, %A, %zero, %B\n}\n"
    x = fresh_generator().standard_normal(16).astype(np.float32)
    port, other = (xtile.translate(text, "xegpu", chip="cpu", may_overlap=o) for o in (False, True))
    xtile.run(port, [x[:8], x[8:]], device="opencl")
    assert np.array_equal(x[:8], x[8:])
    with pytest.raises(ArgumentError, match="it was translated for arguments that do not overlap"):
        xtile.run(port, [x[:8], x[4:12]], device="opencl")
    x[:] = np.arange(16)
    xtile.run(other, [x[:8], x[:8]], device="opencl")
    assert np.array_equal(x, np.arange(16))


def test_a_language_that_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    text = xtile.to_text(ported("xegpu"), "mlir")
    path.write_text(text.replace('language = "tensorlang"', 'language = "other"'))
    with pytest.raises(ArgumentError, match="is of the language 'other', whose arguments are not"):
        xtile.run(path, [])
    path.write_text(text.replace('"memref<c32x4>"', '"memref<c32x4"'))
    with pytest.raises(ArgumentError, match=r"@k: core\.signature has no such type: "):
        xtile.run(path, [])


CHAINED = """
func @k(%x: memref<f32x?>, %y: memref<f32x?>, %a: f32) {
    %c0 = constant 0 : index
    %n = size %x[0] : index
    foreach (%i)=(%c0),(%n) {
        %v = load %x[%i] : f32
        %r = mul %v, %a : f32
        store %r, %y[%i]
    }
}
"""


@pytest.mark.parametrize("between", ["cuda_tile", "triton"])
@pytest.mark.parametrize("to", ["tensorlang", "xegpu", "cuda_tile", "triton"])
def test_a_port_of_a_port_takes_the_arguments_of_the_first_source(between: str, to: str) -> None:
    port = xtile.translate(xtile.parse(CHAINED, language="tensorlang"), between)
    again = xtile.translate(port, to)
    x = fresh_generator().standard_normal(37).astype(np.float32)
    y = np.full(37, np.nan, np.float32)
    xtile.run(again, {"x": x, "y": y, "a": 2.0})
    np.testing.assert_array_equal(y, 2 * x)
