"""Local memory of a block of tiles becomes tiles: the same is read as before."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.transforms.local_tiles import local_tiles

_SPACE = "#gpu.address_space<workgroup>"

_HEAD = f"""
#transposed = affine_map<(i, j) -> (j, i)>
#last = affine_map<(i, j, k) -> (j, k)>
gpu.module @kernels {{
  gpu.func @k(%x: memref<8x16xf32>, %y: memref<8x16xf32>, %n: index) kernel
      attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %t = memref.alloca() : memref<8x16xf32, {_SPACE}>
    %a = vector.transfer_read %x[%c0, %c0], %zero : memref<8x16xf32>, vector<8x16xf32>
    vector.transfer_write %a, %t[%c0, %c0] : vector<8x16xf32>, memref<8x16xf32, {_SPACE}>
"""

_TAIL = f"""
    %r = vector.transfer_read %t[%c0, %c0], %zero : memref<8x16xf32, {_SPACE}>, vector<8x16xf32>
    vector.transfer_write %r, %y[%c0, %c0] : vector<8x16xf32>, memref<8x16xf32>
    gpu.return
  }}
}}
"""

_LOCAL = f"memref<8x16xf32, {_SPACE}>"

KERNELS = {
    "a block at a known position": f"""
    %p = vector.transfer_read %x[%c0, %c0], %zero : memref<8x16xf32>, vector<4x8xf32>
    vector.transfer_write %p, %t[%c4, %c8] : vector<4x8xf32>, {_LOCAL}""",
    "a transposed block": f"""
    %p = vector.transfer_read %t[%c0, %c8], %zero {{permutation_map = #transposed}}
        : {_LOCAL}, vector<8x8xf32>
    vector.transfer_write %p, %t[%c0, %c0] : vector<8x8xf32>, {_LOCAL}""",
    "a block that moves in a loop": f"""
    scf.for %i = %c0 to %c4 step %c1 {{
      %p = vector.transfer_read %t[%i, %c1], %zero : {_LOCAL}, vector<2x4xf32>
      %q = arith.addf %p, %p : vector<2x4xf32>
      vector.transfer_write %q, %t[%n, %i] : vector<2x4xf32>, {_LOCAL}
    }}""",
    "a block that ends outside": f"""
    %p = vector.transfer_read %t[%n, %c8], %zero : {_LOCAL}, vector<8x16xf32>
    vector.transfer_write %p, %t[%c2, %n] : vector<8x16xf32>, {_LOCAL}""",
    "more than there is": f"""
    %i = vector.step : vector<32xindex>
    %eights = arith.constant dense<8> : vector<32xindex>
    %m = arith.cmpi ult, %i, %eights : vector<32xindex>
    %none = arith.constant dense<5.0> : vector<32xf32>
    %p = core.gather_load %t[%i, %c2], %m, %none
        : {_LOCAL}[vector<32xindex>, index], vector<32xi1>, vector<32xf32> -> vector<32xf32>
    %q = arith.addf %p, %p : vector<32xf32>
    core.scatter_store %q, %t[%i, %c4], %m
        : vector<32xf32>, {_LOCAL}[vector<32xindex>, index], vector<32xi1>
    %s = vector.reduction <add>, %q : vector<32xf32> into f32
    memref.store %s, %t[%c0, %c0] : {_LOCAL}""",
    "several to one element": f"""
    %i = vector.step : vector<8xindex>
    %wide = vector.broadcast %n : index to vector<8xindex>
    %m = arith.cmpi ult, %i, %wide : vector<8xindex>
    %never = arith.cmpi ugt, %i, %wide : vector<8xindex>
    %p = vector.transfer_read %x[%c2, %c4], %zero : memref<8x16xf32>, vector<8xf32>
    core.scatter_store %p, %t[%c1, %n], %m
        : vector<8xf32>, {_LOCAL}[index, index], vector<8xi1>
    core.scatter_store %p, %t[%c2, %c4] : vector<8xf32>, {_LOCAL}[index, index]
    %none = arith.andi %m, %never : vector<8xi1>
    core.scatter_store %p, %t[%c0, %c4], %none
        : vector<8xf32>, {_LOCAL}[index, index], vector<8xi1>""",
    "a branch": f"""
    %is_small = arith.cmpi slt, %n, %c4 : index
    scf.if %is_small {{
      memref.store %zero, %t[%n, %c1] : {_LOCAL}
    }} else {{
      %e = memref.load %t[%c1, %n] : {_LOCAL}
      memref.store %e, %t[%c2, %c2] : {_LOCAL}
    }}""",
    "a view": f"""
    %v = memref.subview %t[2, %n] [4, 4] [1, 1]
        : {_LOCAL} to memref<4x4xf32, strided<[16, 1], offset: ?>, {_SPACE}>
    %p = vector.transfer_read %v[%c0, %c0], %zero
        : memref<4x4xf32, strided<[16, 1], offset: ?>, {_SPACE}>, vector<8x4xf32>
    %q = arith.addf %p, %p : vector<8x4xf32>
    vector.transfer_write %q, %v[%c1, %c0]
        : vector<8x4xf32>, memref<4x4xf32, strided<[16, 1], offset: ?>, {_SPACE}>""",
    "a diagonal": f"""
    %i = vector.step : vector<8xindex>
    %p = core.gather_load %t[%i, %i] : {_LOCAL}[vector<8xindex>, vector<8xindex>] -> vector<8xf32>
    %q = arith.addf %p, %p : vector<8xf32>
    %far = arith.constant dense<8> : vector<8xindex>
    %j = arith.addi %i, %far : vector<8xindex>
    core.scatter_store %q, %t[%i, %j]
        : vector<8xf32>, {_LOCAL}[vector<8xindex>, vector<8xindex>]""",
    "a dimension as two": f"""
    %v = memref.reinterpret_cast %t to offset: [0], sizes: [8, 4, 4], strides: [16, 4, 1]
        : {_LOCAL} to memref<8x4x4xf32, {_SPACE}>
    %p = vector.transfer_read %v[%n, %c0, %c0], %zero {{permutation_map = #last}}
        : memref<8x4x4xf32, {_SPACE}>, vector<4x4xf32>
    %s = memref.subview %v[0, 0, %c1] [8, 4, 2] [1, 1, 1] : memref<8x4x4xf32, {_SPACE}>
        to memref<8x4x2xf32, strided<[16, 4, 1], offset: ?>, {_SPACE}>
    vector.transfer_write %p, %s[%c4, %c0, %c0] {{permutation_map = #last}}
        : vector<4x4xf32>, memref<8x4x2xf32, strided<[16, 4, 1], offset: ?>, {_SPACE}>
    %i = vector.step : vector<4xindex>
    %q = core.gather_load %v[%c2, %i, %c1]
        : memref<8x4x4xf32, {_SPACE}>[index, vector<4xindex>, index] -> vector<4xf32>
    core.scatter_store %q, %v[%i, %c1, %i]
        : vector<4xf32>, memref<8x4x4xf32, {_SPACE}>[vector<4xindex>, index, vector<4xindex>]""",
    "two dimensions as one": f"""
    %v = memref.reinterpret_cast %t to offset: [0], sizes: [128], strides: [1]
        : {_LOCAL} to memref<128xf32, {_SPACE}>
    %far = arith.muli %n, %c8 : index
    %p = vector.transfer_read %v[%far], %zero : memref<128xf32, {_SPACE}>, vector<32xf32>
    %w = memref.reinterpret_cast %t to offset: [40], sizes: [4, 20], strides: [20, 1]
        : {_LOCAL} to memref<4x20xf32, strided<[20, 1], offset: 40>, {_SPACE}>
    vector.transfer_write %p, %w[%c2, %c4]
        : vector<32xf32>, memref<4x20xf32, strided<[20, 1], offset: 40>, {_SPACE}>""",
    "elements behind one, also in the next rows": f"""
    %i = vector.step : vector<8xindex>
    %five = arith.constant dense<5> : vector<8xindex>
    %far = arith.muli %i, %five : vector<8xindex>
    %bound = vector.broadcast %n : index to vector<8xindex>
    %m = arith.cmpi ule, %i, %bound : vector<8xindex>
    %none = arith.constant dense<5.0> : vector<8xf32>
    %p = vector.gather %t[%c1, %n] [%far], %m, %none
        : {_LOCAL}, vector<8xindex>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %v = memref.reinterpret_cast %t to offset: [0], sizes: [1], strides: [1]
        : {_LOCAL} to memref<1xf32, strided<[1]>, {_SPACE}>
    %q = vector.gather %v[%c0] [%far], %m, %none
        : memref<1xf32, strided<[1]>, {_SPACE}>, vector<8xindex>, vector<8xi1>, vector<8xf32>
        into vector<8xf32>
    %both = arith.addf %p, %q : vector<8xf32>
    vector.scatter %v[%c8] [%far], %m, %both
        : memref<1xf32, strided<[1]>, {_SPACE}>, vector<8xindex>, vector<8xi1>, vector<8xf32>
    %narrow = arith.index_cast %far : vector<8xindex> to vector<8xi32>
    vector.scatter %t[%c2, %c1] [%narrow], %m, %q
        : {_LOCAL}, vector<8xi32>, vector<8xi1>, vector<8xf32>""",
    "updates": f"""
    %p = vector.transfer_read %x[%c0, %c0], %zero : memref<8x16xf32>, vector<4x8xf32>
    %old = core.atomic_update addf transpose %p, %t[%n, %c2] checked [0]
        : vector<4x8xf32>, {_LOCAL} -> vector<4x8xf32>
    %same = arith.constant dense<3> : vector<4x8xindex>
    %older = core.atomic_rmw maxnumf relaxed device %old, %t[%same, %c8]
        : vector<4x8xf32>, {_LOCAL}[vector<4x8xindex>, index]
    vector.transfer_write %older, %t[%c4, %c8] : vector<4x8xf32>, {_LOCAL}""",
    "elements anywhere": f"""
    %i = vector.step : vector<8xindex>
    %three = arith.constant dense<3> : vector<8xindex>
    %j = arith.muli %i, %three : vector<8xindex>
    %seven = arith.constant dense<7> : vector<8xindex>
    %k = arith.remui %j, %seven : vector<8xindex>
    %bound = vector.broadcast %n : index to vector<8xindex>
    %m = arith.cmpi ule, %i, %bound : vector<8xindex>
    %none = arith.constant dense<5.0> : vector<8xf32>
    %p = core.gather_load %t[%k, %i], %m, %none
        : {_LOCAL}[vector<8xindex>, vector<8xindex>], vector<8xi1>, vector<8xf32> -> vector<8xf32>
    core.scatter_store %p, %t[%i, %k], %m
        : vector<8xf32>, {_LOCAL}[vector<8xindex>, vector<8xindex>], vector<8xi1>""",
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [1, 5])
def test_values(name: str, n: int) -> None:
    module = xtile.parse(_HEAD + KERNELS[name] + _TAIL, language="mlir")
    x = fresh_generator().standard_normal((8, 16)).astype(np.float32)
    expected, actual = (np.full((8, 16), np.nan, np.float32) for _ in range(2))
    xtile.run(module, [x, expected, n])
    result = local_tiles(module, only_cheap=False)
    assert "memref.alloca" not in xtile.to_text(result, "mlir")
    xtile.run(result, [x, actual, n])
    np.testing.assert_array_equal(actual, expected)


_PADDED = f"memref<8x16xf32, strided<[17, 1]>, {_SPACE}>"

_IN_PADDING = f"""
    %c16 = arith.constant 16 : index
    %i = vector.step : vector<8xindex>
    %wide = vector.broadcast %n : index to vector<8xindex>
    %three = arith.constant dense<3> : vector<8xindex>
    %k = arith.muli %i, %three : vector<8xindex>
    %eight = arith.constant dense<8> : vector<8xindex>
    %row = arith.remui %k, %eight : vector<8xindex>
    %p = core.gather_load %t[%i, %row]
        : {_PADDED}[vector<8xindex>, vector<8xindex>] -> vector<8xf32>
    core.scatter_store %p, %t[%row, %c16] : vector<8xf32>, {_PADDED}[vector<8xindex>, index]
    %q = core.gather_load %t[%i, %c16] : {_PADDED}[vector<8xindex>, index] -> vector<8xf32>
    core.scatter_store %q, %t[%row, %wide]
        : vector<8xf32>, {_PADDED}[vector<8xindex>, vector<8xindex>]"""


@pytest.mark.parametrize("body", [KERNELS["elements anywhere"], _IN_PADDING])
def test_padded_rows(body: str) -> None:
    """What lies behind each row against conflicts of banks may be accessed, too."""
    text = (_HEAD + body + _TAIL).replace(_LOCAL, _PADDED)
    module = xtile.parse(text, language="mlir")
    x = fresh_generator().standard_normal((8, 16)).astype(np.float32)
    expected, actual = (np.full((8, 16), np.nan, np.float32) for _ in range(2))
    xtile.run(module, [x, expected, 5])
    result = local_tiles(module, only_cheap=False)
    assert "memref.alloca" not in xtile.to_text(result, "mlir")
    xtile.run(result, [x, actual, 5])
    np.testing.assert_array_equal(actual, expected)


def test_rows_that_fit_no_tile_stay_memory() -> None:
    text = (_HEAD + KERNELS["elements anywhere"] + _TAIL).replace(
        _LOCAL, f"memref<8x16xf32, strided<[34, 2]>, {_SPACE}>"
    )
    result = local_tiles(xtile.parse(text, language="mlir"), only_cheap=False)
    assert "memref.alloca" in xtile.to_text(result, "mlir")


@pytest.mark.parametrize("name", KERNELS)
def test_memory_stays_where_positions_are_not_known(name: str) -> None:
    module = xtile.parse(_HEAD + KERNELS[name] + _TAIL, language="mlir")
    text = xtile.to_text(local_tiles(module, only_cheap=True), "mlir")
    is_known = name in (
        *("a block at a known position", "a transposed block", "a branch"),
        *("more than there is", "several to one element"),
    )
    assert ("memref.alloca" not in text) == is_known


_ONE_ELEMENT = f"""
gpu.module @kernels {{{{
  gpu.func @k(%x: memref<{{count}}xf32>, %y: memref<4x8xf32>, %n: index) kernel
      attributes {{{{core.level = "tile"}}}} {{{{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %t = memref.alloca() : memref<{{count}}xf32, {_SPACE}>
    %a = vector.transfer_read %x[%c0], %zero : memref<{{count}}xf32>, vector<{{count}}xf32>
    vector.transfer_write %a, %t[%c0] : vector<{{count}}xf32>, memref<{{count}}xf32, {_SPACE}>
    scf.for %i = %c0 to %n step %c1 {{{{
      scf.for %j = %c0 to %n step %c1 {{{{
        %e = vector.transfer_read %t[%i], %zero {{{{in_bounds = [true]}}}}
            : memref<{{count}}xf32, {_SPACE}>, vector<1xf32>
        vector.transfer_write %e, %y[%j, %i] {{{{in_bounds = [true]}}}}
            : vector<1xf32>, memref<4x8xf32>
      }}}}
    }}}}
    gpu.return
  }}}}
}}}}
"""


@pytest.mark.parametrize("count", [8, 512])
def test_one_element_of_few_is_read_before_loops(count: int) -> None:
    module = xtile.parse(_ONE_ELEMENT.format(count=count), language="mlir")
    result = local_tiles(module, only_cheap=True)
    text = xtile.to_text(result, "mlir")
    assert ("memref.alloca" in text) == (count > 256)
    if count == 8:
        before = text[: text.index("vector.extract ")]
        assert before.count("scf.for") == 1
    x = fresh_generator().standard_normal(count).astype(np.float32)
    for n in (0, 4):
        expected, actual = (np.full((4, 8), np.nan, np.float32) for _ in range(2))
        xtile.run(module, [x, expected, n])
        xtile.run(result, [x, actual, n])
        np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(actual[:n, :n], np.tile(x[:n], (n, 1)))
