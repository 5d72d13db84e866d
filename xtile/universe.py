"""What stock `xdsl-opt` finds of this package, through the entry point `xdsl.universe`.

xDSL refuses to start when two packages share a name, so a name that xDSL has itself is left out
here. Everything loads when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.universe import Universe

if TYPE_CHECKING:
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass
    from xdsl.utils.target import Target


def _tensorlang() -> Dialect:
    from xtile.dialects.tensorlang import TensorLang

    return TensorLang


def _tensorlang_verify() -> type[ModulePass]:
    from xtile.transforms.tensorlang_verify import TensorLangVerifyPass

    return TensorLangVerifyPass


def _tensorlang_target() -> type[Target]:
    from xtile.targets import TensorLangTarget

    return TensorLangTarget


XTILE_UNIVERSE = Universe(
    all_dialects={"tensorlang": _tensorlang},
    all_passes={"tensorlang-verify": _tensorlang_verify},
    all_targets={"tensorlang": _tensorlang_target},
)
