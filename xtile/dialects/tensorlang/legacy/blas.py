"""The linear algebra instructions and store as older text writes them.

Source: tensor language references of tinytc v0.1.0 and v0.3.1, sections "Axpby", "GEMM",
"GEMV", "GER", "Hadamard product", "Store" and "Sum".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute

from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.legacy.terms import (
    Annotation,
    Operand,
    check_annotation,
    read_annotations,
    read_operand,
    resolve,
    sign_error,
)
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops.collective import (
    AxpbyOp,
    GemmOp,
    GemvOp,
    GerOp,
    HadamardOp,
    SumOp,
)
from xtile.dialects.tensorlang.ops.memory import StoreOp
from xtile.dialects.tensorlang.term_reader import ReadError
from xtile.dialects.tensorlang.types import MemrefType
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader


@dataclass(frozen=True, slots=True)
class _Row:
    """One instruction: how many operands transpose, and which operands are scalars."""

    cls: type[TensorLangOperation]
    transposes: int
    memrefs: int

    @property
    def beta(self) -> int:
        """The position of beta; alpha is the first operand."""
        return self.memrefs

    @property
    def count(self) -> int:
        """The number of operands."""
        return self.memrefs + 2


ROWS: dict[str, _Row] = {
    "axpby": _Row(AxpbyOp, 1, 2),
    "gemm": _Row(GemmOp, 2, 3),
    "gemv": _Row(GemvOp, 1, 3),
    "ger": _Row(GerOp, 0, 3),
    "hadamard": _Row(HadamardOp, 0, 3),
    "hadamard_product": _Row(HadamardOp, 0, 3),
    "sum": _Row(SumOp, 1, 2),
}
"""The instructions by their older names."""

_TRANSPOSE_PROPERTIES = ("transpose_a", "transpose_b")


def read_blas(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `.n.t.atomic 1.0, %A, %B, 0.0, %C : f32, memref<...>, ...`."""
    row = ROWS[mnemonic]
    start = reader.lexer.previous_end - len(mnemonic)
    parts = Parts()
    transposes = _read_modifiers(reader, row, parts)
    reader.optional_punctuation(",")  # The grammar has it, the parser never had.
    operands = [read_operand(reader)]
    while len(operands) < row.count:
        reader.punctuation(",")
        operands.append(read_operand(reader))
    annotations = read_annotations(reader)
    _check_annotations(reader, operands, annotations, Span(start, reader.lexer.previous_end))
    parts.operands = [
        resolve(reader, operand, type)
        for operand, type in zip(operands, _types(row, operands, annotations), strict=True)
    ]
    cls = row.cls
    if cls is GemmOp and transposes == 1 and _order(operands[2]) == 1:
        cls = GemvOp  # The reference of v0.1 spells gemv so.
    return parts.build(cls)


def _read_modifiers(reader: Reader, row: _Row, parts: Parts) -> int:
    """Reads modifiers in any order; returns the number of transposes."""
    lexer, transposes = reader.lexer, 0
    while lexer.kind == "modifier":
        if lexer.value == ".atomic" and "atomic" not in parts.properties:
            parts.properties["atomic"] = UnitAttr()
        elif lexer.value in (".n", ".t") and transposes < row.transposes:
            if lexer.value == ".t":
                parts.properties[_TRANSPOSE_PROPERTIES[transposes]] = UnitAttr()
            transposes += 1
        else:
            raise reader.unexpected("a local identifier '%name' or a constant")
        lexer.advance()
    return transposes


def _check_annotations(
    reader: Reader, operands: list[Operand], annotations: list[Annotation], span: Span
) -> None:
    if not annotations:
        return
    if len(annotations) != len(operands):
        listed = Span(annotations[0].span.start, annotations[-1].span.end)
        raise ReadError(
            listed,
            f"{len(operands)} operands are given but {len(annotations)} types; "
            "write one type for each operand",
        )
    for operand, annotation in zip(operands, annotations, strict=True):
        check_annotation(reader, operand, annotation)
    unsigned = [annotation for annotation in annotations if annotation.unsigned]
    # Sums and products of one width wrap around whatever the sign; a wider one extends it.
    if unsigned and len({_element(annotation.type) for annotation in annotations}) > 1:
        raise sign_error(unsigned[0].span, "a product of several widths")


def _types(
    row: _Row, operands: list[Operand], annotations: list[Annotation]
) -> list[Attribute | None]:
    """The types for immediates; without annotations alpha and beta are like what they update."""
    if annotations:
        return [annotation.type for annotation in annotations]
    updated = operands[-1].known_type
    element = updated.element_type if isinstance(updated, MemrefType) else None
    return [element if i in (0, row.beta) else None for i in range(row.count)]


def _element(type: Attribute) -> Attribute:
    return type.element_type if isinstance(type, MemrefType) else type


def _order(operand: Operand) -> int | None:
    type = operand.known_type
    return type.order if isinstance(type, MemrefType) else None


def read_store(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%a, %A[5,%i] : memref<...>`."""
    value = read_operand(reader)
    reader.punctuation(",")
    span = reader.span()
    memref = Operand(reader.operand(), None, span)
    reader.punctuation("[")
    indices = reader.index_operands("]")
    reader.punctuation("]")
    for annotation in read_annotations(reader):
        check_annotation(reader, memref, annotation)
    type = memref.known_type
    element = type.element_type if isinstance(type, MemrefType) else None
    assert memref.value is not None
    operands = [resolve(reader, value, element), memref.value, *indices]
    return Parts(operands=operands).build(StoreOp)
