"""Linear algebra on memrefs and affine loops, against numpy; what the sanitizer says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.arguments.errors import SanitizerError
from xtile.semantics.errors import ExecutionError

MAPS = """#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#one = affine_map<(i) -> (i)>
#zero = affine_map<(i) -> (0)>
#next = affine_map<(i) -> (i + 1)>
#window = affine_map<(i, j) -> (i * 2 + j)>
#ki = affine_map<(i, j, k) -> (k, i)>
#kj = affine_map<(i, j, k) -> (k, j)>
#ij = affine_map<(i, j, k) -> (i, j)>
"""


def run(parameters: str, body: str, *arrays: Any, sanitize: bool = False) -> None:
    """Runs a kernel whose body is given on the reference device."""
    text = f"{MAPS}gpu.module @m {{ gpu.func @k({parameters}) kernel {{ {body}\ngpu.return }} }}"
    xtile.run(xtile.parse(text, language="mlir"), list(arrays), sanitize=sanitize)


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    """Random numbers."""
    return fresh_generator().standard_normal(shape).astype(dtype)


def nothing(*shape: int, dtype: Any = np.float32) -> Any:
    """Memory that holds NaN."""
    return np.full(shape, np.nan, dtype)


def _reciprocal(x: Any) -> Any:
    return 1 / x


UNARY: dict[str, Any] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "exp": np.exp,
    "floor": np.floor,
    "negf": np.negative,
    "reciprocal": _reciprocal,
    "square": np.square,
    "tanh": np.tanh,
}
BINARY: dict[str, Any] = {
    "add": np.add,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "sub": np.subtract,
}


def test_elementwise() -> None:
    a, b = normal(5, 7), normal(5, 7)
    operations = [(name, "%a") for name in UNARY] + [(name, "%a, %b") for name in BINARY]
    parameters = ", ".join(
        f"%{each}: memref<?x?xf32>" for each in ("a", "b", *(f"r{n}" for n in range(14)))
    )
    lines = [
        f"linalg.{name} ins({names} : {', '.join(['memref<?x?xf32>'] * len(names.split()))}) "
        f"outs(%r{number} : memref<?x?xf32>)"
        for number, (name, names) in enumerate(operations)
    ]
    results = [nothing(5, 7) for _ in operations]
    run(parameters, "\n".join(lines), a, b, *results, sanitize=True)
    for (name, names), result in zip(operations, results, strict=True):
        expected = BINARY[name](a, b) if "b" in names else UNARY[name](a)
        np.testing.assert_allclose(result, expected, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("sanitize", [False, True])
def test_products(sanitize: bool) -> None:
    a, b, c, v = normal(4, 9), normal(9, 6), normal(4, 6), normal(9)
    a3, b3, c3 = normal(3, 4, 9), normal(3, 9, 6), nothing(3, 4, 6)
    r, w, u, p = c.copy(), normal(4), normal(6), normal()
    expected: list[Any] = [c + a @ b, w + a @ v, u + v @ b, p + v @ v, a3 @ b3, a @ b]
    t, at = nothing(4, 6), np.ascontiguousarray(a.T)
    run(
        "%a: memref<?x?xf32>, %b: memref<?x?xf32>, %r: memref<?x?xf32>, %v: memref<?xf32>, "
        "%w: memref<?xf32>, %u: memref<?xf32>, %p: memref<f32>, %a3: memref<?x?x?xf32>, "
        "%b3: memref<?x?x?xf32>, %c3: memref<?x?x?xf32>, %at: memref<9x4xf32>, %t: memref<4x6xf32>",
        """%zero = arith.constant 0.0 : f32
        linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%r : memref<?x?xf32>)
        linalg.matvec ins(%a, %v : memref<?x?xf32>, memref<?xf32>) outs(%w : memref<?xf32>)
        linalg.vecmat ins(%v, %b : memref<?xf32>, memref<?x?xf32>) outs(%u : memref<?xf32>)
        linalg.dot ins(%v, %v : memref<?xf32>, memref<?xf32>) outs(%p : memref<f32>)
        linalg.fill ins(%zero : f32) outs(%c3 : memref<?x?x?xf32>)
        linalg.batch_matmul ins(%a3, %b3 : memref<?x?x?xf32>, memref<?x?x?xf32>)
            outs(%c3 : memref<?x?x?xf32>)
        linalg.fill ins(%zero : f32) outs(%t : memref<4x6xf32>)
        linalg.matmul indexing_maps = [#ki, #kj, #ij] ins(%at, %b : memref<9x4xf32>,
            memref<?x?xf32>) outs(%t : memref<4x6xf32>)""",
        *(a, b, r, v, w, u, p, a3, b3, c3, at, t),
        sanitize=sanitize,
    )
    for result, value in zip([r, w, u, p, c3, t], expected, strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-5)


def test_products_of_narrow_numbers() -> None:
    random = fresh_generator()
    a, b = (random.integers(-128, 128, (5, 5)).astype(np.int8) for _ in range(2))
    c, d = np.zeros((5, 5), np.int32), np.zeros((5, 5), np.int32)
    operands = "ins(%a, %b : memref<5x5xi8>, memref<5x5xi8>) outs"
    run(
        "%a: memref<5x5xi8>, %b: memref<5x5xi8>, %c: memref<5x5xi32>, %d: memref<5x5xi32>",
        f"""linalg.matmul {operands}(%c : memref<5x5xi32>)
        linalg.matmul {{cast = #linalg.type_fn<cast_unsigned>}} {operands}(%d : memref<5x5xi32>)""",
        *(a, b, c, d),
    )
    wide, unsigned = np.int32, np.uint8
    assert (c == a.astype(wide) @ b.astype(wide)).all()
    assert (d == a.view(unsigned).astype(wide) @ b.view(unsigned).astype(wide)).all()


def test_moved_and_reduced() -> None:
    a, v = normal(4, 7), normal(7)
    t, b, rows, columns = nothing(7, 4), nothing(4, 7), np.zeros(4, np.float32), normal(7)
    before, index = columns.copy(), np.full((4, 7), -1)
    run(
        "%a: memref<4x7xf32>, %v: memref<7xf32>, %t: memref<7x4xf32>, %b: memref<4x7xf32>, "
        "%rows: memref<4xf32>, %columns: memref<7xf32>, %index: memref<4x7xindex>",
        """linalg.transpose ins(%a : memref<4x7xf32>) outs(%t : memref<7x4xf32>)
            permutation = [1, 0]
        linalg.broadcast ins(%v : memref<7xf32>) outs(%b : memref<4x7xf32>) dimensions = [0]
        linalg.reduce { arith.maximumf } ins(%a : memref<4x7xf32>) outs(%rows : memref<4xf32>)
            dimensions = [1]
        linalg.reduce { arith.addf } ins(%a : memref<4x7xf32>) outs(%columns : memref<7xf32>)
            dimensions = [0]
        linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
            outs(%index : memref<4x7xindex>) {
        ^bb0(%out: index):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %seven = arith.constant 7 : index
          %r = arith.muli %i, %seven : index
          %s = arith.addi %r, %j : index
          linalg.yield %s : index
        }""",
        *(a, v, t, b, rows, columns, index),
        sanitize=True,
    )
    assert (t == a.T).all()
    assert (b == np.broadcast_to(v, (4, 7))).all()
    assert (rows == np.maximum(a.max(axis=1), 0)).all()
    np.testing.assert_allclose(columns, before + a.sum(axis=0), rtol=1e-5, atol=1e-6)
    assert (index == np.arange(28).reshape(4, 7)).all()


def test_window() -> None:
    a, w, r = normal(11), normal(3), np.zeros(5, np.float32)
    run(
        "%a: memref<11xf32>, %w: memref<3xf32>, %r: memref<5xf32>",
        """linalg.generic {indexing_maps = [#window, #column, #row],
            iterator_types = ["parallel", "reduction"]}
            ins(%a, %w : memref<11xf32>, memref<3xf32>) outs(%r : memref<5xf32>) {
        ^bb0(%x: f32, %y: f32, %out: f32):
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %out, %p : f32
          linalg.yield %s : f32
        }""",
        *(a, w, r),
    )
    expected = [a[2 * i : 2 * i + 3] @ w for i in range(5)]
    np.testing.assert_allclose(r, expected, rtol=1e-4, atol=1e-5)


def test_sizes_must_fit() -> None:
    with pytest.raises(ExecutionError, match="dimension 0 of operand 1 has size 4, but the loops"):
        run(
            "%a: memref<?xf32>, %b: memref<?xf32>",
            "linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)",
            *(normal(5), normal(4)),
        )


def test_sanitizer_finds_turns_that_depend_on_each_other() -> None:
    text = """linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
        ins(%a : memref<8xf32>) outs(%b : memref<8xf32>) {
        ^bb0(%x: f32, %y: f32):
          linalg.yield %x : f32
        }"""
    scattered = text.replace("[#one, #one]", "[#one, #zero]").replace(
        "%b : memref<8", "%b : memref<1"
    )
    run("%a: memref<8xf32>, %b: memref<8xf32>", text, normal(8), nothing(8), sanitize=True)
    with pytest.raises(SanitizerError, match="operand 1 has an element that another turn writes"):
        run("%a: memref<8xf32>, %b: memref<1xf32>", scattered, normal(8), nothing(1), sanitize=True)
    memory = "%a: memref<8xf32>"
    moved = (
        "%b = memref.subview %a[0] [7] [1] : memref<8xf32> to memref<7xf32, strided<[1]>>\n"
        + text.replace("#one, #one", "#next, #one").replace(
            "%b : memref<8xf32>", "%b : memref<7xf32, strided<[1]>>"
        )
    )
    with pytest.raises(SanitizerError, match="operand 0 has an element that another turn writes"):
        run(memory, moved, normal(8), sanitize=True)


def test_affine_loops() -> None:
    a = normal(6, 6)
    expected = a.copy()
    for i in range(6):
        for j in range(0, i, 2):
            if i >= 2 * j:
                expected[j, i] = 2 * expected[i, j]
    for i in range(3):
        expected[i, i] = 7
    total = np.zeros(1, np.float32)
    run(
        "%a: memref<?x?xf32>, %n: index, %total: memref<1xf32>",
        """affine.for %i = 0 to %n {
          affine.for %j = 0 to affine_map<(d) -> (d)>(%i) step 2 {
            affine.if affine_set<(d0, d1) : (d0 - d1 * 2 >= 0)>(%i, %j) {
              %x = affine.load %a[%i, %j] : memref<?x?xf32>
              %y = arith.addf %x, %x : f32
              affine.store %y, %a[%j, %i] : memref<?x?xf32>
            }
          }
        }
        %seven = arith.constant 7.0 : f32
        affine.parallel (%i) = (0) to (min(%n, 3)) {
          affine.store %seven, %a[%i, %i] : memref<?x?xf32>
        }
        %zero = arith.constant 0.0 : f32
        %sum = affine.for %i = 0 to %n iter_args(%s = %zero) -> (f32) {
          %x = affine.load %a[%i, %i] : memref<?x?xf32>
          %t = arith.addf %s, %x : f32
          affine.yield %t : f32
        }
        affine.store %sum, %total[0] : memref<1xf32>""",
        *(a, 6, total),
    )
    assert (a == expected).all()
    np.testing.assert_allclose(total[0], np.trace(expected), rtol=1e-5)
