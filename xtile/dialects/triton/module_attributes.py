"""What the attributes of a module of `ttg` say that it is made for."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from xtile.targets import chip_name

BLOCKS, WARPS, LANES = "ttg.num-ctas", "ttg.num-warps", "ttg.threads-per-warp"
"""The blocks of a cluster, the warps of a block, the lanes of a warp."""

TARGET = "ttg.target"
"""The chip, such as "hip:gfx942"."""


def number(operation: Operation | None, name: str, otherwise: int) -> int:
    """The number that an attribute is; another one where it is not there."""
    given = None if operation is None else operation.attributes.get(name)
    return given.value.data if isinstance(given, IntegerAttr) else otherwise


def blocks_around(operation: Operation) -> int:
    """The blocks of the clusters that run an operation."""
    around: Operation | None = operation
    while around is not None and not isinstance(around, ModuleOp):
        around = around.parent_op()
    return number(around, BLOCKS, 1)


def own_chip(module: ModuleOp) -> str | None:
    """The chip whose layouts the tensors of a module have; None where they have none."""
    target = module.attributes.get(TARGET)
    if not isinstance(target, StringAttr):
        return None
    maker, _, name = target.data.partition(":")
    return chip_name(name) if maker == "hip" else f"sm_{name}"
