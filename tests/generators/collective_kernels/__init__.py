"""Random kernels of collective instructions, as applications generate them.

They load entries of groups and cut blocks out of larger memrefs, multiply chains of small matrices
in local memory, and update what they were given. Sizes are seldom powers of two. Each kernel comes
with the sizes and the strides of its memory, so that it is defined: indices are inside, local
memory is written before it is read, and an output overlaps no input but one that it is itself.
"""

from __future__ import annotations

from tests.generators.collective_kernels.kernel import CollectiveKernel, Parameter
from tests.generators.collective_kernels.writer import collective_kernel

__all__ = ["CollectiveKernel", "Parameter", "collective_kernel"]
