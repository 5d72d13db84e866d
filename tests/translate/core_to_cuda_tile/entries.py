"""Runs kernels of the core form as entries of CUDA Tile IR; has NVIDIA's assembler take them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tests.tile_tools import assembled
from tests.transforms.distribute.kernels import arguments_of, printed, read
from tests.translate.flattened import Padded, all_flattened
from tests.translate.on_cpu import CpuRun
from tests.translate.on_triton import TritonRun
from xtile.dialects.cuda_tile.bytecode import encode
from xtile.dialects.cuda_tile.ops.module import EntryOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.verification import verify_module
from xtile.rewrite.kernels import kernels_of
from xtile.semantics.arguments import Argument
from xtile.semantics.configuration import Size3
from xtile.semantics.engine import launch
from xtile.semantics.sanitizer import Kind, sanitize
from xtile.targets import NVIDIA
from xtile.text.diagnostics import Diagnostics
from xtile.translate.core_to_cuda_tile import translate_module
from xtile.translate.route import Options, translate

CHIPS = ("sm_80", "sm_90", "sm_100", "sm_120")
"""One architecture of each generation."""

ONE_BLOCK: Size3 = (1, 1, 1)


def tile_kernel(parameters: str, body: str, attributes: str = "", name: str = "k") -> str:
    """The text of a module with one kernel at tile level."""
    return f"gpu.module @m {{\n{tile_function(parameters, body, attributes, name)}\n}}\n"


def tile_function(parameters: str, body: str, attributes: str = "", name: str = "k") -> str:
    """The text of one kernel at tile level."""
    all_attributes = ", ".join(filter(None, ['core.level = "tile"', attributes]))
    return (
        f"gpu.func @{name}({parameters}) kernel attributes {{{all_attributes}}} {{\n"
        f"{body}\ngpu.return\n}}"
    )


@lru_cache(maxsize=64)
def lowered(text: str, chip: str = "sm_90") -> ModuleOp:
    """What a module at tile level becomes; it is printed, read again and verified."""
    return _checked(translate_module(_source(text), NVIDIA.chips[chip]))


@lru_cache(maxsize=64)
def _source(text: str) -> ModuleOp:
    return read(text)


@lru_cache(maxsize=64)
def from_block_level(text: str, chip: str = "sm_90", *, may_overlap: bool = False) -> ModuleOp:
    """What a module at block level becomes."""
    options = Options(chip, may_overlap=may_overlap)
    return _checked(translate(_source(text), "core-to-cuda_tile", options))


def _checked(module: ModuleOp) -> ModuleOp:
    return read(printed(module))


def verify(module: ModuleOp) -> None:
    """Checks a module."""
    diagnostics = Diagnostics()
    verify_module(module, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()


def body_of(module: ModuleOp) -> list[str]:
    """The lines of the only entry, without their indentation."""
    lines = [line.strip() for line in printed(module).splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("entry"))
    return lines[start + 1 : lines.index("return")]


def assemble_for_all(module: ModuleOp, chips: Sequence[str] = CHIPS) -> None:
    """Has `tileiras` compile a module.

    Raises:
        ValueError: It refuses it.
    """
    data = encode(module)
    for chip in chips:
        assembled(data, chip)


def entry_of(module: ModuleOp, name: str | None = None) -> EntryOp:
    """The only entry of a module, or the one of a name."""
    (inner,) = module.ops
    entries = [op for op in inner.regions[0].block.ops if isinstance(op, EntryOp)]
    (entry,) = [each for each in entries if name in (None, each.sym_name.data)]
    return entry


def functions_of(module: ModuleOp) -> list[FuncOp]:
    """The kernels of a module in core form."""
    return list(kernels_of(module))


def run_entry(text: str, module: ModuleOp, *values: Any, grid: Size3 = ONE_BLOCK) -> None:
    """Runs the entry that the only kernel of a text has become."""
    (function,) = functions_of(_source(text))
    launch_entry(function, entry_of(module), arguments_of(values), grid)


def launch_entry(
    function: FuncOp, entry: EntryOp, arguments: Sequence[Argument], grid: Size3 = ONE_BLOCK
) -> None:
    """Runs an entry with the arguments of the kernel that it was.

    What the kernel becomes for a CPU and for Triton is run, too, and must give the same.
    """
    on_cpu = CpuRun(function, arguments, grid)
    on_triton = TritonRun(function, arguments, grid)
    padded = Padded()
    flat = [padded.argument(argument) for argument in all_flattened(function, arguments)]
    warnings = launch(entry, flat, grid)
    # No translation leaves a view's index space.
    assert warnings.diagnostics() == []
    padded.copy_back()
    on_cpu.check(arguments)
    on_triton.check(arguments)


def unordered_accesses(text: str, module: ModuleOp, *values: Any) -> list[str]:
    """What the sanitizer says of the entry that the only kernel of a text has become."""
    (function,) = functions_of(_source(text))
    flat = list(all_flattened(function, arguments_of(values)))
    found = sanitize(entry_of(module), flat, ONE_BLOCK)
    return [each.diagnostic().render() for each in found if each.kind is not Kind.UNINITIALIZED]
