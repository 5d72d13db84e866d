"""The `linalg` dialect against mlir-opt."""

from __future__ import annotations

import inspect
import re

import pytest
from xdsl.ir import Operation

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function, read
from xtile.dialects.linalg import Linalg

ARGUMENTS = (
    "%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>, %v: memref<8xf32>, "
    "%w: memref<4xf32>, %u: memref<6xf32>, %s: f32, %at: memref<8x4xf32>, "
    "%a3: memref<2x4x8xf32>, %b3: memref<2x8x6xf32>, %c3: memref<2x4x6xf32>, %p: memref<f32>, "
    "%v2: memref<2x8xf32>, %w2: memref<2x4xf32>, %u2: memref<2x6xf32>, %h: memref<4x8xf16>, "
    "%k: memref<8x6xf16>, %i: memref<4xi8>, %j: memref<4xi32>, %q: memref<4xi1>, "
    "%z: memref<4xcomplex<f32>>, %d: memref<?x?xf32, strided<[?, 1], offset: ?>>, %n: index, "
    "%x: memref<4xindex>, %t: tensor<4x8xf32>, %tt: tensor<8x6xf32>, %tc: tensor<4x6xf32>"
)
MAPS = (
    "#k0 = affine_map<(i, j, k) -> (k, i)>\n#k1 = affine_map<(i, j, k) -> (k, j)>\n"
    "#k2 = affine_map<(i, j, k) -> (i, j)>\n#id = affine_map<(i, j) -> (i, j)>\n"
    "#row = affine_map<(i, j) -> (i)>\n#tr = affine_map<(i, j) -> (j, i)>\n"
)


def _binary(name: str, operand: str, type: str) -> str:
    return f"linalg.{name} ins({operand}, {operand} : {type}, {type}) outs({operand} : {type})"


def _unary(name: str) -> str:
    return f"linalg.{name} ins(%v : memref<8xf32>) outs(%v : memref<8xf32>)"


