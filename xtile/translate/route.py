"""The routes from one language to another, as the steps that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xtile.garbage import without_collections

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xtile.backends.intel.devices import Device
    from xtile.backends.nvidia.devices import Device as TileDevice
    from xtile.text.diagnostics import Diagnostics

CHIPS = ("pvc", "bmg", "dg2", "cpu", "cpu-amx")
"""Intel's devices that kernels are translated for."""

DEFAULT_CHIP = "pvc"

NVIDIA_CHIPS = (
    "sm_80",
    "sm_86",
    "sm_89",
    "sm_90",
    "sm_100",
    "sm_103",
    "sm_110",
    "sm_120",
    "sm_121",
)
"""NVIDIA's architectures that kernels are translated for."""

DEFAULT_NVIDIA_CHIP = "sm_90"


@dataclass(frozen=True)
class Options:
    """What a translation may depend on.

    Attributes:
        chip: The name of the device.
        matrix_spelling: How SPIR-V writes products of matrices and accesses of blocks, a name of
            `xtile.backends.intel.spellings`; None for the device's own.
        may_overlap: Whether different arguments of a kernel may be the same memory although one of
            them is written, where a language must be told the order of accesses.
    """

    chip: str = DEFAULT_CHIP
    matrix_spelling: str | None = None
    may_overlap: bool = False

    @property
    def device(self) -> Device:
        """The limits of the device."""
        from xtile.backends.intel.devices import DEVICES

        return DEVICES[self.chip]

    @property
    def tile_device(self) -> TileDevice:
        """The row of the architecture; of the default one, if the device is none of NVIDIA's."""
        from xtile.backends.nvidia.devices import DEVICES

        return DEVICES[self.chip if self.chip in NVIDIA_CHIPS else DEFAULT_NVIDIA_CHIP]

    @property
    def xegpu_device(self) -> Device:
        """The device for kernels that become XeGPU, whose lanes are work-items everywhere."""
        return replace(self.device, vector_unit=None, cooperative_matrices=())

    @property
    def spirv_device(self) -> Device:
        """The device for kernels that become SPIR-V here, and not in LLVM."""
        device = self.device
        spelling = self.matrix_spelling or device.matrix_spelling
        is_cooperative = spelling == "cooperative-matrix"
        return replace(
            device,
            matrix_spelling=spelling,
            cooperative_matrices=device.cooperative_matrices if is_cooperative else (),
            is_for_llvm=False,
        )


Step = Callable[["ModuleOp", Options, "Diagnostics | None"], "ModuleOp"]
"""Makes a module into another one."""


def _raise_tensorlang(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.tensorlang_to_core import translate_module

    return translate_module(module, diagnostics)


def _distribute(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.transforms.distribute import distribute

    return distribute(module, options.device, diagnostics)


def _distribute_for_xegpu(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.transforms.distribute import distribute

    return distribute(module, options.xegpu_device, diagnostics)


def _distribute_for_spirv(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.transforms.distribute import distribute

    return distribute(module, options.spirv_device, diagnostics)


def _tile(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.transforms.tile_linalg import tile_linalg

    return tile_linalg(module, options.tile_device, diagnostics)


def _clean_up(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.transforms.cleanup import clean_up

    return clean_up(module)


def _lower_to_xegpu(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.core_to_xegpu import translate_module

    return translate_module(module, options.xegpu_device, diagnostics)


def _lower_to_lane(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    """The code of each work-item, in the form that the device likes best."""
    device = options.spirv_device
    if device.vector_unit is None:
        from xtile.translate.core_to_xegpu import translate_module
    else:
        from xtile.translate.core_to_vectors import translate_module
    return translate_module(module, device, diagnostics)


def _lower_to_spirv(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.xegpu_to_spirv import translate_module

    return translate_module(module, options.spirv_device, diagnostics)


def _lower_to_cuda_tile(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.core_to_cuda_tile import translate_module

    device, may_overlap = options.tile_device, options.may_overlap
    return translate_module(module, device, diagnostics, may_overlap=may_overlap)


ROUTES: Mapping[str, tuple[Step, ...]] = {
    "tensorlang-to-core": (_raise_tensorlang,),
    "tensorlang-to-subgroup": (_raise_tensorlang, _distribute, _clean_up),
    "tensorlang-to-xegpu": (
        _raise_tensorlang,
        _distribute_for_xegpu,
        _clean_up,
        _lower_to_xegpu,
    ),
    "core-to-xegpu": (_lower_to_xegpu,),
    "tensorlang-to-lane": (_raise_tensorlang, _distribute_for_spirv, _clean_up, _lower_to_lane),
    "core-to-lane": (_distribute_for_spirv, _clean_up, _lower_to_lane),
    "tensorlang-to-spirv": (
        _raise_tensorlang,
        _distribute_for_spirv,
        _clean_up,
        _lower_to_lane,
        _lower_to_spirv,
    ),
    "core-to-spirv": (_distribute_for_spirv, _clean_up, _lower_to_lane, _lower_to_spirv),
    "xegpu-to-spirv": (_lower_to_spirv,),
    "tensorlang-to-tile": (_raise_tensorlang, _tile, _clean_up),
    "core-to-tile": (_tile, _clean_up),
    "tensorlang-to-cuda_tile": (_raise_tensorlang, _tile, _clean_up, _lower_to_cuda_tile),
    "core-to-cuda_tile": (_tile, _clean_up, _lower_to_cuda_tile),
}
"""The steps of each translation."""

_TILE_TARGETS = ("tile", "cuda_tile")
"""What routes end with that are for NVIDIA's architectures."""


def chips_of(route: str) -> tuple[str, ...]:
    """The devices that a route is for; all of them, if it depends on none."""
    target = route.rpartition("-to-")[2]
    if target in _TILE_TARGETS:
        return NVIDIA_CHIPS
    return (*CHIPS, *NVIDIA_CHIPS) if target == "core" else CHIPS


def extension_of(route: str) -> str:
    """The extension of the files that a route begins with."""
    return "ir" if route.startswith("tensorlang-") else "mlir"


def translate(
    module: ModuleOp,
    route: str,
    options: Options | None = None,
    diagnostics: Diagnostics | None = None,
) -> ModuleOp:
    """Translates a module along a route.

    Args:
        module: What to translate; it stays as it is.
        route: The name of the route.
        options: What the translation may depend on.
        diagnostics: Where warnings and remarks go; None drops them.

    Returns:
        The new module, with the source of the old one for messages.

    Raises:
        DiagnosticError: Something in the module cannot be translated.
        KeyError: There is no such route.
    """
    from xtile.text.source import attach_source, source_of

    source = source_of(module)
    steps = ROUTES[route]
    with without_collections():
        for step in steps:
            module = step(module, options or Options(), diagnostics)
            if source is not None:
                attach_source(module, source)
    return module
