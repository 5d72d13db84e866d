"""The numbers of the format, each table once.

Opcodes stand with the classes of the operations, and numbers of enumerations are the locations of
their members (`enumerations.py`).

Source: NVIDIA/cuda-tile 13.3.0, `lib/Bytecode/BytecodeEnums.h`, `BytecodeTypeOpcodes.td` and
`BytecodeAttrOpcodes.td`; for 13.4 and 13.5 the writer of the Python package cuda-tile 1.7.0.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IntegerType,
)
from xdsl.ir import TypeAttribute

from xtile.dialects.cuda_tile.types import TokenType
from xtile.dialects.cuda_tile.versions import V13_1, V13_2, V13_3, V13_4, V13_5, Version

MAGIC = b"\x7fTileIR\x00"
"""What a file begins with; after it come the version's major and minor number and a tag."""

HEADER_BYTES = len(MAGIC) + 4

PADDING_BYTE = 0xCB
"""What fills the space before something that is aligned."""

ALIGNED = 0x80
"""The bit of a section's number that says that its alignment follows."""

MODULE_NAME = "kernels"
"""The name of a module that is read: a file does not hold it."""


class Section(IntEnum):
    """The sections of a file."""

    END = 0
    STRING = 1
    FUNCTION = 2
    DEBUG = 3
    CONSTANT = 4
    TYPE = 5
    GLOBAL = 6
    PRODUCER = 7


SECTION_NAMES = {
    Section.END: "end",
    Section.STRING: "String",
    Section.FUNCTION: "Function",
    Section.DEBUG: "Debug",
    Section.CONSTANT: "Constant",
    Section.TYPE: "Type",
    Section.GLOBAL: "Global",
    Section.PRODUCER: "Producer",
}
"""What messages call the sections."""

SECTION_ALIGNMENTS = {
    Section.STRING: 4,
    Section.FUNCTION: 8,
    Section.DEBUG: 8,
    Section.CONSTANT: 8,
    Section.TYPE: 4,
    Section.GLOBAL: 1,
    Section.PRODUCER: 1,
}
"""At which multiple of bytes a section begins at least."""

MANDATORY_SECTIONS = (Section.STRING, Section.FUNCTION)


class FunctionFlag(IntFlag):
    """What is known of a function."""

    PRIVATE = 1
    KERNEL = 2
    HAS_HINTS = 4


class TypeTag(IntEnum):
    """What types that have parts begin with; the others are in `SIMPLE_TYPES`."""

    POINTER = 12
    TILE = 13
    TENSOR_VIEW = 14
    PARTITION_VIEW = 15
    FUNCTION = 16
    GATHER_SCATTER_VIEW = 20
    STRIDED_VIEW = 21


SIMPLE_TYPES: dict[int, tuple[TypeAttribute, Version]] = {
    0: (IntegerType(1), V13_1),
    1: (IntegerType(8), V13_1),
    2: (IntegerType(16), V13_1),
    3: (IntegerType(32), V13_1),
    4: (IntegerType(64), V13_1),
    5: (Float16Type(), V13_1),
    6: (BFloat16Type(), V13_1),
    7: (Float32Type(), V13_1),
    8: (FloatTF32Type(), V13_1),
    9: (Float64Type(), V13_1),
    10: (Float8E4M3FNType(), V13_1),
    11: (Float8E5M2Type(), V13_1),
    17: (TokenType(), V13_1),
    18: (Float8E8M0FNUType(), V13_2),
    19: (Float4E2M1FNType(), V13_3),
    22: (IntegerType(4), V13_3),
}
"""The types without parts, and when each came in."""


class AttributeTag(IntEnum):
    """What an attribute begins with whose kind its place does not tell."""

    INTEGER = 1
    FLOAT = 2
    BOOL = 3
    TYPE = 4
    STRING = 5
    ARRAY = 6
    DENSE_ELEMENTS = 7
    DIV_BY = 8
    SAME_ELEMENTS = 9
    DICTIONARY = 10
    OPTIMIZATION_HINTS = 11
    BOUNDED = 12


class DebugTag(IntEnum):
    """What an entry of the debug information begins with."""

    UNKNOWN = 0
    COMPILE_UNIT = 1
    FILE = 2
    LEXICAL_BLOCK = 3
    LOCATION = 4
    SUBPROGRAM = 5
    CALL_SITE = 6


UNIFIED_FLAGS_SINCE = V13_3
"""Since when a type's optional parameters are told by one number of flags before them; before,
each had a byte of its own."""

PRODUCER_SINCE = V13_3
"""Since when a file can say what made it."""

GLOBAL_FLAGS_SINCE = V13_3
"""Since when a global variable says who sees it and whether it is constant."""

POINTER_FLAGS_SINCE = V13_4
"""Since when pointers and tensor views begin with flags, of which none is known to mean
anything."""

FUNCTION_HINTS_SINCE = V13_5
"""Since when a kernel always has optimization hints, and a function attributes of its
parameters."""

SUBPROGRAM_FLAGS_SINCE = V13_5
"""Since when a subprogram ends with flags, of which none is known to mean anything."""
