"""Contractions with any maps, and broadcasts of vectors, lowered for GPUs and for CPUs.

What is lowered for a GPU runs on the reference device; for a CPU also on OpenCL's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_seed
from tests.translate.core_to_xegpu.lowered import lower, refusal
from xtile.translate.route import Options, translate

pytestmark = pytest.mark.slow

M, N, K = 8, 16, 16
SIZES = {"i": M, "j": N, "k": K, "l": 4}

CONTRACTIONS = (
    # The product, and what else it can be called or turned.
    "ik,kj->ij",
    "ki,kj->ij",
    "ik,jk->ij",
    "ki,jk->ij",
    "kj,ik->ij",
    "jk,ki->ij",
    "ik,kj->ji",
    # A vector as a factor or a result, or as both.
    "ik,k->i",
    "ki,k->i",
    "k,kj->j",
    "ik,ik->i",
    "kj,k->j",
    "k,k->",
    "ik,ik->",
)


def _vector(names: str, type: str) -> str:
    if not names:
        return type
    return f"vector<{'x'.join(str(SIZES[name]) for name in names)}x{type}>"


def _memref(names: str, type: str) -> str:
    return f"memref<{'x'.join([*(str(SIZES[name]) for name in names), type])}>"


def _read(result: str, memory: str, names: str, type: str) -> str:
    if not names:
        return f"{result} = memref.load {memory}[] : {_memref('', type)}\n"
    zeros = ", ".join(["%c0"] * len(names))
    bounds = ", ".join(["true"] * len(names))
    return (
        f"{result} = vector.transfer_read {memory}[{zeros}], %zero_{type} "
        f"{{in_bounds = [{bounds}]}} : {_memref(names, type)}, {_vector(names, type)}\n"
    )


def _write(value: str, memory: str, names: str, type: str) -> str:
    if not names:
        return f"memref.store {value}, {memory}[] : {_memref('', type)}\n"
    zeros = ", ".join(["%c0"] * len(names))
    bounds = ", ".join(["true"] * len(names))
    return (
        f"vector.transfer_write {value}, {memory}[{zeros}] {{in_bounds = [{bounds}]}}"
        f" : {_vector(names, type)}, {_memref(names, type)}\n"
    )


def _kernel(parameters: str, body: str, types: set[str]) -> str:
    zeros = "\n".join(
        f"%zero_{type} = arith.constant {'0' if type[0] == 'i' else '0.0'} : {type}"
        for type in types
    )
    return f"""gpu.module @m {{
      gpu.func @k({parameters}) kernel attributes {{core.level = "subgroup",
          intel_reqd_sub_group_size = 16 : i32, known_block_size = array<i32: 16, 1, 1>}} {{
        %c0 = arith.constant 0 : index
        {zeros}
        {body}
        gpu.return
      }}
    }}"""


def _contraction(form: str, factor: str, sums: str, order: str = "ijk", kind: str = "add") -> str:
    factors, _, result = form.partition("->")
    lhs, _, rhs = factors.partition(",")
    names = [name for name in order if name in form]
    dims = ", ".join(names)
    maps = ", ".join(
        f"affine_map<({dims}) -> ({', '.join(operand)})>" for operand in (lhs, rhs, result)
    )
    iterators = ", ".join('"parallel"' if name in result else '"reduction"' for name in names)
    body = (
        _read("%a", "%A", lhs, factor)
        + _read("%b", "%B", rhs, factor)
        + _read("%c", "%C", result, sums)
        + f"%d = vector.contract {{indexing_maps = [{maps}], iterator_types = [{iterators}], "
        f"kind = #vector.kind<{kind}>}} %a, %b, %c : {_vector(lhs, factor)}, "
        f"{_vector(rhs, factor)} into {_vector(result, sums)}\n" + _write("%d", "%D", result, sums)
    )
    parameters = (
        f"%A: {_memref(lhs, factor)}, %B: {_memref(rhs, factor)}, "
        f"%C: {_memref(result, sums)}, %D: {_memref(result, sums)}"
    )
    return _kernel(parameters, body, {factor, sums})


DTYPES: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "i8": np.int8, "i32": np.int32}


def _random(names: str, type: str) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(fresh_seed())
    shape = [SIZES[name] for name in names]
    # Sums of such products are exact in every type and order.
    return rng.integers(-3, 4, shape).astype(DTYPES[type])


def _on_every_device(text: str, arguments: list[np.ndarray[Any, Any]]) -> list[Any]:
    """The last argument after a run on each device."""
    found: list[Any] = []
    module = xtile.parse(text, language="mlir")
    for chip, device in (("pvc", "reference"), ("dg2", "reference"), ("cpu", "opencl")):
        route = "core-to-xegpu" if device == "reference" else "core-to-lane"
        lowered = translate(module, route, Options(chip))
        own = [argument.copy() for argument in arguments]
        xtile.run(lowered, own, device=device)
        found.append(own[-1])
    return found


@pytest.mark.parametrize("form", CONTRACTIONS)
def test_forms(form: str) -> None:
    factors, _, result = form.partition("->")
    lhs, _, rhs = factors.partition(",")
    a, b, c = _random(lhs, "f32"), _random(rhs, "f32"), _random(result, "f32")
    d = np.full(c.shape, np.nan, np.float32)
    expected = np.einsum(form, a, b) + c
    for found in _on_every_device(_contraction(form, "f32", "f32"), [a, b, c, d]):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("order", ["ijk", "kij", "jki"])
@pytest.mark.parametrize(("factor", "sums"), [("f16", "f32"), ("f16", "f16"), ("i8", "i32")])
def test_names_of_iterations_and_types(order: str, factor: str, sums: str) -> None:
    a, b, c = _random("ik", factor), _random("kj", factor), _random("ij", sums)
    d = np.zeros_like(c)
    expected = np.einsum("ik,kj->ij", a.astype(c.dtype), b.astype(c.dtype)) + c
    for found in _on_every_device(_contraction("ik,kj->ij", factor, sums, order), [a, b, c, d]):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("form", ["ik,kj->ij", "ki,kj->ij", "ik,jk->ij", "kj,ik->ij"])
@pytest.mark.parametrize("order", ["ijk", "kji"])
def test_every_product_of_matrices_is_on_the_matrix_unit(form: str, order: str) -> None:
    module = xtile.parse(_contraction(form, "f16", "f32", order), language="mlir")
    lowered = translate(module, "core-to-xegpu", Options("pvc"))
    assert "xegpu.dpas" in {operation.name for operation in lowered.walk()}
    factors, _, _ = form.partition("->")
    lhs, _, rhs = factors.partition(",")
    a, b, c = _random(lhs, "f16"), _random(rhs, "f16"), _random("ij", "f32")
    d = np.full(c.shape, np.nan, np.float32)
    xtile.run(lowered, [a, b, c, d])
    assert np.array_equal(d, np.einsum(form, a.astype(np.float32), b.astype(np.float32)) + c)


@pytest.mark.parametrize("kind", ["maxnumf", "minimumf", "mul"])
def test_other_kinds_are_not_sums(kind: str) -> None:
    a, b, c = _random("ik", "f32"), _random("kj", "f32"), _random("ij", "f32")
    d = np.full(c.shape, np.nan, np.float32)
    combine = {"maxnumf": np.maximum, "minimumf": np.minimum, "mul": np.multiply}[kind]
    expected = c
    for k in range(K):
        expected = combine(np.outer(a[:, k], b[k]), expected)
    for found in _on_every_device(_contraction("ik,kj->ij", "f32", "f32", kind=kind), [a, b, c, d]):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


BROADCASTS = (
    ("16", "8x16"),
    ("1x16", "8x16"),
    ("8x1", "8x16"),
    ("32", "8x32"),
    ("1", "8x16"),
    ("1x1", "8x16"),
    ("1", "16"),
    ("20", "5x20"),
    ("4", "16x4"),
)


def _named(shape: str) -> str:
    names = ""
    for size in shape.split("x"):
        SIZES[f"{chr(0x100 + int(size))}"] = int(size)
        names += chr(0x100 + int(size))
    return names


@pytest.mark.parametrize("type", ["f32", "f16", "i32"])
@pytest.mark.parametrize(("source", "result"), BROADCASTS)
def test_broadcasts(source: str, result: str, type: str) -> None:
    own, large = _named(source), _named(result)
    body = (
        _read("%a", "%A", own, type)
        + f"%d = vector.broadcast %a : {_vector(own, type)} to {_vector(large, type)}\n"
        + _write("%d", "%D", large, type)
    )
    text = _kernel(f"%A: {_memref(own, type)}, %D: {_memref(large, type)}", body, {type})
    a = _random(own, type)
    d = np.full([SIZES[name] for name in large], 77, DTYPES[type])
    for found in _on_every_device(text, [a, d]):
        assert np.array_equal(found, np.broadcast_to(a, d.shape))


@pytest.mark.parametrize(("dimension", "names"), [(0, "j"), (1, "i")])
def test_sums_of_rows_and_columns_are_broadcast(dimension: int, names: str) -> None:
    own, type = _vector(names, "f32"), _vector("ij", "f32")
    column = "vector<8x1xf32>"
    wide = (
        f"%w = vector.broadcast %s : {own} to {type}"
        if dimension == 0
        else f"%t = vector.shape_cast %s : {own} to {column}\n"
        f"%w = vector.broadcast %t : {column} to {type}"
    )
    body = (
        _read("%a", "%A", "ij", "f32")
        + f"""%start = arith.constant dense<0.0> : {own}
        %s = vector.multi_reduction <add>, %a, %start [{dimension}] : {type} to {own}
        {wide}
        %d = arith.subf %a, %w : {type}
        """
        + _write("%d", "%D", "ij", "f32")
    )
    text = _kernel(f"%A: {_memref('ij', 'f32')}, %D: {_memref('ij', 'f32')}", body, {"f32"})
    a = _random("ij", "f32")
    for found in _on_every_device(text, [a, np.full(a.shape, np.nan, np.float32)]):
        assert np.array_equal(found, a - a.sum(axis=dimension, keepdims=True))


def test_lines_of_a_matrix_that_reach_beyond_it() -> None:
    body = """%c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %a = vector.transfer_read %A[%c9, %c1], %zero_f32 {permutation_map =
        affine_map<(d0, d1) -> (d0)>} : memref<20x3xf32>, vector<16xf32>
    vector.transfer_write %a, %D[%c9] : vector<16xf32>, memref<20xf32>"""
    text = _kernel("%A: memref<20x3xf32>, %D: memref<20xf32>", body, {"f32"})
    a = np.random.default_rng(fresh_seed()).standard_normal((20, 3)).astype(np.float32)
    for found in _on_every_device(text, [a, np.zeros(20, np.float32)]):
        assert np.array_equal(found[9:], a[9:, 1])
        assert not found[:9].any()


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (
            "%v = vector.transfer_read %A[%c0, %c0], %one : memref<4x16xf32>, vector<8x16xf32>",
            "what is read beyond the edge must be 0, but is 1.0",
        ),
        (
            """%x = memref.load %A[%c0, %c0] : memref<4x16xf32>
            %v = vector.transfer_read %A[%c0, %c0], %x : memref<4x16xf32>, vector<8x16xf32>""",
            "what is read beyond the edge must be 0, but is no constant",
        ),
        (
            """%m = arith.constant dense<true> : vector<8x16xi1>
            %v = vector.transfer_read %A[%c0, %c0], %one, %m
              : memref<4x16xf32>, vector<8x16xf32>""",
            "a transfer of a subgroup's vector cannot have a mask",
        ),
    ],
)
def test_what_transfers_cannot_have(read: str, message: str) -> None:
    body = f"""%c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    {read}"""
    assert message in refusal("%A: memref<4x16xf32>", body)


def test_a_padding_that_is_never_read() -> None:
    body = """%c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %v = vector.transfer_read %A[%c0, %c0], %one {in_bounds = [true, true]}
      : memref<8x16xf32>, vector<8x16xf32>
    vector.transfer_write %v, %A[%c0, %c0] {in_bounds = [true, true]}
      : vector<8x16xf32>, memref<8x16xf32>"""
    assert "xegpu.load_nd" in lower("%A: memref<8x16xf32>", body).names
