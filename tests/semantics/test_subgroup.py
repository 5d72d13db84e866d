"""Subgroup instructions, with all and with some work-items active."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from xtile.text.diagnostics import DiagnosticError

SIZE, SUBGROUPS = 16, 6
COUNT = SIZE * SUBGROUPS
DTYPES = {
    "i8": np.int8,
    "i64": np.int64,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "c64": np.complex128,
}


def kernel(name: str, body: str) -> str:
    return f"""func @f(%in: memref<{name}x{COUNT}>, %index: memref<i32x{COUNT}>,
                       %active: memref<i32x{COUNT}>, %out: memref<{name}x{COUNT}>)
        attributes {{subgroup_size={SIZE}, work_group_size=[32,3]}} {{ parallel {{
        %lane = subgroup_local_id : i32
        %sg = subgroup_linear_id : i32
        %size = subgroup_size : i32
        %base = mul %sg, %size : i32
        %id32 = add %base, %lane : i32
        %id = cast %id32 : index
        %x = load %in[%id] : {name}
        %i = load %index[%id] : i32
        %a = load %active[%id] : i32
        %zero = constant 0 : i32
        %is = not_equal %a, %zero : bool
        if %is {{ {body} store %y, %out[%id] }}
    }} }}"""


def random_values(rng, name: str) -> np.ndarray:
    if name.startswith("i"):
        return rng.integers(-60, 60, COUNT).astype(DTYPES[name])
    if name == "c64":
        return rng.standard_normal(COUNT) + 1j * rng.standard_normal(COUNT)
    return rng.standard_normal(COUNT).astype(DTYPES[name])


def wide(values: np.ndarray) -> np.ndarray:
    return values.astype(np.int64 if values.dtype.kind == "i" else complex)


@pytest.mark.parametrize("is_partial", [False, True])
@pytest.mark.parametrize("kind", ["exclusive_scan", "inclusive_scan", "reduce"])
@pytest.mark.parametrize(
    ("operation", "name"),
    [("add", name) for name in DTYPES]
    + [(operation, name) for operation in ("max", "min") for name in DTYPES if name != "c64"],
)
def test_subgroup_operations(operation, kind, name, is_partial, run, rng) -> None:
    values = random_values(rng, name)
    active = rng.integers(0, 2, COUNT) if is_partial else np.ones(COUNT, int)
    out = np.zeros(COUNT, DTYPES[name])
    run(
        kernel(name, f"%y = subgroup_{kind}_{operation} %x : {name}"),
        values, np.zeros(COUNT, np.int32), active.astype(np.int32), out,
    )  # fmt: skip

    integer = name.startswith("i")
    info = np.iinfo(DTYPES[name]) if integer else None
    identity = {
        "add": 0,
        "max": info.min if info else -np.inf,
        "min": info.max if info else np.inf,
    }[operation]
    combine = {"add": lambda a, b: a + b, "max": max, "min": min}[operation]
    expected: list = [0] * COUNT
    for first in range(0, COUNT, SIZE):
        items = [i for i in range(first, first + SIZE) if active[i]]
        total = identity
        for item in items:
            value = wide(values)[item] if integer or name == "c64" else float(values[item])
            before, total = total, combine(total, value)
            expected[item] = before if kind == "exclusive_scan" else total
        if kind == "reduce":
            for item in items:
                expected[item] = total
    if integer:
        assert out.tolist() == np.array(expected, np.int64).astype(DTYPES[name]).tolist()
        return
    # Sums of 16 numbers in at least f32, and one rounding to the type.
    epsilon = float(ml_dtypes.finfo(DTYPES[name]).eps)
    with np.errstate(invalid="ignore"):
        error = np.abs(out.astype(complex) - np.array(expected, complex))
    exact = np.array([o == e for o, e in zip(out.tolist(), expected, strict=True)])
    size = 16 * np.abs(values.astype(complex)).max()
    assert np.all(exact | (error <= epsilon * (np.abs(np.array(expected, complex)) + size / 2)))


@pytest.mark.parametrize("name", ["i8", "bf16", "c64"])
def test_broadcast(name, run, rng) -> None:
    values = random_values(rng, name)
    lanes = rng.integers(0, SIZE, SUBGROUPS)
    index = np.repeat(lanes, SIZE).astype(np.int32)
    out = np.zeros(COUNT, DTYPES[name])
    run(
        kernel(name, f"%y = subgroup_broadcast %x, %i : {name}"),
        values, index, np.ones(COUNT, np.int32), out,
    )  # fmt: skip
    np.testing.assert_array_equal(
        out, np.repeat(values.reshape(-1, SIZE)[range(SUBGROUPS), lanes], SIZE)
    )


def test_broadcast_from_outside_of_the_subgroup_is_located(run, rng) -> None:
    with pytest.raises(DiagnosticError, match="index must be from 0 to 15, but is"):
        run(
            kernel("f32", "%y = subgroup_broadcast %x, %size : f32"),
            random_values(rng, "f32"), np.zeros(COUNT, np.int32), np.ones(COUNT, np.int32),
            np.zeros(COUNT, np.float32),
        )  # fmt: skip


def test_a_uniform_value_counts_once_for_each_work_item(run) -> None:
    out = np.zeros(COUNT, np.float32)
    run(
        kernel("f32", "%c = constant 2.0 : f32  %y = subgroup_inclusive_scan_add %c : f32"),
        np.zeros(COUNT, np.float32), np.zeros(COUNT, np.int32), np.ones(COUNT, np.int32), out,
    )  # fmt: skip
    np.testing.assert_array_equal(out, np.tile(2.0 * np.arange(1, 17), SUBGROUPS))