BODIES = {
    "fill": "linalg.fill ins(%s : f32) outs(%c : memref<4x6xf32>)\n"
    "linalg.fill ins(%n : index) outs(%x : memref<4xindex>)",
    "copy": "linalg.copy ins(%h : memref<4x8xf16>) outs(%a : memref<4x8xf32>)\n"
    "linalg.copy {cast = #linalg.type_fn<cast_unsigned>} ins(%i : memref<4xi8>) "
    "outs(%w : memref<4xf32>)",
    "matmul": "linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32>) "
    "outs(%c : memref<4x6xf32>)\n"
    "linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%h, %k : memref<4x8xf16>, "
    "memref<8x6xf16>) outs(%c : memref<4x6xf32>)",
    "matmul transposed": "linalg.matmul indexing_maps = [#k0, #k1, #k2] "
    "ins(%at, %b : memref<8x4xf32>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)",
    "matmul of tensors": "%r = linalg.matmul ins(%t, %tt : tensor<4x8xf32>, tensor<8x6xf32>) "
    "outs(%tc : tensor<4x6xf32>) -> tensor<4x6xf32>",
    "batches": "linalg.batch_matmul ins(%a3, %b3 : memref<2x4x8xf32>, memref<2x8x6xf32>) "
    "outs(%c3 : memref<2x4x6xf32>)\n"
    "linalg.batch_matvec ins(%a3, %v2 : memref<2x4x8xf32>, memref<2x8xf32>) "
    "outs(%w2 : memref<2x4xf32>)\n"
    "linalg.batch_vecmat ins(%v2, %b3 : memref<2x8xf32>, memref<2x8x6xf32>) "
    "outs(%u2 : memref<2x6xf32>)",
    "vectors": "linalg.matvec ins(%a, %v : memref<4x8xf32>, memref<8xf32>) "
    "outs(%w : memref<4xf32>)\n"
    "linalg.vecmat ins(%v, %b : memref<8xf32>, memref<8x6xf32>) outs(%u : memref<6xf32>)\n"
    "linalg.dot ins(%v, %v : memref<8xf32>, memref<8xf32>) outs(%p : memref<f32>)",
    "unary": "\n".join(
        _unary(name)
        for name in (
            *("abs", "ceil", "erf", "exp", "floor", "log", "negf", "reciprocal", "round"),
            *("rsqrt", "sqrt", "square", "tanh"),
        )
    )
    + "\nlinalg.exp {foo = 3 : i64} ins(%v : memref<8xf32>) outs(%v : memref<8xf32>)",
    "binary": "\n".join(
        _binary(name, operand, f"memref<{type}>")
        for operand, type in (("%v", "8xf32"), ("%j", "4xi32"))
        for name in ("add", "div", "max", "min", "mul", "sub")
    )
    + "\n"
    + "\n".join(_binary(name, "%q", "memref<4xi1>") for name in ("add", "mul"))
    + "\n"
    + "\n".join(
        _binary(name, "%z", "memref<4xcomplex<f32>>") for name in ("add", "div", "mul", "sub")
    )
    + f"\n{_binary('div_unsigned', '%j', 'memref<4xi32>')}"
    + f"\n{_binary('powf', '%v', 'memref<8xf32>')}",
    "select": "linalg.select ins(%q, %w, %w : memref<4xi1>, memref<4xf32>, memref<4xf32>) "
    "outs(%w : memref<4xf32>)",
    "strided": "linalg.add ins(%d, %d : memref<?x?xf32, strided<[?, 1], offset: ?>>, "
    "memref<?x?xf32, strided<[?, 1], offset: ?>>) "
    "outs(%d : memref<?x?xf32, strided<[?, 1], offset: ?>>)",
    "moved": "linalg.transpose ins(%a : memref<4x8xf32>) outs(%at : memref<8x4xf32>) "
    "permutation = [1, 0]\n"
    "linalg.broadcast ins(%v : memref<8xf32>) outs(%a : memref<4x8xf32>) dimensions = [0]",
    "reduce": "linalg.reduce { arith.addf } ins(%a : memref<4x8xf32>) outs(%w : memref<4xf32>) "
    "dimensions = [1]\n"
    "linalg.reduce { arith.addf {fastmath = #arith.fastmath<reassoc>} } "
    "ins(%a : memref<4x8xf32>) outs(%w : memref<4xf32>) dimensions = [1]\n"
    "linalg.reduce ins(%a : memref<4x8xf32>) outs(%w : memref<4xf32>) dimensions = [1]\n"
    "(%in: f32, %init: f32) {\n%0 = arith.addf %in, %init : f32\nlinalg.yield %0 : f32\n}",
    "map": "linalg.map { arith.addf } ins(%v, %v : memref<8xf32>, memref<8xf32>) "
    "outs(%v : memref<8xf32>)\n"
    "linalg.map ins(%v : memref<8xf32>) outs(%v : memref<8xf32>)\n"
    "(%in: f32, %init: f32) {\n%0 = arith.addf %in, %in : f32\n%1 = arith.mulf %0, %in : f32\n"
    "linalg.yield %1 : f32\n}",
    "generic": 'linalg.generic {doc = "max", indexing_maps = [#id, #row], '
    'iterator_types = ["parallel", "reduction"], library_call = "f"} '
    "ins(%a : memref<4x8xf32>) outs(%w : memref<4xf32>) attrs = {foo} {\n"
    "^bb0(%in: f32, %out: f32):\n%0 = linalg.index 1 : index\n"
    "%1 = arith.maximumf %in, %out : f32\nlinalg.yield %1 : f32\n}",
    "generic without inputs": 'linalg.generic {indexing_maps = [#id], iterator_types = ["parallel",'
    '"parallel"]} outs(%t : tensor<4x8xf32>) {\n'
    "^bb0(%out: f32):\nlinalg.yield %s : f32\n} -> tensor<4x8xf32>",
}
RIGHT = {name: MAPS + in_function(ARGUMENTS, body) for name, body in BODIES.items()}


