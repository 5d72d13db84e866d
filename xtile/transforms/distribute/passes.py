"""The pass that distributes block-level kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xtile.chips import INTEL, check_chip
from xtile.text.diagnostics import DiagnosticError


class DistributionFailedError(DiagnosticError, PassFailedException):
    """A kernel cannot be distributed; xDSL's own tools know this as a failed pass."""


@dataclass(frozen=True)
class CoreDistributePass(ModulePass):
    """Distributes the block-level kernels of a module over subgroups, for an Intel GPU.

    Attributes:
        chip: The device, one of Intel's.

    Raises:
        OptionError: The chip is none of Intel's.
        DistributionFailedError: A kernel cannot be distributed.
    """

    name: ClassVar[str] = "core-distribute"

    chip: str = INTEL.default

    def __post_init__(self) -> None:
        check_chip(self.chip, self.name, INTEL)

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from xtile.backends.intel.devices import DEVICES
        from xtile.transforms.distribute import distribute
        from xtile.translate.contracts import CONTRACTS, check

        try:
            check(op, self.name, [CONTRACTS[self.name]])
            result = distribute(op, DEVICES[self.chip])
        except DiagnosticError as error:
            raise DistributionFailedError(error.diagnostics) from None
        body = result.body.detach_block(result.body.block)
        op.body.detach_block(op.body.block)
        op.body.add_block(body)
