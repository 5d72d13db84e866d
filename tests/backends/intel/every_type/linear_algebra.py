"""The linear algebra instructions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tests.backends.intel.every_type.kernel import Kernel
from xtile.dialects.tensorlang.types import COMPLEX_TYPES, NUMBER_TYPES


def linear_algebra_kernels() -> Iterator[Kernel]:
    """For each type the linear algebra, with each transpose, and atomic where it may be."""
    for name in NUMBER_TYPES:
        yield from _matrix_products(name)
        yield from _vectors_and_sums(name)


_ROWS, _COLUMNS, _DEPTH = 9, 6, 13


def _matrix_products(name: str) -> Iterator[Kernel]:
    a = {"n": f"{_ROWS}x{_DEPTH}", "t": f"{_DEPTH}x{_ROWS}"}
    b = {"n": f"{_DEPTH}x{_COLUMNS}", "t": f"{_COLUMNS}x{_DEPTH}"}
    inputs = [
        f"%alpha: {name}",
        f"%beta: {name}",
        *(f"%A{t}: memref<{name}x{a[t]}>" for t in "nt"),
        *(f"%B{t}: memref<{name}x{b[t]}>" for t in "nt"),
    ]
    c = f"memref<{name}x{_ROWS}x{_COLUMNS}>"
    forms = [(x, y, form) for x, y in product("nt", repeat=2) for form in _FORMS]
    inputs += [f"%C{x}{y}{i}: {c}" for x, y in product("nt", repeat=2) for i in range(len(_FORMS))]
    kernel = Kernel(f"gemm_{name}", inputs)
    kernel.add(*_zero_and_one(name))
    for x, y, form in forms:
        modifier, beta = form
        output = f"%C{x}{y}{_FORMS.index(form)}"
        kernel.add(f"gemm{modifier}.{x}.{y} %alpha, %A{x}, %B{y}, {beta}, {output}")
    yield kernel


_FORMS = (("", "%beta"), ("", "%zero"), (".atomic", "%zero"), (".atomic", "%one"))
"""The modifier and beta of each form of an instruction of linear algebra."""


def _zero_and_one(name: str) -> list[str]:
    type_ = NUMBER_TYPES[name]
    if type_ in COMPLEX_TYPES:
        return [f"%zero = constant [0.0, 0.0] : {name}", f"%one = constant [1.0, 0.0] : {name}"]
    dot = ".0" if name.startswith(("f", "bf")) else ""
    return [f"%zero = constant 0{dot} : {name}", f"%one = constant 1{dot} : {name}"]


def _vectors_and_sums(name: str) -> Iterator[Kernel]:
    m, n = 9, 7
    vectors = {size: f"memref<{name}x{size}>" for size in (m, n)}
    matrix, transposed = f"memref<{name}x{m}x{n}>", f"memref<{name}x{n}x{m}>"
    calls = {
        "gemv.n": ("%A, %y", vectors[m]),
        "gemv.t": ("%A, %x", vectors[n]),
        "ger": ("%x, %y", matrix),
        "hadamard": ("%A, %B", matrix),
        "axpby.n": ("%A", matrix),
        "axpby.t": ("%A", transposed),
        "sum.n": ("%A", vectors[m]),
        "sum.t": ("%A", vectors[n]),
        "cumsum": ("%A, 0", matrix),
        "cumsum_1": ("%A, 1", matrix),
    }
    inputs = [
        *(f"%alpha: {name}", f"%beta: {name}", f"%A: {matrix}", f"%B: {matrix}"),
        *(f"%x: {vectors[m]}", f"%y: {vectors[n]}"),
    ]
    kernel = Kernel(f"linear_algebra_{name}", inputs)
    kernel.add(*_zero_and_one(name))
    updated: list[str] = []
    for call, (operands, type_) in calls.items():
        instruction, _, transpose = call.removesuffix("_1").partition(".")
        for number, (modifier, beta) in enumerate(_FORMS):
            output = f"%{call.replace('.', '_')}_{number}"
            updated.append(f"{output}: {type_}")
            suffix = f".{transpose}" if transpose else ""
            kernel.add(f"{instruction}{modifier}{suffix} %alpha, {operands}, {beta}, {output}")
    kernel.inputs = [*inputs, *updated]
    yield kernel
