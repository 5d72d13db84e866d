"""Rewrites block-level kernels with tiles."""

from __future__ import annotations

from functools import partial

from xdsl.dialects.builtin import ModuleOp

from tests.transforms.distribute.kernels import printed, read
from tests.transforms.linear_algebra import Target
from xtile.dialects.verification import verify_module
from xtile.targets import NVIDIA
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.cleanup import clean_up
from xtile.transforms.tile_linalg import tile_linalg


def tiled(text: str, chip: str = "sm_90", is_read_again: bool = False) -> ModuleOp:
    """The module with tiles, which is verified.

    Args:
        text: The module.
        chip: The architecture.
        is_read_again: Whether it is printed and read again.
    """
    module = clean_up(tile_linalg(read(text), NVIDIA.chips[chip]))
    if is_read_again:
        return read(printed(module))
    _verify(module)
    return module


def _verify(module: ModuleOp) -> None:
    diagnostics = Diagnostics()
    verify_module(module, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()


def body_of(text: str, chip: str = "sm_90") -> list[str]:
    """The lines of the kernel's body, without their indentation."""
    lines = [line.strip() for line in printed(tiled(text, chip)).splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("gpu.func"))
    return lines[start + 1 : lines.index("gpu.return")]


TARGETS = {
    chip: Target(partial(tiled, chip=chip, is_read_again=chip == "sm_80"), "", "?", has_gaps=True)
    for chip in ("sm_80", "sm_90")
}
"""Architectures whose tables differ."""
