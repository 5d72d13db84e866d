"""Reading and printing MLIR's numbers and elements."""

from __future__ import annotations

import math
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    TensorType,
    f32,
    i64,
)

import xtile
from tests.mlir_opt import run_mlir_opt
from tests.text.mlir_text import attribute_of, attribute_text, error_of_attribute
from xtile.semantics.upstream.constants import constant_value
from xtile.text.mlir_attributes import DistinctAttr, SparseElementsAttr


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x3F800000 : f32", 1.0),
        ("0xFF800000 : f32", -math.inf),
        ("0x3C00 : f16", 1.0),
        ("0xC040 : bf16", -3.0),
        ("0x4000000000000000 : f64", 2.0),
        ("-2.5", -2.5),
        ("1.0e40 : f32", math.inf),
    ],
)
def test_numbers_of_floating_point_types(text: str, value: float) -> None:
    attribute = attribute_of(text)
    assert isinstance(attribute, FloatAttr)
    assert attribute.value.data == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("0xFF : i32", 255), ("255 : i8", -1), ("-7 : si8", -7), ("200 : ui8", 200), ("3", 3)],
)
def test_numbers_of_integer_types(text: str, value: int) -> None:
    attribute = attribute_of(text)
    assert isinstance(attribute, IntegerAttr)
    assert attribute.value.data == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("dense<0xFF800000> : vector<3xf32>", (-math.inf,) * 3),
        ("dense<[0x3F800000, 2.0]> : tensor<2xf32>", (1.0, 2.0)),
        ("dense<[0x3C00, 0xC000]> : tensor<2xf16>", (1.0, -2.0)),
        ('dense<"0x0000803F00000040"> : tensor<2xf32>', (1.0, 2.0)),
        ('dense<"0x803F"> : tensor<4xbf16>', (1.0,) * 4),
        ('dense<"0x05"> : tensor<4xi1>', (-1, 0, -1, 0)),
        ('dense<"0xFF"> : tensor<12xi1>', (-1,) * 12),
        ('dense<"0x0F07"> : tensor<2xi4>', (-1, 7)),
        ('dense<"0xFFFFFF010000"> : tensor<2xi24>', (-1, 1)),
        ('dense<"0x0100000000000080"> : tensor<1xindex>', (-(2**63) + 1,)),
        ("dense<[(1.0, 0x40000000), (3.0, 4.0)]> : tensor<2xcomplex<f32>>", ((1, 2), (3, 4))),
        ("dense<(1, 2)> : tensor<2xcomplex<i8>>", ((1, 2), (1, 2))),
        ("dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>", (1, 2, 3, 4)),
        ("dense<> : tensor<0x3xf32>", ()),
    ],
)
def test_elements(text: str, values: tuple[object, ...]) -> None:
    attribute = attribute_of(text)
    assert isinstance(attribute, DenseIntOrFPElementsAttr)
    assert attribute.get_values() == values


def test_arrays() -> None:
    attribute = attribute_of("array<f32: 0x40000000, -1.0>")
    assert isinstance(attribute, DenseArrayBase)
    assert attribute.get_values() == (2.0, -1.0)


def test_sparse_elements() -> None:
    attribute = attribute_of("sparse<[[0, 1], [2, 3]], [5.0, 0x3F800000]> : tensor<3x4xf32>")
    assert isinstance(attribute, SparseElementsAttr)
    assert attribute.indices.get_values() == (0, 1, 2, 3)
    assert attribute.indices.type == TensorType(i64, [2, 2])
    assert isinstance(attribute.values, DenseIntOrFPElementsAttr)
    assert attribute.values.get_values() == (5.0, 1.0)
    assert attribute.type == TensorType(f32, [3, 4])


