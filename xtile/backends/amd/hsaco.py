"""What an hsaco says of its kernels: their parameters, and what they use.

Source: LLVM 22, `AMDGPUUsage.rst`, sections "Code Object V5 Metadata" and "ELF Code Object"; the
note has the type 32, NT_AMDGPU_METADATA, and is a map in MessagePack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xtile.backends.amd.message_pack import read_message
from xtile.backends.elf import notes
from xtile.backends.parameters import Slot

_OWNER = "AMDGPU"
_METADATA = 32
_HIDDEN = "hidden_"
"""How the kinds of those parameters begin that the driver itself fills in."""


@dataclass(frozen=True)
class KernelMetadata:
    """What an hsaco says of a kernel.

    Attributes:
        slots: Its parameters, without those that the driver fills in.
        lanes: The lanes of a wave.
        most_threads: The most threads of a block.
        shared: Bytes of shared memory that each block has whatever a launch says.
        private: Bytes of memory that each thread has for what registers do not hold.
        vector_spills: Registers of a lane that are kept in memory.
        scalar_spills: Registers of a wave that are kept elsewhere.
    """

    slots: tuple[Slot, ...]
    lanes: int
    most_threads: int
    shared: int
    private: int
    vector_spills: int
    scalar_spills: int


def kernels_of(code: bytes) -> Mapping[str, KernelMetadata]:
    """The kernels of an hsaco that is not damaged, by name.

    Raises:
        ValueError: It does not say what they are.
    """
    for note in notes(code, _OWNER, _METADATA):
        said: dict[str, Any] = read_message(note)
        return {kernel[".name"]: _metadata(kernel) for kernel in said["amdhsa.kernels"]}
    raise ValueError("the hsaco does not say which kernels it has")


def _metadata(words: dict[str, Any]) -> KernelMetadata:
    slots = (
        Slot(each[".offset"], each[".size"])
        for each in words.get(".args", [])
        if not each[".value_kind"].startswith(_HIDDEN)
    )
    return KernelMetadata(
        tuple(slots),
        words[".wavefront_size"],
        words[".max_flat_workgroup_size"],
        words[".group_segment_fixed_size"],
        words[".private_segment_fixed_size"],
        words.get(".vgpr_spill_count", 0),
        words.get(".sgpr_spill_count", 0),
    )
