"""Atomic updates of tiles on the reference device and as CUDA Tile IR."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import printed, read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_kernel,
    unordered_accesses,
)

DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}


def parameters(type: str) -> str:
    return (
        f"%m: memref<6x9x{type}>, %places: memref<8xi32>, %mask: memref<8xi8>, "
        f"%v: memref<8x{type}>, %w: memref<8x{type}>, %o: memref<8x{type}>"
    )


def body(type: str, operation: str) -> str:
    """The tile %old is what an operation on %x, %y, %p and %k gives."""
    return f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = vector.load %places[%c0] : memref<8xi32>, vector<8xi32>
    %bytes = vector.load %mask[%c0] : memref<8xi8>, vector<8xi8>
    %k = arith.trunci %bytes : vector<8xi8> to vector<8xi1>
    %x = vector.load %v[%c0] : memref<8x{type}>, vector<8x{type}>
    %y = vector.load %w[%c0] : memref<8x{type}>, vector<8x{type}>
    %old = {operation}
        : vector<8x{type}>, memref<6x9x{type}>[index, vector<8xi32>], vector<8xi1>
    vector.store %old, %o[%c0] : memref<8x{type}>, vector<8x{type}>
    """


def rmw(kind: str, type: str, how: str = "relaxed device") -> str:
    return tile_kernel(
        parameters(type), body(type, f"core.atomic_rmw {kind} {how} %x, %m[%c1, %p], %k")
    )


def cas(type: str, how: str = "acq_rel device") -> str:
    operation = f"core.atomic_compare_and_swap {how} %x, %y, %m[%c1, %p], %k"
    return tile_kernel(parameters(type), body(type, operation))


def inputs(type: str) -> list[Any]:
    random = fresh_generator()
    dtype = DTYPES[type]
    memory = random.integers(-9, 9, (6, 9)).astype(dtype)
    positions, mask = np.array([3, 0, 3, 8, 3, 1, 0, 999], np.int32), np.ones(8, np.int8)
    mask[[4, 7]] = 0
    x, y = random.integers(-9, 9, (2, 8)).astype(dtype)
    return [memory, positions, mask, x, y, np.full(8, 77, dtype)]


FUNCTIONS: dict[str, Any] = {
    "addf": np.add,
    "addi": np.add,
    "andi": np.bitwise_and,
    "assign": lambda *operands: operands[1],  # pyright: ignore
    "maximumf": np.maximum,
    "maxs": np.maximum,
    "minnumf": np.fmin,
    "mulf": np.multiply,
    "xori": np.bitwise_xor,
}

CASES = [
    *((kind, "f32") for kind in ("addf", "assign", "maximumf", "minnumf", "mulf")),
    *((kind, "i32") for kind in ("addi", "andi", "maxs", "xori")),
    ("addi", "i8"),
    ("assign", "i64"),
]


def _swap(old: Any, expected: Any, new: Any) -> Any:
    return new if old == expected else old


def expected_of(arguments: list[Any], update: Any, is_binary: bool = True) -> tuple[Any, Any]:
    """The memory and the old values after updates one after the other."""
    memory, positions, mask, x, y, _ = (each.copy() for each in arguments)
    old = np.zeros_like(x)
    for i in np.flatnonzero(mask):
        old[i] = memory[1, positions[i]]
        operands = (x[i],) if is_binary else (x[i], y[i])
        memory[1, positions[i]] = update(old[i], *operands)
    return memory, old


@pytest.mark.slow
@pytest.mark.parametrize("how", ["relaxed device", "acq_rel block"])
@pytest.mark.parametrize(("kind", "type"), CASES)
def test_updates(kind: str, type: str, how: str) -> None:
    text, arguments = rmw(kind, type, how), inputs(type)
    memory, old = expected_of(arguments, FUNCTIONS[kind])
    translated = [each.copy() for each in arguments]
    run(read(text), *arguments)
    module = lowered(text)
    run_entry(text, module, *translated)
    for made in (arguments, translated):
        np.testing.assert_array_equal(made[0], memory)
        np.testing.assert_array_equal(made[-1], old)


@pytest.mark.slow
@pytest.mark.parametrize("type", ["i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"])
def test_compare_and_swap(type: str) -> None:
    text, arguments = cas(type), inputs(type)
    # Half of what is there is what is expected.
    arguments[3][::2] = arguments[0][1, arguments[1][::2]]
    memory, old = expected_of(arguments, _swap, False)
    translated = [each.copy() for each in arguments]
    run(read(text), *arguments)
    run_entry(text, lowered(text), *translated)
    for made in (arguments, translated):
        np.testing.assert_array_equal(made[0], memory)
        np.testing.assert_array_equal(made[-1], old)


def test_bits_are_compared() -> None:
    arguments = inputs("f32")
    arguments[1][...], arguments[2][...] = np.arange(8), 1
    arguments[0][1, :8] = [0.0, -0.0, np.nan, np.nan, 1, 2, 3, 4]
    arguments[3][...] = [-0.0, -0.0, np.nan, 0, 1, 1, 1, 1]
    arguments[4][...] = 5
    run(read(cas("f32")), *arguments)
    swapped = arguments[0][1, :8] == arguments[4]
    np.testing.assert_array_equal(swapped[:4], [False, True, True, False])


SCALARS = tile_kernel(
    "%m: memref<4xi32>, %data: memref<8xi32>, %o: memref<2xi32>",
    """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %v = vector.load %data[%c0] : memref<8xi32>, vector<8xi32>
    %double = arith.addi %v, %v : vector<8xi32>
    vector.store %double, %data[%c0] : memref<8xi32>, vector<8xi32>
    %a = core.atomic_rmw addi release system %one, %m[%c1] : i32, memref<4xi32>[index]
    %b = core.atomic_compare_and_swap acquire system %a, %zero, %m[%c1] : i32, memref<4xi32>[index]
    %w = vector.load %data[%c0] : memref<8xi32>, vector<8xi32>
    %more = arith.addi %w, %w : vector<8xi32>
    vector.store %more, %data[%c0] : memref<8xi32>, vector<8xi32>
    memref.store %a, %o[%c0] : memref<2xi32>
    memref.store %b, %o[%c1] : memref<2xi32>
    """,
)


def test_numbers_and_the_order_with_other_memory() -> None:
    module = lowered(SCALARS)
    for is_translated in (False, True):
        arrays = [np.arange(5, 9, dtype=np.int32), np.arange(8, dtype=np.int32)]
        arrays.append(np.full(2, -1, np.int32))
        if is_translated:
            assert unordered_accesses(SCALARS, module, *(each.copy() for each in arrays)) == []
            run_entry(SCALARS, module, *arrays)
        else:
            run(read(SCALARS), *arrays)
        assert arrays[0].tolist() == [5, 7, 7, 8]
        assert arrays[1].tolist() == [4 * i for i in range(8)]
        assert arrays[2].tolist() == [6, 7]
    lines = [line for line in printed(module).splitlines() if "_tko" in line]
    # A chain through all accesses: each but the first waits for the one before it.
    assert all("token" in line for line in lines[1:])
    assert [line.split()[3:5] for line in lines if "atomic" in line] == [
        ["release", "sys"],
        ["acquire", "sys"],
    ]


def test_assembled() -> None:
    for text in (
        rmw("mulf", "f32", "acq_rel block"),
        rmw("addf", "f32"),
        cas("i64"),
        cas("i8"),
        cas("bf16"),
        SCALARS,
    ):
        assemble_for_all(lowered(text))
