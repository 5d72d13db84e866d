"""Runs functions of the tensor language as tiles, and compares with what they compute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

import xtile
from tests.backends.intel.agreement import check_agreement
from tests.backends.intel.random_arguments import Arguments, Numbers, any_numbers
from xtile.dialects.gpu.functions import FuncOp as CoreFuncOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import DYNAMIC, GroupType, MemrefType
from xtile.dialects.verification import verify_module
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.configuration import Size3
from xtile.semantics.engine import launch
from xtile.semantics.numeric_types import NUMPY_TYPES
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate

GRID: Size3 = (1, 1, 1)


def tiled(module: ModuleOp, chip: str = "sm_90") -> ModuleOp:
    """A module of the tensor language with tiles, which is verified."""
    result = translate(module, "tensorlang-to-tile", Options(chip))
    diagnostics = Diagnostics()
    verify_module(result, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()
    return result


def reversed_modes(function: FuncOp, arguments: Sequence[Argument]) -> list[Argument]:
    """The same memory as the arguments of what a function becomes."""
    result: list[Argument] = []
    for parameter, argument in zip(function.parameters, arguments, strict=True):
        if isinstance(argument, GroupArgument):
            result.append(GroupArgument([_reversed(entry) for entry in argument.entries], 0))
            type_ = parameter.type
            if isinstance(type_, GroupType) and type_.offset == DYNAMIC:
                result.append(ScalarArgument(np.int64(argument.offset)))
        else:
            is_memory = isinstance(argument, MemrefArgument)
            result.append(_reversed(argument) if is_memory else argument)
    return result


def _reversed(argument: MemrefArgument) -> MemrefArgument:
    shape, strides = argument.shape[::-1], argument.strides[::-1]
    return MemrefArgument(argument.base, shape, strides, argument.offset)


Shape = tuple[int, ...]


class Shaped:
    """Random arguments of given shapes, with gaps between what follows each other.

    Args:
        function: The function.
        shapes: The shape of each memref, and of each entry of a group.
        random: The source of all choices.
        numbers: Makes numbers.
    """

    def __init__(
        self,
        function: FuncOp,
        shapes: Sequence[Shape],
        random: np.random.Generator,
        numbers: Numbers,
    ) -> None:
        self._random, self._numbers = random, numbers
        left = iter(shapes)
        self.values = [self._argument(parameter.type, left) for parameter in function.parameters]

    def _argument(self, type: Attribute, shapes: Iterator[Shape]) -> Argument:
        if isinstance(type, MemrefType):
            return self._memref(type, next(shapes))
        if isinstance(type, GroupType):
            shape = next(shapes)
            entries = [self._memref(type.element, shape) for _ in range(_ENTRIES)]
            return GroupArgument(entries, 2 if type.offset == DYNAMIC else type.offset)
        return ScalarArgument(self._numbers(self._random, NUMPY_TYPES[type], 1)[0])

    def _memref(self, type: MemrefType, shape: Shape) -> MemrefArgument:
        strides: list[int] = []
        for mode, stride in enumerate(type.strides):
            packed = strides[-1] * shape[mode - 1] if mode else 1
            strides.append(packed + (mode > 0) * 3 if stride == DYNAMIC else stride)
        span = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
        memory = self._numbers(self._random, NUMPY_TYPES[type.element_type], span + 8)
        return MemrefArgument(memory, shape, tuple(strides))


_ENTRIES = 4


def check(
    text: str,
    seed: int = 0,
    grid: Size3 = GRID,
    numbers: Numbers = any_numbers,
    outputs: Sequence[int] = (),
    largest_size: int = 40,
    chip: str = "sm_90",
    shapes: Mapping[str, Sequence[Shape]] | None = None,
) -> ModuleOp:
    """Compares all functions of a text with their tiles; returns the latter.

    Args:
        text: The text.
        seed: What random arguments follow from.
        grid: The launch.
        numbers: Makes the numbers in memory.
        outputs: The parameters that are not read; they are filled with NaN.
        largest_size: The largest dynamic size.
        chip: The architecture.
        shapes: For each function the shapes of its memrefs; None for random ones.
    """
    module = xtile.parse(text, language="tensorlang")
    result = tiled(module, chip)
    kernels = [op for op in result.walk() if isinstance(op, CoreFuncOp)]
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    for function, kernel in zip(functions, kernels, strict=True):
        random = np.random.default_rng(seed)
        if shapes is None:
            arguments = Arguments(function, random, numbers, outputs, largest_size).values
        else:
            of_function = shapes[function.sym_name.data]
            arguments = Shaped(function, of_function, random, numbers).values

        def run(
            given: Sequence[Argument],
            grid: Size3,
            function: FuncOp = function,
            kernel: CoreFuncOp = kernel,
        ) -> None:
            launch(kernel, reversed_modes(function, given), grid)

        assert check_agreement(function, arguments, run, grid, seed) is not None, text
    return result
