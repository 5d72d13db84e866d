"""Random kernels compute the same on OpenCL's device and on the reference device.

Each run takes the same kernels and arguments. A failure shows the seed of the kernel; with it in
the environment, the first batch begins with that kernel, so that other seeds can be tried as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count, islice

import numpy as np
import pytest

from tests.backends.intel.agreement import Agreement, check_agreement, is_defined
from tests.backends.intel.opencl_kernels import Kernels
from tests.backends.intel.random_arguments import (
    Arguments,
    NoArgumentsError,
    any_numbers,
    plain_numbers,
)
from tests.backends.intel.runnable import make_runnable
from tests.generators.tensorlang_kernels import random_kernel
from tests.seeds import given_seed, share_of
from tests.translate.core_to_xegpu.visible import make_visible
from tests.translate.ported import fix_sizes
from xtile.arguments.errors import DeviceError
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics.arguments import Argument
from xtile.semantics.errors import ExecutionError
from xtile.text.diagnostics import DiagnosticError

KERNELS = 45
"""How many kernels are compared."""

_TOGETHER = 15
"""How many of them are one program, which a driver builds faster than as many programs."""

_DISTANCE = 1000
"""Between the seeds of the first kernels of two batches; some seeds give no kernel that can run."""

_SIZE = 10
"""About how many instructions a kernel has, before all its results are made visible."""

_ATTEMPTS = 4
"""How often other arguments are tried, where a kernel's result on some is not defined."""

_MOST_UNDETERMINED = 0.1
"""The part of a batch's elements that may be left out; one large memref can be a twentieth."""

_REFUSALS = (
    "which needs a static size",
    "bytes of local memory",
    "a group of memrefs cannot pass through control flow",
)
"""What a kernel may be refused for."""


@dataclass(frozen=True)
class _Random:
    """A random kernel whose result on its arguments is defined.

    Attributes:
        seed: What it was made from.
        function: The kernel.
        arguments: The arguments.
    """

    seed: int
    function: FuncOp
    arguments: list[Argument]


@pytest.mark.parametrize("batch", range(KERNELS // _TOGETHER))
def test_random_kernels_compute_the_same(batch: int) -> None:
    kernels, program = _compiled(_kernels(_first_seed(batch)))
    agreements: list[Agreement] = []
    for index, kernel in enumerate(kernels):
        try:
            agreement = check_agreement(
                kernel.function, kernel.arguments, program.launch(index), seed=kernel.seed
            )
        except DeviceError as error:
            seeds = [kernel.seed for kernel in kernels]
            raise AssertionError(f"the kernels of the seeds {seeds}: {error}") from None
        assert agreement is not None
        agreements.append(agreement)
    undetermined = sum(agreement.undetermined for agreement in agreements)
    assert undetermined <= _MOST_UNDETERMINED * sum(agreement.elements for agreement in agreements)


def _first_seed(batch: int) -> int:
    """The seed of a batch's first kernel: the same in every run, or from the environment's on."""
    return _DISTANCE * batch + (given_seed() or 0)


def _kernels(first: int) -> Iterator[_Random]:
    """Kernels that can be executed, of the seeds from `first` on."""
    for seed in count(first):
        for operation in list(random_kernel(seed, _SIZE).body.block.ops):
            assert isinstance(operation, FuncOp)
            operation.detach()
            kernel = _prepared(seed, operation)
            if kernel is not None:
                yield kernel


def _prepared(seed: int, function: FuncOp) -> _Random | None:
    try:
        fix_sizes(function)
    except ExecutionError:
        return None
    operations = list(function.walk())
    make_visible(function)
    make_runnable(function, operations)
    random = np.random.default_rng(seed)
    for _ in range(_ATTEMPTS):
        numbers = any_numbers if random.random() < 0.5 else plain_numbers
        try:
            arguments = Arguments(function, random, numbers).values
        except NoArgumentsError:
            return None
        if is_defined(function, arguments):
            return _Random(seed, function, arguments)
    return None


def _compiled(kernels: Iterator[_Random]) -> tuple[list[_Random], Kernels]:
    """The first kernels that are not refused, and the program of them."""
    chosen = list(islice(kernels, share_of(_TOGETHER)))
    try:
        return chosen, Kernels([kernel.function for kernel in chosen])
    except DiagnosticError:
        chosen = list(islice(filter(_is_compilable, chain(chosen, kernels)), share_of(_TOGETHER)))
        return chosen, Kernels([kernel.function for kernel in chosen])


def _is_compilable(kernel: _Random) -> bool:
    try:
        Kernels([kernel.function])
    except DiagnosticError as error:
        if not any(refusal in str(error) for refusal in _REFUSALS):
            raise
        return False
    return True
