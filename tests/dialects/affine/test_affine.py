"""The `affine` dialect against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

ARGUMENTS = "%a: memref<?x?xf32>, %n: index, %m: index, %x: f32, %p: memref<f32>"
BODIES = {
    "for": "affine.for %i = 0 to %n {\n}\naffine.for %i = 2 to 10 step 4 {\n} {foo}",
    "for with bounds": "affine.for %i = max affine_map<(d0)[s0] -> (d0, s0 - 1)>(%n)[%m] "
    "to min affine_map<(d0) -> (d0 + 16, 64)>(%n) {\n"
    "affine.for %j = affine_map<(d0) -> (d0)>(%i) to 5 {\n}\n}",
    "for with values": "%r = affine.for %i = 0 to 10 iter_args(%s = %x) -> (f32) {\n"
    "%u = arith.addf %s, %x : f32\naffine.yield %u : f32\n}",
    "accesses": "affine.for %i = 0 to 10 {\naffine.for %j = 0 to 10 {\n"
    "%0 = affine.load %a[%i + %j * 2 - 1, (%i + 3) mod 4] : memref<?x?xf32>\n"
    "affine.store %0, %a[-%i + %n, %j floordiv 2 + 7] {foo} : memref<?x?xf32>\n}\n}\n"
    "%1 = affine.load %p[] : memref<f32>\n%2 = affine.load %a[symbol(%n), 3] : memref<?x?xf32>",
    "if": "affine.for %i = 0 to 10 {\n"
    "affine.if affine_set<(d0)[s0] : (d0 - 2 >= 0, s0 - d0 - 1 >= 0)>(%i)[%n] {\n"
    "affine.store %x, %a[%i, 0] : memref<?x?xf32>\n} else {\n"
    "affine.store %x, %a[0, %i] : memref<?x?xf32>\n}\n"
    "affine.if affine_set<(d0) : (d0 == 0)>(%i) {\n"
    "affine.store %x, %a[%i, 0] : memref<?x?xf32>\n}\n}",
    "if with values": "%0 = affine.if affine_set<()[s0] : (s0 == 0)>()[%n] -> f32 {\n"
    "affine.yield %x : f32\n} else {\naffine.yield %x : f32\n}",
    "parallel": "affine.parallel (%i, %j) = (0, 2) to (%n, min(%m, 8)) step (1, 2) {\n"
    "affine.store %x, %a[%i, %j] : memref<?x?xf32>\n}\n"
    "affine.parallel (%i) = (max(%n, %m)) to (%n + 8) {\n}",
    "numbers": "%0 = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%n)[%m]\n"
    "%1 = affine.min affine_map<(d0) -> (d0, 8)>(%n)\n"
    "%2 = affine.max affine_map<(d0, d1) -> (d0, d1)>(%n, %m)",
}
RIGHT = {name: in_function(ARGUMENTS, body) for name, body in BODIES.items()}

WRONG = {
    "too few values": ("%0 = affine.apply affine_map<(d0, d1) -> (d0)>(%n)", "needs 2 values"),
    "several results": (
        "%0 = affine.apply affine_map<(d0) -> (d0, d0)>(%n)",
        "the map must have one result, got 2",
    ),
    "too few indices": (
        "%0 = affine.load %a[%n] : memref<?x?xf32>",
        "expected an index for each of 2 dimensions, got 1",
    ),
    "a set that is too large": (
        "affine.if affine_set<(d0) : (d0 == 0)>() {\n}",
        "the set needs 1 values, got 0",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    wrong = {key: (in_function(ARGUMENTS, body), message) for key, (body, message) in WRONG.items()}
    check_refusal(wrong, name)
