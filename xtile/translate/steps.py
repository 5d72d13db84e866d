"""The steps that translations are made of: each declares what it takes, gives and is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from xtile.targets import AMD, INTEL, NVIDIA, Vendor, chip_name, find_target
from xtile.targets.compilers import EITHER, LLVM, XTILE, LaneCompiler
from xtile.translate.forms import (
    AMDG,
    BLOCK,
    CUDA_TILE,
    KERNELS,
    LANE,
    LINALG,
    SPIRV,
    SUBGROUP,
    TENSORLANG,
    TILE,
    TRITON,
    XEGPU_FUNCTION,
    XEGPU_LANE,
    XEGPU_SUBGROUP,
    XEGPU_WORK_GROUP,
    Form,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xtile.targets.lanes import LaneTarget
    from xtile.targets.target import Target
    from xtile.text.diagnostics import Diagnostics


@dataclass(frozen=True)
class Options:
    """What a translation may depend on.

    Attributes:
        chip: The name of the chip; None for the default one of the vendor that a route is for.
        matrix_spelling: How SPIR-V writes products of matrices and accesses of blocks, a name of
            `xtile.targets.spellings`; None for the chip's own.
        may_overlap: Whether arguments of kernels may overlap although one of them is written, where
            the kernel's language or its attributes exclude it.
        xegpu_level: Who holds the vectors of kernels of XeGPU: of those that come in and do not say
            so themselves, and of those that come out; `set_level` says what it may be. None where
            operations tell, and for the level that there is a shortest way to.
        compiler: What compiles the code of work-items that comes out; None where none comes out. A
            route sets it.
        may_wrap: Whether offsets of pointers may wrap around unless it is proved that they do
            not, because nobody checks at a launch what is relied on.
        exact: Whether products of f32 are fused multiply-adds where a chip has products of parts
            of them, which are faster, and arguments of powers are rounded as the kernel says.
        warps: The subgroups of a work-group where layouts are for a number of them; None for as
            many as tensors keep busy.
    """

    chip: str | None = None
    matrix_spelling: str | None = None
    may_overlap: bool = False
    xegpu_level: str | None = None
    compiler: LaneCompiler | None = None
    may_wrap: bool = False
    exact: bool = False
    warps: int | None = None

    def __post_init__(self) -> None:
        if self.chip is not None:
            object.__setattr__(self, "chip", chip_name(self.chip))

    def target(self, vendor: Vendor) -> Target:
        """The chip, or the default one of a vendor."""
        target = find_target(self.chip or vendor.default)
        return target.exact if self.exact else target

    @property
    def lane_target(self) -> LaneTarget:
        """The chip for the code of lanes, as far as what compiles that can use it."""
        from xtile.targets.lanes import LaneTarget
        from xtile.targets.spellings import SPELLINGS

        chip = self.target(INTEL)
        spelling = None if self.matrix_spelling is None else SPELLINGS[self.matrix_spelling]
        return LaneTarget(chip, self.compiler or EITHER, spelling or chip.matrix_spelling)


Run = Callable[["ModuleOp", Options, "Diagnostics | None"], "ModuleOp"]
"""Returns the new module, for the old one, which stays as it is."""


class Step(NamedTuple):
    """Makes a module into another one, and is a pass.

    Attributes:
        name: What messages call it.
        run: Does it.
        takes: The forms that it is for.
        gives: What it makes of them; None for a pass after which they are what they were, which is
            part of no route by itself.
        words: What its documentation says that it does.
        vendors: Whose chips it is for; none where it depends on no chip.
        options: The options of a translation that it reads, beside the chip.
        compiler: What compiles the result where it is code of work-items, as in `Options`.
        default_chip: The chip where none is named, if it is not its vendor's default one.
        first: The pass that a route runs on what the step takes.
        then: The pass that a route runs on what the step gives.
        gives_way: Whether a route takes another way that is as short, if there is one.
        is_exact: Whether a route with it multiplies no parts of factors.
    """

    name: str
    run: Run
    takes: tuple[Form, ...]
    gives: Form | None
    words: str
    vendors: tuple[Vendor, ...] = ()
    options: tuple[str, ...] = ()
    compiler: LaneCompiler | None = None
    default_chip: str | None = None
    first: str | None = None
    then: str | None = None
    gives_way: bool = False
    is_exact: bool = False

    def is_for(self, vendor: Vendor | None) -> bool:
        """Whether it is for a vendor's chips; None is anybody's."""
        return vendor is None or not self.vendors or vendor in self.vendors


def _raise_tensorlang(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.tensorlang_to_core import translate_module

    return translate_module(module, diagnostics, may_overlap=options.may_overlap)


def _raise_linalg(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.translate.linalg_to_core import translate_module

    return translate_module(module, diagnostics)


def _raise_cuda_tile(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.cuda_tile_to_core import translate_module

    return translate_module(module, diagnostics)


def _raise_triton(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.translate.triton_to_core import translate_module

    return translate_module(module, diagnostics)


def _raise_xegpu(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.translate.xegpu_to_core import translate_module

    return translate_module(module, diagnostics)


def _distribute(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.transforms.distribute.distribution import distribute

    return distribute(module, options.lane_target, diagnostics)


def _distribute_tiles(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.transforms.distribute_tiles import distribute_tiles
    from xtile.transforms.fold_transposes import fold_transposes
    from xtile.transforms.promise_blocks import promise_blocks
    from xtile.transforms.promise_edges import promise_edges
    from xtile.transforms.structure import structure

    target, may_wrap = options.lane_target, options.may_wrap
    module = structure(module, diagnostics, may_wrap=may_wrap, common_memory=True)
    module = fold_transposes(module)
    module = promise_blocks(module, target.block_access, diagnostics, may_wrap=may_wrap)
    module = promise_edges(module, target, diagnostics, may_wrap=may_wrap)
    return distribute_tiles(module, target, diagnostics)


def _distribute_and_clean_up(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    return _clean_up(_distribute_tiles(module, options, diagnostics), options, diagnostics)


def _tile(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.transforms.tile_linalg import tile_linalg

    return tile_linalg(module, options.target(NVIDIA), diagnostics)


def _lift(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.transforms.lift import lift_kernels
    from xtile.translate.xegpu_to_core.lanes import with_known_accesses

    return lift_kernels(with_known_accesses(module), diagnostics)


def _clean_up(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.transforms.cleanup import clean_up

    return clean_up(module)


def _structure(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.transforms.structure import structure

    return structure(module, diagnostics, may_wrap=options.may_wrap)


def _split_complex(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.transforms.split_complex import split_complex

    return split_complex(module)


def _lower_to_xegpu(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    """The code of each work-item of a GPU, directly where lanes can share vectors as they are."""
    from xtile.translate.by_tiles import directly_or_by_tiles, is_of_single_work_items
    from xtile.translate.core_to_xegpu import translate_module

    def spread(module: ModuleOp, diagnostics: Diagnostics | None) -> ModuleOp:
        return translate_module(module, options.lane_target, diagnostics)

    def distribute(module: ModuleOp, diagnostics: Diagnostics | None) -> ModuleOp:
        return _distribute_and_clean_up(module, options, diagnostics)

    return directly_or_by_tiles(module, spread, distribute, diagnostics, is_of_single_work_items)


def _lower_to_subgroup_xegpu(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.subgroups_to_xegpu import translate_module

    return translate_module(module, options.lane_target, diagnostics)


def _lower_to_lane(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    """The code of each work-item, in the form that the chip likes best."""
    if options.lane_target.vector_unit is None:
        return _lower_to_xegpu(module, options, diagnostics)
    from xtile.translate.core_to_vectors import translate_module

    return translate_module(module, options.lane_target, diagnostics)


def _lower_tiles(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    """The code of each work-item: on a GPU that of the subgroups that share tiles."""
    from xtile.dialects.core.attributes import Level

    if options.lane_target.vector_unit is None:
        from xtile.translate.core_to_xegpu import translate_module

        module = _distribute_and_clean_up(module, options, diagnostics)
        return translate_module(module, options.lane_target, diagnostics)
    from xtile.translate.core_to_vectors import translate_module

    module = _structure(module, options, diagnostics)
    return translate_module(module, options.lane_target, diagnostics, Level.TILE)


def _lower_tiles_to_xegpu(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.tiles_to_xegpu import translate_module

    module = _structure(module, options, diagnostics)
    return translate_module(module, options.lane_target, diagnostics)


def _lower_to_spirv(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.xegpu_to_spirv import translate_module

    return translate_module(module, options.lane_target, diagnostics)


def _lower_to_cuda_tile(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.targets.nvidia import LONGEST_ROW
    from xtile.transforms.guard_blocks import guard_blocks
    from xtile.transforms.large_tiles import large_tiles
    from xtile.transforms.structure import structure
    from xtile.translate.core_to_cuda_tile import translate_module

    target = options.target(NVIDIA)
    module = structure(
        large_tiles(module, target, diagnostics, only_cheap=True, merges=not options.may_wrap),
        diagnostics,
        may_wrap=options.may_wrap,
        common_memory=True,
        disjoint=not options.may_overlap,
        longest_row=LONGEST_ROW,
    )
    if not options.exact and _has_powers(module):
        from xtile.transforms.scale_after_maximum import scale_after_maximum

        module = scale_after_maximum(module, diagnostics)
    if target.tiles.split_products:
        from xtile.transforms.split_products import split_products

        module = split_products(module, diagnostics)
    return translate_module(guard_blocks(module), target, diagnostics)


def _has_powers(module: ModuleOp) -> bool:
    from xtile.dialects.walk import operations_by_name

    return not {"math.exp", "math.exp2"}.isdisjoint(operations_by_name(module))


def _lower_to_triton(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.transforms.large_tiles import large_tiles
    from xtile.translate.core_to_triton import translate_module

    target = options.target(NVIDIA)
    module = large_tiles(module, target, diagnostics, only_cheap=False)
    return translate_module(module, target, diagnostics)


def _lay_out(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.translate.triton_to_amdg import translate_module

    return translate_module(module, options.target(AMD), diagnostics, options.warps)


def _lower_to_tensorlang(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.core_to_tensorlang import translate_module

    return translate_module(module, diagnostics)


def _lower_subgroups_to_tensorlang(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.by_tiles import directly_or_by_tiles
    from xtile.translate.core_to_tensorlang import translate_module

    def translate(module: ModuleOp, diagnostics: Diagnostics | None) -> ModuleOp:
        # That matrices have sizes which the language does not take is seen in the result.
        made = translate_module(module, diagnostics)
        return _verify_tensorlang(made, options, diagnostics)

    def structured(module: ModuleOp, diagnostics: Diagnostics | None) -> ModuleOp:
        return _structure(_clean_up(module, options, diagnostics), options, diagnostics)

    return directly_or_by_tiles(module, translate, structured, diagnostics)


def _lower_tiles_to_tensorlang(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.translate.core_to_tensorlang import translate_module

    return translate_module(_structure(module, options, diagnostics), diagnostics)


def _verify_tensorlang(
    module: ModuleOp, options: Options, diagnostics: Diagnostics | None
) -> ModuleOp:
    from xtile.dialects.verification import verify_module
    from xtile.text.diagnostics import Diagnostics

    found = Diagnostics()
    verify_module(module, found)
    found.raise_if_errors()
    return module


def _rewrite_rfc(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    from xtile.dialects.xegpu.rfc.to_llvm22 import to_llvm22
    from xtile.text.source import clone_with_source

    result = clone_with_source(module)
    to_llvm22(result)
    return result


_CLEANUP = "core-cleanup"
_STRUCTURE = "core-structure"

_OVERLAPS = ("may_overlap",)
"""The option of steps that set or read whether arguments may overlap."""

_PRODUCTS = (*_OVERLAPS, "exact")
"""The options of steps that choose tiles of products, too."""

_XEGPU_LEVEL = ("xegpu_level",)
"""The option of steps that take or make kernels of XeGPU at some level."""

STEPS: Sequence[Step] = (
    Step(
        "tensorlang-verify",
        _verify_tensorlang,
        takes=(TENSORLANG,),
        gives=None,
        words="Checks every rule of the tensor language, and fails with every error that it finds.",
    ),
    Step(
        "tensorlang-to-core",
        _raise_tensorlang,
        takes=(TENSORLANG,),
        gives=BLOCK,
        words="Translates the tensor language to the core form at block level.",
        options=_OVERLAPS,
    ),
    Step(
        "linalg-to-core",
        _raise_linalg,
        takes=(LINALG,),
        gives=BLOCK,
        words="Translates linalg and affine loops on memrefs to the core form at block level.",
    ),
    Step(
        "cuda_tile-to-core",
        _raise_cuda_tile,
        takes=(CUDA_TILE,),
        gives=TILE,
        words="Translates CUDA Tile IR to the core form at tile level.",
    ),
    Step(
        "triton-to-core",
        _raise_triton,
        takes=(TRITON, AMDG),
        gives=TILE,
        words="Translates Triton's kernels to the core form at tile level.",
    ),
    Step(
        "xegpu-subgroup-to-core",
        _raise_xegpu,
        takes=(XEGPU_SUBGROUP,),
        gives=SUBGROUP,
        words="Translates XeGPU whose vectors are a subgroup's to the core form at subgroup level.",
        options=_XEGPU_LEVEL,
        then=_CLEANUP,
    ),
    Step(
        "xegpu-work-group-to-core",
        _raise_xegpu,
        takes=(XEGPU_WORK_GROUP,),
        gives=TILE,
        words="Translates XeGPU whose vectors are a work-group's to the core form at tile level.",
        options=_XEGPU_LEVEL,
        then=_CLEANUP,
    ),
    Step(
        "core-distribute",
        _distribute,
        takes=(BLOCK,),
        gives=SUBGROUP,
        words="Distributes block-level kernels over the subgroups of a work-group.",
        vendors=(INTEL,),
        options=_OVERLAPS,
        then=_CLEANUP,
    ),
    Step(
        "core-tile-linalg",
        _tile,
        takes=(BLOCK,),
        gives=TILE,
        words="Rewrites block-level kernels as loops over tiles.",
        vendors=(INTEL, NVIDIA, AMD),
        options=_PRODUCTS,
        then=_CLEANUP,
        gives_way=True,
    ),
    Step(
        "core-distribute-tiles",
        _distribute_tiles,
        takes=(TILE,),
        gives=SUBGROUP,
        words="Distributes tile-level kernels over the subgroups of a work-group, on GPUs.",
        vendors=(INTEL,),
        default_chip="pvc",
        first=_CLEANUP,
        then=_CLEANUP,
        gives_way=True,
    ),
    Step(
        "core-lift",
        _lift,
        takes=(SUBGROUP, LANE, XEGPU_LANE),
        gives=TILE,
        words="Makes kernels of subgroups and work-items kernels of tiles.",
        first=_CLEANUP,
        then=_CLEANUP,
        gives_way=True,
    ),
    Step(
        _CLEANUP,
        _clean_up,
        takes=KERNELS,
        gives=None,
        words="Folds constants, resolves control flow, and shares and removes computations.",
    ),
    Step(
        _STRUCTURE,
        _structure,
        takes=(TILE,),
        gives=None,
        words="Makes accesses through tiles of pointers transfers, where they are boxes of memory.",
    ),
    Step(
        "core-split-complex",
        _split_complex,
        takes=KERNELS,
        gives=None,
        words="Computes with the two parts of complex numbers.",
    ),
    Step(
        "subgroup-to-xegpu",
        _lower_to_xegpu,
        takes=(SUBGROUP,),
        gives=XEGPU_LANE,
        words="Translates the core form at subgroup level to XeGPU for LLVM's pipeline.",
        vendors=(INTEL,),
        options=_XEGPU_LEVEL,
        compiler=LLVM,
    ),
    Step(
        "subgroup-to-xegpu-subgroup",
        _lower_to_subgroup_xegpu,
        takes=(SUBGROUP,),
        gives=XEGPU_SUBGROUP,
        words="Translates the core form at subgroup level to XeGPU whose vectors are a subgroup's.",
        vendors=(INTEL,),
        options=_XEGPU_LEVEL,
        compiler=LLVM,
        default_chip="pvc",
        first=_CLEANUP,
        gives_way=True,
    ),
    Step(
        "subgroup-to-lane",
        _lower_to_lane,
        takes=(SUBGROUP,),
        gives=LANE,
        words="Translates the core form at subgroup level to the code of each work-item.",
        vendors=(INTEL,),
        options=("matrix_spelling",),
        compiler=XTILE,
        first=_CLEANUP,
    ),
    Step(
        "tile-to-lane",
        _lower_tiles,
        takes=(TILE,),
        gives=LANE,
        words="Translates the core form at tile level to the code of each work-item.",
        vendors=(INTEL,),
        options=("matrix_spelling",),
        compiler=XTILE,
        default_chip="cpu",
        first=_CLEANUP,
    ),
    Step(
        "tile-to-xegpu",
        _lower_tiles_to_xegpu,
        takes=(TILE,),
        gives=XEGPU_WORK_GROUP,
        words="Translates the core form at tile level to XeGPU whose vectors are a work-group's.",
        vendors=(INTEL,),
        options=_XEGPU_LEVEL,
        compiler=LLVM,
        default_chip="pvc",
        first=_CLEANUP,
    ),
    Step(
        "xegpu-rfc-to-llvm22",
        _rewrite_rfc,
        takes=(XEGPU_WORK_GROUP, XEGPU_SUBGROUP, XEGPU_LANE, XEGPU_FUNCTION),
        gives=None,
        words="Says in LLVM 22's form what only the RFC's form of XeGPU has.",
    ),
    Step(
        "lane-to-spirv",
        _lower_to_spirv,
        takes=(LANE, XEGPU_LANE),
        gives=SPIRV,
        words="Translates XeGPU and the core form at lane level to SPIR-V for OpenCL.",
        vendors=(INTEL,),
        options=("matrix_spelling",),
        compiler=XTILE,
    ),
    Step(
        "tile-to-cuda_tile",
        _lower_to_cuda_tile,
        takes=(TILE,),
        gives=CUDA_TILE,
        words="Translates the core form at tile level to CUDA Tile IR.",
        vendors=(NVIDIA,),
        options=_PRODUCTS,
        first=_CLEANUP,
    ),
    Step(
        "tile-to-triton",
        _lower_to_triton,
        takes=(TILE,),
        gives=TRITON,
        words="Translates the core form at tile level to Triton.",
        vendors=(NVIDIA, AMD),
        options=_OVERLAPS,
        first=_CLEANUP,
        is_exact=True,
    ),
    Step(
        "triton-to-amdg",
        _lay_out,
        takes=(TRITON,),
        gives=AMDG,
        words="Gives Triton's tensors layouts for a chip of AMD, and accesses as buffers.",
        vendors=(AMD,),
        options=("warps",),
        default_chip=AMD.default,
    ),
    Step(
        "block-to-tensorlang",
        _lower_to_tensorlang,
        takes=(BLOCK,),
        gives=TENSORLANG,
        words="Translates the core form at block level to the tensor language.",
    ),
    Step(
        "subgroup-to-tensorlang",
        _lower_subgroups_to_tensorlang,
        takes=(SUBGROUP,),
        gives=TENSORLANG,
        words="Translates the core form at subgroup level to the tensor language.",
        first=_CLEANUP,
    ),
    Step(
        "tile-to-tensorlang",
        _lower_tiles_to_tensorlang,
        takes=(TILE,),
        gives=TENSORLANG,
        words="Translates the core form at tile level to the tensor language.",
        first=_CLEANUP,
    ),
    Step(
        "lane-to-tensorlang",
        _lower_to_tensorlang,
        takes=(LANE, XEGPU_LANE),
        gives=TENSORLANG,
        words="Translates the core form at lane level to the tensor language.",
    ),
)
"""The steps. A new one is a row here; its routes follow."""
