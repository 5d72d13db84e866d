"""Every arithmetic instruction, on every type, gives the reference device's number on OpenCL's."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.ir import Attribute

from tests.backends.intel.agreement import ONE_GROUP, Launch
from tests.backends.intel.every_type.scalars import LOOPS, SIZE, arithmetic_kernels
from tests.backends.intel.opencl_kernels import Kernels
from tests.backends.intel.operands import Numbers, pairs
from tests.precision.distances import is_inexact, unit_in_last_place
from tests.seeds import SEED_VARIABLE, fresh_seed
from xtile.checking.tolerances import TOLERANCES
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import MemrefType, is_number
from xtile.semantics import engine
from xtile.semantics.arguments import MemrefArgument
from xtile.semantics.numeric_types import NUMPY_TYPES

FUNCTIONS = {kernel.name: kernel.function() for who in LOOPS for kernel in arithmetic_kernels(who)}


@pytest.fixture(scope="module")
def kernels() -> Kernels:
    return Kernels(list(FUNCTIONS.values()))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gives_the_same_numbers(name: str, kernels: Kernels) -> None:
    function, seed = FUNCTIONS[name], fresh_seed()
    type_ = _element_type(function, 0)
    a, b = pairs(np.random.default_rng(seed), NUMPY_TYPES[type_], SIZE)
    expected = _results(function, partial(engine.launch, function), a, b)
    found = _results(function, kernels.launch(list(FUNCTIONS).index(name)), a, b)
    wrong: list[str] = []
    for index, (first, second) in enumerate(zip(expected, found, strict=True), 2):
        instruction = (function.parameters[index].name_hint or "").removeprefix("to_")
        limit = _limit(instruction, type_, _element_type(function, index), first)
        for position in np.flatnonzero(~_agree(instruction, first, second, limit))[:3]:
            wrong.append(
                f"{instruction} {a[position]!r}, {b[position]!r}: {second[position]!r} instead of "
                f"{first[position]!r}, may be off by {limit[position]}"
            )
    assert not wrong, "\n".join([f"{SEED_VARIABLE}={seed} repeats this", *wrong])


def _element_type(function: FuncOp, index: int) -> Attribute:
    type_ = function.parameters[index].type
    assert isinstance(type_, MemrefType)
    return type_.element_type


def _results(function: FuncOp, launch: Launch, a: Numbers, b: Numbers) -> list[Numbers]:
    """What a kernel computes of two arrays; what it does not write stays NaN, or -1."""
    types = [_element_type(function, index) for index in range(2, len(function.parameters))]
    outputs = [np.full(8 * SIZE, -1, np.int16).view(NUMPY_TYPES[type_])[:SIZE] for type_ in types]
    memory = [a.copy(), b.copy(), *outputs]
    launch([MemrefArgument(array, (SIZE,), (1,)) for array in memory], ONE_GROUP)
    return outputs


def _limit(
    instruction: str, operand: Attribute, result: Attribute, expected: Numbers
) -> npt.NDArray[np.float64]:
    """How far a result may be off."""
    tolerance = TOLERANCES.get(instruction)
    ulps = 0.0 if tolerance is None else tolerance.ulps.get(operand, 0.0)
    if ulps == 0.0 or not is_inexact(result):
        return np.zeros(expected.shape)
    return ulps * unit_in_last_place(expected, result)


_ANY_ZERO = frozenset({"max", "min"})
"""Instructions whose zeros may have any sign (docs/semantics.md, 1.6)."""


def _agree(
    instruction: str, expected: Numbers, found: Numbers, limit: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    # Infinities and NaN are no reason for warnings.
    with np.errstate(all="ignore"):
        same = (expected == found) | (expected != expected) & (found != found)
        close = np.abs(expected.astype(wide) - found.astype(wide)) <= limit
        if expected.dtype.kind not in "iuc" and instruction not in _ANY_ZERO:
            is_zero = (expected == 0) & (found == 0)
            same &= ~is_zero | (np.signbit(expected.astype(wide)) == np.signbit(found.astype(wide)))
    return same | (close & (limit > 0))


def test_every_type_is_there() -> None:
    types = {_element_type(function, 0) for function in FUNCTIONS.values()}
    assert types == {type_ for type_ in NUMPY_TYPES if is_number(type_)}
