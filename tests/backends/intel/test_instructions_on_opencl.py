"""Every instruction, type and flag computes the same on OpenCL's device and the reference device.

The rows of `tests/translate/tensorlang_to_core/cases` have each form of each instruction; the
kernels of `every_type` each instruction on every type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64

from tests.backends.intel.agreement import check_agreement
from tests.backends.intel.every_type.kernel import Kernel
from tests.backends.intel.every_type.linear_algebra import linear_algebra_kernels
from tests.backends.intel.every_type.matrices import matrix_kernels
from tests.backends.intel.every_type.scalars import atomic_kernels, exchange_kernels
from tests.backends.intel.opencl_kernels import Kernels
from tests.backends.intel.random_arguments import Arguments, any_numbers, odd_numbers, plain_numbers
from tests.backends.intel.runnable import make_runnable, separate_atomics, without_bool_parameters
from tests.seeds import fresh_seed
from tests.translate.core_to_xegpu.visible import SUBGROUP_SIZE, make_visible
from tests.translate.tensorlang_to_core.case import Case
from tests.translate.tensorlang_to_core.cases import (
    CASES,
    arithmetic,
    builtins,
    collective,
    control,
    matrices,
    matrix_access,
    memory,
    products,
    subgroup,
    views,
)
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import NUMBER_TYPES

_LARGEST_SIZES = (6, 12, 40) * 400
"""How large dynamic sizes become in each attempt: small ones fit together, matrices into large.

The first attempt with sizes that fit is the last; `expand` has such sizes once in thirty."""


@dataclass(frozen=True)
class Checked:
    """A function, and the parameters that it replaces without reading them, beside by stores."""

    name: str
    function: FuncOp
    outputs: range = range(0)


class _Program:
    """Functions that are compiled and built together."""

    def __init__(self, functions: Sequence[Checked]) -> None:
        self.functions = functions
        self.kernels = Kernels([checked.function for checked in functions])


def _check(program: _Program) -> None:
    """Compares the functions of one program, with small numbers, any, and odd ones."""
    seed = fresh_seed()
    random = np.random.default_rng(seed)
    undefined = [
        checked.name
        for index, checked in enumerate(program.functions)
        for numbers in (plain_numbers, any_numbers, odd_numbers)
        if not any(
            check_agreement(
                checked.function,
                Arguments(checked.function, random, numbers, checked.outputs, largest).values,
                program.kernels.launch(index),
                seed=seed,
            )
            for largest in _LARGEST_SIZES
        )
    ]
    assert not undefined


# --- each form of each instruction ---

_ROWS = {
    "arithmetic": arithmetic.CASES,
    "builtins": builtins.CASES,
    "collective": collective.CASES,
    "control": control.CASES,
    "matrices": matrices.CASES,
    "matrix_access": matrix_access.CASES,
    "memory": memory.CASES,
    "products": products.CASES,
    "subgroup": subgroup.CASES,
    "views": views.CASES,
}


@pytest.mark.parametrize("rows", _ROWS)
def test_each_form(rows: str) -> None:
    _check(_program_of_rows(rows))


@lru_cache(maxsize=1)
def _program_of_rows(rows: str) -> _Program:
    return _Program([_row(case) for case in _ROWS[rows]])


def _row(case: Case) -> Checked:
    (function,) = case.module().body.block.ops
    assert isinstance(function, FuncOp)
    function.detach()
    if "cooperative_matrix_atomic" in case.source:
        # Which subgroup updates a matrix first is not defined.
        sizes = [IntegerAttr(size, i64) for size in (SUBGROUP_SIZE, 1)]
        function.properties["work_group_size"] = ArrayAttr(sizes)
    without_bool_parameters(function)
    operations = list(function.walk())
    make_visible(function)
    separate_atomics(function)
    make_runnable(function, operations)
    return Checked(case.name, function)


def test_every_row_is_there() -> None:
    assert sum(map(len, _ROWS.values())) == len(CASES)


# --- each instruction on every type ---

_FAMILIES: dict[str, Callable[[str], Iterator[Kernel]]] = {
    "exchanges": exchange_kernels,
    "atomics": atomic_kernels,
    "linear algebra": linear_algebra_kernels,
    "matrices": matrix_kernels,
}


@pytest.mark.parametrize("type_", NUMBER_TYPES)
@pytest.mark.parametrize("family", _FAMILIES)
def test_every_type(family: str, type_: str) -> None:
    _check(_program_of_kernels(family, type_))


@lru_cache(maxsize=1)
def _program_of_kernels(family: str, type_: str) -> _Program:
    kernels = list(_FAMILIES[family](type_))
    assert kernels
    # Each kernel runs for one or two of the types.
    chosen = kernels[list(NUMBER_TYPES).index(type_) % 8 :: 8] or kernels[:1]
    return _Program([_written(kernel) for kernel in chosen])


def _written(kernel: Kernel) -> Checked:
    function = kernel.function()
    outputs = range(len(kernel.inputs), len(function.parameters))
    return Checked(kernel.name, function, outputs)
