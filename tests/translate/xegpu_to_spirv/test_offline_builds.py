"""Intel's offline compiler makes machine code for GPUs of every operation's SPIR-V.

It aborts on some instructions that are valid, and leaves calls where it does not know a function.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.backends.intel.machine_code import assembly_of
from tests.samples import one_of
from tests.translate.xegpu_to_spirv import (
    test_arithmetic,
    test_atomics,
    test_complex_numbers,
    test_control,
    test_conversions,
    test_gpu,
    test_mathematics,
    test_memory,
    test_vectors,
)
from tests.translate.xegpu_to_spirv.lane_kernels import LaneKernel, LaneKernels
from xtile.targets import INTEL
from xtile.targets.lanes import for_spirv

_VECTORS = {
    # Divisions take the compiler long; those of numbers are here already.
    name: kernel
    for name, kernel in test_arithmetic.ON_VECTORS.items()
    if "div" not in name and "rem" not in name
}

_GROUPS: dict[str, tuple[Mapping[str, LaneKernel], str]] = {
    "arithmetic": (test_arithmetic.ON_NUMBERS, ""),
    "arithmetic of vectors": (_VECTORS, ""),
    "atomics": (test_atomics.KERNELS | test_atomics.OTHERS, ""),
    "complex numbers": (test_complex_numbers.KERNELS, ""),
    "control": (test_control.KERNELS | test_control.CARRIED, test_control.FUNCTIONS),
    "conversions": (test_conversions.ON_NUMBERS, ""),
    "exchanges": (test_gpu.EXCHANGES | test_gpu.REDUCTIONS | test_gpu.OTHERS, ""),
    "mathematics": (test_mathematics.ON_NUMBERS, ""),
    "memory": (test_memory.VIEWS | test_memory.TYPES | test_memory.PARAMETERS, test_memory.LOCAL),
    "vectors": (test_vectors.KERNELS | test_vectors.STORES, ""),
}
"""Kernels of other test modules, and what stands beside them."""


_LEFT_OUT = {(name, "dg2") for name in ("arithmetic", "arithmetic of vectors", "mathematics")}
"""The compiler takes tens of seconds for these, and what DG2 has of them PVC has, too."""


@pytest.mark.parametrize(
    ("name", "chip"),
    [(name, chip) for name in _GROUPS for chip in ("dg2", "pvc") if (name, chip) not in _LEFT_OUT],
)
def test_every_operation_is_built(name: str, chip: str, tmp_path: Path) -> None:
    kernels, around = _GROUPS[name]
    chosen = {key: kernel for key, kernel in kernels.items() if _is_for(kernel, chip)}
    assert len(chosen) > 10
    # The compiler takes as long for DG2, which has most of what PVC has, and as long for an
    # operation on vectors as for the numbers in them.
    is_sampled = chip == "dg2" or name in ("arithmetic of vectors", "mathematics")
    kept = dict(one_of(4 if is_sampled else 2, chosen.items()))
    program = LaneKernels(kept, around, for_spirv(INTEL.chips[chip])).program
    assert "calla" not in assembly_of(program.spirv, chip, tmp_path)


def _is_for(kernel: LaneKernel, chip: str) -> bool:
    """Whether a GPU has a kernel's numbers and the size of its subgroups."""
    target = INTEL.chips[chip]
    text = kernel.parameters + kernel.body
    has_types = not any(str(type) in text for type in target.missing_types)
    return has_types and kernel.subgroup_size in (None, *target.subgroup_sizes)
