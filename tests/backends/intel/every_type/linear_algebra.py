"""The linear algebra instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.backends.intel.every_type.kernel import Kernel
from xtile.dialects.tensorlang.types import COMPLEX_TYPES, NUMBER_TYPES

_SHAPES = {
    "A": "5x7",
    "At": "7x5",
    "B": "7x3",
    "Bt": "3x7",
    "D": "5x7",
    "x": "5",
    "y": "7",
}
"""The inputs."""

_CALLS = {
    "gemm.n.n": ("%A, %B", "5x3"),
    "gemm.t.n": ("%At, %B", "5x3"),
    "gemm.n.t": ("%A, %Bt", "5x3"),
    "gemm.t.t": ("%At, %Bt", "5x3"),
    "gemv.n": ("%A, %y", "5"),
    "gemv.t": ("%A, %x", "7"),
    "ger": ("%x, %y", "5x7"),
    "hadamard": ("%A, %D", "5x7"),
    "axpby.n": ("%A", "5x7"),
    "axpby.t": ("%A", "7x5"),
    "sum.n": ("%A", "5"),
    "sum.t": ("%A", "7"),
    "cumsum": ("%A, 0", "5x7"),
    "cumsum.": ("%A, 1", "5x7"),
}
"""The instructions with their transposes: the inputs, and the shape of the output."""

_FORMS = (("", "%beta"), (".atomic", "%one"), ("", "%zero"), (".atomic", "%zero"))
"""The modifier and beta of each form of an instruction; where beta is 0 the output is not read."""


_EVERY_FORM = frozenset({"f32", "bf16"})
"""The types whose instructions have every form; those of others have it in axpby."""

_EVERY_TYPE = frozenset(_CALLS) - {"gemm.t.n", "gemm.n.t", "gemv.t", "axpby.t"}
"""The calls with every type. A driver takes long for products."""


def linear_algebra_kernels(name: str) -> Iterator[Kernel]:
    """The linear algebra of a type."""
    for call in _CALLS:
        if name in _EVERY_FORM or call == "axpby.n":
            yield _kernel(name, call, _FORMS)
        elif call in _EVERY_TYPE:
            yield _kernel(name, call, _FORMS[:1])


def _kernel(name: str, call: str, forms: Sequence[tuple[str, str]]) -> Kernel:
    operands, shape = _CALLS[call]
    instruction, _, transposes = call.partition(".")
    memref = f"memref<{name}x{shape}>"
    outputs = [f"%C{number}" for number in range(len(forms))]
    inputs = [
        *(f"%alpha: {name}", f"%beta: {name}"),
        *(f"%{matrix}: memref<{name}x{size}>" for matrix, size in _SHAPES.items()),
        *(f"{output}: {memref}" for output in outputs),
    ]
    # The last forms do not read what is there.
    written = sum(beta == "%zero" for _, beta in forms)
    kernel = Kernel(f"{call.replace('.', '_')}_{name}", inputs[: len(inputs) - written])
    kernel.outputs = inputs[len(inputs) - written :]
    kernel.add(*_zero_and_one(name))
    for (modifier, beta), output in zip(forms, outputs, strict=True):
        suffix = f".{transposes}" if transposes else ""
        kernel.add(f"{instruction}{modifier}{suffix} %alpha, {operands}, {beta}, {output}")
    return kernel


def _zero_and_one(name: str) -> list[str]:
    if NUMBER_TYPES[name] in COMPLEX_TYPES:
        return [f"%zero = constant [0.0, 0.0] : {name}", f"%one = constant [1.0, 0.0] : {name}"]
    fraction = ".0" if name.startswith(("f", "bf")) else ""
    return [f"%zero = constant 0{fraction} : {name}", f"%one = constant 1{fraction} : {name}"]
