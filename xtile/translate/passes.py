"""The translations as passes, for compilers that embed xDSL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xtile.chips import INTEL, NVIDIA, check_chip
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.contracts import DEVICE_CODE, warn_of_left_out
from xtile.translate.route import Options, target_of, translate


class TranslationFailedError(DiagnosticError, PassFailedException):
    """Something cannot be translated; xDSL's own tools know this as a failed pass."""


def replace_content(module: ModuleOp, new: ModuleOp) -> None:
    """Gives a module the operations and attributes of another one, which is left empty."""
    module.body.detach_block(module.body.block).erase()
    block = new.body.detach_block(new.body.block)
    module.body.add_block(block)
    module.attributes.update(new.attributes)


def _apply(module: ModuleOp, route: str, options: Options) -> None:
    if target_of(route) in DEVICE_CODE:
        warn_of_left_out(module)
    try:
        new = translate(module, route, options)
    except DiagnosticError as error:
        raise TranslationFailedError(error.diagnostics) from error
    replace_content(module, new)


@dataclass(frozen=True)
class TensorLangToCorePass(ModulePass):
    """Translates the tensor language to the core form at block level.

    Raises:
        TranslationFailedError: Something has no counterpart in the core form.
    """

    name: ClassVar[str] = "tensorlang-to-core"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _apply(op, self.name, Options())


@dataclass(frozen=True)
class _PassForChip(ModulePass):
    """A translation for a chip.

    Attributes:
        chip: The device, one of Intel's.

    Raises:
        OptionError: The chip is none of those.
        TranslationFailedError: Something cannot be translated.
    """

    chip: str = INTEL.default

    def __post_init__(self) -> None:
        check_chip(self.chip, self.name, INTEL)

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _apply(op, self.name, Options(self.chip))


@dataclass(frozen=True)
class TensorLangToXeGPUPass(_PassForChip):
    """Translates the tensor language to XeGPU at lane level, for a chip."""

    name: ClassVar[str] = "tensorlang-to-xegpu"


@dataclass(frozen=True)
class CoreToXeGPUPass(_PassForChip):
    """Translates the core form at subgroup level to XeGPU at lane level, for a chip."""

    name: ClassVar[str] = "core-to-xegpu"


@dataclass(frozen=True)
class TensorLangToSPIRVPass(_PassForChip):
    """Translates the tensor language to SPIR-V for OpenCL, for a chip."""

    name: ClassVar[str] = "tensorlang-to-spirv"


@dataclass(frozen=True)
class CoreToSPIRVPass(_PassForChip):
    """Translates the core form at block or subgroup level to SPIR-V for OpenCL, for a chip."""

    name: ClassVar[str] = "core-to-spirv"


@dataclass(frozen=True)
class XeGPUToSPIRVPass(_PassForChip):
    """Translates XeGPU and the core form at lane level to SPIR-V for OpenCL, for a chip."""

    name: ClassVar[str] = "xegpu-to-spirv"


@dataclass(frozen=True)
class _PassForTiles(ModulePass):
    """A translation for an architecture of NVIDIA's.

    Attributes:
        chip: The architecture, one of NVIDIA's.
        may_overlap: Whether different arguments of a kernel may be the same memory although one of
            them is written.

    Raises:
        OptionError: The architecture is none of those.
        TranslationFailedError: Something cannot be translated.
    """

    chip: str = NVIDIA.default
    may_overlap: bool = False

    def __post_init__(self) -> None:
        check_chip(self.chip, self.name, NVIDIA)

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _apply(op, self.name, Options(self.chip, may_overlap=self.may_overlap))


@dataclass(frozen=True)
class TensorLangToCudaTilePass(_PassForTiles):
    """Translates the tensor language to CUDA Tile IR, for an architecture."""

    name: ClassVar[str] = "tensorlang-to-cuda_tile"


@dataclass(frozen=True)
class CoreToCudaTilePass(_PassForTiles):
    """Translates the core form at block or tile level to CUDA Tile IR, for an architecture."""

    name: ClassVar[str] = "core-to-cuda_tile"