def _generic(maps: str, kinds: str, types: str = "f32, %out: f32", value: str = "%in : f32") -> str:
    return (
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
        "ins(%a : memref<4x8xf32>) outs(%w : memref<4xf32>) {\n"
        f"^bb0(%in: {types}):\nlinalg.yield {value}\n}}"
    )


_KINDS = '"parallel", "reduction"'
WRONG = {
    "sizes that do not fit": (
        "linalg.matmul ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%c : memref<4x6xf32>)",
        "dimension 0 of operand 1 has size 4, but the loops reach from 0 to 7",
    ),
    "a float of an integer": (
        "linalg.exp ins(%j : memref<4xi32>) outs(%j : memref<4xi32>)",
        "linalg.exp does not take elements of types i32, i32",
    ),
    "tensors and memrefs": (
        "linalg.add ins(%t, %t : tensor<4x8xf32>, tensor<4x8xf32>) outs(%a : memref<4x8xf32>)",
        "the operands must be all memrefs or all tensors",
    ),
    "a dimension twice": (
        (
            "linalg.transpose ins(%a : memref<4x8xf32>) outs(%at : memref<8x4xf32>) "
            "permutation = [1, 1]"
        ),
        "[1, 1] is no permutation of 2 dimensions",
    ),
    "a dimension that is not there": (
        (
            "linalg.reduce { arith.addf } ins(%a : memref<4x8xf32>) outs(%w : memref<4xf32>) "
            "dimensions = [2]"
        ),
        "dimensions must be from 0 to 1, got [2]",
    ),
    "a map that is missing": (_generic("#id", _KINDS), "expected an indexing map for each of 2"),
    "a loop that is missing": (
        _generic("#id, #row", '"parallel"'),
        "indexing map 0 must have 1 dimensions",
    ),
    "a map of another rank": (
        _generic("#id, #id", _KINDS),
        "indexing map 1 has 2 results, but operand 1 has 1 dimensions",
    ),
    "a body of other types": (
        _generic("#id, #row", _KINDS, "f32, %out: f16"),
        "the body must take the elements of the operands, f32, f32, got f32, f16",
    ),
    "no such kind of loop": (
        _generic("#id, #row", '"parallel", "serial"'),
        'a loop is one of parallel, reduction, window, not "serial"',
    ),
    "no such loop": (
        (
            "linalg.generic {indexing_maps = [#id], iterator_types = "
            '["parallel", "parallel"]} outs(%a : memref<4x8xf32>) {\n'
            "^bb0(%out: f32):\n%0 = linalg.index 2 : index\nlinalg.yield %out : f32\n}"
        ),
        "the number of a loop must be from 0 to 1",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    wrong = {
        key: (MAPS + in_function(ARGUMENTS, body), message)
        for key, (body, message) in WRONG.items()
    }
    check_refusal(wrong, name)


_OURS = [kind for kind in Linalg.operations if kind.__module__.startswith("xtile.")]


@pytest.mark.parametrize("kind", _OURS, ids=lambda kind: kind.name)
def test_docstring_shows_the_text(kind: type[Operation]) -> None:
    shown = re.search(r"```\n(.*?)```", inspect.getdoc(kind) or "", re.DOTALL)
    assert shown is not None
    assert shown[1].startswith(kind.name) or f"= {kind.name} " in shown[1]


def test_one_error_for_each_piece() -> None:
    text = MAPS + in_function(ARGUMENTS, WRONG["sizes that do not fit"][0])
    found = read(text)
    assert isinstance(found, str)
    assert found.startswith("piece.mlir:8.1-")


def test_elements_of_other_types() -> None:
    body = "linalg.exp ins(%h : memref<4x8xf16>) outs(%a : memref<4x8xf32>)"
    found = read(in_function(ARGUMENTS, body))
    assert isinstance(found, str)
    assert "the body must yield elements of the outputs, f32" in found
