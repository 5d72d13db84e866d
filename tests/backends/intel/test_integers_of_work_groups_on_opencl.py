"""Chains of integer instructions that all work-items compute alike: a CPU's driver keeps them
scalar, or moves them to a vector register when that looks cheaper."""

from __future__ import annotations

from functools import partial
from random import Random

import numpy as np
import numpy.typing as npt
import pytest

from tests.backends.intel.agreement import ONE_GROUP, Launch
from tests.backends.intel.opencl_kernels import Kernels
from tests.seeds import fresh_generator, fresh_seed
from tests.translate.core_to_vectors.vectorized import source_of
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics import engine
from xtile.semantics.arguments import MemrefArgument

TYPES = {"i32": np.int32, "i64": np.int64}

KERNELS = 25
"""How many chains of each type are compared; half of the short ones were wrong in one driver."""

_BINARY = ("max", "min", "and", "or", "xor", "add", "sub", "mul")
_UNARY = ("not", "abs")

_NUMBERS = (0, 1, -1, 2, -7, 130, 2**31 - 1, -(2**31))
"""What the chains begin with: arguments, and constants."""


def _chain(random: Random, type_: str) -> FuncOp:
    """A kernel of three to six instructions on loaded numbers; about half are stored."""
    values = ["%x", "%y", "%z", "%k"]
    lines: list[str] = []
    count = random.randint(3, 6)
    for index in range(count):
        operation = random.choice([*_BINARY[:2] * 3, *_UNARY * 2, *_BINARY])
        operands = [random.choice(values[-4:]) for _ in range(1 if operation in _UNARY else 2)]
        values.append(f"%v{index}")
        lines.append(f"{values[-1]} = {operation} {', '.join(operands)} : {type_}")
        if index == count - 1 or random.random() < 0.5:
            lines += [f"%i{index} = constant {index} : index", f"store %v{index}, %B[%i{index}]"]
    loads = [f"%{name} = load %A[%c{i}] : {type_}" for i, name in enumerate("xyz")]
    constants = [f"%c{i} = constant {i} : index" for i in range(len(loads))]
    constants.append(f"%k = constant {random.choice(_NUMBERS)} : {type_}")
    body = "\n".join([*constants, *loads, *lines])
    return source_of(
        f"func @f(%A: memref<{type_}x3>, %B: memref<{type_}x6>)"
        f" attributes{{subgroup_size=16,work_group_size=[16,1]}} {{\n{body}\n}}\n"
    )


@pytest.mark.parametrize("type_", TYPES)
def test_gives_the_same_numbers(type_: str) -> None:
    random, generator = Random(fresh_seed()), fresh_generator()
    functions = [_chain(random, type_) for _ in range(KERNELS)]
    kernels = Kernels(functions)
    for index, function in enumerate(functions):
        for _ in range(4):
            loaded = generator.choice(np.array(_NUMBERS, TYPES[type_]), 3)
            expected = _stored(partial(engine.launch, function), loaded)
            found = _stored(kernels.launch(index), loaded)
            assert found == expected, f"{loaded}: {function}"


def _stored(launch: Launch, loaded: npt.NDArray[np.integer]) -> list[int]:
    """What a kernel stores; what it does not store is 99."""
    memory = [loaded.copy(), np.full(6, 99, loaded.dtype)]
    launch([MemrefArgument(array, array.shape, (1,)) for array in memory], ONE_GROUP)
    return memory[1].tolist()
