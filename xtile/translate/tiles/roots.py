"""Which memory operations access: the argument that it is, or what is allocated."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.core.arguments import leads_to_memory, source_of
from xtile.dialects.core.extents import carried
from xtile.dialects.effects import read_operands, written_operands
from xtile.rewrite.origins import only_origin
from xtile.translate.tiles.types import memref_type


def memory_of(operation: Operation) -> list[SSAValue]:
    """The memrefs and pointers that an operation reads or writes."""
    accessed = written_operands(operation) or read_operands(operation)
    return [memory for memory in accessed if leads_to_memory(memory.type)]


def is_group(type_: Attribute) -> bool:
    """Whether a type is that of a memref of memrefs."""
    if type(type_) is not MemRefType:
        return False
    return type(memref_type(type_).element_type) is MemRefType


def root_of(memory: SSAValue) -> SSAValue | None:
    """What a memref or pointers are a part of: an argument or what is allocated.

    None if it is not known, or if it may be one of several.
    """
    return only_origin(memory, _sources)


def _sources(value: SSAValue) -> list[SSAValue] | None:
    """What a memref or pointers are made of; nothing for memory itself, None if not known."""
    sources = list(carried(value))
    owner = value.owner
    if sources or isinstance(owner, Block) or owner.name == "memref.alloca":
        return sources
    source = source_of(owner)
    return None if source is None else [source]
