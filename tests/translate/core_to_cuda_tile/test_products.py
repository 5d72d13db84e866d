"""Sums of products: which unit computes them, and what they come to."""

from __future__ import annotations

import re

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.tile_tools import machine_code
from tests.transforms.distribute.kernels import read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    body_of,
    lowered,
    run_entry,
    tile_kernel,
)
from xtile.backends.nvidia.compilation import compile_program
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import Options, translate

_DTYPES = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
}

_CANONICAL = ("(d0, d2)", "(d2, d1)", "(d0, d1)", "parallel parallel reduction")


def _dtype(type: str) -> type:
    import ml_dtypes

    return _DTYPES.get(type, ml_dtypes.bfloat16)


def _kernel(
    types: tuple[str, str], shapes: tuple[tuple[int, ...], ...], maps: tuple[str, ...], kind: str
) -> str:
    """A kernel that adds a contraction of `%a` and `%b` to `%c`."""
    factor, total = types
    words = maps[3].split()
    dims = ", ".join(f"d{i}" for i in range(len(words)))
    maps_text = ", ".join(f"affine_map<({dims}) -> {each}>" for each in maps[:3])
    iterators = ", ".join(f'"{word}"' for word in words)
    vectors = [
        f"vector<{'x'.join(map(str, shape))}x{type}>"
        for shape, type in zip(shapes, (factor, factor, total), strict=True)
    ]
    memrefs = [vector.replace("vector", "memref") for vector in vectors]
    lines = ["%c0 = arith.constant 0 : index"]
    for name, vector, memref, shape in zip("abc", vectors, memrefs, shapes, strict=True):
        at = ", ".join(["%c0"] * len(shape))
        lines.append(f"%v{name} = vector.load %{name}[{at}] : {memref}, {vector}")
    at = ", ".join(["%c0"] * len(shapes[2]))
    attributes = (
        f"indexing_maps = [{maps_text}], iterator_types = [{iterators}], "
        f"kind = #vector.kind<{kind}>"
    )
    types_text = f"{vectors[0]}, {vectors[1]} into {vectors[2]}"
    lines += [
        f"%r = vector.contract {{{attributes}}} %va, %vb, %vc : {types_text}",
        f"vector.store %r, %c[{at}] : {memrefs[2]}, {vectors[2]}",
    ]
    parameters = ", ".join(
        f"%{name}: {memref}" for name, memref in zip("abc", memrefs, strict=True)
    )
    return tile_kernel(parameters, "\n".join(lines))


def _check(text: str, types: tuple[str, str], shapes: tuple[tuple[int, ...], ...]) -> None:
    random = np.random.default_rng(5)
    # Multiples of 1/4 up to 2: their sums of products are exact in every type and order.
    numbers = [random.integers(-8, 9, shape) / (4 if "f" in types[0] else 1) for shape in shapes]
    dtypes = [_dtype(types[0]), _dtype(types[0]), _dtype(types[1])]
    a, b, c = (each.astype(dtype) for each, dtype in zip(numbers, dtypes, strict=True))
    expected, found = c.copy(), c.copy()
    run(read(text), a, b, expected)
    run_entry(text, lowered(text), a, b, found)
    assert np.array_equal(expected, found), text


_UNITS = {
    ("f16", "f32"): "mmaf",
    ("bf16", "f32"): "mmaf",
    ("f32", "f32"): "mmaf",
    ("f64", "f64"): "mmaf",
    ("f16", "f16"): "mmaf",
    ("bf16", "bf16"): "mmaf",
    ("f16", "f64"): "mmaf",
    ("i8", "i32"): "mmai",
    ("i16", "i16"): "reduce",
    ("i32", "i32"): "reduce",
    ("i64", "i64"): "reduce",
    ("index", "index"): "reduce",
    ("i8", "i64"): "reduce",
}


@pytest.mark.slow
@pytest.mark.parametrize("types", _UNITS, ids="-".join)
def test_types(types: tuple[str, str]) -> None:
    shapes = (32, 16), (16, 8), (32, 8)
    text = _kernel(types, shapes, _CANONICAL, "add")
    assert any(_UNITS[types] in line.split() for line in body_of(lowered(text)))
    _check(text, types, shapes)


_MAPS = {
    "transposed": (((16, 32), (8, 16), (8, 32)), ("(d2, d0)", "(d1, d2)", "(d1, d0)")),
    "batch": (
        ((4, 8, 16), (4, 16, 8), (4, 8, 8)),
        ("(d3, d0, d2)", "(d3, d2, d1)", "(d3, d0, d1)"),
    ),
    "batch_inside": (
        ((8, 4, 16), (16, 8, 4), (8, 8, 4)),
        ("(d0, d3, d2)", "(d2, d1, d3)", "(d0, d1, d3)"),
    ),
    "vector": (((16, 8), (8,), (16,)), ("(d0, d1)", "(d1)", "(d0)")),
    "two_depths": (((8, 4, 2), (4, 2, 16), (8, 16)), ("(d0, d2, d3)", "(d2, d3, d1)", "(d0, d1)")),
}
_ITERATORS = {
    "transposed": "parallel parallel reduction",
    "batch": "parallel parallel reduction parallel",
    "batch_inside": "parallel parallel reduction parallel",
    "vector": "parallel reduction",
    "two_depths": "parallel parallel reduction reduction",
}


