"""Random kernels of collective instructions agree with their source, and change nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.backends.intel.agreement import check_agreement, copied
from tests.backends.intel.random_arguments import Memory, any_numbers, plain_numbers
from tests.generators.collective_kernels import CollectiveKernel, collective_kernel
from tests.generators.tensorlang.choices import NUMBERS
from tests.samples import one_of
from tests.seeds import given_seed, share_of
from tests.tile_tools import assembled
from tests.transforms.distribute.kernels import printed, read
from tests.transforms.tile_linalg.from_source import reversed_modes
from tests.translate.core_to_cuda_tile.entries import (
    CHIPS,
    entry_of,
    functions_of,
    launch_entry,
    verify,
)
from tests.translate.flattened import flattened
from xtile.dialects.cuda_tile.bytecode import decode, encode
from xtile.dialects.cuda_tile.ops.module import EntryOp
from xtile.dialects.gpu.functions import FuncOp as CoreFuncOp
from xtile.dialects.tensorlang.ops.collective import BlasOperation
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import MemrefType, type_text
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument
from xtile.semantics.configuration import Size3
from xtile.semantics.engine import launch
from xtile.semantics.sanitizer import Kind, sanitize
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import Options, translate

FILES = 12
KERNELS = 5
"""In each file."""

ASSEMBLED = 2
"""How many files NVIDIA's assembler takes, in turn for each architecture."""

REFUSALS = ("an input that is the output too must be copied, which needs a static size",)


def special_numbers(random: np.random.Generator, dtype: np.dtype, count: int) -> Memory:
    """Numbers as in `any_numbers`; a few real ones are zeros, infinities, NaN and very large."""
    numbers = any_numbers(random, dtype, count)
    if dtype.kind in "iuc":
        return numbers
    with np.errstate(over="ignore"):
        special = random.choice(_SPECIAL_NUMBERS, count).astype(dtype)
    return np.where(random.random(count) < _SPECIAL, special, numbers).astype(dtype)


_SPECIAL_NUMBERS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30)
_SPECIAL = 0.02

_NUMBERS = (plain_numbers, any_numbers, special_numbers)


def first_seed() -> int:
    """The seed of the first kernel: a fixed one, or that of the environment."""
    return given_seed() or 0


def file_of(number: int, first: int) -> list[CollectiveKernel]:
    """The kernels of one file; the very first of all kernels has the seed `first`."""
    first += number * KERNELS
    return [collective_kernel(seed, f"kernel{seed}") for seed in range(first, first + KERNELS)]


def read_source(kernels: Sequence[CollectiveKernel]) -> ModuleOp:
    """The module of kernels."""
    return xtile.parse("\n".join(kernel.text for kernel in kernels), language="tensorlang")


class Translated:
    """The kernels of a file, as the source says and as they are translated.

    Args:
        number: The number of the file.
        chip: The architecture.
    """

    def __init__(self, number: int, chip: str) -> None:
        self.kernels = file_of(number, first_seed())
        self.source = read_source(self.kernels)
        try:
            self.tiles = translate(self.source, "tensorlang-to-tile", Options(chip))
        except DiagnosticError:
            self.kernels = [each for each in self.kernels if not self._is_refused(each, chip)]
            self.source = read_source(self.kernels)
            self.tiles = translate(self.source, "tensorlang-to-tile", Options(chip))
        self.core = translate(self.source, "tensorlang-to-core")
        self.entries = translate(self.source, "tensorlang-to-cuda_tile", Options(chip))
        verify(self.tiles)
        verify(self.entries)

    def _is_refused(self, kernel: CollectiveKernel, chip: str) -> bool:
        try:
            translate(read_source([kernel]), "tensorlang-to-tile", Options(chip))
        except DiagnosticError as error:
            message = str(error)
            assert any(refusal in message for refusal in REFUSALS), message
            return True
        return False


def core_arguments(function: FuncOp, arguments: Sequence[Argument]) -> list[Argument]:
    """The same memory as arguments of what a function becomes; memrefs start at its start."""
    return [_at_start(argument) for argument in reversed_modes(function, arguments)]


def _at_start(argument: Argument) -> Argument:
    if isinstance(argument, GroupArgument):
        return replace(argument, entries=[_memref_at_start(entry) for entry in argument.entries])
    return _memref_at_start(argument) if isinstance(argument, MemrefArgument) else argument


def _memref_at_start(memref: MemrefArgument) -> MemrefArgument:
    assert memref.base is not None
    return replace(memref, base=memref.base[memref.offset :], offset=0)


def launch_tiles(
    function: FuncOp, kernel: CoreFuncOp, arguments: Sequence[Argument], grid: Size3
) -> None:
    """Runs a kernel with tiles on the arguments of its source."""
    launch(kernel, core_arguments(function, arguments), grid)


