"""Runs kernels given as text on numpy arrays, straight on the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from tests.seeds import fresh_generator
from xtile.api import parse
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.engine import launch


def memref_of(array: np.ndarray, is_initialized: bool = True) -> MemrefArgument:
    """The memory of an array from its first to its last element, as a memref."""
    strides = tuple(stride // array.itemsize for stride in array.strides)
    span = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True))
    base = as_strided(array, (span if array.size else 0,), (array.itemsize,))
    return MemrefArgument(base, array.shape, strides, 0, is_initialized)


def argument_of(value: Any) -> Argument:
    """Arrays become memrefs, lists groups, None a null memref of order 0, numbers scalars."""
    if isinstance(value, np.ndarray):
        return memref_of(value)
    if isinstance(value, list):
        return GroupArgument([memref_of(entry) for entry in value])
    if isinstance(value, ScalarArgument | MemrefArgument | GroupArgument):
        return value
    return ScalarArgument(value)


def function_of(text: str, entry: str | None = None) -> FuncOp:
    """The function named `entry`, or the first."""
    functions = [op for op in parse(text).walk() if isinstance(op, FuncOp)]
    return next(f for f in functions if entry in (None, f.sym_name.data))


def run_kernel(text: str, *arguments: Any, grid: tuple[int, int, int] = (1, 1, 1), **keywords: Any):
    """Runs the first function of a text."""
    launch(function_of(text), [argument_of(a) for a in arguments], grid, **keywords)


@pytest.fixture
def run() -> Callable[..., None]:
    return run_kernel


@pytest.fixture
def function() -> Callable[..., FuncOp]:
    return function_of


@pytest.fixture
def argument() -> Callable[[Any], Argument]:
    return argument_of


@pytest.fixture
def memref() -> Callable[..., MemrefArgument]:
    return memref_of


@pytest.fixture
def rng() -> np.random.Generator:
    return fresh_generator()
