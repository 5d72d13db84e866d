"""Load, size and alloca as older text writes them.

Source: tensor language references of tinytc v0.1.0 and v0.3.1, sections "Alloca", "Load" and
"Size".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Attribute

from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.attributes import AddressSpace
from xtile.dialects.tensorlang.legacy.terms import (
    POISON,
    Operand,
    check_annotation,
    same_type,
)
from xtile.dialects.tensorlang.legacy.view_terms import (
    memref_operand,
    read_view_annotation,
)
from xtile.dialects.tensorlang.operation import (
    TensorLangOperation,
    integer_attribute,
)
from xtile.dialects.tensorlang.ops.collective import AllocaOp
from xtile.dialects.tensorlang.ops.memory import LoadOp, SizeOp
from xtile.dialects.tensorlang.term_reader import ReadError
from xtile.dialects.tensorlang.types import INDEX, GroupType, MemrefType, type_text

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader


def read_load(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%A[5,%i] : memref<...>` or `%A[%i] : group<...>`."""
    operand = memref_operand(reader)
    reader.punctuation("[")
    indices = reader.index_operands("]")
    reader.punctuation("]")
    annotation = read_view_annotation(reader)
    result = _loaded_type(operand)
    if annotation is not None and not same_type(result, annotation.type):
        check_annotation(reader, operand, annotation)
    assert operand.value is not None
    return Parts(operands=[operand.value, *indices], result_types=[result]).build(LoadOp)


def _loaded_type(operand: Operand) -> Attribute:
    type = operand.known_type
    if isinstance(type, GroupType):
        return type.memref_type
    if isinstance(type, MemrefType):
        return type.element_type
    if type == POISON:
        return POISON
    text = "nothing" if type is None else type_text(type)
    raise ReadError(operand.span, f"expected a memref or a group, but this is of type {text}")


def read_size(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%A[1] : memref<...>`."""
    operand = memref_operand(reader)
    reader.punctuation("[")
    mode = reader.integer("mode")
    reader.punctuation("]")
    annotation = read_view_annotation(reader)
    if annotation is not None and annotation.type != INDEX:
        check_annotation(reader, operand, annotation)
    assert operand.value is not None
    parts = Parts(operands=[operand.value], result_types=[INDEX])
    parts.properties["mode"] = integer_attribute(mode)
    return parts.build(SizeOp)


def read_alloca(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `-> memref<...>`; what alloca returns is local memory in every revision."""
    if not reader.optional_punctuation("->"):
        return reader.read_as(AllocaOp)
    span = reader.span()
    type = reader.type()
    if not isinstance(type, MemrefType):
        raise ReadError(span, f"alloca returns a memref, not a {type_text(type)}")
    local = MemrefType.get(type.element_type, type.shape, type.strides, AddressSpace.LOCAL)
    return Parts(result_types=[local]).build(AllocaOp)
