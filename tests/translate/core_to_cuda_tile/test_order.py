"""Tokens: accesses are ordered as in the program, and loops that only read carry none."""

from __future__ import annotations

import numpy as np
import pytest

from tests.transforms.distribute.kernels import read, run
from tests.translate.core_to_cuda_tile.entries import (
    body_of,
    from_block_level,
    lowered,
    run_entry,
    tile_kernel,
    unordered_accesses,
)

_TILE = "vector<16xf32>"
_MEMORY = "memref<64xf32>"
_BEGIN = """
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zeros = arith.constant dense<0.0> : vector<16xf32>
"""


def _load(name: str, memory: str, at: str) -> str:
    return f"{name} = vector.load {memory}[{at}] : {_MEMORY}, {_TILE}"


def _store(value: str, memory: str, at: str) -> str:
    return f"vector.store {value}, {memory}[{at}] : {_MEMORY}, {_TILE}"


def _kernel(*lines: str, may_overlap: bool = False) -> str:
    memory = _MEMORY if may_overlap else f"{_MEMORY} {{core.noalias}}"
    parameters = f"%a: {memory}, %b: {memory}, %n: index, %x: i8"
    return tile_kernel(parameters, _BEGIN + "\n".join(lines))


_GEMM = """
    gpu.module @m {
      gpu.func @k(%a: memref<512x256xf16>, %b: memref<256x512xf16>,
                  %c: memref<512x512xf32> {core.noalias}) kernel
          attributes {core.level = "block"} {
        %one = arith.constant 1.0 : f16
        %zero = arith.constant 0.0 : f32
        core.gemm %one, %a, %b, %zero, %c
            : f16, memref<512x256xf16>, memref<256x512xf16>, f32, memref<512x512xf32>
        gpu.return
      }
    }"""


def test_the_loop_of_a_product_carries_the_sums_only() -> None:
    lines = body_of(from_block_level(_GEMM))
    (start,) = (i for i, line in enumerate(lines) if "mmaf" in line)
    first = max(i for i in range(start) if " = for " in lines[i])
    loop = lines[first : lines.index("}", first)]
    assert "token" not in loop[0]
    words = [word for line in loop[1:] for word in line.split() if word in _LOOP_WORDS]
    assert words == ["load_view_tko", "load_view_tko", "mmaf", "continue"]


_LOOP_WORDS = ("load_view_tko", "load_ptr_tko", "store_view_tko", "mmaf", "continue", "divi")


def test_the_loop_of_a_product_computes_no_index() -> None:
    lines = body_of(from_block_level(_GEMM))
    (start,) = (i for i, line in enumerate(lines) if "mmaf" in line)
    assert all("load_view_tko" in line for line in lines[start - 2 : start])


_READ_AND_WRITE = (
    "scf.for %i = %c0 to %c64 step %c16 {",
    _load("%v", "%a", "%i"),
    _store("%v", "%b", "%i"),
    "}",
)


def test_arguments_are_ordered_each_for_itself() -> None:
    lines = body_of(lowered(_kernel(*_READ_AND_WRITE)))
    (load,) = (line for line in lines if "load_view_tko" in line)
    assert " token = " not in load


def test_arguments_that_may_overlap_are_one_memory() -> None:
    lines = body_of(lowered(_kernel(*_READ_AND_WRITE, may_overlap=True)))
    (load,) = (line for line in lines if "load_view_tko" in line)
    assert " token = " in load


@pytest.mark.parametrize("alone", ["%a", "%b"])
def test_one_argument_that_overlaps_no_other_is_enough(alone: str) -> None:
    text = _kernel(*_READ_AND_WRITE, may_overlap=True)
    assert text.count(f"{alone}: {_MEMORY}") == 1
    lines = body_of(
        lowered(text.replace(f"{alone}: {_MEMORY}", f"{alone}: {_MEMORY} {{core.noalias}}"))
    )
    (load,) = (line for line in lines if "load_view_tko" in line)
    assert " token = " not in load


def test_iterations_that_are_independent_wait_for_what_was_before() -> None:
    loop = (*_READ_AND_WRITE[:-1], "} {core.independent}")
    around = (_store("%zeros", memory, "%c0") for memory in ("%a", "%b"))
    text = _kernel(next(around), *loop, next(around), may_overlap=True)
    module = lowered(text)
    lines = body_of(module)
    (load,) = (line for line in lines if "load_view_tko" in line)
    first, _, last = (line for line in lines if "store_view_tko" in line)
    assert load.split(" token = ")[1].split()[0] == first.split()[0]
    (loop_line,) = (line for line in lines if " = for " in line)
    assert last.split(" token = ")[1].split()[0] == loop_line.split()[0]
    a, b = np.ones(64, np.float32), np.ones(64, np.float32)
    assert not unordered_accesses(text, module, a, b, 1, 1)


