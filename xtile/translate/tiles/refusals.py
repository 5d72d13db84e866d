"""What programs on tiles have no counterpart of, with the reason."""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.tiles.lowering import TileLowering

_LIFTING = "subgroup-level kernels are not lifted to tiles yet"
_HOST = "it is an operation of the host"

_REASONS = {
    "core.fragment_extract": _LIFTING,
    "core.fragment_insert": _LIFTING,
    "core.map": _LIFTING,
    "core.parallel": _LIFTING,
    "core.subgroup_scan": _LIFTING,
    "gpu.all_reduce": _LIFTING,
    "gpu.alloc": _HOST,
    "gpu.barrier": _LIFTING,
    "gpu.block_dim": _LIFTING,
    "gpu.dealloc": _HOST,
    "gpu.global_id": _LIFTING,
    "gpu.lane_id": _LIFTING,
    "gpu.launch": _HOST,
    "gpu.launch_func": _HOST,
    "gpu.memcpy": _HOST,
    "gpu.num_subgroups": _LIFTING,
    "gpu.shuffle": _LIFTING,
    "gpu.subgroup_id": _LIFTING,
    "gpu.subgroup_reduce": _LIFTING,
    "gpu.subgroup_size": _LIFTING,
    "gpu.thread_id": _LIFTING,
}
"""For each operation why it is refused."""


def _refuse(operation: Operation, lowering: TileLowering) -> None:
    reason = _REASONS[operation.name]
    what, name = spelling_of(operation), lowering.result_name
    raise lowering.error(f"{what} cannot be translated to {name}: {reason}")


def _forget(operation: Operation, lowering: TileLowering) -> None:
    """Nothing but the time depends on it."""


RULES: dict[str, Rule] = {
    **dict.fromkeys(_REASONS, _refuse),
    "core.prefetch": _forget,
}
"""The rule of each operation, by name."""
