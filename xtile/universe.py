"""What stock `xdsl-opt` finds of this package, through the entry point `xdsl.universe`.

xDSL refuses to start when two packages share a name, so a name that xDSL has itself is left out of
`XTILE_UNIVERSE`; this package's commands use `xtile.dialects.registry.all_dialects`, where its
completed versions of xDSL's dialects stand in their place. Stock `xdsl-opt` keeps xDSL's classes,
and gets what its dialects lack beside them, because it must read again what our passes print.
Everything loads when it is first used.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from xdsl.universe import XDSL_UNIVERSE, Universe

from xtile.dialects.registry import COMPLETED_DIALECTS, OWN_DIALECTS
from xtile.translate.route import ROUTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.ir import Dialect
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


def _amd_assembly_target() -> type[Target]:
    from xtile.output_formats import AmdAssemblyFormat

    return AmdAssemblyFormat


def _hsaco_target() -> type[Target]:
    from xtile.output_formats import HsacoFormat

    return HsacoFormat


def _with_more_operations(known: Callable[[], Dialect], own: Callable[[], Dialect]) -> Dialect:
    """A dialect of xDSL's, with the operations and attributes that only ours has.

    Arithmetic that xDSL's classes do not hold, such as comparisons of vectors, is read too.
    """
    from xtile.dialects.normalisation import reading_either

    dialect, completed = known(), own()
    operations = {each.name: each for each in completed.operations}
    for kind in dialect.operations:
        class_of_ours = operations.get(kind.name, kind)
        is_more = class_of_ours is not kind and dialect.name == "arith"
        operations[kind.name] = reading_either(kind, class_of_ours) if is_more else kind
    attributes = {each.name: each for each in (*completed.attributes, *dialect.attributes)}
    return replace(
        dialect, _operations=list(operations.values()), _attributes=list(attributes.values())
    )


def _extend_dialects() -> None:
    """Adds the operations that xDSL's dialects lack to what stock `xdsl-opt` reads."""
    for name, own in COMPLETED_DIALECTS.items():
        known = XDSL_UNIVERSE.all_dialects[name]
        XDSL_UNIVERSE.all_dialects[name] = partial(_with_more_operations, known, own)


_extend_dialects()

XTILE_UNIVERSE = Universe(
    all_dialects=dict(OWN_DIALECTS),
    all_passes={name: partial(_pass, name) for name in ROUTES.names},
    all_targets={
        "amdgcn": _amd_assembly_target,
        "hsaco": _hsaco_target,
        "spirv": _spirv_target,
        "spirv-asm": _spirv_assembly_target,
        "tensorlang": _tensorlang_target,
        "tileir-bytecode": _tile_bytecode_target,
    },
)
