"""What numbers are known to be that are computed from constants."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_random
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.memory import StoreOp
from xtile.dialects.tensorlang.verifier.constants import integer_of

_TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64}

_INSTRUCTIONS = ("add", "sub", "mul", "max", "min", "and", "or", "xor", "div", "rem")


@pytest.mark.parametrize("type_", _TYPES)
def test_results_have_the_bits_of_their_type(type_: str) -> None:
    random, limits = fresh_random(), np.iinfo(_TYPES[type_])
    edges = [max(int(limits.min), -(2**63) + 1), int(limits.max), 1, 3]
    numbers = [*edges, *(random.randrange(edges[0], edges[1]) | 1 for _ in range(8))]
    lines: list[str] = []
    for i in range(40):
        a, b = random.choice(numbers), random.choice(numbers)
        if (b, i % len(_INSTRUCTIONS)) == (-1, 8):
            b = 1
        lines += [
            f"%a{i} = constant {a} : {type_}",
            f"%b{i} = constant {b} : {type_}",
            f"%n{i} = neg %a{i} : {type_}",
            f"%r{i} = {_INSTRUCTIONS[i % len(_INSTRUCTIONS)]} %n{i}, %b{i} : {type_}",
            f"%i{i} = constant {i} : index",
            f"store %r{i}, %out[%i{i}]",
        ]
    text = f"func @f(%out: memref<{type_}x40>) {{\n" + "\n".join(lines) + "\n}\n"
    out = np.full(40, 77, _TYPES[type_])
    xtile.run(text, [out], device="reference")
    (function,) = xtile.parse(text, language="tensorlang").body.block.ops
    assert isinstance(function, FuncOp)
    stores = [operation for operation in function.walk() if isinstance(operation, StoreOp)]
    assert [integer_of(store.operands[0]) for store in stores] == out.tolist()


def test_a_loop_up_to_a_number_that_wraps_around_is_left_out() -> None:
    text = """
    func @f(%start: i8, %out: memref<i32x1>) {
      %smallest = constant -128 : i8
      %end = neg %smallest : i8
      %c0 = constant 0 : index
      %one = constant 1 : i32
      foreach (%i)=(%start),(%end) {
        store %one, %out[%c0]
      }
    }
    """
    for device in ("reference", "opencl"):
        out = np.full(1, 77, np.int32)
        xtile.run(text, [np.int8(-100), out], device=device)
        assert out.tolist() == [77]
