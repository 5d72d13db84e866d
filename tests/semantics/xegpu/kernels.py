"""What the tests of XeGPU's meaning share."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.semantics.upstream.kernels import kernel, run

LANES = 16
"""The size of a subgroup in the tests."""

INTEGERS: dict[str, Any] = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}

FLOATS: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}

DTYPES = {**INTEGERS, **FLOATS}
"""How numpy holds the elements of each type."""


def random_array(rng: np.random.Generator, shape: tuple[int, ...], type: str) -> Any:
    """Random numbers of a type."""
    if type in INTEGERS:
        information = np.iinfo(INTEGERS[type])
        return rng.integers(information.min, information.max, shape, INTEGERS[type], endpoint=True)
    return rng.standard_normal(shape).astype(FLOATS[type])


def undefined(shape: tuple[int, ...], type: str) -> Any:
    """Memory in which all bits are set: NaN, or -1."""
    dtype = np.dtype(DTYPES[type])
    return np.full((*shape, dtype.itemsize), 255, np.uint8).view(dtype).reshape(shape)


def load_block(
    matrix: Any, descriptor: str, load: str, result: tuple[int, ...], type: str, offsets: str
) -> Any:
    """What each lane gets of a block, an array (lanes, *shape of the vector).

    Args:
        matrix: The memory, an array of one or two dimensions.
        descriptor: The descriptor's type.
        load: The load's properties.
        result: The shape of the vector.
        type: The type of the elements.
        offsets: The block's offsets, as text.
    """
    memory = "x".join(map(str, matrix.shape))
    vector = "x".join(map(str, result))
    count = int(np.prod(result))
    text = kernel(
        f"%m: memref<{memory}x{type}>, %out: memref<{LANES}x{count}x{type}>",
        f"""%lane = gpu.lane_id
        %t = xegpu.create_nd_tdesc %m : memref<{memory}x{type}> -> {descriptor}
        %v = xegpu.load_nd %t[{offsets}] {load} : {descriptor} -> vector<{vector}x{type}>
        %f = vector.shape_cast %v : vector<{vector}x{type}> to vector<{count}x{type}>
        %p = ub.poison : {type}
        %c0 = arith.constant 0 : index
        vector.transfer_write %f, %out[%lane, %c0] {{in_bounds = [true]}}
          : vector<{count}x{type}>, memref<{LANES}x{count}x{type}>""",
    )
    out = undefined((LANES, count), type)
    run(text, matrix, out, block=(LANES, 1, 1))
    return out.reshape(LANES, *result)