def test_distinct_attributes_are_counted_anew() -> None:
    first, second = attribute_of("distinct[7]<42 : i32>"), attribute_of("distinct[8]<42 : i32>")
    assert isinstance(first, DistinctAttr)
    assert first != second
    assert attribute_text("[distinct[7]<>, distinct[5]<>, distinct[7]<>]") == (
        "[distinct[0]<>, distinct[1]<>, distinct[0]<>]"
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "dense<1> : vector<2xf32>",
            "7: an integer is no value of f32; add a dot to make it a floating-point number: 1.0",
        ),
        (
            "-3 : f16",
            "1-2: an integer is no value of f16; add a dot to make it a floating-point number: -3",
        ),
        ("0x1FFFF : f16", "1-7: 0x1FFFF has more bits than the 16 of f16"),
        (
            "-0x3C00 : f16",
            "1-7: a hexadecimal floating-point number has its sign among its bits, not a '-'",
        ),
        ("1.5 : i32", "1-3: a floating-point number is no value of i32"),
        ("dense<true> : tensor<2xi8>", "7-10: 'true' is a value of i1, not of i8"),
        ("dense<[1.0, true]> : tensor<2xf32>", "13-16: 'true' is a value of i1, not of f32"),
        ("99999999999999999999 : index", "1-20: 99999999999999999999 does not fit in the 64 bits"),
        ("1 : tensor<2xi32>", "4-17: a number must have an integer, an index or a floating-point"),
        ("dense<[[1], [2, 3]]> : tensor<2x2xi8>", "7-19: these lists of elements differ in length"),
        (
            "dense<[1, 2]> : tensor<3xi8>",
            "7-12: these elements have the shape 2, but their type has 3",
        ),
        ("dense<> : tensor<2xi8>", "7: expected 2 elements, but found none"),
        ("dense<1> : memref<2xi8>", "12-23: elements must have a ranked tensor type or a vector"),
        ("dense<1> : tensor<?xi8>", "12-23: elements must have a type whose sizes are all known"),
        ('dense<"0x012"> : tensor<2xi8>', "7-13: expected a string of bytes in hexadecimal"),
        ('dense<"0x010203"> : tensor<2xi8>', "7-16: 3 bytes are neither one element nor the 2"),
        ("dense<(1, 2)> : tensor<2xi8>", "7-12: a complex number is an element of a complex type"),
        ("dense<1> : tensor<2xcomplex<i8>>", "7: expected a complex number such as (1.0, 2.0)"),
        ("array<index: 1>", "7-11: the elements of an array must be integers or floating-point"),
        ("array<i4: 1>", "7-8: the elements of an array must be integers or floating-point"),
        ("sparse<[[0]], 1> : tensor<2x2xi8>", "8-15: the indices of a sparse attribute must be"),
        ("sparse<[[0], [1]], [1, 2, 3]> : tensor<4xi8>", "8-28: expected 2 values, one for each"),
        ("[distinct[1]<2>, distinct[1]<3>]", "26-31: distinct[1] has another attribute than"),
    ],
)
def test_wrong_literals(text: str, error: str) -> None:
    assert error_of_attribute(text).startswith(error)


@pytest.mark.parametrize(
    "text",
    [
        "dense<0xFF800000> : vector<8xf32>",
        "dense<[true, false]> : tensor<2xi1>",
        "dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>",
        "dense<(1.000000e+00,0x7F800000)> : tensor<2xcomplex<f32>>",
        'dense<["a", "\\22"]> : tensor<2x!foo.string>',
        "sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>",
        "sparse<0, 2.000000e+00> : tensor<4xf32>",
        "sparse<> : tensor<3xi32>",
        "array<i1: true, false>",
        "array<i32>",
        "[1, 2.000000e+00, 1 : i32, true, 0x7FF0000000000000 : f64]",
        "memref<2xf32, 3>",
        "memref<2xf32, strided<[?], offset: 3>, 1 : i32>",
        "memref<*xf32, #foo.space<1>>",
        "vector<[4]x2xf32>",
        "tensor<2x?xf32, #foo.encoding<{a = 1}>>",
        '@a::@"b c"::@d',
        '{a, "b c" = 1 : i64, d.e}',
        "(i32, f32) -> ((i32) -> i32)",
        "none",
        '#foo<"text" [1]>',
        "#foo.bar<x>",
    ],
)
def test_what_is_printed_as_it_is_read(text: str) -> None:
    assert attribute_text(text) == text


SPLATS = """
#big = dense<1.0> : tensor<100000x100000xf32>
memref.global constant @g : memref<100000x100000xf32> = dense<2.0>
func.func @f() -> f32 attributes {a = #big, b = dense<"0x0000803F"> : tensor<100000x100000xf32>} {
  %t = arith.constant #big
  %p = arith.constant dense<true> : vector<100000x100000xi1>
  %i = arith.constant dense<7> : vector<100000x100000xi8>
  %c = arith.constant dense<(1.0, 2.0)> : tensor<100000x100000xcomplex<f32>>
  %v = arith.constant dense<1.0> : vector<100000x100000xf32>
  %e = vector.extract %v[3, 4] : f32 from vector<100000x100000xf32>
  return %e : f32
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--print-op-generic"], ["-p", "cse,canonicalize"]])
def test_equal_elements_take_the_room_of_one(tmp_path: Path, options: list[str]) -> None:
    kernel = tmp_path / "k.mlir"
    kernel.write_text(SPLATS)
    most = 3 << 30
    done = subprocess.run(
        [sys.executable, "-m", "xtile.opt", str(kernel), *options],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "dense<1.000000e+00> : vector<100000x100000xf32>" in done.stdout
    if not options:
        assert run_mlir_opt(done.stdout) == run_mlir_opt(SPLATS)


def test_a_large_splat_has_its_value_in_every_element() -> None:
    text = "func.func @f() {\n  %v = arith.constant dense<1.5> : vector<64x128xf32>\n  return\n}\n"
    module = xtile.parse(text, language="mlir")
    constant = next(op for op in module.walk() if op.name == "arith.constant")
    value = constant_value(constant.properties["value"], constant.results[0].type)
    assert np.shape(value) == (1, 1, 64, 128)
    assert np.all(value == np.float32(1.5))
