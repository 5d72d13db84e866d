"""Tiles of any sizes become tiles whose sizes are powers of two, and compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.utils.hints import isa

from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import arguments_of, read
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    entry_of,
    functions_of,
    launch_entry,
    tile_kernel,
    verify,
)
from xtile.semantics.engine import launch
from xtile.semantics.sanitizer import sanitize
from xtile.targets import NVIDIA
from xtile.text.diagnostics import DiagnosticError
from xtile.transforms.pad import pad
from xtile.translate.core_to_cuda_tile import translate_module

Array = np.ndarray[Any, Any]

CONSTANTS = "\n".join(
    [
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        "%c2 = arith.constant 2 : index",
        "%c5 = arith.constant 5 : index",
        "%zero = arith.constant 0.0 : f32",
        "%nan = arith.constant 0x7FC00000 : f32",
        "%three = arith.constant 3 : i32",
    ]
)

READ = """
%v = vector.transfer_read %A[%c2, %c1], %nan {in_bounds = [true, true]}
    : memref<?x?xf32>, vector<5x9xf32>
"""

CASES = {
    "elementwise": f"""
        {READ}
        %w = arith.addf %v, %v : vector<5x9xf32>
        %x = math.exp %w : vector<5x9xf32>
        vector.transfer_write %x, %B[%c1, %c2] {{in_bounds = [true, true]}}
            : vector<5x9xf32>, memref<?x?xf32>
    """,
    "beyond the edge": """
        %v = vector.transfer_read %A[%c5, %c5], %nan : memref<?x?xf32>, vector<7x11xf32>
        vector.transfer_write %v, %B[%c2, %c5] : vector<7x11xf32>, memref<?x?xf32>
    """,
    "before the start": """
        %before = arith.constant -2 : index
        %v = vector.transfer_read %A[%before, %before], %zero : memref<?x?xf32>, vector<7x11xf32>
        vector.transfer_write %v, %B[%before, %c1] : vector<7x11xf32>, memref<?x?xf32>
    """,
    "transposed": """
        %v = vector.transfer_read %A[%c0, %c0], %nan {in_bounds = [true, true],
            permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<?x?xf32>, vector<6x5xf32>
        %t = vector.transpose %v, [1, 0] : vector<6x5xf32> to vector<5x6xf32>
        vector.transfer_write %v, %B[%c0, %c0] {in_bounds = [true, true],
            permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<6x5xf32>, memref<?x?xf32>
        vector.transfer_write %t, %B[%c5, %c0] {in_bounds = [true, true]}
            : vector<5x6xf32>, memref<?x?xf32>
    """,
    "elements of other shapes": """
        %v = vector.transfer_read %A[%c0, %c0], %nan {in_bounds = [true, true]}
            : memref<?x?xf32>, vector<5x6xf32>
        %w = vector.shape_cast %v : vector<5x6xf32> to vector<30xf32>
        %x = arith.addf %w, %w : vector<30xf32>
        %y = vector.shape_cast %x : vector<30xf32> to vector<3x10xf32>
        vector.transfer_write %y, %B[%c1, %c0] {in_bounds = [true, true]}
            : vector<3x10xf32>, memref<?x?xf32>
    """,
    "whole vectors": """
        %v = vector.load %A[%c1, %c2] : memref<?x?xf32>, vector<3x5xf32>
        vector.store %v, %B[%c2, %c1] : memref<?x?xf32>, vector<3x5xf32>
        %row = vector.load %A[%c1, %c0] : memref<?x?xf32>, vector<7xf32>
        vector.store %row, %B[%c0, %c1] : memref<?x?xf32>, vector<7xf32>
    """,
    "constants": """
        %v = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]>
            : vector<3x3xf32>
        %w = arith.constant dense<0.5> : vector<3x3xf32>
        %x = arith.mulf %v, %w : vector<3x3xf32>
        vector.store %x, %B[%c0, %c0] : memref<?x?xf32>, vector<3x3xf32>
    """,
    "reductions": f"""
        {READ}
        %m = arith.constant dense<0xFF800000> : vector<9xf32>
        %max = vector.multi_reduction <maximumf>, %v, %m [0] : vector<5x9xf32> to vector<9xf32>
        vector.store %max, %B[%c0, %c0] : memref<?x?xf32>, vector<9xf32>
        %s = arith.constant dense<0.0> : vector<5xf32>
        %sum = vector.multi_reduction <add>, %v, %s [1] : vector<5x9xf32> to vector<5xf32>
        vector.store %sum, %B[%c1, %c0] : memref<?x?xf32>, vector<5xf32>
        %small = vector.multi_reduction <minnumf>, %v, %zero [0, 1] : vector<5x9xf32> to f32
        memref.store %small, %B[%c2, %c0] : memref<?x?xf32>
        %product = vector.reduction <mul>, %max : vector<9xf32> into f32
        memref.store %product, %B[%c2, %c1] : memref<?x?xf32>
    """,
    "scans": f"""
        {READ}
        %s = arith.constant dense<0.0> : vector<5xf32>
        %sums, %last = vector.scan <add>, %v, %s {{inclusive = true, reduction_dim = 1 : i64}}
            : vector<5x9xf32>, vector<5xf32>
        vector.store %sums, %B[%c0, %c0] : memref<?x?xf32>, vector<5x9xf32>
        vector.store %last, %B[%c5, %c0] : memref<?x?xf32>, vector<5xf32>
    """,
    "products": """
        %a = vector.transfer_read %A[%c0, %c0], %nan {in_bounds = [true, true]}
            : memref<?x?xf32>, vector<5x7xf32>
        %b = vector.transfer_read %A[%c1, %c2], %nan {in_bounds = [true, true]}
            : memref<?x?xf32>, vector<7x3xf32>
        %c = arith.constant dense<1.0> : vector<5x3xf32>
        %d = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
            affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
            %a, %b, %c : vector<5x7xf32>, vector<7x3xf32> into vector<5x3xf32>
        vector.store %d, %B[%c0, %c0] : memref<?x?xf32>, vector<5x3xf32>
    """,
    "divisions": """
        %n = vector.step : vector<7xindex>
        %i = arith.index_cast %n : vector<7xindex> to vector<7xi32>
        %seven = arith.constant dense<7> : vector<7xi32>
        %d = arith.subi %seven, %i : vector<7xi32>
        %q = arith.divsi %seven, %d : vector<7xi32>
        %r = arith.remsi %seven, %d : vector<7xi32>
        %s = arith.shli %q, %i : vector<7xi32>
        %t = arith.addi %r, %s : vector<7xi32>
        %f = arith.sitofp %t : vector<7xi32> to vector<7xf32>
        vector.store %f, %B[%c0, %c0] : memref<?x?xf32>, vector<7xf32>
    """,
    "reshapes": """
        %v = vector.load %A[%c0, %c0] : memref<?x?xf32>, vector<3x4xf32>
        %w = vector.shape_cast %v : vector<3x4xf32> to vector<12xf32>
        vector.store %w, %B[%c0, %c0] : memref<?x?xf32>, vector<12xf32>
        %x = vector.shape_cast %w : vector<12xf32> to vector<1x6x2xf32>
        %y = vector.shape_cast %x : vector<1x6x2xf32> to vector<6x2xf32>
        vector.store %y, %B[%c1, %c0] : memref<?x?xf32>, vector<6x2xf32>
    """,
    "control": f"""
        {READ}
        %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %v) -> (vector<5x9xf32>) {{
          %odd = arith.cmpi eq, %i, %c2 : index
          %t = scf.if %odd -> (vector<5x9xf32>) {{
            %u = arith.mulf %s, %s : vector<5x9xf32>
            scf.yield %u : vector<5x9xf32>
          }} else {{
            scf.yield %s : vector<5x9xf32>
          }}
          scf.yield %t : vector<5x9xf32>
        }}
        vector.store %r, %B[%c0, %c0] : memref<?x?xf32>, vector<5x9xf32>
    """,
    "scattered": """
        %n = vector.step : vector<6xindex>
        %two = arith.constant dense<2> : vector<6xindex>
        %at = arith.muli %n, %two : vector<6xindex>
        %all = arith.constant dense<true> : vector<6xi1>
        %none = arith.constant dense<0.0> : vector<6xf32>
        %g = vector.gather %A[%c1, %c0] [%at], %all, %none : memref<?x?xf32>, vector<6xindex>,
            vector<6xi1>, vector<6xf32> into vector<6xf32>
        vector.scatter %B[%c1, %c0] [%at], %all, %g : memref<?x?xf32>, vector<6xindex>,
            vector<6xi1>, vector<6xf32>
        %old = core.atomic_rmw addf relaxed device %g, %B[%c2, %at], %all
            : vector<6xf32>, memref<?x?xf32>[index, vector<6xindex>], vector<6xi1>
        vector.store %old, %B[%c0, %c0] : memref<?x?xf32>, vector<6xf32>
    """,
    "atomic updates": f"""
        {READ}
        %old = core.atomic_update addf %v, %B[%c2, %c2] checked [1]
            : vector<5x9xf32>, memref<?x?xf32> -> vector<5x9xf32>
    """,
    "masks": """
        %m = vector.create_mask %c2, %c5 : vector<3x7xi1>
        %v = vector.transfer_read %A[%c0, %c0], %zero, %m {in_bounds = [true, true]}
            : memref<?x?xf32>, vector<3x7xf32>
        vector.store %v, %B[%c0, %c0] : memref<?x?xf32>, vector<3x7xf32>
        %w = arith.addf %v, %v : vector<3x7xf32>
        %k = vector.constant_mask [2, 3] : vector<3x7xi1>
        vector.transfer_write %w, %B[%c5, %c0], %k {in_bounds = [true, true]}
            : vector<3x7xf32>, memref<?x?xf32>
    """,
    "broadcast": """
        %row = vector.load %A[%c1, %c0] : memref<?x?xf32>, vector<7xf32>
        %b = vector.broadcast %row : vector<7xf32> to vector<3x7xf32>
        %one = vector.extract %b[2] : vector<7xf32> from vector<3x7xf32>
        %i = vector.insert %one, %b [0] : vector<7xf32> into vector<3x7xf32>
        vector.store %i, %B[%c1, %c0] : memref<?x?xf32>, vector<3x7xf32>
    """,
}

OPERATIONS_OF_CORE = {
    "core.gather": """
        %n = vector.step : vector<7xindex>
        %six = arith.constant dense<6> : vector<7xindex>
        %back = arith.subi %six, %n : vector<7xindex>
        %p = vector.shape_cast %back : vector<7xindex> to vector<1x7xindex>
        %g = core.gather %v[%p] axis 1 : vector<5x9xf32>, vector<1x7xindex> -> vector<1x7xf32>
        vector.store %g, %B[%c0, %c0] : memref<?x?xf32>, vector<1x7xf32>
    """,
    "core.histogram": """
        %n = vector.step : vector<7xindex>
        %two = arith.constant dense<2> : vector<7xindex>
        %half = arith.divui %n, %two : vector<7xindex>
        %i = arith.index_cast %half : vector<7xindex> to vector<7xi32>
        %h = core.histogram %i : vector<7xi32> -> vector<5xi32>
        %m = vector.constant_mask [6] : vector<7xi1>
        %k = core.histogram %i, %m : vector<7xi32>, vector<7xi1> -> vector<5xi32>
        %f = arith.sitofp %h : vector<5xi32> to vector<5xf32>
        %g = arith.sitofp %k : vector<5xi32> to vector<5xf32>
        vector.store %f, %B[%c0, %c0] : memref<?x?xf32>, vector<5xf32>
        vector.store %g, %B[%c1, %c0] : memref<?x?xf32>, vector<5xf32>
    """,
    "atomic updates anywhere": """
        %n = vector.step : vector<6xindex>
        %row = vector.extract %v[0] : vector<9xf32> from vector<5x9xf32>
        %two = vector.load %A[%c0, %c0] : memref<?x?xf32>, vector<6xf32>
        %old = core.atomic_rmw maximumf acq_rel device %two, %B[%c2, %n]
            : vector<6xf32>, memref<?x?xf32>[index, vector<6xindex>]
        %before = core.atomic_compare_and_swap relaxed device %old, %two, %B[%c5, %n]
            : vector<6xf32>, memref<?x?xf32>[index, vector<6xindex>]
        vector.store %before, %B[%c0, %c0] : memref<?x?xf32>, vector<6xf32>
    """,
    "core.gather_load": """
        %n = vector.step : vector<3xindex>
        %r = vector.shape_cast %n : vector<3xindex> to vector<3x1xindex>
        %m = vector.step : vector<7xindex>
        %two = arith.constant dense<2> : vector<7xindex>
        %t = arith.muli %m, %two : vector<7xindex>
        %c = vector.shape_cast %t : vector<7xindex> to vector<1x7xindex>
        %g = core.gather_load %A[%r, %c] : memref<?x?xf32>[vector<3x1xindex>, vector<1x7xindex>]
            -> vector<3x7xf32>
        core.scatter_store %g, %B[%r, %c] : vector<3x7xf32>,
            memref<?x?xf32>[vector<3x1xindex>, vector<1x7xindex>]
        %k = vector.constant_mask [2, 6] : vector<3x7xi1>
        %none = arith.constant dense<0.0> : vector<3x7xf32>
        %h = core.gather_load %A[%c5, %c], %k, %none : memref<?x?xf32>[index, vector<1x7xindex>],
            vector<3x7xi1>, vector<3x7xf32> -> vector<3x7xf32>
        vector.store %h, %B[%c5, %c2] : memref<?x?xf32>, vector<3x7xf32>
    """,
    "core.reduce with identities": """
        %r = core.reduce %v axis 1 identities [0xFF800000 : f32]
            : vector<5x9xf32> -> vector<5xf32> {
        ^bb0(%a: f32, %b: f32):
          %c = arith.maximumf %a, %b : f32
          core.yield %c : f32
        }
        vector.store %r, %B[%c0, %c0] : memref<?x?xf32>, vector<5xf32>
    """,
    "core.reduce without identities": """
        %n = vector.step : vector<9xindex>
        %k = arith.index_cast %n : vector<9xindex> to vector<9xi32>
        %i = vector.broadcast %k : vector<9xi32> to vector<5x9xi32>
        %r, %at = core.reduce %v, %i axis 1
            : vector<5x9xf32>, vector<5x9xi32> -> vector<5xf32>, vector<5xi32> {
        ^bb0(%a: f32, %p: i32, %b: f32, %q: i32):
          %less = arith.cmpf olt, %a, %b : f32
          %c = arith.select %less, %a, %b : f32
          %d = arith.select %less, %p, %q : i32
          core.yield %c, %d : f32, i32
        }
        %x = arith.sitofp %at : vector<5xi32> to vector<5xf32>
        vector.store %r, %B[%c0, %c0] : memref<?x?xf32>, vector<5xf32>
        vector.store %x, %B[%c1, %c0] : memref<?x?xf32>, vector<5xf32>
    """,
    "core.reduce to a number": """
        %row = vector.extract %v[2] : vector<9xf32> from vector<5x9xf32>
        %r = core.reduce %row axis 0 : vector<9xf32> -> f32 {
        ^bb0(%a: f32, %b: f32):
          %c = arith.mulf %a, %b : f32
          core.yield %c : f32
        }
        memref.store %r, %B[%c0, %c0] : memref<?x?xf32>
    """,
    "core.scan": """
        %r = core.scan %v axis 1 : vector<5x9xf32> -> vector<5x9xf32> {
        ^bb0(%a: f32, %b: f32):
          %c = arith.addf %a, %b : f32
          core.yield %c : f32
        }
        vector.store %r, %B[%c0, %c0] : memref<?x?xf32>, vector<5x9xf32>
    """,
    "core.scan reverse": """
        %r = core.scan %v axis 0 reverse : vector<5x9xf32> -> vector<5x9xf32> {
        ^bb0(%a: f32, %b: f32):
          %c = arith.addf %a, %b : f32
          core.yield %c : f32
        }
        vector.store %r, %B[%c0, %c0] : memref<?x?xf32>, vector<5x9xf32>
    """,
}

ALL = CASES | {name: READ + body for name, body in OPERATIONS_OF_CORE.items()}

PARAMETERS = "%A: memref<?x?xf32>, %B: memref<?x?xf32>"


def kernel(body: str) -> str:
    """The text of a kernel that reads A and writes B."""
    return tile_kernel(PARAMETERS, f"{CONSTANTS}\n{body}")


def run(module: ModuleOp, values: Sequence[Array]) -> list[Array]:
    """The arrays after a run on the reference device."""
    copies = [value.copy() for value in values]
    (function,) = functions_of(module)
    launch(function, arguments_of(copies), (1, 1, 1))
    return copies


def numbers() -> list[Array]:
    """An array to read, and one to write that is full of numbers of its own."""
    rng = fresh_generator()
    return [rng.standard_normal((12, 14)).astype(np.float32) for _ in range(2)]


def sizes(module: ModuleOp) -> set[int]:
    """The sizes of all vectors."""
    types = [value.type for op in module.walk() for value in (*op.operands, *op.results)]
    return {size for type_ in types if isa(type_, VectorType) for size in type_.get_shape()}


@pytest.mark.parametrize("name", ALL)
def test_values(name: str) -> None:
    module = read(kernel(ALL[name]))
    verify(module)
    assert any(size & (size - 1) for size in sizes(module))
    padded = pad(module)
    verify(padded)
    assert not any(size & (size - 1) for size in sizes(padded))
    values = numbers()
    expected, found = run(module, values), run(padded, values)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
    assert not np.array_equal(expected[1], values[1])
    (function,) = functions_of(padded)
    copies = [value.copy() for value in values]
    assert not list(sanitize(function, arguments_of(copies), (1, 1, 1)))


@pytest.mark.parametrize("name", ALL)
def test_as_entries_of_cuda_tile(name: str) -> None:
    module = read(kernel(ALL[name]))
    lowered = translate_module(module, NVIDIA.chips["sm_90"])
    verify(lowered)
    if name in CASES:
        assemble_for_all(lowered, ["sm_90"])
    values = numbers()
    expected, found = run(module, values), [value.copy() for value in values]
    (function,) = functions_of(module)
    launch_entry(function, entry_of(lowered), arguments_of(found))
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)


def test_numbers_beyond_the_end_reach_nothing() -> None:
    """Infinities and NaNs beside a tile are in no product of it."""
    values = numbers()
    values[0][:] = np.inf
    values[0][:5, :7] = 1
    values[0][1:8, 2:5] = 1
    (_, found) = run(pad(read(kernel(CASES["products"]))), values)
    np.testing.assert_array_equal(found[:5, :3], np.full((5, 3), 8, np.float32))


def test_a_kernel_of_even_sizes_stays() -> None:
    module = read(
        kernel(CASES["products"].replace("5x7", "4x8").replace("7x3", "8x4").replace("5x3", "4x4"))
    )
    assert pad(module) is module


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            """%v = vector.load %A[%c0, %c0] : memref<?x?xf32>, vector<6xf32>
            %w, %x = vector.deinterleave %v : vector<6xf32> -> vector<3xf32>""",
            "vector.deinterleave has no form for tiles whose sizes are no powers of two",
        ),
    ],
)
def test_what_has_no_such_form(body: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as raised:
        pad(read(kernel(body)))
    assert message in str(raised.value)
