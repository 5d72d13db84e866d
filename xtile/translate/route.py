"""The routes from one language to another, as the steps that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xtile.chips import INTEL, NVIDIA, VENDORS, OptionError, Vendor, check_chip
from xtile.garbage import without_collections

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xtile.backends.intel.devices import Device
    from xtile.backends.nvidia.devices import Device as TileDevice
    from xtile.text.diagnostics import Diagnostics


@dataclass(frozen=True)
class Options:
    """What a translation may depend on.

    Attributes:
        chip: The name of the device; None for the default one of the vendor that a route is for.
        matrix_spelling: How SPIR-V writes products of matrices and accesses of blocks, a name of
            `xtile.backends.intel.spellings`; None for the device's own.
        may_overlap: Whether different arguments of a kernel may be the same memory although one of
            them is written, where a language must be told the order of accesses.
    """

    chip: str | None = None
    matrix_spelling: str | None = None
    may_overlap: bool = False

    @property
    def device(self) -> Device:
        """The limits of Intel's device."""
        from xtile.backends.intel.devices import DEVICES

        return DEVICES[self.chip or INTEL.default]

    @property
    def tile_device(self) -> TileDevice:
        """The row of NVIDIA's architecture."""
        from xtile.backends.nvidia.devices import DEVICES

        return DEVICES[self.chip or NVIDIA.default]

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


Watcher = Callable[[str, "ModuleOp"], None]
"""Called before each step of a translation with the step's name and the module that it gets."""


@dataclass(frozen=True)
class Step:
    """Makes a module into another one.

    Attributes:
        name: What messages call it, and the name of its contract in `xtile.translate.contracts`.
        run: Returns the new module.
    """

    name: str
    run: Callable[[ModuleOp, Options, Diagnostics | None], ModuleOp]


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


_RAISE_TENSORLANG = Step("tensorlang-to-core", _raise_tensorlang)
_DISTRIBUTE_FOR_XEGPU = Step("core-distribute", _distribute_for_xegpu)
_DISTRIBUTE_FOR_SPIRV = Step("core-distribute", _distribute_for_spirv)
_DISTRIBUTE = Step("core-distribute", _distribute)
_TILE = Step("core-tile-linalg", _tile)
_CLEAN_UP = Step("core-cleanup", _clean_up)
_LOWER_TO_XEGPU = Step("core-to-xegpu", _lower_to_xegpu)
_LOWER_TO_LANE = Step("core-to-lane", _lower_to_lane)
_LOWER_TO_SPIRV = Step("xegpu-to-spirv", _lower_to_spirv)
_LOWER_TO_CUDA_TILE = Step("tile-to-cuda_tile", _lower_to_cuda_tile)

ROUTES: Mapping[str, tuple[Step, ...]] = {
    "tensorlang-to-core": (_RAISE_TENSORLANG,),
    "tensorlang-to-subgroup": (_RAISE_TENSORLANG, _DISTRIBUTE, _CLEAN_UP),
    "tensorlang-to-xegpu": (
        _RAISE_TENSORLANG,
        _DISTRIBUTE_FOR_XEGPU,
        _CLEAN_UP,
        _LOWER_TO_XEGPU,
    ),
    "core-to-xegpu": (_LOWER_TO_XEGPU,),
    "tensorlang-to-lane": (_RAISE_TENSORLANG, _DISTRIBUTE_FOR_SPIRV, _CLEAN_UP, _LOWER_TO_LANE),
    "core-to-lane": (_DISTRIBUTE_FOR_SPIRV, _CLEAN_UP, _LOWER_TO_LANE),
    "tensorlang-to-spirv": (
        _RAISE_TENSORLANG,
        _DISTRIBUTE_FOR_SPIRV,
        _CLEAN_UP,
        _LOWER_TO_LANE,
        _LOWER_TO_SPIRV,
    ),
    "core-to-spirv": (_DISTRIBUTE_FOR_SPIRV, _CLEAN_UP, _LOWER_TO_LANE, _LOWER_TO_SPIRV),
    "xegpu-to-spirv": (_LOWER_TO_SPIRV,),
    "tensorlang-to-tile": (_RAISE_TENSORLANG, _TILE, _CLEAN_UP),
    "core-to-tile": (_TILE, _CLEAN_UP),
    "tensorlang-to-cuda_tile": (_RAISE_TENSORLANG, _TILE, _CLEAN_UP, _LOWER_TO_CUDA_TILE),
    "core-to-cuda_tile": (_TILE, _CLEAN_UP, _LOWER_TO_CUDA_TILE),
}
"""The steps of each translation."""

VENDORS_OF_TARGETS: Mapping[str, tuple[Vendor, ...]] = {
    "core": VENDORS,
    "subgroup": (INTEL,),
    "lane": (INTEL,),
    "xegpu": (INTEL,),
    "spirv": (INTEL,),
    "tile": (NVIDIA,),
    "cuda_tile": (NVIDIA,),
}
"""Whose chips a translation is for, by the language that it ends with; core depends on none."""


def target_of(route: str) -> str:
    """The language that a route ends with."""
    return route.rpartition("-to-")[2]


def check_route(route: str, chip: str | None = None) -> None:
    """Checks that there is a route, and that it is for a chip, if one is named.

    Raises:
        OptionError: There is no such route, or it is for other chips.
    """
    if route not in ROUTES:
        raise OptionError(_no_route(route))
    target = target_of(route)
    if chip is not None:
        check_chip(chip, target, *VENDORS_OF_TARGETS[target])


def _no_route(route: str) -> str:
    source, target = route.partition("-to-")[0], target_of(route)
    targets = [target_of(known) for known in ROUTES if known.startswith(f"{source}-to-")]
    if not targets:
        return f"there is no translation '{route}'; there are {', '.join(ROUTES)}"
    return f"{source} cannot be translated to '{target}'; it can to {', '.join(targets)}"


def extension_of(route: str) -> str:
    """The extension of the files that a route begins with."""
    return "ir" if route.startswith("tensorlang-") else "mlir"


def check_module(module: ModuleOp, route: str) -> None:
    """Checks that a route takes everything in a module that is to be translated.

    Raises:
        DiagnosticError: It does not, or there is nothing.
    """
    from xtile.translate.contracts import CONTRACTS, check

    check(module, route, [CONTRACTS[step.name] for step in ROUTES[route]])


def translate(
    module: ModuleOp,
    route: str,
    options: Options | None = None,
    diagnostics: Diagnostics | None = None,
    watcher: Watcher | None = None,
) -> ModuleOp:
    """Translates a module along a route.

    Args:
        module: What to translate; it stays as it is.
        route: The name of the route.
        options: What the translation may depend on.
        diagnostics: Where warnings and remarks go; None drops them.
        watcher: Sees each step begin.

    Returns:
        The new module, with the source of the old one for messages.

    Raises:
        DiagnosticError: Something in the module cannot be translated, or there is nothing that the
            route is for.
        OptionError: There is no such route, or it is not for the chip.
    """
    from xtile.text.source import attach_source, source_of

    options = options or Options()
    check_route(route, options.chip)
    source = source_of(module)
    check_module(module, route)
    with without_collections():
        for step in ROUTES[route]:
            if watcher is not None:
                watcher(step.name, module)
            module = step.run(module, options, diagnostics)
            if source is not None:
                attach_source(module, source)
    return module