def launch_cuda_tile(
    function: FuncOp,
    kernel: CoreFuncOp,
    entry: EntryOp,
    arguments: Sequence[Argument],
    grid: Size3,
) -> None:
    """Runs an entry on the arguments of its source."""
    launch_entry(kernel, entry, core_arguments(function, arguments), grid)


def mistakes_in(
    function: FuncOp, kernel: CoreFuncOp, entry: EntryOp, arguments: Sequence[Argument], grid: Size3
) -> list[str]:
    """What the sanitizer says of an entry: accesses without an order, and broken promises."""
    types = [argument.type for argument in kernel.arguments]
    given = core_arguments(function, copied(arguments))
    flat = [
        part
        for type_, argument in zip(types, given, strict=True)
        for part in flattened(type_, argument)
    ]
    found = sanitize(entry, flat, grid)
    left_out = {Kind.UNINITIALIZED}
    if _updates_parts_of_words(function):
        left_out.add(Kind.CONFLICT)
    return [each.diagnostic().render() for each in found if each.kind not in left_out]


def _updates_parts_of_words(function: FuncOp) -> bool:
    """Whether it has atomic updates of 8 or 16 bits.

    The compare-and-swap of their word also reads the neighbours, which other tile blocks may store
    to: docs/nvidia.md says why that loses nothing.
    """
    return any(
        isinstance(operand.type, MemrefType)
        and getattr(operand.type.element_type, "bitwidth", 64) < 32
        for operation in function.walk()
        if "atomic" in operation.properties
        for operand in operation.operands
    )


@pytest.mark.parametrize("number", one_of(2, range(share_of(FILES))))
def test_values(number: int) -> None:
    translated = Translated(number, CHIPS[number % len(CHIPS)])
    written = read(printed(translated.entries))
    bytecode = encode(translated.entries)
    assert encode(decode(bytecode, "kernels")) == bytecode
    functions = [op for op in translated.source.body.block.ops if isinstance(op, FuncOp)]
    for index, kernel in enumerate(translated.kernels):
        seed = first_seed() + number * KERNELS + index
        function = functions[index]
        random, numbers = np.random.default_rng(seed), _NUMBERS[seed % len(_NUMBERS)]
        arguments = kernel.arguments(random, numbers)
        tiles = partial(launch_tiles, function, functions_of(translated.tiles)[index])
        assert check_agreement(function, arguments, tiles, kernel.grid, seed) is not None
        core, entry = functions_of(translated.core)[index], entry_of(written, kernel.name)
        run = partial(launch_cuda_tile, function, core, entry)
        assert check_agreement(function, arguments, run, kernel.grid, seed) is not None
        assert not mistakes_in(function, core, entry, arguments, kernel.grid), kernel.text


@pytest.mark.parametrize("number", range(share_of(ASSEMBLED)))
def test_assembler(number: int) -> None:
    chip = CHIPS[(first_seed() + number) % len(CHIPS)]
    assembled(encode(Translated(number, chip).entries), chip)


def test_each_instruction_transpose_and_type_occurs() -> None:
    names: set[str] = set()
    flags: set[tuple[str, str]] = set()
    types: set[tuple[str, str]] = set()
    for number in range(FILES):
        for operation in read_source(file_of(number, 0)).walk():
            name = operation.name.removeprefix("tensorlang.")
            names.add(name)
            if isinstance(operation, BlasOperation):
                flags |= {(name, flag) for flag in operation.properties}
                output = operation.operands[-1].type
                assert isinstance(output, MemrefType)
                types.add((name, type_text(output.element_type)))
    assert names >= INSTRUCTIONS
    assert flags >= FLAGS
    assert {type for _, type in types} >= {type_text(type) for type in NUMBERS}
    assert {type for name, type in types if name == "gemm"} >= {type_text(t) for t in NUMBERS}


INSTRUCTIONS = {
    *("alloca", "axpby", "cumsum", "foreach", "foreach_tile", "gemm", "gemv", "ger", "hadamard"),
    *("sum", "subview", "expand", "fuse", "load", "store", "size", "for", "if", "yield", "cast"),
    *("group_id", "constant", "add", "sub", "mul", "max", "min", "less_than", "equal"),
}

FLAGS = {
    *((name, "transpose_a") for name in ("axpby", "gemm", "gemv", "sum")),
    ("gemm", "transpose_b"),
    *((n, "atomic") for n in ("axpby", "cumsum", "gemm", "gemv", "ger", "hadamard", "sum")),
}


def test_same_seed_gives_same_kernel() -> None:
    seed = Random(3).randrange(1000)
    assert collective_kernel(seed) == collective_kernel(seed)
    assert collective_kernel(seed).text != collective_kernel(seed + 1).text
