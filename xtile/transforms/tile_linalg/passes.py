"""The pass that rewrites block-level kernels with tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xtile.chips import NVIDIA, check_chip
from xtile.text.diagnostics import DiagnosticError


class TilingFailedError(DiagnosticError, PassFailedException):
    """A kernel cannot be written with tiles; xDSL's own tools know this as a failed pass."""


@dataclass(frozen=True)
class CoreTileLinalgPass(ModulePass):
    """Rewrites the block-level kernels of a module as loops over tiles, for an NVIDIA GPU.

    Attributes:
        chip: The architecture, such as `sm_90`.

    Raises:
        OptionError: The chip is none of NVIDIA's.
        TilingFailedError: A kernel cannot be written with tiles.
    """

    name: ClassVar[str] = "core-tile-linalg"

    chip: str = NVIDIA.default

    def __post_init__(self) -> None:
        check_chip(self.chip, self.name, NVIDIA)

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from xtile.backends.nvidia.devices import DEVICES
        from xtile.transforms.tile_linalg import tile_linalg
        from xtile.translate.contracts import CONTRACTS, check

        try:
            check(op, self.name, [CONTRACTS[self.name]])
            result = tile_linalg(op, DEVICES[self.chip])
        except DiagnosticError as error:
            raise TilingFailedError(error.diagnostics) from None
        body = result.body.detach_block(result.body.block)
        op.body.detach_block(op.body.block)
        op.body.add_block(body)
