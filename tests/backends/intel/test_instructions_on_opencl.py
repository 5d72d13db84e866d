"""Every instruction, type and flag computes the same on OpenCL's device and the reference device.

The rows of `tests/translate/tensorlang_to_core/cases` have each form of each instruction; the
kernels of `every_type` each instruction on every type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from tests.backends.intel.agreement import (
    Arguments,
    any_numbers,
    check_agreement,
    fresh_seed,
    plain_numbers,
)
from tests.backends.intel.every_type.kernel import Kernel
from tests.backends.intel.every_type.linear_algebra import linear_algebra_kernels
from tests.backends.intel.every_type.matrices import matrix_atomic_kernels, matrix_kernels
from tests.backends.intel.every_type.scalars import atomic_kernels, subgroup_kernels
from tests.backends.intel.opencl_kernels import Kernels
from tests.backends.intel.runnable import make_runnable, separate_atomics, without_bool_parameters
from tests.translate.core_to_xegpu.visible import make_visible
from tests.translate.tensorlang_to_core.case import Case
from tests.translate.tensorlang_to_core.cases import CASES
from xtile.dialects.tensorlang.ops.function import FuncOp

_ATTEMPTS = 40
"""Random sizes do not always fit together."""

_LARGEST_SIZE = 40
"""Matrices fit into memory of this size."""


@dataclass(frozen=True)
class Checked:
    """A function, and the numbers of its parameters that are outputs."""

    function: FuncOp
    outputs: range


def _check(checked: Checked, kernels: Kernels, index: int) -> None:
    seed = fresh_seed()
    random = np.random.default_rng(seed)
    for numbers in (plain_numbers, any_numbers):
        assert any(
            check_agreement(
                checked.function,
                Arguments(checked.function, random, numbers, checked.outputs, _LARGEST_SIZE).values,
                kernels.launch(index),
                seed=seed,
            )
            for _ in range(_ATTEMPTS)
        )


# --- each form of each instruction ---


@cache
def _rows() -> list[Checked]:
    return [_row(case) for case in CASES]


def _row(case: Case) -> Checked:
    (function,) = case.module().body.block.ops
    assert isinstance(function, FuncOp)
    function.detach()
    without_bool_parameters(function)
    operations, parameters = list(function.walk()), len(function.parameters)
    make_visible(function)
    separate_atomics(function)
    outputs = range(parameters, len(function.parameters))
    make_runnable(function, operations)
    return Checked(function, outputs)


@pytest.fixture(scope="module")
def rows() -> Kernels:
    return Kernels([checked.function for checked in _rows()])


@pytest.mark.parametrize("index", range(len(CASES)), ids=[case.name for case in CASES])
def test_each_form(index: int, rows: Kernels) -> None:
    _check(_rows()[index], rows, index)


# --- each instruction on every type ---

_FAMILIES: dict[str, Sequence[Kernel]] = {
    "exchanges": list(subgroup_kernels()),
    "atomics": list(atomic_kernels()),
    "linear algebra": list(linear_algebra_kernels()),
    "matrices": list(matrix_kernels()),
    "atomics with matrices": list(matrix_atomic_kernels()),
}


@cache
def _family(name: str) -> tuple[list[Checked], Kernels]:
    """The functions of a family, compiled together."""
    checked: list[Checked] = []
    for kernel in _FAMILIES[name]:
        function = kernel.function()
        checked.append(Checked(function, range(len(kernel.inputs), len(function.parameters))))
    return checked, Kernels([one.function for one in checked])


@pytest.mark.parametrize(
    ("family", "index"),
    [(name, index) for name, kernels in _FAMILIES.items() for index in range(len(kernels))],
    ids=[kernel.name for kernels in _FAMILIES.values() for kernel in kernels],
)
def test_every_type(family: str, index: int) -> None:
    checked, kernels = _family(family)
    _check(checked[index], kernels, index)
