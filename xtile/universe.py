"""What stock `xdsl-opt` finds of this package, through the entry point `xdsl.universe`.

xDSL refuses to start when two packages share a name, so a name that xDSL has itself is left out of
`XTILE_UNIVERSE`; this package's commands use `xtile.dialects.registry.all_dialects`, where its
completed versions of xDSL's dialects stand in their place. Everything loads when it is first used.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from xdsl.universe import Universe

from xtile.dialects.registry import OWN_DIALECTS
from xtile.translate.route import ROUTES

if TYPE_CHECKING:
    from xdsl.passes import ModulePass
    from xdsl.utils.target import Target


def _pass(name: str) -> type[ModulePass]:
    from xtile.translate.passes import pass_named

    return pass_named(name)


def _tensorlang_target() -> type[Target]:
    from xtile.output_formats import TensorLangFormat

    return TensorLangFormat


def _spirv_target() -> type[Target]:
    from xtile.output_formats import SPIRVFormat

    return SPIRVFormat


def _spirv_assembly_target() -> type[Target]:
    from xtile.output_formats import SPIRVAssemblyFormat

    return SPIRVAssemblyFormat


def _tile_bytecode_target() -> type[Target]:
    from xtile.output_formats import TileBytecodeFormat

    return TileBytecodeFormat


XTILE_UNIVERSE = Universe(
    all_dialects=dict(OWN_DIALECTS),
    all_passes={name: partial(_pass, name) for name in ROUTES.names},
    all_targets={
        "spirv": _spirv_target,
        "spirv-asm": _spirv_assembly_target,
        "tensorlang": _tensorlang_target,
        "tileir-bytecode": _tile_bytecode_target,
    },
)
