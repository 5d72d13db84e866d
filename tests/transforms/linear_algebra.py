"""Linear algebra operations with random inputs, and what they are to compute."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.transforms.distribute.kernels import DTYPES, kernel, run
from xtile.dialects.tensorlang import types
from xtile.semantics import linalg
from xtile.semantics.accumulation import accumulation_type
from xtile.semantics.numeric_types import cast_function

Array = np.ndarray[Any, Any]

TYPES = {
    "i8": types.I8,
    "i16": types.I16,
    "i32": types.I32,
    "i64": types.I64,
    "index": types.INDEX,
    "f16": types.F16,
    "bf16": types.BF16,
    "f32": types.F32,
    "f64": types.F64,
    "complex<f32>": types.C32,
    "complex<f64>": types.C64,
}

SMALLER = {
    "i16": "i8",
    "i32": "i16",
    "i64": "i32",
    "f32": "f16",
    "f64": "f32",
    "complex<f32>": "f32",
    "complex<f64>": "complex<f32>",
}
"""For each element type of an output, one of an input that is promoted to it."""

TOLERANCES = {
    "f16": 2e-3,
    "bf16": 2e-2,
    "f32": 1e-5,
    "f64": 1e-13,
    "complex<f32>": 1e-5,
    "complex<f64>": 1e-13,
}

BETAS = ("0", "1", "3", "dynamic 0", "dynamic 3")


@dataclass(frozen=True)
class Target:
    """What kernels are rewritten for, and how they are written for it.

    Attributes:
        rewrite: Makes the module that is run of a text.
        attributes: The kernel's attributes.
        last_stride: The last stride of memrefs whose sizes are not known.
        has_gaps: Whether memory of unknown size has gaps between rows.
        launch: Runs the kernel of a module on arrays and numbers.
    """

    rewrite: Callable[[str], ModuleOp]
    attributes: str
    last_stride: str
    has_gaps: bool = False
    launch: Callable[..., None] = run


def rng_of(*key: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def random(rng: np.random.Generator, type: str, *shape: int) -> Array:
    """Numbers of a type that are not larger than 4."""
    numbers = rng.integers(-4, 5, shape)
    if type[0] == "i":
        return numbers.astype(DTYPES[type])
    real = rng.uniform(-1, 1, shape)
    if type.startswith("complex"):
        return np.asarray(real + 1j * rng.uniform(-1, 1, shape)).astype(DTYPES[type])
    return np.asarray(real).astype(DTYPES[type])


def unused(dtype: Any) -> Any:
    """What memory holds that a kernel must not use: NaN, or a number that shows."""
    return 77 if np.dtype(dtype).kind in "iu" else np.nan


def is_unused(memory: Array) -> bool:
    """Whether all memory holds that."""
    number = unused(memory.dtype)
    return bool((memory == number).all() if number == number else np.isnan(memory).all())


def number_constant(name: str, number: int, type: str) -> str:
    if type.startswith("complex"):
        part = type[8:-1]
        return f"%{name} = complex.constant [{number}.0 : {part}, 0.0 : {part}] : {type}"
    point = "" if type[0] == "i" else ".0"
    return f"%{name} = arith.constant {number}{point} : {type}"


def memref(shape: tuple[int, ...], type: str, is_dynamic: bool, last_stride: str) -> str:
    sizes = "".join("?x" if is_dynamic else f"{size}x" for size in shape)
    strides = ", ".join(["?"] * (len(shape) - 1) + [last_stride])
    layout = f", strided<[{strides}]>" if is_dynamic and shape else ""
    return f"memref<{sizes}{type}{layout}>"


class Case:
    """One operation with random inputs."""

    def __init__(
        self, target: Target, name: str, flags: str, type: str, beta: str, is_dynamic: bool
    ) -> None:
        self.target = target
        self.name, self.flags, self.type, self.is_dynamic = name, flags, type, is_dynamic
        self.rng = rng_of(name, flags, type, beta, is_dynamic)
        self.input_type = SMALLER.get(type, type) if self.rng.integers(2) else type
        self.beta = int(beta.rsplit(maxsplit=1)[-1])
        self.is_beta_known = "dynamic" not in beta
        self.alpha = np.asarray(random(self.rng, self.input_type, 1)[0])

    def check(self, output_shape: tuple[int, ...], compute: Any, *shapes: tuple[int, ...]) -> None:
        """Runs the operation and compares with `compute`, a function of inputs in wide types."""
        inputs = [random(self.rng, self.input_type, *shape) for shape in shapes]
        output = random(self.rng, self.type, *output_shape)
        if self.beta == 0:
            output[...] = unused(output.dtype)
        memory = [self.placed(array) for array in (*inputs, output)]
        expected = self.expected(output, compute, inputs)
        text = self.text(output_shape, shapes)
        alpha = self.alpha.item() if self.input_type != "bf16" else float(self.alpha)
        beta = [] if self.is_beta_known else [self.beta]
        *placed, found = (array for array, _ in memory)
        self.target.launch(self.target.rewrite(text), alpha, *placed, *beta, found)
        for array, whole in memory:
            array_then = array.copy()
            array[...] = unused(array.dtype)
            assert is_unused(whole), f"memory beyond the end was written\n{text}"
            array[...] = array_then
        output = found
        if self.type in TOLERANCES:
            scale = max(1.0, float(np.max(np.abs(expected.astype(np.complex128)))))
            difference = np.abs(output.astype(np.complex128) - expected.astype(np.complex128))
            assert np.max(difference) <= TOLERANCES[self.type] * scale, text
        else:
            assert np.array_equal(output, expected), text

    def placed(self, array: Array) -> tuple[Array, Array]:
        """A copy of an array, with gaps between its rows if there may be, and all its memory."""
        gap = 3 if self.target.has_gaps and self.is_dynamic else 0
        whole = np.full([size + gap for size in array.shape], unused(array.dtype), array.dtype)
        part = whole[(..., *(slice(size) for size in array.shape))]
        part[...] = array
        return part, whole

    def expected(self, output: Array, compute: Any, inputs: list[Array]) -> Array:
        wide = accumulation_type(TYPES[self.type])
        to_wide = cast_function(TYPES[self.input_type], wide)
        is_atomic = "atomic" in self.flags
        update = linalg.update_function(
            TYPES[self.input_type], TYPES[self.type], TYPES[self.type], is_atomic
        )
        result = output.copy()
        beta = DTYPES[self.type](self.beta)
        with np.errstate(all="ignore"):
            wide_result = np.asarray(compute(*(to_wide(array) for array in inputs)))
            update(DTYPES[self.input_type](self.alpha), wide_result, beta, result)
        return result

    def text(self, output_shape: tuple[int, ...], shapes: tuple[tuple[int, ...], ...]) -> str:
        stride = self.target.last_stride
        inputs = [memref(shape, self.input_type, self.is_dynamic, stride) for shape in shapes]
        output = memref(output_shape, self.type, self.is_dynamic, stride)
        beta = [] if self.is_beta_known else [f"%beta: {self.type}"]
        names = [f"%in{i}" for i in range(len(inputs))]
        parameters = [
            f"%alpha: {self.input_type}",
            *(f"{name}: {type}" for name, type in zip(names, inputs, strict=True)),
            *beta,
            f"%out: {output}",
        ]
        constant = number_constant("beta", self.beta, self.type) if self.is_beta_known else ""
        all_types = [self.input_type, *inputs, self.type, output]
        operands = ", ".join(["%alpha", *names, "%beta", "%out"])
        body = f"{constant}\ncore.{self.name} {self.flags} {operands} : {', '.join(all_types)}"
        return kernel(", ".join(parameters), body, self.target.attributes)


_FAST = 7
"""Of so many cases one is fast; no number of flags, types or sizes divides it."""


def cases(names: dict[str, tuple[str, ...]]) -> list[Any]:
    """Each operation with each of its flags and each type, on static and on dynamic sizes.

    Each takes two values of beta in turn, known and known only at run time. One of seven is fast.
    """
    result: list[Any] = []
    betas = itertools.cycle(BETAS)
    for name, flags in names.items():
        for flag, type in itertools.product(flags, DTYPES):
            for number, is_dynamic in enumerate((False, True)):
                beta = str(number) if "atomic" in flag else next(betas)
                values = (name, flag, type, beta, is_dynamic)
                marks = pytest.mark.slow if len(result) % _FAST else ()
                result.append(pytest.param(*values, id="-".join(map(str, values)), marks=marks))
    return result


def transposed(array: Array, flags: str, flag: str) -> Array:
    return array.T if flag in flags else array