_PROGRAMS = {
    "a write after reads of a loop that may not run": (
        _store("%zeros", "%a", "%c0"),
        "%s = scf.for %i = %c0 to %n step %c16 iter_args(%t = %zeros) -> (vector<16xf32>) {",
        _load("%v", "%a", "%i"),
        "%w = arith.addf %v, %t : vector<16xf32>",
        "scf.yield %w : vector<16xf32>",
        "}",
        _store("%s", "%b", "%c0"),
        _store("%zeros", "%a", "%c0"),
    ),
    "reads before a loop that writes": (
        _load("%v", "%a", "%c32"),
        "scf.for %i = %c0 to %n step %c16 {",
        _store("%v", "%a", "%i"),
        "}",
        _load("%w", "%a", "%c0"),
        _store("%w", "%b", "%c0"),
    ),
    "a branch that writes": (
        "%yes = arith.trunci %x : i8 to i1",
        _load("%v", "%a", "%c0"),
        "scf.if %yes {",
        _store("%v", "%a", "%c16"),
        "}",
        _load("%w", "%a", "%c16"),
        _store("%w", "%a", "%c0"),
    ),
    "branches that read": (
        "%yes = arith.trunci %x : i8 to i1",
        _store("%zeros", "%a", "%c0"),
        "%r = scf.if %yes -> (vector<16xf32>) {",
        _load("%v", "%a", "%c0"),
        "scf.yield %v : vector<16xf32>",
        "} else {",
        "scf.yield %zeros : vector<16xf32>",
        "}",
        _store("%r", "%b", "%c0"),
        _store("%zeros", "%a", "%c0"),
    ),
    "a loop in a loop": (
        "scf.for %i = %c0 to %n step %c16 {",
        _load("%u", "%a", "%i"),
        "scf.for %j = %c0 to %n step %c16 {",
        _load("%v", "%a", "%j"),
        "%w = arith.addf %u, %v : vector<16xf32>",
        _store("%w", "%a", "%j"),
        "}",
        "}",
    ),
    "a while loop": (
        "%r = scf.while (%i = %c0) : (index) -> index {",
        "%goes = arith.cmpi slt, %i, %n : index",
        _load("%u", "%a", "%c0"),
        _store("%u", "%a", "%c16"),
        "scf.condition(%goes) %i : index",
        "} do {",
        "^bb0(%j: index):",
        _load("%v", "%a", "%c16"),
        _store("%v", "%a", "%j"),
        "%next = arith.addi %j, %c16 : index",
        "scf.yield %next : index",
        "}",
        _store("%zeros", "%a", "%c16"),
    ),
    "local memory": (
        "%l = memref.alloca() : memref<64xf32, #gpu.address_space<workgroup>>",
        "scf.for %i = %c0 to %n step %c16 {",
        _load("%v", "%a", "%i"),
        _store("%v", "%l", "%i").replace(_MEMORY, "memref<64xf32, #gpu.address_space<workgroup>>"),
        _load("%w", "%l", "%i").replace(_MEMORY, "memref<64xf32, #gpu.address_space<workgroup>>"),
        _store("%w", "%b", "%i"),
        "}",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("may_overlap", [False, True])
@pytest.mark.parametrize("trips", [0, 16, 48])
@pytest.mark.parametrize("name", _PROGRAMS)
def test_programs(name: str, trips: int, may_overlap: bool) -> None:
    text = _kernel(*_PROGRAMS[name], may_overlap=may_overlap)
    module = lowered(text)
    random = np.random.default_rng(2)
    given = [random.normal(size=64).astype(np.float32) for _ in range(2)]
    if may_overlap:
        given[1] = given[0]
    for x in (0, 1):
        expected, found = ([*_copied(given), trips, np.int8(x)] for _ in range(2))
        run(read(text), *expected)
        run_entry(text, module, *found)
        for one, other in zip(expected[:2], found[:2], strict=True):
            assert np.array_equal(one, other)
        assert not unordered_accesses(text, module, *_copied(given), trips, np.int8(x))


def _copied(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Copies, of which two are one array if the given ones are."""
    first = arrays[0].copy()
    return [first, first if arrays[1] is arrays[0] else arrays[1].copy()]
