"""The calling convention, where it was before other vendors' kernels kept it, too."""

from xtile.backends.calling_convention import KernelArgument, Role, kernel_arguments

__all__ = ["KernelArgument", "Role", "kernel_arguments"]
