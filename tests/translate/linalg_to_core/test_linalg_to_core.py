"""Linear algebra and affine loops on memrefs, through every language to the devices."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.mlir_opt import run_mlir_opt
from tests.seeds import fresh_generator
from xtile.arguments.errors import ArgumentError, SanitizerError
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.text.mlir import print_mlir

MAPS = """#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#window = affine_map<(i, j) -> (i * 2 + j)>
#column = affine_map<(i, j) -> (j)>
#ki = affine_map<(i, j, k) -> (k, i)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
"""


@lru_cache(maxsize=64)
def kernel(parameters: str, body: str) -> ModuleOp:
    """A module with the kernel @k."""
    text = f"{MAPS}gpu.module @m {{ gpu.func @k({parameters}) kernel {{\n{body}\ngpu.return }} }}"
    return xtile.parse(text, language="mlir")


@lru_cache(maxsize=64)
def translated(module: ModuleOp, target: str) -> ModuleOp:
    """What a module becomes; itself, for devices that take what was written."""
    return module if target in ("linalg", "opencl") else xtile.translate(module, target)


def text_of(module: ModuleOp) -> str:
    """A module as text."""
    from io import StringIO

    stream = StringIO()
    print_mlir(module, stream)
    return stream.getvalue()


PRODUCTS = """%z = arith.constant 0.0 : f32
linalg.fill ins(%z : f32) outs(%c : memref<?x?xf32>)
linalg.matmul indexing_maps = [#ki, #jk, #ij] ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>)
    outs(%c : memref<?x?xf32>)
linalg.exp ins(%c : memref<?x?xf32>) outs(%c : memref<?x?xf32>)
linalg.reduce {arith.maximumf} ins(%c : memref<?x?xf32>) outs(%r : memref<?xf32>) dimensions = [1]
linalg.reduce {arith.addf} ins(%c : memref<?x?xf32>) outs(%s : memref<?xf32>) dimensions = [0]
linalg.transpose ins(%c : memref<?x?xf32>) outs(%t : memref<?x?xf32>) permutation = [1, 0]
linalg.matvec ins(%t, %v : memref<?x?xf32>, memref<?xf32>) outs(%w : memref<?xf32>)
linalg.vecmat ins(%v, %c : memref<?xf32>, memref<?x?xf32>) outs(%u : memref<?xf32>)
linalg.fill ins(%z : f32) outs(%c3 : memref<?x?x?xf32>)
linalg.batch_matmul ins(%a3, %b3 : memref<?x?x?xf32>, memref<?x?x?xf32>)
    outs(%c3 : memref<?x?x?xf32>)
linalg.dot ins(%v, %v : memref<?xf32>, memref<?xf32>) outs(%p : memref<f32>)
linalg.matmul ins(%i, %j : memref<5x9xi8>, memref<9x7xi8>) outs(%k : memref<5x7xi32>)
linalg.generic {indexing_maps = [#window, #column, #row], iterator_types = ["parallel",
    "reduction"]} ins(%v, %x : memref<?xf32>, memref<3xf32>) outs(%y : memref<?xf32>) {
^bb0(%in: f32, %x0: f32, %out: f32):
  %l = linalg.index 1 : index
  %q = arith.mulf %in, %x0 : f32
  %o = arith.addf %out, %q : f32
  linalg.yield %o : f32
}"""

PARAMETERS = (
    "%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %r: memref<?xf32>, "
    "%s: memref<?xf32>, %t: memref<?x?xf32>, %v: memref<?xf32>, %w: memref<?xf32>, "
    "%u: memref<?xf32>, %a3: memref<?x?x?xf32>, %b3: memref<?x?x?xf32>, %c3: memref<?x?x?xf32>, "
    "%p: memref<f32>, %i: memref<5x9xi8>, %j: memref<9x7xi8>, %k: memref<5x7xi32>, "
    "%x: memref<3xf32>, %y: memref<?xf32>"
)


@pytest.fixture
def module() -> ModuleOp:
    return kernel(PARAMETERS, PRODUCTS)


def check(module: ModuleOp, device: str = "reference", *, sanitize: bool = False) -> None:
    """Compares what a kernel of PRODUCTS computes of random numbers with numpy."""
    random = fresh_generator()

    def normal(*shape: int) -> Any:
        return random.standard_normal(shape).astype(np.float32)

    def nothing(*shape: int) -> Any:
        return np.full(shape, np.nan, np.float32)

    m, n, depth = 27, 21, 40
    a, b = (normal(depth, m) * 0.2).astype(np.float16), (normal(n, depth) * 0.2).astype(np.float16)
    c, t, c3 = nothing(m, n), nothing(n, m), nothing(3, 6, 4)
    r, s, v, w, u, p = np.zeros(m, np.float32), normal(n), normal(m), normal(n), normal(n), normal()
    a3, b3, x, y = normal(3, 6, 5), normal(3, 5, 4), normal(3), normal(13)
    i, j = (random.integers(-128, 128, s_).astype(np.int8) for s_ in ((5, 9), (9, 7)))
    k = np.zeros((5, 7), np.int32)
    product = np.exp(a.astype(np.float32).T @ b.astype(np.float32).T)
    windows = np.array([v[2 * each : 2 * each + 3] @ x for each in range(13)])
    expected = [
        *((c, product), (r, product.max(axis=1)), (s, s + product.sum(axis=0)), (t, product.T)),
        *((w, w + product.T @ v), (u, u + v @ product), (c3, a3 @ b3), (p, p + v @ v)),
        *((k, i.astype(np.int32) @ j.astype(np.int32)), (y, y + windows)),
    ]
    arguments = [a, b, c, r, s, t, v, w, u, a3, b3, c3, p, i, j, k, x, y]
    xtile.run(module, arguments, device=device, sanitize=sanitize)
    for result, value in expected:
        np.testing.assert_allclose(result, value, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("to", ["linalg", "core", "subgroup", "tile", "cuda_tile"])
def test_every_level_computes_the_same(module: ModuleOp, to: str) -> None:
    check(translated(module, to), sanitize=to in ("linalg", "core"))


def test_on_opencl(module: ModuleOp) -> None:
    check(module, "opencl")


TYPES = {
    # Factors, sums, and how far apart two orders of rounded additions may be.
    "bf16": ("bf16", "f32", ml_dtypes.bfloat16, np.float32, 2e-3),
    "bf16 sums": ("bf16", "bf16", ml_dtypes.bfloat16, ml_dtypes.bfloat16, 0.25),
    "f64": ("f64", "f64", np.float64, np.float64, 1e-12),
    "i64": ("i64", "i64", np.int64, np.int64, 0),
}

OF_A_TYPE = """%z = arith.constant {zero} : {total}
linalg.fill ins(%z : {total}) outs(%c : memref<?x?x{total}>)
linalg.matmul ins(%a, %b : memref<?x?x{factor}>, memref<?x?x{factor}>)
    outs(%c : memref<?x?x{total}>)
linalg.reduce {{ arith.{add} }} ins(%c : memref<?x?x{total}>) outs(%s : memref<?x{total}>)
    dimensions = [0]
linalg.transpose ins(%c : memref<?x?x{total}>) outs(%t : memref<?x?x{total}>) permutation = [1, 0]
linalg.add ins(%t, %t : memref<?x?x{total}>, memref<?x?x{total}>)
    outs(%t : memref<?x?x{total}>)
affine.for %i = 0 to %n {{
  %x = affine.load %t[%i, 0] : memref<?x?x{total}>
  %y = arith.{sub} %x, %z : {total}
  affine.store %y, %d[%i] : memref<?x{total}>
}}"""


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("to", ["linalg", "core", "subgroup", "tile", "cuda_tile", "opencl"])
def test_numbers_of_other_types(name: str, to: str) -> None:
    factor, total, factors, sums, tolerance = TYPES[name]
    is_float = total[0] != "i"
    body = OF_A_TYPE.format(
        factor=factor,
        total=total,
        zero="0.0" if is_float else "0",
        add="addf" if is_float else "addi",
        sub="subf" if is_float else "subi",
    )
    module = kernel(
        f"%a: memref<?x?x{factor}>, %b: memref<?x?x{factor}>, %c: memref<?x?x{total}>, "
        f"%s: memref<?x{total}>, %t: memref<?x?x{total}>, %d: memref<?x{total}>, %n: index",
        body,
    )
    module = translated(module, to)
    random, (m, n, depth) = fresh_generator(), (19, 13, 11)
    if is_float:
        a, b = (random.standard_normal(s_).astype(factors) for s_ in ((m, depth), (depth, n)))
        nothing = np.nan
    else:
        # Products and sums wrap around.
        a, b = (random.integers(-(2**62), 2**62, s_) for s_ in ((m, depth), (depth, n)))
        nothing = -1
    c, t, d = (np.full(s_, nothing, sums) for s_ in ((m, n), (n, m), (n,)))
    s = np.zeros(n, sums)
    exact = np.float64 if is_float else np.int64
    product = a.astype(exact) @ b.astype(exact)
    xtile.run(module, [a, b, c, s, t, d, n], device="opencl" if to == "opencl" else "reference")
    expected = ((c, product), (s, product.sum(axis=0)), (t, 2 * product.T), (d, 2 * product[0]))
    for result, value in expected:
        if tolerance == 0:
            np.testing.assert_array_equal(result, value)
        else:
            scale = np.abs(value).max() + 1
            np.testing.assert_allclose(
                result.astype(np.float64) / scale, value / scale, rtol=0, atol=tolerance
            )


@pytest.mark.parametrize(
    "body",
    [
        "linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)",
        """affine.for %i = 0 to 4 {
          %x = affine.load %a[%i] : memref<4xf32>
          affine.store %x, %b[%i] : memref<4xf32>
        }""",
    ],
)
def test_a_read_only_array_is_refused(body: str) -> None:
    module = kernel("%a: memref<4xf32>, %b: memref<4xf32>", body)
    a, b = (np.ones(4, np.float32) for _ in range(2))
    b.flags.writeable = False
    with pytest.raises(
        ArgumentError, match=r"'b'.* the kernel writes to it, but the given array is"
    ):
        xtile.run(module, [a, b])
    xtile.run(module, [b, a])


def test_the_sanitizer_knows_what_linalg_accesses() -> None:
    """One array for two arguments, of which one is promised to be alone."""
    module = kernel(
        "%a: memref<4xf32>, %b: memref<4xf32> {core.noalias}",
        "linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)",
    )
    a = np.ones(4, np.float32)
    with pytest.raises(SanitizerError, match=r"core\.noalias of %b excludes"):
        xtile.run(module, [a, a], sanitize=True)
    xtile.run(module, [a, a.copy()], sanitize=True)


def test_xegpu_is_what_mlir_reads(module: ModuleOp) -> None:
    text = text_of(xtile.translate(module, "xegpu"))
    result = run_mlir_opt(text, "--verify-each")
    assert result.returncode == 0, result.stderr


def test_what_is_collective(module: ModuleOp) -> None:
    diagnostics = Diagnostics()
    core = text_of(xtile.translate(module, "core", diagnostics=diagnostics))
    names = [name for name in ("gemm", "gemv", "sum") for _ in range(core.count(f"core.{name} "))]
    assert names == ["gemm"] * 3 + ["gemv"] * 2 + ["sum"]
    assert core.count("core.gemm transpose_a transpose_b ") == 1
    assert core.count("core.gemv transpose_a ") == 1
    assert core.count("core.sum transpose_a ") == 1
    assert core.count("core.parallel") == 6
    remarks = diagnostics.render()
    assert "the products of a batch are computed one after the other" in remarks
    assert "linalg.dot has no parallel loop and is no sum of rows" in remarks


LOOPS = """affine.for %i = 0 to %n {
  affine.for %j = 0 to affine_map<(d) -> (d)>(%i) step 2 {
    affine.if affine_set<(d0, d1) : (d0 - d1 * 2 >= 0)>(%i, %j) {
      %x = affine.load %a[%i, %j] : memref<?x?xf32>
      %y = arith.addf %x, %x : f32
      affine.store %y, %a[%j, %i] : memref<?x?xf32>
    } else {
      %x = affine.load %a[(%i + 3) mod 5, %j floordiv 2] : memref<?x?xf32>
      affine.store %x, %a[%j, %i] : memref<?x?xf32>
    }
  }
}
%seven = arith.constant 7.0 : f32
affine.parallel (%i, %j) = (1, 0) to (min(%n, 5), 4) step (2, 1) {
  affine.store %seven, %a[%i, %j] : memref<?x?xf32>
}
%zero = arith.constant 0.0 : f32
%sum = affine.for %i = 0 to %n iter_args(%s = %zero) -> (f32) {
  %x = affine.load %a[%i, %i] : memref<?x?xf32>
  %t = arith.addf %s, %x : f32
  affine.yield %t : f32
}
affine.store %sum, %total[0] : memref<1xf32>"""


@pytest.mark.parametrize("to", ["linalg", "subgroup", "tile", "opencl"])
def test_loops(to: str) -> None:
    module = kernel("%a: memref<?x?xf32>, %n: index, %total: memref<1xf32>", LOOPS)
    a = fresh_generator().standard_normal((7, 7)).astype(np.float32)
    expected, total = a.copy(), np.full(1, np.nan, np.float32)
    for i in range(7):
        for j in range(0, i, 2):
            is_in_set = i >= 2 * j
            expected[j, i] = 2 * expected[i, j] if is_in_set else expected[(i + 3) % 5, j // 2]
    expected[1:5:2, :4] = 7
    module = translated(module, to)
    xtile.run(module, [a, 7, total], device="opencl" if to == "opencl" else "reference")
    assert (a == expected).all()
    np.testing.assert_allclose(total[0], np.trace(expected), rtol=1e-4, atol=1e-5)


def test_memory_of_the_work_group() -> None:
    space = "#gpu.address_space<workgroup>"
    module = kernel(
        "%a: memref<9x5xf32>, %b: memref<5x9xf32>",
        f"""%m = memref.alloca() : memref<9x5xf32, {space}>
        linalg.exp ins(%a : memref<9x5xf32>) outs(%m : memref<9x5xf32, {space}>)
        linalg.transpose ins(%m : memref<9x5xf32, {space}>) outs(%b : memref<5x9xf32>)
            permutation = [1, 0]""",
    )
    a = fresh_generator().standard_normal((9, 5)).astype(np.float32)
    for each in ("subgroup", "tile"):
        b = np.full((5, 9), np.nan, np.float32)
        xtile.run(translated(module, each), [a, b])
        np.testing.assert_allclose(b, np.exp(a).T, rtol=1e-5)


def test_remark_on_loops() -> None:
    module = kernel("%a: memref<?x?xf32>, %n: index, %total: memref<1xf32>", LOOPS)
    diagnostics = Diagnostics()
    xtile.translate(module, "core", diagnostics=diagnostics)
    # Both outermost loops; neither the inner one nor affine.parallel.
    assert diagnostics.render().count("all work-items execute this loop alike") == 2


REFUSED = {
    "a tensor": (
        (
            "%t = tensor.empty() : tensor<4xf32>\n"
            "%r = linalg.exp ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>"
        ),
        (
            "tensor.empty works on tensors, which have no memory; make them memrefs first, with "
            "mlir-opt's -one-shot-bufferize"
        ),
    ),
    "memory of a work-item": (
        (
            "%m = memref.alloca() : memref<4xf32>\n"
            "linalg.copy ins(%a : memref<4xf32>) outs(%m : memref<4xf32>)"
        ),
        "memref.alloca is memory of each work-item",
    ),
    "a work-item": (
        "%x = gpu.thread_id x\nlinalg.fill ins(%f : f32) outs(%a : memref<4xf32>)",
        "gpu.thread_id tells work-items apart",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_at_its_place(name: str) -> None:
    body, message = REFUSED[name]
    module = kernel("%a: memref<4xf32>, %f: f32", body)
    with pytest.raises(DiagnosticError) as raised:
        xtile.translate(module, "core")
    (diagnostic,) = raised.value.diagnostics
    assert message in diagnostic.message
    assert diagnostic.span is not None
