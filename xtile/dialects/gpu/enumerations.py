"""The enumerations of the `gpu` dialect, spelled as the text spells them.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUBase.td`, `GPUOps.td`, `GPUDeviceMappingAttr.td` and
`CompilationAttrs.td`.
"""

from enum import auto

from xdsl.utils.str_enum import StrEnum


class Dimension(StrEnum):
    """A dimension of the grid, of a block or of a cluster."""

    X = "x"
    Y = "y"
    Z = "z"


class AddressSpace(StrEnum):
    """Where a buffer lies."""

    GLOBAL = auto()
    WORKGROUP = auto()
    PRIVATE = auto()


class AllReduceOperation(StrEnum):
    """The built-in combiners of reductions."""

    ADD = auto()
    MUL = auto()
    MINUI = auto()
    MINSI = auto()
    MINNUMF = auto()
    MAXUI = auto()
    MAXSI = auto()
    MAXNUMF = auto()
    AND = auto()
    OR = auto()
    XOR = auto()
    MINIMUMF = auto()
    MAXIMUMF = auto()


class ShuffleMode(StrEnum):
    """How `gpu.shuffle` picks the lane to read from."""

    XOR = auto()
    UP = auto()
    DOWN = auto()
    IDX = auto()


class BroadcastType(StrEnum):
    """Which lane `gpu.subgroup_broadcast` reads from."""

    FIRST_ACTIVE_LANE = auto()
    SPECIFIC_LANE = auto()


class CompilationTarget(StrEnum):
    """The format of a compiled object."""

    OFFLOAD = auto()
    ASSEMBLY = auto()
    BINARY = "bin"
    FATBIN = auto()
