"""Where kernels find the memory of the host's arrays.

A CPU's kernels access it where it is. Other devices get copies.

Source: The OpenCL Specification 3.0, section 5.6 "Shared Virtual Memory".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import pyopencl as cl

from xtile.backends.host_memory import Copies, HostMemory, host_address
from xtile.backends.intel.opencl import native
from xtile.semantics.values import Array


class Memory(Protocol):
    """The memory that the arguments of one launch lie in."""

    def address_of(self, array: Array) -> int:
        """Where kernels find an array's first element."""
        ...

    def hold(self, numbers: Array) -> int:
        """Puts 64-bit integers into memory until the launch is done; returns where they are."""
        ...

    def share(self, kernel: native.Kernel) -> None:
        """Lets a kernel follow pointers to this memory."""
        ...

    def bring_back(self) -> None:
        """Makes the host's arrays hold what the kernel has written."""
        ...


class SystemMemory:
    """The memory of the host itself, for devices that share it."""

    def __init__(self) -> None:
        self._held: list[Array] = []

    def address_of(self, array: Array) -> int:
        """Where the array is."""
        return host_address(array)

    def hold(self, numbers: Array) -> int:
        """Keeps integers where they are."""
        self._held.append(numbers)
        return host_address(numbers)

    def share(self, kernel: native.Kernel) -> None:
        """Nothing: a kernel may access system memory from its creation on."""

    def bring_back(self) -> None:
        """Nothing: it is the host's memory."""


class CopiedMemory:
    """Copies of the host's arrays in memory that the device shares with the host."""

    def __init__(self, queue: cl.CommandQueue, memory: Iterable[HostMemory]) -> None:
        """Makes the copies, in a context in which kernels are launched."""
        self._queue = queue
        self._held: list[cl.SVMAllocation] = []
        self._copies = Copies(memory)
        for copy in self._copies.pieces:
            copy.position(self._allocate(copy.room).svm_ptr)
            if copy.size:
                native.copy_shared_memory(self._queue, copy.address, copy.start, copy.size)

    def _allocate(self, size: int) -> cl.SVMAllocation:
        flags = cl.svm_mem_flags.READ_WRITE
        allocation = cl.SVMAllocation(self._queue.context, max(1, size), 0, flags)
        self._held.append(allocation)
        return allocation

    def address_of(self, array: Array) -> int:
        """Where the array's copy is."""
        return self._copies.address_of(array)

    def hold(self, numbers: Array) -> int:
        """Copies integers to the device's memory."""
        address = self._allocate(numbers.nbytes).svm_ptr
        if numbers.nbytes:
            source = host_address(numbers)
            native.copy_shared_memory(self._queue, address, source, numbers.nbytes)
        return address

    def share(self, kernel: native.Kernel) -> None:
        """Tells the driver which allocations pointers in memory lead to."""
        native.allow_shared_memory(kernel, [allocation.svm_ptr for allocation in self._held])

    def bring_back(self) -> None:
        """Copies what the kernel may have written, and gives the device's memory back."""
        for copy in self._copies.pieces:
            if copy.is_written and copy.size:
                native.copy_shared_memory(self._queue, copy.start, copy.address, copy.size)
        for allocation in self._held:
            allocation.release()
