"""Copies of the host's arrays in the memory of a GPU, for one launch."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from xtile.backends.gpu.driver import GpuDriver, GpuError
from xtile.backends.host_memory import Copies, HostMemory, host_address
from xtile.semantics.values import Array


class CopiedMemory:
    """Memory of a GPU that holds what the host's arrays hold.

    Attributes:
        driver: The GPU's driver.
    """

    def __init__(self, driver: GpuDriver, memory: Iterable[HostMemory]) -> None:
        """Allocates nothing before `bring_there`."""
        self.driver = driver
        self._copies = Copies(memory)
        self._allocations: list[int] = []

    def bring_there(self) -> None:
        """Copies the host's arrays to the GPU, in the context of the thread.

        Raises:
            GpuError: The driver fails, or has too little memory.
        """
        pieces = self._copies.pieces
        if not pieces:
            return
        address = self._allocate(sum(piece.room for piece in pieces))
        for piece in pieces:
            piece.position(address)
            address += piece.room
            if piece.size:
                self.driver.copy_there(piece.address, piece.start, piece.size)

    def address_of(self, array: Array) -> int:
        """Where kernels find an array of the host."""
        return self._copies.address_of(array)

    def hold(self, numbers: Array) -> int:
        """Copies integers to the GPU; returns where they are."""
        address = self._allocate(max(1, numbers.nbytes))
        if numbers.nbytes:
            self.driver.copy_there(address, host_address(numbers), numbers.nbytes)
        return address

    def reserve(self, size: int, alignment: int) -> int:
        """The address of memory that a kernel may use as it likes; null where it needs none."""
        if size == 0:
            return 0
        address = self._allocate(size + alignment)
        return address + -address % alignment

    def bring_back(self) -> None:
        """Makes the host's arrays hold what the kernel has written.

        Raises:
            GpuError: The driver fails.
        """
        for piece in self._copies.pieces:
            if piece.is_written and piece.size:
                self.driver.copy_back(piece.start, piece.address, piece.size)

    def release(self) -> None:
        """Gives the GPU's memory back; what a failed kernel holds goes with the process."""
        for allocation in self._allocations:
            with suppress(GpuError):
                self.driver.free(allocation)
        self._allocations.clear()

    def leave(self) -> None:
        """Leaves the GPU's memory to a kernel that may never end."""
        self._allocations.clear()

    def _allocate(self, size: int) -> int:
        address = self.driver.allocate(size)
        self._allocations.append(address)
        return address