@pytest.mark.slow
@pytest.mark.parametrize("types", [("f16", "f32"), ("i32", "i32")], ids="-".join)
@pytest.mark.parametrize("name", _MAPS)
def test_maps(name: str, types: tuple[str, str]) -> None:
    shapes, maps = _MAPS[name]
    text = _kernel(types, shapes, (*maps, _ITERATORS[name]), "add")
    _check(text, types, shapes)


@pytest.mark.parametrize("types", [("f16", "f32"), ("i8", "i32"), ("i64", "i64")], ids="-".join)
def test_a_column_and_a_row(types: tuple[str, str]) -> None:
    shapes = (16, 1), (1, 8), (16, 8)
    text = _kernel(types, shapes, _CANONICAL, "add")
    assert not any("mma" in line for line in body_of(lowered(text)))
    _check(text, types, shapes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["maxnumf", "mul"])
def test_kinds(kind: str) -> None:
    shapes = (8, 4), (4, 8), (8, 8)
    _check(_kernel(("f32", "f32"), shapes, _CANONICAL, kind), ("f32", "f32"), shapes)


@pytest.mark.slow
def test_large_products_are_added_up_step_by_step() -> None:
    """The elements of a tile of products are limited."""
    shapes = (64, 32), (32, 64), (64, 64)
    text = _kernel(("i32", "i32"), shapes, _CANONICAL, "add")
    module = lowered(text)
    assert sum("extract" in line.split() for line in body_of(module)) == 16
    _check(text, ("i32", "i32"), shapes)


def test_a_factor_that_is_added_up_alone_is_refused() -> None:
    shapes = (8, 4, 2), (4, 8), (8, 8)
    maps = ("(d0, d2, d3)", "(d2, d1)", "(d0, d1)", "parallel parallel reduction reduction")
    with pytest.raises(DiagnosticError, match="adds up one factor only"):
        lowered(_kernel(("f32", "f32"), shapes, maps, "add"))


@pytest.mark.parametrize("types", _UNITS, ids="-".join)
def test_assembler(types: tuple[str, str]) -> None:
    shapes = (32, 16), (16, 16), (32, 16)
    assemble_for_all(lowered(_kernel(types, shapes, _CANONICAL, "add")))


_THIN = """
func @thin(%A: memref<{type}x256x64>, %B: memref<{type}x64x{columns}>,
           %C: memref<{total}x256x{columns}>) {{
    %zero = constant {nothing} : {total}
    %one = constant {some} : {type}
    %rows = constant {rows} : index
    %group = group_id.x : index
    %i = mul %group, %rows : index
    %a = subview %A[%i:{rows},0:64] : memref<{type}x{rows}x64,strided<1,256>>
    %c = subview %C[%i:{rows},0:{columns}] : memref<{total}x{rows}x{columns},strided<1,256>>
    gemm.n.n %one, %a, %B, %zero, %c
}}
"""
"""C := A B, of which each work-group computes some rows."""


def _thin(type: str, rows: int, columns: int) -> str:
    is_float = type != "i8"
    return _THIN.format(
        type=type,
        total="f32" if is_float else "i32",
        nothing="0.0" if is_float else "0",
        some="1.0" if is_float else "1",
        rows=rows,
        columns=columns,
    )


@pytest.mark.parametrize(
    ("chip", "type", "rows", "columns"),
    [
        ("sm_80", "f16", 16, 8),
        ("sm_90", "f16", 16, 16),
        ("sm_90", "f16", 64, 3),
        ("sm_90", "i8", 16, 16),
        ("sm_120", "f16", 16, 16),
    ],
)
def test_small_products_are_of_the_matrix_unit(
    chip: str, type: str, rows: int, columns: int
) -> None:
    """tileiras takes fused multiply-adds where a warp has less than 16 x 8 elements."""
    module = xtile.parse(_thin(type, rows, columns), language="tensorlang")
    code = machine_code(compile_program(module, chip).bytecode, chip)
    assert re.search(r"\b[HI]MMA\.", code)


@pytest.mark.parametrize("type", ["f16", "i8"])
@pytest.mark.parametrize("columns", [1, 3, 8, 16])
def test_small_products_are_right(type: str, columns: int) -> None:
    """Tiles are larger than what they compute."""
    random = fresh_generator()
    module = xtile.parse(_thin(type, 16, columns), language="tensorlang")
    result = translate(module, "tensorlang-to-cuda_tile", Options("sm_90"))
    a, b = (
        random.integers(-4, 5, shape).astype(_dtype(type)) for shape in ((256, 64), (64, columns))
    )
    a, b = np.asfortranarray(a), np.asfortranarray(b)
    total = np.int32 if type == "i8" else np.float32
    c = np.asfortranarray(np.full((256, columns), 99, total))
    xtile.run(result, (a, b, c), 16)
    np.testing.assert_array_equal(c, a.astype(total) @ b.astype(total))
